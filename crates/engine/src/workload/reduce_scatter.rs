//! Of the sum of all vectors, to every rank a part.
super::mpi::repeated! {
    /// The sum of all ranks' vectors, of which every rank gets a part, again and again: the gradients of a neural network, of which every
    /// rank keeps a part. How it is cut into messages is said in `mpi`. Source: ours.
    pub struct ReduceScatter(ReduceScatter);
    /// Size of a rank's vector; its part of the sum is shorter by the number of ranks.
}
