//! The sum of all vectors to all ranks.
super::mpi::repeated! {
    /// The sum of all ranks' vectors to all ranks, again and again: the training of neural networks. How it is cut into messages
    /// is said in `mpi`. Source: ours.
    pub struct Allreduce(Allreduce);
    /// Size of a rank's vector.
}
