//! The verdict on every answer of a class, made here from what came out of the sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use answers::{Outputs, inputs};
use anyhow::{Context, Result};
use catalogue::Exercise;
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
}

/// An exercise of a set, and what its answers are compared with.
type Known = (Exercise, Option<Numbers>);

/// What is known of each exercise of each set that has answers.
#[derive(Default)]
pub struct Sets {
    known: BTreeMap<(Set, String), std::result::Result<Known, String>>,
}

impl Sets {
    /// Reads what these submissions are compared with; `set` is that of a student.
    pub fn read(submissions: &[Submission], set: impl Fn(&str) -> Set) -> Self {
        let mut sets = Self::default();
        for submission in submissions {
            let set = set(&submission.student);
            for answer in &submission.answers {
                let key = (set.clone(), answer.exercise.clone());
                let read =
                    || set.exercise(&answer.exercise).map_err(|it| format!("{it:#}"));
                sets.known.entry(key).or_insert_with(read);
            }
        }
        sets
    }

    fn of(&self, set: &Set, answer: &Answer) -> Result<&Known> {
        let known = &self.known[&(set.clone(), answer.exercise.clone())];
        known.as_ref().map_err(|fault| anyhow::anyhow!("{fault}"))
    }
}

/// An answer that is to be run, and what for.
struct Job<'a> {
    student: &'a str,
    answer: &'a Answer,
    seed: u64,
    inputs: String,
    key: String,
}

/// The verdicts of all submissions, by exercise, in their order. Equal texts run once.
pub fn checked(
    submissions: &[Submission],
    sets: &Sets,
    set: impl Fn(&str) -> Set,
    runner: &Runner,
    bar: &Progress,
) -> Vec<BTreeMap<String, Checked>> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut keys = BTreeMap::new();
    for (nth, submission) in submissions.iter().enumerate() {
        let set = set(&submission.student);
        for answer in submission.answers.iter().filter(|it| it.kind != Kind::Numbers) {
            let Ok((_, kept)) = sets.of(&set, answer) else { continue };
            let seed = seed(kept.as_ref());
            let any = exercises::any(&answer.exercise);
            let is_python = answer.kind == Kind::Python;
            let inputs = any.filter(|_| is_python);
            let inputs = inputs.map(|any| inputs::lines(any, seed)).unwrap_or_default();
            let key = runner.key(answer, seed, &inputs);
            keys.insert((nth, answer.exercise.as_str()), key.clone());
            let student = &submission.student;
            jobs.push(Job { student, answer, seed, inputs, key });
        }
    }
    let mut seen = BTreeSet::new();
    jobs.retain(|job| seen.insert(job.key.clone()));
    let runs = run_all(&jobs, runner, submissions.len(), bar);
    let each = submissions.iter().enumerate();
    each.map(|(nth, submission)| {
        let set = set(&submission.student);
        let verdict = |answer: &Answer| {
            let run = keys.get(&(nth, answer.exercise.as_str())).map(|key| &runs[key]);
            let known = sets.of(&set, answer);
            let defence = submission.defences.get(&answer.exercise);
            let defence = defence.map_or("", String::as_str);
            (answer.exercise.clone(), Checked::of(answer, defence, known, run))
        };
        submission.answers.iter().map(verdict).collect()
    })
    .collect()
}

/// Runs all of these, and says which student is done.
fn run_all(
    jobs: &[Job],
    runner: &Runner,
    n_students: usize,
    bar: &Progress,
) -> BTreeMap<String, Run> {
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    jobs.iter().for_each(|job| *open.entry(job.student).or_default() += 1);
    // Whose answers are all equal to those of others has nothing to wait for.
    let n_done = AtomicUsize::new(n_students - open.len());
    let open = Mutex::new(open);
    let runs = at_once::map(jobs, at_once::n_processors(), |job| {
        let run = runner.run(job.answer, job.seed, &job.inputs);
        let mut open = open.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let n_open = open.entry(job.student).or_default();
        *n_open -= 1;
        if *n_open == 0 {
            let n = n_done.fetch_add(1, Ordering::Relaxed) + 1;
            let done = format!("class: {n} of {n_students}, {}", job.student);
            match std::io::stderr().is_terminal() {
                true => bar.set_detail(done),
                false => bar.println(&done),
            }
        }
        (job.key.clone(), run)
    });
    runs.into_iter().collect()
}

impl Checked {
    fn of(
        answer: &Answer,
        defence: &str,
        known: Result<&Known>,
        run: Option<&Run>,
    ) -> Self {
        let mut question = None;
        let judged = known.map(|(exercise, kept)| {
            let judged = judged(answer, exercise, kept.as_ref(), run);
            let judged = judged.map(|(report, message, asked)| {
                let seed = seed(kept.as_ref());
                question = asked.map(|it| Defence::of(&it, seed, defence));
                (report, message)
            });
            (exercise, judged)
        });
        let failed = |why: &str| {
            (why.lines().next().unwrap_or_default().to_owned(), why.to_owned())
        };
        let (report, (reason, message)) = match judged {
            Ok((_, Ok((report, message)))) => (report, (None, message)),
            Ok((exercise, Err(error))) => {
                let (reason, all) = failed(&format!("{error:#}"));
                let words = ExerciseWords::from(exercise);
                let report =
                    Report::without_numbers(&words, "not-checked", reason.clone());
                (report, (Some(reason), all))
            }
            Err(error) => {
                let (reason, all) = failed(&format!("{error:#}"));
                (unknown_exercise(&answer.exercise, &reason), (Some(reason), all))
            }
        };
        Self {
            file: answer.file.clone(),
            kind: answer.kind,
            verdict: report.verdict,
            ids: report.mistakes.iter().map(|mistake| mistake.id.clone()).collect(),
            reason,
            defence: question,
            judged_inside: exercises::any(&answer.exercise).is_none(),
            report,
            message,
        }
    }
}

/// A report on an answer to an exercise that its set has not.
fn unknown_exercise(name: &str, reason: &str) -> Report {
    let words = ExerciseWords {
        exercise: name.to_owned(),
        number: 0,
        title: name.to_owned(),
        passed: String::new(),
        begin: String::new(),
        read: exercises::SectionWords {
            chapter: 0,
            section: String::new(),
            page: String::new(),
        },
        mistakes: Vec::new(),
        n_hints: 0,
    };
    Report::without_numbers(&words, "not-checked", reason.to_owned())
}

/// The report on an answer, the verdict in words, and the question about it if it passed.
fn judged(
    answer: &Answer,
    exercise: &Exercise,
    kept: Option<&Numbers>,
    run: Option<&Run>,
) -> Result<(Report, String, Option<Question>)> {
    if answer.kind == Kind::Rust {
        checks::expect_own(&String::from_utf8_lossy(&answer.bytes), exercise)?;
    }
    if let Some(Run::Failed { why, more }) = run {
        anyhow::bail!("{}", format!("{why}\n\n{more}").trim_end());
    }
    let any = exercises::any(&exercise.name);
    let (Some(any), Some(kept)) = (any, kept) else {
        let Some(Run::Outcomes(line)) = run else {
            anyhow::bail!("it is checked in Rust alone");
        };
        let (report, text) = layers::report_on_line(line)?.context(NO_OUTCOMES)?;
        return Ok((report, text, None));
    };
    let (verdict, question) = match run {
        Some(Run::Outcomes(line)) => {
            judged_on_line(any, kept, line).context(NO_OUTCOMES)?
        }
        Some(Run::Replies(text)) => {
            elsewhere(exercise)?;
            (Outputs::of_lines(any, kept, text)?.verdict(any, kept), None)
        }
        _ => {
            elsewhere(exercise)?;
            let outputs = Outputs::read(any, kept, &answer.file, answer.bytes.clone())?;
            (outputs.verdict(any, kept), None)
        }
    };
    let report = Report::of(&exercise.into(), &verdict);
    Ok((report, message(exercise, &verdict), question))
}

const NO_OUTCOMES: &str = "what it printed is not what came of each input";

/// Refuses numbers where an answer is no function of numbers in other languages.
fn elsewhere(exercise: &Exercise) -> Result<()> {
    match &exercise.sheet.elsewhere {
        catalogue::Elsewhere::RustAlone(why) => {
            anyhow::bail!("it is checked in Rust alone: {why}")
        }
        catalogue::Elsewhere::Function(_) => Ok(()),
    }
}
