//! The data of one rank to all.
super::mpi::repeated! {
    /// The data of rank 0 to all ranks, again and again: a model that is handed out. Its messages are said in `mpi`. Source: ours.
    pub struct Broadcast(Broadcast);
    /// Size of the data.
}
