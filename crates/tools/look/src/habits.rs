//! `cargo learn habits`: what each head does over a file of texts, each habit beside its
//! chance level.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ::texts::{Long, Pieces};
use anyhow::{Context, Result, ensure};
use maps::habits::{Habit, Spread, Texts};
use workshop::output::print;
use workshop::progress;

use crate::args::{ModelArgs, SaveArgs, check_outputs, existing};
use crate::save::OutputFile;
use crate::source::{ModelSource, inputs, text_file};
use crate::translate;
use crate::view::share;

/// What every head does over many texts, each number beside its chance level
///
/// Ctrl-C keeps what is done. `--save` writes an atlas of all heads, .svg or .png, or its
/// numbers, .csv.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A text file with a text per line
    file: PathBuf,
    /// Sort the heads by one of the columns; without, by whichever number is farthest above
    /// chance
    #[arg(long, value_name = "COLUMN", value_parser = habit)]
    sort: Option<Habit>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    save: SaveArgs,
    /// Write over what exists
    #[arg(long)]
    force: bool,
}

fn habit(text: &str) -> Result<Habit> {
    let names = Habit::ALL.map(Habit::name).join(", ");
    let found = Habit::ALL.into_iter().find(|habit| habit.name() == text);
    found.with_context(|| format!("the columns are {names}"))
}

/// Reads the texts, and prints what every head does.
pub fn run(args: &Args) -> Result<()> {
    let SaveArgs { save, mm } = &args.save;
    let (folder, existing) = (args.model.folder()?, existing(args.force));
    translate::expect_one_text(&folder)?;
    let inputs = inputs(&[&folder], Some(&args.file));
    check_outputs(save.iter().map(|it| (it.path(), "--save")), existing, &inputs)?;
    save.iter().try_for_each(OutputFile::check_of_texts)?;
    let measured = measure(&folder, &args.file, args.model.long())?;
    for file in save {
        file.write_texts(&measured.texts, *mm, existing)?;
    }
    print(measured.table(args.sort))?;
    for file in save {
        print(format_args!("{} is written.\n", file.path().display()))?;
    }
    Ok(())
}

/// The texts of a file, one per line, in tokens: before anything is computed, every one is
/// known to be readable.
fn lines(path: &Path, opened: &ModelSource, long: Long) -> Result<Vec<Pieces>> {
    let name = path.display();
    let file = text_file(path)?;
    let lines = file.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let lines = lines.map(|(nth, line)| {
        let pieces = opened.pieces(line, long);
        pieces.with_context(|| format!("{name}, line {}", nth + 1))
    });
    let lines = lines.collect::<Result<Vec<_>>>()?;
    ensure!(!lines.is_empty(), "{name} has no text: a text is a line");
    Ok(lines)
}

/// What was measured, and in which words.
pub struct Measurement {
    /// Of each head and an even one.
    pub texts: Texts,
    n_in_file: usize,
    seconds: f64,
}

/// All texts of a file; Ctrl-C keeps those that are done.
pub fn measure(folder: &Path, path: &Path, long: Long) -> Result<Measurement> {
    let opened = ModelSource::of(folder)?;
    let lines = lines(path, &opened, long)?;
    let reader = opened.reader()?;
    let is_stopped = Arc::new(AtomicBool::new(false));
    let hear = Arc::clone(&is_stopped);
    // Where another handler stands, Ctrl-C ends the command.
    let _ = ctrlc::set_handler(move || hear.store(true, Ordering::Relaxed));
    let n_in_file = lines.len();
    let (bar, start) = (progress::steps(n_in_file), Instant::now());
    let mut texts = Texts::default();
    for pieces in lines {
        if is_stopped.load(Ordering::Relaxed) {
            break;
        }
        texts.add(&reader.heads(pieces)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    ensure!(texts.n_texts > 0, "stopped before the first text was read");
    Ok(Measurement { texts, n_in_file, seconds: start.elapsed().as_secs_f64() })
}

impl Measurement {
    /// A row per head, those first that are farthest above chance in a habit; without one,
    /// in any share.
    pub fn table(&self, sorted: Option<Habit>) -> String {
        let Self { texts, n_in_file, seconds } = self;
        let mut to = match texts.n_texts {
            n if n < *n_in_file => format!("Stopped: {n} of {n_in_file} texts were read"),
            n => format!("{n} texts"),
        };
        to += &format!(
            " in {seconds:.1} s. Each number is a mean over texts, ± how far they spread; chance \
             is a head\nthat gives every key it sees the same. same: the other tokens that are \
             the same; induction:\nthe token after the last same one; bits, away: over how much \
             a row spreads, and how far it goes.\n\nhead  "
        );
        to += &Habit::ALL.map(|habit| format!("{:>11}", habit.name())).concat();
        to += "\nchance";
        texts.chance.iter().for_each(|number| to += &cell(number));
        for [layer, head] in texts.sorted(sorted) {
            to += &format!("\n{:<6}", format!("{layer}.{head}"));
            texts.heads[layer][head].iter().for_each(|number| to += &cell(number));
        }
        to + "\n"
    }
}

/// `.62 ±.10`.
fn cell(number: &Spread) -> String {
    if number.n == 0 {
        return format!("{:>11}", "–");
    }
    format!("{:>11}", format!("{} ±{}", share(number.mean), share(number.deviation())))
}
