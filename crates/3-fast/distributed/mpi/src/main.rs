//! One layer by many processes: checked next to one machine, then timed.
//!
//! ```text
//! mpirun -n 4 ranks --split both --case 1,4096,256,8
//! ```

mod args;
mod check;
mod measure;
mod memory;
mod report;
mod run;
mod times;

use std::panic::{self, AssertUnwindSafe};

use clap::Parser;
use mpi::Threading;
use mpi::topology::Communicator;
use ranks::Processes;

fn main() {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: MPI was initialised before");
        std::process::exit(1);
    };
    let world = universe.world();
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Said once, and not by every rank.
            if world.rank() == 0 {
                let _ = error.print(); // it cannot be said that it cannot be said
            }
            drop(universe);
            std::process::exit(error.exit_code());
        }
    };
    let mut group = Processes::world(&world);
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| run::run(&mut group, &args)));
    let why = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(error)) => format!("{error:#}"),
        Err(_) => "it panicked, as said above".to_owned(),
    };
    let (rank, size) = (world.rank(), world.size());
    let host = mpi::environment::processor_name().unwrap_or_default();
    eprintln!("error: rank {rank} of {size} on {host} ended, and ends the others: {why}");
    // The others wait for this one, and would for ever.
    world.abort(1);
}
