//! The numbers of every mistake: computed from the sheets' edits, compared, and kept.
//!
//! `cargo learn mistakes` makes a program of each exercise, in which every answer of its sheet
//! stands as a module: the solution, the other right answers, each mistake, and the answers
//! that get another verdict. That program is [`run`] and nothing else. It calls each of them on
//! the inputs of the exercise, and says with file and line what cannot be: a right answer that
//! differs from the solution, a mistake that is right, that does what another does, or that a
//! check would call by another name.
//!
//! The one decision: **an answer that is checked links none of this.** It has the numbers that
//! are kept, and no code that computes them.

mod faults;
mod verdicts;

use std::process::ExitCode;
use std::{env, fs};

use catalogue::Exercise;
use exercises::{CaseNumbers, Numbers, Outcome, Record, Wrong, record};

/// The `main` of an answer, which calls its check.
pub type Main = fn() -> ExitCode;

/// An answer of a sheet, and what it gave.
struct Tried<'a> {
    role: Role<'a>,
    /// Where it stands in the sheet; 0 for the solution.
    line: usize,
    main: Main,
    record: Record,
}

/// What an answer is in its sheet.
#[derive(Clone, Copy)]
enum Role<'a> {
    /// The solution, or another right answer.
    Right,
    /// The place of a mistake, and of the answer among those that make it.
    Mistake(usize, usize),
    /// An answer that should get this verdict.
    Other(&'a str),
}

/// Compares every answer of an exercise, and keeps the numbers, or, where the command says
/// `compare`, compares them with those that are kept.
pub fn run(name: &str, mains: &[Main]) -> ExitCode {
    match outcome(name, mains) {
        Ok(()) => ExitCode::SUCCESS,
        Err(faults) => {
            println!("{}", faults.join("\n"));
            ExitCode::FAILURE
        }
    }
}

fn outcome(name: &str, mains: &[Main]) -> Result<(), Vec<String>> {
    let exercise = catalogue::find(name).map_err(|fault| vec![fault.to_string()])?;
    let tried = tried(&exercise, mains);
    let kept = numbers(&exercise, &tried);
    let mut faults = faults::faults(&exercise, &tried, &kept);
    if !faults.is_empty() {
        return Err(faults);
    }
    let path = Numbers::path(name);
    let verdicts = verdicts::verdicts(&exercise, &tried, &kept);
    if env::args().nth(1).as_deref() == Some("compare") {
        faults.extend(faults::differs(&path, &kept));
        faults.extend(verdicts::differ(&path, &verdicts));
        return if faults.is_empty() { Ok(()) } else { Err(faults) };
    }
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path.with_extension("txt"), verdicts)?;
        fs::write(&path, kept.write())
    };
    write().map_err(|error| vec![format!("{}: {error}", path.display())])
}

/// Every answer, with what it gave.
fn tried<'a>(exercise: &'a Exercise, mains: &[Main]) -> Vec<Tried<'a>> {
    let sheet = &exercise.sheet;
    let mut roles = vec![(Role::Right, 0)];
    roles.extend(sheet.right.iter().map(|right| (Role::Right, right.line)));
    for (place, mistake) in sheet.mistakes.iter().enumerate() {
        let answers = mistake.answers.iter().enumerate();
        roles.extend(
            answers.map(|(nth, answer)| (Role::Mistake(place, nth), answer.line)),
        );
    }
    for other in &sheet.others {
        let role = Role::Other(other.verdict.as_str());
        roles.extend(other.answers.iter().map(|answer| (role, answer.line)));
    }
    assert_eq!(roles.len(), mains.len(), "the program was made from another sheet");
    let with_record = |((role, line), &main): ((Role<'a>, usize), &Main)| {
        let record = record(main, 0).expect("the main of an answer calls its check");
        Tried { role, line, main, record }
    };
    roles.into_iter().zip(mains).map(with_record).collect()
}

/// What is kept of these answers: the solution's numbers, and those of each mistake that are
/// not kept of it already.
fn numbers(exercise: &Exercise, tried: &[Tried]) -> Numbers {
    let solution = &tried[0].record;
    let cases = solution.cases.iter().zip(&solution.outcomes);
    let cases = cases.map(|((sizes, square, _), outcome)| {
        let right = match outcome {
            Outcome::Value(parts) => parts.clone(),
            Outcome::Panicked(_) => Vec::new(),
        };
        let labels = match right.len() {
            1 => vec!["the answer".to_owned()],
            n => (0..n).map(|part| (solution.label)(part, n)).collect(),
        };
        CaseNumbers { sizes: sizes.clone(), square: *square, right, labels }
    });
    let mut kept = Numbers {
        name: exercise.name.clone(),
        made_from: exercise.fingerprint(),
        cases: cases.collect(),
        wrong: Vec::new(),
    };
    for answer in tried {
        let Role::Mistake(mistake, nth) = answer.role else { continue };
        let outcomes = answer.record.numbers(&kept.cases);
        let is_known = |known: &Wrong| {
            known.mistake == mistake
                && faults::same(known, &outcomes, &kept.cases, solution)
        };
        if !kept.wrong.iter().any(is_known) {
            let id = exercise.sheet.mistakes[mistake].id.clone();
            kept.wrong.push(Wrong { mistake, answer: nth, id, outcomes });
        }
    }
    kept
}
