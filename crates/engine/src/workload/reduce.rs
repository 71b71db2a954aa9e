//! The sum of all vectors to one rank.
super::mpi::repeated! {
    /// The sum of all ranks' vectors to rank 0, again and again. Its messages are said in `mpi`. Source: ours.
    pub struct Reduce(Reduce);
    /// Size of a rank's vector.
}
