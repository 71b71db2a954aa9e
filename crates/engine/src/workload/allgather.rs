//! The data of every rank to all ranks.
super::mpi::repeated! {
    /// The data of every rank to all ranks, again and again: the weights of a neural network, of which every rank keeps a part. How it
    /// is cut into messages is said in `mpi`. Source: ours.
    pub struct Allgather(Allgather);
    /// Size of the data of a rank; at the end each has as many times this as there are ranks.
}
