//! The verdict on every answer of a class, made here from what came out of the sandbox.

use std::collections::{BTreeMap, HashSet};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use answers::{Outputs, inputs};
use anyhow::{Context, Result, bail};
use catalogue::{Elsewhere, Exercise};
use exercises::{ExerciseWords, Numbers, Question, Report, judged_on_line, message};
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
    /// How the question about an answer that passed was answered, where there is one.
    pub defence: Option<Defence>,
    /// Whether the verdict rests on more than numbers: a test is judged where it runs.
    pub judged_inside: bool,
    /// All of the verdict.
    pub report: Report,
    /// The verdict in words, for its author.
    #[serde(skip)]
    pub message: String,
}

/// How the question about an answer was answered: by the first letter that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defence {
    /// The first letter was right.
    Right,
    /// It was wrong.
    Wrong,
    /// None was given.
    Open,
}

impl Defence {
    /// By the lines of a seed.
    fn of(question: &Question, seed: u64, lines: &str) -> Self {
        let letters = lines.lines().filter_map(|line| line.split_once(' '));
        let mut own = letters.filter(|(of, _)| *of == seed.to_string());
        match own.next().map(|(_, letter)| question.is_right(letter)) {
            Some(Some(true)) => Self::Right,
            Some(_) => Self::Wrong,
            None => Self::Open,
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Open => "open",
        }
    }
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
    defence: &'a str,
    seed: u64,
    inputs: String,
    key: String,
}

/// The verdicts on all submissions, by exercise, in their order. Equal texts run once.
pub fn checked<'a>(
    submissions: &'a [Submission],
    known: &Known,
    set: impl Fn(&str) -> Set,
    runner: &Runner,
    bar: &Progress,
) -> Vec<BTreeMap<String, Checked>> {
    let of =
        |student: &str, answer: &Answer| &known[&(set(student), answer.exercise.clone())];
    let job = |student, answer, defence| {
        let seed = seed(of(student, answer).1.as_ref());
        let any =
            exercises::any(&answer.exercise).filter(|_| answer.kind == Kind::Python);
        let inputs = any.map(|any| inputs::lines(any, seed)).unwrap_or_default();
        let key = runner.key(answer, seed, &inputs);
        Job { student, answer, defence, seed, key, inputs }
    };
    let jobs = |it: &'a Submission| -> Vec<Job<'a>> {
        let defence = |answer: &Answer| it.defences.get(&answer.exercise);
        let defence = |answer: &Answer| defence(answer).map_or("", String::as_str);
        let answers = it.answers.iter();
        answers.map(|answer| job(it.student.as_str(), answer, defence(answer))).collect()
    };
    let all: Vec<Vec<Job>> = submissions.iter().map(jobs).collect();
    let mut seen = HashSet::new();
    let jobs = all.iter().flatten().filter(|job| job.answer.kind != Kind::Numbers);
    let jobs: Vec<&Job> = jobs.filter(|job| seen.insert(&job.key)).collect();
    let runs = run_all(&jobs, runner, submissions.len(), bar);
    let verdict = |job: &Job| {
        let (exercise, kept) = of(job.student, job.answer);
        let checked = Checked::of(job, exercise, kept.as_ref(), runs.get(&*job.key));
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
        job: &Job,
        exercise: &Exercise,
        kept: Option<&Numbers>,
        run: Option<&Run>,
    ) -> Self {
        let Job { answer, seed, defence, .. } = job;
        let judged = judged(answer, exercise, kept, run);
        let mut reason = None;
        let (report, message, question) = judged.unwrap_or_else(|error| {
            let text = format!("{error:#}");
            let first = text.lines().next().unwrap_or_default().to_owned();
            reason = Some(first.clone());
            let words = ExerciseWords::from(exercise);
            (Report::without_numbers(&words, "not-checked", first), text, None)
        });
        Self {
            file: answer.file.clone(),
            kind: answer.kind,
            verdict: report.verdict,
            ids: report.mistakes.iter().map(|mistake| mistake.id.clone()).collect(),
            reason,
            defence: question.map(|it| Defence::of(&it, *seed, defence)),
            judged_inside: kept.is_none(),
            report,
            message,
        }
    }
}

/// The report on an answer, the verdict in words, and the question about it if it passed.
fn judged(
    answer: &Answer,
    exercise: &Exercise,
    kept: Option<&Numbers>,
    run: Option<&Run>,
) -> Result<(Report, String, Option<Question>)> {
    const NO_OUTCOMES: &str = "what it printed is not what came of each input";
    match (answer.kind, &exercise.sheet.elsewhere) {
        (Kind::Rust, _) => {
            checks::expect_own(&String::from_utf8_lossy(&answer.bytes), exercise)?;
        }
        (_, Elsewhere::RustAlone(why)) => bail!("it is checked in Rust alone: {why}"),
        (_, Elsewhere::Function(_)) => {}
    }
    let compared = exercises::any(&exercise.name).zip(kept);
    let (verdict, question) = match (run, compared) {
        (Some(Run::Failed(why)), _) => bail!("{why}"),
        (Some(Run::Outcomes(line)), None) => {
            let (report, text) = layers::report_on_line(line)?.context(NO_OUTCOMES)?;
            return Ok((report, text, None));
        }
        (_, None) => bail!("it has no numbers"),
        (Some(Run::Outcomes(line)), Some((any, kept))) => {
            judged_on_line(any, kept, line).context(NO_OUTCOMES)?
        }
        (Some(Run::Replies(text)), Some((any, kept))) => {
            (Outputs::of_lines(any, kept, text)?.verdict(any, kept), None)
        }
        (None, Some((any, kept))) => {
            let bytes = answer.bytes.clone();
            (Outputs::read(any, kept, &answer.file, bytes)?.verdict(any, kept), None)
        }
    };
    let report = Report::of(&exercise.into(), &verdict);
    Ok((report, message(exercise, &verdict), question))
}
