//! The verdict on every answer of a class, made here from what came out of the sandbox.

use std::collections::{BTreeMap, HashSet};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use answers::{Outputs, inputs};
use anyhow::{Context, Result, bail};
use catalogue::{Elsewhere, Exercise};
use exercises::{ExerciseWords, Numbers, Report, message, verdict_on_line};
use serde::Serialize;
use workshop::at_once;
use workshop::progress::Progress;

use crate::run::{Run, Runner};
use crate::sets::{Set, seed};
use crate::submissions::{Answer, Kind, Submission};

/// What was found out about an answer.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// Its place in the submission.
    pub file: String,
    /// What it is.
    pub kind: Kind,
    /// The verdict, as `cargo learn check --json` has it.
    pub verdict: &'static str,
    /// The ids of the mistakes that give its numbers.
    pub ids: Vec<String>,
    /// Why there is no verdict on numbers, in a line.
    pub reason: Option<String>,
    /// Whether the verdict rests on more than numbers: a test is judged where it runs.
    pub judged_inside: bool,
    /// All of the verdict.
    pub report: Report,
    /// The verdict in words, for its author.
    #[serde(skip)]
    pub message: String,
}

/// The exercises of each set that have answers, and what these are compared with.
pub type Known = BTreeMap<(Set, String), (Exercise, Option<Numbers>)>;

/// Reads what submissions are compared with, and refuses an answer to what a set has not.
pub fn known(submissions: &mut [Submission], set: impl Fn(&str) -> Set) -> Known {
    let mut known = Known::new();
    for Submission { student, answers, refused, .. } in submissions {
        let set = set(student);
        answers.retain(|answer| {
            let key = (set.clone(), answer.exercise.clone());
            if known.contains_key(&key) {
                return true;
            }
            let read = set.exercise(&answer.exercise);
            let fault = read.map(|read| known.insert(key, read)).err();
            refused
                .extend(fault.iter().map(|fault| format!("{}: {fault:#}", answer.file)));
            fault.is_none()
        });
    }
    known
}

/// An answer that is to be run, and whose it is.
struct Job<'a> {
    student: &'a str,
    answer: &'a Answer,
    seed: u64,
    inputs: String,
    key: String,
}

/// The verdicts on all submissions, by exercise, in their order. Equal texts run once.
pub fn checked(
    submissions: &[Submission],
    known: &Known,
    set: impl Fn(&str) -> Set,
    runner: &Runner,
    bar: &Progress,
) -> Vec<BTreeMap<String, Checked>> {
    let of =
        |student: &str, answer: &Answer| &known[&(set(student), answer.exercise.clone())];
    let job = |student, answer| {
        let seed = seed(of(student, answer).1.as_ref());
        let any =
            exercises::any(&answer.exercise).filter(|_| answer.kind == Kind::Python);
        let inputs = any.map(inputs::lines).unwrap_or_default();
        Job { student, answer, seed, key: runner.key(answer, seed, &inputs), inputs }
    };
    let all = submissions
        .iter()
        .map(|it| it.answers.iter().map(|answer| job(&it.student, answer)));
    let all: Vec<Vec<Job>> = all.map(Iterator::collect).collect();
    let mut seen = HashSet::new();
    let jobs = all.iter().flatten().filter(|job| job.answer.kind != Kind::Numbers);
    let jobs: Vec<&Job> = jobs.filter(|job| seen.insert(&job.key)).collect();
    let runs = run_all(&jobs, runner, submissions.len(), bar);
    let verdict = |job: &Job| {
        let (exercise, kept) = of(job.student, job.answer);
        let checked =
            Checked::of(job.answer, exercise, kept.as_ref(), runs.get(&*job.key));
        (job.answer.exercise.clone(), checked)
    };
    all.iter().map(|jobs| jobs.iter().map(verdict).collect()).collect()
}

/// Runs all of these, and says which student is done.
fn run_all<'a>(
    jobs: &[&'a Job],
    runner: &Runner,
    n_students: usize,
    bar: &Progress,
) -> BTreeMap<&'a str, Run> {
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    jobs.iter().for_each(|job| *open.entry(job.student).or_default() += 1);
    let open = Mutex::new(open);
    let runs = at_once::map(jobs, at_once::n_processors(), |job| {
        let run = runner.run(job.answer, job.seed, &job.inputs);
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let n_open = open.entry(job.student).or_default();
        *n_open -= 1;
        if *n_open == 0 {
            open.remove(job.student);
            let n_done = n_students - open.len();
            let done = format!("class: {n_done} of {n_students}, {}", job.student);
            match std::io::stderr().is_terminal() {
                true => bar.set_detail(done),
                false => bar.println(&done),
            }
        }
        (job.key.as_str(), run)
    });
    runs.into_iter().collect()
}

impl Checked {
    fn of(
        answer: &Answer,
        exercise: &Exercise,
        kept: Option<&Numbers>,
        run: Option<&Run>,
    ) -> Self {
        let judged = judged(answer, exercise, kept, run);
        let mut reason = None;
        let (report, message) = judged.unwrap_or_else(|error| {
            let text = format!("{error:#}");
            let first = text.lines().next().unwrap_or_default().to_owned();
            reason = Some(first.clone());
            let words = ExerciseWords::from(exercise);
            (Report::without_numbers(&words, "not-checked", first), text)
        });
        Self {
            file: answer.file.clone(),
            kind: answer.kind,
            verdict: report.verdict,
            ids: report.mistakes.iter().map(|mistake| mistake.id.clone()).collect(),
            reason,
            judged_inside: kept.is_none(),
            report,
            message,
        }
    }
}

/// The report on an answer, and the verdict in words.
fn judged(
    answer: &Answer,
    exercise: &Exercise,
    kept: Option<&Numbers>,
    run: Option<&Run>,
) -> Result<(Report, String)> {
    const NO_OUTCOMES: &str = "what it printed is not what came of each input";
    match (answer.kind, &exercise.sheet.elsewhere) {
        (Kind::Rust, _) => {
            checks::expect_own(&String::from_utf8_lossy(&answer.bytes), exercise)?;
        }
        (_, Elsewhere::RustAlone(why)) => bail!("it is checked in Rust alone: {why}"),
        (_, Elsewhere::Function(_)) => {}
    }
    let compared = exercises::any(&exercise.name).zip(kept);
    let verdict = match (run, compared) {
        (Some(Run::Failed(why)), _) => bail!("{why}"),
        (Some(Run::Outcomes(line)), None) => {
            return layers::report_on_line(line)?.context(NO_OUTCOMES);
        }
        (_, None) => bail!("it has no numbers"),
        (Some(Run::Outcomes(line)), Some((any, kept))) => {
            verdict_on_line(any, kept, line).context(NO_OUTCOMES)?
        }
        (Some(Run::Replies(text)), Some((any, kept))) => {
            Outputs::of_lines(any, kept, text)?.verdict(any, kept)
        }
        (None, Some((any, kept))) => {
            let bytes = answer.bytes.clone();
            Outputs::read(any, kept, &answer.file, bytes)?.verdict(any, kept)
        }
    };
    Ok((Report::of(&exercise.into(), &verdict), message(exercise, &verdict)))
}
