//! The sum of all vectors to one rank.
super::mpi::repeated! {
    /// The sum of all ranks' vectors to rank 0, again and again, whole and up a binomial tree. Source: ours.
    pub struct Reduce(Reduce);
    /// Size of a rank's vector.
}
