//! The data of one rank to all.
super::mpi::repeated! {
    /// The data of rank 0 to all ranks, again and again, whole and down a binomial tree: a model that is handed out. Source: ours.
    pub struct Broadcast(Broadcast);
    /// Size of the data.
}
