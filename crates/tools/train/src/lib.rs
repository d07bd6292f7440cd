//! `cargo learn train`: heads that specialise while you watch.

mod dates;
mod names;

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use attention::Matrix;
use clap::ValueEnum;
use figures::{Heads, head_maps};
use training::dates::Dates;
use training::lookups::Lookups;
use training::one_layer::{Report, Task, train};
use training::windows::{SPECIALISATIONS, Windows, specialisations};
use training::{Schedule, Step, Training};

use workshop::output::print;
use workshop::progress;

/// What is trained, and for how long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the layer learns
    task: Which,
    /// The number of heads [default: 3 for lookups, 8 for windows, 4 for dates]
    #[arg(long, value_name = "H")]
    heads: Option<usize>,
    /// Where all random numbers come from
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// The number of steps [default: 1000 for lookups, 1500 for the others]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// A date of your own, as "12 march 2031": what the trained model that comes with the book
    /// writes for it, and where each head looks. Nothing is trained
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["heads", "seed", "steps"])]
    date: Option<String>,
    /// A folder for the model that is trained on names: other commands and other libraries open
    /// it as a GPT-2
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Which {
    /// Who flew, what was flown, where to: asked at the verb
    Lookups,
    /// Thirty sensor readings and seven questions about them: asked at the last
    Windows,
    /// Dates in six forms, written as 2031-03-12: a model that reads one text and writes another
    Dates,
    /// First names, letter by letter: a whole GPT from nothing
    Names,
}

/// Trains with a progress bar on standard error, and prints what was learned. Ctrl-C ends
/// the training and prints what was learned until then.
///
/// # Errors
/// Heads that do not divide the width, no steps, a training that diverged.
pub fn run(args: &Args) -> Result<()> {
    args.check()?;
    if let Some(text) = &args.date {
        return Ok(print(dates::written(text)?)?);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let on_ctrl_c = {
        let stop = Arc::clone(&stop);
        move || stop.store(true, Ordering::Relaxed)
    };
    ctrlc::set_handler(on_ctrl_c).context("cannot wait for Ctrl-C")?;
    let report = match args.task {
        Which::Lookups => {
            let (n_heads, schedule) = args.over(3, Lookups::schedule(args.seed));
            let task = Lookups::default();
            report(&task, &schedule, &watched(&task, n_heads, &schedule, &stop)?)?
        }
        Which::Windows => {
            let (n_heads, schedule) = args.over(8, Windows::schedule(args.seed));
            let task = Windows::default();
            let trained = watched(&task, n_heads, &schedule, &stop)?;
            report(&task, &schedule, &trained)? + &specialised(&task, &trained)?
        }
        Which::Dates => {
            let (n_heads, schedule) = args.over(4, Dates::schedule(args.seed));
            dates::trained(n_heads, &schedule, &stop)?
        }
        Which::Names => {
            let n_steps = args.steps.unwrap_or(NAMES_STEPS);
            names::trained(args.seed, n_steps, args.save.as_deref(), &stop)?
        }
    };
    Ok(print(report)?)
}

/// Steps on names.
const NAMES_STEPS: usize = 1500;

/// Some hours of training; more losses than that are no use to anyone.
const MOST_STEPS: usize = 1_000_000;

impl Args {
    fn check(&self) -> Result<()> {
        let steps = self.steps.unwrap_or(1);
        ensure!(
            steps <= MOST_STEPS,
            "--steps is {steps}, and must be at most {MOST_STEPS}"
        );
        let is_dates = matches!(self.task, Which::Dates);
        ensure!(is_dates || self.date.is_none(), "--date is for the task dates alone");
        let is_names = matches!(self.task, Which::Names);
        ensure!(is_names || self.save.is_none(), "--save is for the task names alone");
        let heads =
            "--heads is not for the task names, whose model has the sizes of its file";
        ensure!(!is_names || self.heads.is_none(), "{heads}");
        Ok(())
    }

    fn over(&self, n_heads: usize, schedule: Schedule) -> (usize, Schedule) {
        let n_steps = self.steps.unwrap_or(schedule.n_steps);
        (self.heads.unwrap_or(n_heads), Schedule { n_steps, ..schedule })
    }
}

/// A training behind a progress bar.
fn watched(
    task: &impl Task,
    n_heads: usize,
    schedule: &Schedule,
    stop: &AtomicBool,
) -> Result<Training> {
    let bar = progress::steps(schedule.n_steps);
    let outcome = train(task, n_heads, schedule, |Step { step, loss, score }| {
        bar.set_position(step as u64 + 1);
        bar.set_message(format!("loss {loss:.3}, score {:.1} %", 100.0 * score));
        match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    bar.finish_and_clear();
    Ok(outcome?)
}

fn report(task: &impl Task, schedule: &Schedule, trained: &Training) -> Result<String> {
    let Schedule { n_steps, batch, seed, .. } = *schedule;
    let n_taken = trained.losses.len();
    let stopped = match n_taken < n_steps {
        true => format!(" of {n_steps}, stopped"),
        false => String::new(),
    };
    let mut text = format!(
        "{} heads, d_model {}, {} parameters; seed {seed}; {n_taken} steps{stopped}, \
         each on {batch} fresh examples\n",
        trained.model.n_heads(),
        task.d_model(),
        attention::thousands(trained.model.n_parameters()),
    );
    for (title, look) in [("before", &trained.looks[0]), ("after", trained.last())] {
        writeln!(text, "\nWhat the asking token attends to in one example, {title}:")?;
        text += &map(&look.rows, &trained.test.names)?;
    }
    write!(text, "\n{}", Report::of(task, trained, seed)?)?;
    Ok(text)
}

/// Which head came to do what the source says that heads may do.
fn specialised(task: &Windows, trained: &Training) -> Result<String> {
    let mut text = String::from(
        "\nWhich heads, before and after, do what heads may come to do:\n\n",
    );
    let seed = 1;
    let before = specialisations(task, &trained.before, seed)?;
    let after = specialisations(task, &trained.model, seed)?;
    let list = |heads: &[usize]| {
        let heads: Vec<String> = heads.iter().map(usize::to_string).collect();
        if heads.is_empty() { "none".to_owned() } else { heads.join(" ") }
    };
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let (before, after) = (list(&before[i]), list(&after[i]));
        writeln!(text, "  {name:<15} {before:>9} → {after:<9} {criterion}")?;
    }
    Ok(text)
}

/// Heads down, tokens across.
fn map(look: &Matrix, tokens: &[String]) -> Result<String> {
    let names: Vec<String> = (0..look.nrows()).map(|i| format!("head {i}")).collect();
    let maps = [look.clone()];
    let heads = Heads::new(&maps, &names, tokens)?;
    let sketch = head_maps("", &heads).to_string();
    let lines: Vec<&str> = sketch.lines().filter(|line| line.contains('│')).collect();
    Ok(format!("{}\nAcross: {}.\n", lines.join("\n"), tokens.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(n_heads: usize, n_steps: usize) -> Result<String> {
        let schedule = Schedule { n_steps, n_test: 64, ..Lookups::schedule(0) };
        let (task, stop) = (Lookups::default(), AtomicBool::new(false));
        report(&task, &schedule, &watched(&task, n_heads, &schedule, &stop)?)
    }

    #[test]
    fn a_report_has_all_it_promises() {
        let report = short(2, 3).unwrap();
        for part in
            ["18,816 parameters", "3 steps, each on 64", "agent", "before:", "after:"]
        {
            assert!(report.contains(part), "{part} is missing from\n{report}");
        }
        assert_eq!(report.matches("head 1 │").count(), 2, "{report}");
        assert_eq!(report.matches("\n  random").count(), 1, "{report}");
        let widest = report.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{report}");
    }

    #[test]
    fn what_was_stopped_is_reported() {
        let schedule = Schedule { n_test: 64, ..Lookups::schedule(0) };
        let stop = AtomicBool::new(true);
        let task = Lookups::default();
        let trained = watched(&task, 2, &schedule, &stop).unwrap();
        let report = report(&task, &schedule, &trained).unwrap();
        assert!(report.contains("1 steps of 1000, stopped"), "{report}");
    }

    #[test]
    fn settings_that_do_not_work_are_refused_with_their_numbers() {
        let refused = |n_heads, n_steps| short(n_heads, n_steps).unwrap_err();
        insta::assert_snapshot!(refused(0, 3), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused(5, 3), @"d_model 48 cannot be divided among 5 heads: 48 = 5 × 9 + 3");
        insta::assert_snapshot!(refused(2, 0), @"the number of steps is 0, and must be at least 1");
    }

    fn asked(task: Which) -> Args {
        Args { task, heads: None, seed: 0, steps: None, date: None, save: None }
    }

    #[test]
    fn a_date_is_asked_of_dates_alone() {
        let date = Some("12 march 2031".to_owned());
        let refused = run(&Args { date, ..asked(Which::Lookups) }).unwrap_err();
        insta::assert_snapshot!(refused, @"--date is for the task dates alone");
    }

    #[test]
    fn steps_that_take_days_are_refused() {
        for steps in [usize::MAX, 1_000_000_000_000, MOST_STEPS + 1] {
            let args = Args { steps: Some(steps), ..asked(Which::Lookups) };
            let refused = run(&args).unwrap_err().to_string();
            let expected = format!("--steps is {steps}, and must be at most 1000000");
            assert_eq!(refused, expected);
        }
    }
}
