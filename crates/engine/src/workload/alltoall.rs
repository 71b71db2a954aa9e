//! Data of every rank for every rank.
super::mpi::repeated! {
    /// Data of every rank for every rank, again and again: transposes, and the experts of a neural network. How it is cut into
    /// messages is said in `mpi`. Source: ours.
    pub struct Alltoall(Alltoall);
    /// Size of the data of a rank for each other.
}
