//! `distributed::Group` on MPI: ranks are processes, on one machine or on many.
//!
//! The one decision: **nothing here knows attention.** A [`Processes`] sends and receives as
//! the threads of `distributed` do, and everything that is computed stands there, where it
//! is tested without MPI. Messages are non-blocking and overlap with what is computed; the
//! crate `mpi` checks that no buffer is touched meanwhile, and no unsafe code is needed.

mod processes;

pub use processes::Processes;
