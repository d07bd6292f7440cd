//! From the check to the table.

use anyhow::{Result, ensure};
use attention::{Batch, LayerParameters, Mask, Rng, SeedableRng, random_matrix};
use distributed::{Group, Model};
use ranks::Processes;

use crate::args::Args;
use crate::report::{self, Record};
use crate::{check, measure, times};

/// Checks and times what is asked for; rank 0 prints.
pub fn run(group: &mut Processes, args: &Args) -> Result<()> {
    let (rank, size) = (Group::<f32>::rank(group), Group::<f32>::size(group));
    // MPI is spoken to by one thread: what computes does so in the pool of all.
    rayon::ThreadPoolBuilder::new().num_threads(args.threads).build_global()?;
    let say = |text: String| {
        if rank == 0 {
            println!("{text}");
        }
    };
    say(check::small(group)?.to_string());
    end_if_asked(group, args)?;

    let case = args.case;
    let rng = &mut Rng::seed_from_u64(1);
    let layer = LayerParameters::<f32>::random(case.dims, true, rng);
    let n_rows = case.n_sequences * case.n_tokens;
    let x = Batch::new(
        case.n_sequences,
        random_matrix(n_rows, case.dims.d_model(), 1.0, rng),
    )?;
    let mask = if args.open { Mask::None } else { Mask::Causal };

    let link = measure::link(group)?;
    let model = Model {
        dims: case.dims,
        n_kv_heads: case.dims.n_heads(),
        lengths: (case.n_sequences, case.n_tokens),
        is_causal: !args.open,
        bytes: 4,
        speed: measure::speed(group, &layer, case)?,
        sum: link,
        ring: link,
    };
    say(measure::words(&model, size));

    let alone = times::alone(group, &layer, &x, &mask, args)?;
    say(report::HEAD.to_owned());
    say(format!(
        "{:<18} {:>8.1}",
        format!("one, {} threads", size * args.threads),
        alone.seconds * 1e3
    ));
    let mut records = Vec::new();
    for split in args.splits(size) {
        let timed = times::split(group, &layer, &x, &mask, split, args.repeats)?;
        let diff = check::same(group, &timed, &alone, &x, split)?;
        let mut record = Record::new(&model, size, split, &timed, alone.seconds, diff)?;
        if args.split.is_none() {
            // Splits that come later find the memory of the earlier.
            record.grown = None;
        }
        say(record.row());
        records.push(record);
    }
    if let (0, Some(file)) = (rank, &args.record) {
        report::append(file, &records)?;
    }
    Ok(())
}

/// Lets a rank fail, panic or abort that was asked to, so that a test sees the others end.
fn end_if_asked(group: &mut Processes, args: &Args) -> Result<()> {
    let (rank, size) = (Group::<f32>::rank(group), Group::<f32>::size(group));
    ensure!(args.fail != Some(rank), "it was asked to fail");
    if args.panic.is_some() {
        let ([next, before], mut room) = ([rank + 1, rank + size - 1], [0f32]);
        group.exchange_while(next % size, &[0f32], before % size, &mut room, || {
            assert!(args.panic != Some(rank), "it was asked to panic");
        })?;
    }
    if args.abort == Some(rank) {
        std::process::abort();
    }
    Ok(())
}
