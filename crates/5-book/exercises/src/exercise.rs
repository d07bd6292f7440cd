//! What an exercise is, and its check.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::process::ExitCode;

use attention::Matrix;

use crate::compare::{normalised, same_answer, thinned};
use crate::defence::{self, Change, Probe};
use crate::outcome::{self, Outcome};
use crate::{
    Answer, Array, Arrays, CaseNumbers, Numbers, Parts, Place, Report, Untyped, Verdict,
    diagnose, message,
};

/// An exercise: a function to be written, and what it is given.
///
/// `I` is what the function is given, `O` what it gives back. All that is said of it stands in
/// its sheet, and its right numbers in a file.
pub struct Exercise<I: 'static, O: 'static> {
    /// The name of its files: `scale`.
    pub name: &'static str,
    /// Inputs that tell all mistakes apart, the simplest first. What is random in them is so by
    /// the seed; the numbers that are kept say theirs.
    pub cases: fn(seed: u64) -> Vec<Case<I>>,
    /// How an entry of the answer is called: `query 2, key 4`.
    pub place: fn(&I, Place) -> String,
    /// What it gives back.
    pub answer: PhantomData<fn() -> O>,
}

/// One input, and how it is called in a message.
pub struct Case<I> {
    /// Its sizes, as a message names them: `5 queries, 7 keys, d_k 4`.
    pub sizes: String,
    /// Whether sizes are equal that may differ, so that a wrong order of rows and columns
    /// does not show. An answer that is right only here is told so.
    pub square: bool,
    /// What the answer is given.
    pub input: I,
}

/// What one answer gave, for those who keep its numbers.
#[derive(Debug, Clone)]
pub struct Record {
    /// The name of the exercise.
    pub name: &'static str,
    /// By how much an entry may differ.
    pub tolerance: f64,
    /// Whether the length of a list belongs to what is asked.
    pub is_list: bool,
    /// How many matrices at the end count only where all before them are right.
    pub n_behind: usize,
    /// The sizes of each case, whether they are equal, and what the answer is given.
    pub cases: Vec<(String, bool, Vec<Array>)>,
    /// What each matrix is called.
    pub label: fn(usize, usize) -> String,
    /// What came of each case.
    pub outcomes: Vec<Outcome<Vec<Matrix>>>,
}

impl Record {
    /// What came of each case as it is kept: nothing where it is right.
    pub fn numbers(&self, cases: &[CaseNumbers]) -> Vec<Option<Parts>> {
        let kept = |(outcome, case): (&Outcome<Vec<Matrix>>, &CaseNumbers)| {
            let outcome = outcome.clone();
            match normalised(outcome, &case.right, self.n_behind, self.tolerance) {
                Outcome::Value(parts) => {
                    let is_right = same_answer(&parts, &case.right, self.tolerance);
                    (!is_right).then(|| Some(thinned(&parts)))
                }
                Outcome::Panicked(_) => Some(None),
            }
        };
        self.outcomes.iter().zip(cases).map(kept).collect()
    }
}

/// What a check does in place of printing its verdict.
enum Ask {
    /// It notes what the answer gives on the inputs of a seed.
    Record(u64),
    /// It notes the verdict, beside these numbers.
    Verdict(Numbers),
}

thread_local! {
    /// Whether the check of this thread is to note what an answer gave, or what is said of it.
    static ASKED: Cell<Option<Ask>> = const { Cell::new(None) };
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
    static VERDICT: RefCell<Option<Verdict>> = const { RefCell::new(None) };
}

/// Runs the `main` of an answer, whose check then gives no verdict: what it gives on every case
/// of a seed is noted.
pub fn record(main: fn() -> ExitCode, seed: u64) -> Option<Record> {
    ASKED.set(Some(Ask::Record(seed)));
    main();
    RECORD.take()
}

/// The verdict on an answer, by its `main`, beside these numbers.
///
/// # Panics
/// If that is the `main` of no answer.
pub fn verdict(main: fn() -> ExitCode, kept: &Numbers) -> Verdict {
    ASKED.set(Some(Ask::Verdict(kept.clone())));
    main();
    VERDICT.take().expect("the main of an answer calls its check")
}

impl<I: Arrays, O: Answer> Exercise<I, O> {
    /// An exercise of this name.
    pub const fn new(
        name: &'static str,
        cases: fn(seed: u64) -> Vec<Case<I>>,
        place: fn(&I, Place) -> String,
    ) -> Self {
        Self { name, cases, place, answer: PhantomData }
    }

    /// Checks an answer, prints the verdict, and gives the exit code that rustlings asks
    /// for. An answer that does not come to an end is stopped.
    pub fn check(&'static self, answer: impl Fn(&I) -> O + Send + 'static) -> ExitCode {
        match ASKED.take() {
            Some(Ask::Record(seed)) => {
                RECORD.set(Some(self.record(answer, seed)));
                return ExitCode::SUCCESS;
            }
            Some(Ask::Verdict(kept)) => {
                VERDICT.set(Some(self.verdict(&kept, answer)));
                return ExitCode::SUCCESS;
            }
            None => {}
        }
        let words = outcome::words();
        if let Some(seed) = outcome::seed() {
            words.outcomes(outcome::within_time_limit(move || {
                let mut outcomes = self.record(&answer, seed).outcomes;
                outcomes.extend(self.outcomes_of_probes(seed, answer));
                outcomes
            }));
            return ExitCode::SUCCESS;
        }
        let read = catalogue::find(self.name).map_err(|fault| fault.to_string());
        let kept = read.and_then(|sheet| Ok((Numbers::of(&sheet)?, sheet)));
        let (kept, sheet) = match kept {
            Ok(read) => read,
            Err(fault) => {
                eprintln!("the check itself cannot begin: {fault}");
                return ExitCode::FAILURE;
            }
        };
        let verdict = outcome::within_time_limit(move || self.verdict(&kept, answer));
        let verdict = verdict.unwrap_or_else(|limit| Verdict::NoEnd {
            sizes: limit.running,
            seconds: limit.seconds,
        });
        words.say(&message(&sheet, &verdict), || Report::of(&(&sheet).into(), &verdict));
        if matches!(verdict, Verdict::Passed) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn verdict(&self, kept: &Numbers, answer: impl Fn(&I) -> O) -> Verdict {
        let cases = (self.cases)(kept.seed);
        match self.outcomes(&cases, kept, answer) {
            Some(outcomes) => {
                self.untyped(&cases, |shown| diagnose(shown, kept, &outcomes))
            }
            None => Verdict::NotWritten,
        }
    }

    /// What an answer gives on each case; nothing if it is not written.
    fn outcomes(
        &self,
        cases: &[Case<I>],
        kept: &Numbers,
        answer: impl Fn(&I) -> O,
    ) -> Option<Vec<Outcome<Vec<Matrix>>>> {
        let mut outcomes = Vec::with_capacity(cases.len());
        for (case, kept) in cases.iter().zip(&kept.cases) {
            outcome::now_running(&case.sizes);
            let outcome = outcome::call(|| answer(&case.input).parts());
            // A `todo!()` that only later inputs reach is a panic like any other.
            if outcomes.is_empty()
                && matches!(&outcome, Outcome::Panicked(panic) if panic.is_todo())
            {
                return None;
            }
            outcomes.push(normalised(outcome, &kept.right, O::N_BEHIND, O::TOLERANCE));
        }
        Some(outcomes)
    }

    /// What may be changed in the inputs of a seed.
    pub(crate) fn probes(&self, seed: u64) -> Vec<Probe> {
        let mut all = Vec::new();
        for (at, case) in (self.cases)(seed).iter_mut().enumerate() {
            if case.square {
                continue;
            }
            for (array, part) in case.input.changeable() {
                let changes = Change::all(&part).into_iter();
                all.extend(changes.map(|change| Probe { case: at, array, change }));
            }
        }
        defence::drawn(all, self.name, seed)
    }

    /// What an answer gives on the changed input of each probe.
    pub(crate) fn outcomes_of_probes(
        &self,
        seed: u64,
        answer: impl Fn(&I) -> O,
    ) -> Vec<Outcome<Vec<Matrix>>> {
        let outcome = |probe: Probe| {
            let mut input = (self.cases)(seed).swap_remove(probe.case).input;
            let mut parts = input.changeable().into_iter();
            if let Some((_, part)) = parts.find(|(name, _)| *name == probe.array) {
                probe.change.make(part);
            }
            outcome::call(|| answer(&input).parts())
        };
        self.probes(seed).into_iter().map(outcome).collect()
    }

    pub(crate) fn untyped<R>(
        &self,
        cases: &[Case<I>],
        work: impl FnOnce(&Untyped) -> R,
    ) -> R {
        work(&Untyped {
            name: self.name,
            tolerance: O::TOLERANCE,
            is_list: O::IS_LIST,
            n_behind: O::N_BEHIND,
            count: O::count,
            label: O::label,
            asked_for: O::asked_for,
            place: &|case, place| (self.place)(&cases[case].input, place),
        })
    }

    fn record(&self, answer: impl Fn(&I) -> O, seed: u64) -> Record {
        let cases = (self.cases)(seed);
        let outcome = |case: &Case<I>| {
            outcome::now_running(&case.sizes);
            outcome::call(|| answer(&case.input).parts())
        };
        Record {
            name: self.name,
            tolerance: O::TOLERANCE,
            is_list: O::IS_LIST,
            n_behind: O::N_BEHIND,
            label: O::label,
            outcomes: cases.iter().map(outcome).collect(),
            cases: cases
                .into_iter()
                .map(|case| (case.sizes, case.square, case.input.arrays("")))
                .collect(),
        }
    }
}
