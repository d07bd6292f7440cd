//! Files that somebody has broken, one after the other, through every reader: none may panic,
//! take more than two seconds, or ask for more memory than twice its size and 64 MB.
//!
//! ```text
//! cargo run --release -p look --example mutate -- --seconds 60
//! cargo run --release -p look --example mutate -- --count 1000000 --only gguf
//! ```
//!
//! Everything follows from `--seed`: a fault is found again with the numbers that it is
//! reported with.

mod mutations;
mod readers;

use std::panic::{self, AssertUnwindSafe};
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use peak_alloc::PeakAlloc;

use mutations::Random;
use readers::Reader;

/// The longest that one file may take.
const LONGEST: Duration = Duration::from_secs(2);

/// What a file may take beside twice its size.
const ROOM: usize = 64 << 20;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Broken files through every reader.
#[derive(Parser)]
struct Arguments {
    /// For how long.
    #[arg(long, default_value_t = 60, conflicts_with = "count")]
    seconds: u64,
    /// How many files, instead.
    #[arg(long)]
    count: Option<u64>,
    /// From which number on files are made.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Readers whose name begins so: tensors, encoder, encoder-bert-1, decoder, gguf,
    /// tokenizer or beside.
    #[arg(long)]
    only: Option<String>,
}

/// The seed of the file that is being read, and since when, in milliseconds, for the watch.
static SEED: AtomicU64 = AtomicU64::new(0);
static SINCE: AtomicU64 = AtomicU64::new(u64::MAX);

fn main() -> Result<()> {
    let args = Arguments::parse();
    let mut readers = readers::all()?;
    if let Some(only) = &args.only {
        readers.retain(|reader| reader.name.starts_with(only.as_str()));
    }
    ensure!(!readers.is_empty(), "there is no reader of this name");
    let start = Instant::now();
    thread::spawn(move || watch(start));
    // What a panic says belongs beside the seed, below.
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if SINCE.load(Ordering::SeqCst) != u64::MAX {
            eprintln!("{info}");
        } else {
            before(info);
        }
    }));
    let goes_on = |n: u64| match args.count {
        Some(count) => n < count,
        None => start.elapsed() < Duration::from_secs(args.seconds),
    };
    let (mut n, mut faults) = (0, 0);
    while goes_on(n) {
        let at = (n % readers.len() as u64) as usize;
        faults += u64::from(!passes(&readers[at], args.seed + n, start));
        n += 1;
        ensure!(faults < 20, "stopped after {n} files: {faults} faults");
    }
    ensure!(faults == 0, "{faults} faults in {n} files");
    println!(
        "{n} files from seed {} on, {:.0} s: no panic, none over {} s or {} MB beside its size",
        args.seed,
        start.elapsed().as_secs_f64(),
        LONGEST.as_secs(),
        ROOM >> 20
    );
    Ok(())
}

/// One file through its reader.
fn passes(reader: &Reader, seed: u64, start: Instant) -> bool {
    let mut random = Random(seed);
    let broken = (reader.broken)(&mut random);
    SEED.store(seed, Ordering::SeqCst);
    let began = Instant::now();
    SINCE.store(start.elapsed().as_millis() as u64, Ordering::SeqCst);
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| (reader.read)(&broken)));
    let grown = MEMORY.peak_usage().saturating_sub(before);
    let mut took = began.elapsed();
    if outcome.is_ok() && took > LONGEST {
        // On a busy machine it may have waited: what takes long takes long again.
        let again = Instant::now();
        SINCE.store(start.elapsed().as_millis() as u64, Ordering::SeqCst);
        let _ = panic::catch_unwind(AssertUnwindSafe(|| (reader.read)(&broken)));
        took = took.min(again.elapsed());
    }
    SINCE.store(u64::MAX, Ordering::SeqCst);
    let allowed = 2 * (broken.len() + reader.n_beside) + ROOM;
    let fault = |what: String| {
        eprintln!("FAULT --only {} --count 1 --seed {seed}: {what}", reader.name);
        false
    };
    match outcome {
        Err(_) => fault("a panic".into()),
        Ok(()) if took > LONGEST => fault(format!("{:.1} s", took.as_secs_f64())),
        Ok(()) if grown > allowed => fault(format!("{} MB", grown >> 20)),
        Ok(()) => true,
    }
}

/// Ends what hangs.
fn watch(start: Instant) {
    loop {
        thread::sleep(Duration::from_millis(200));
        let since = SINCE.load(Ordering::SeqCst);
        let now = start.elapsed().as_millis() as u64;
        if since != u64::MAX && now.saturating_sub(since) > 10_000 {
            eprintln!("FAULT --seed {}: no end after 10 s", SEED.load(Ordering::SeqCst));
            exit(1);
        }
    }
}
