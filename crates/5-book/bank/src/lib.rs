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

use std::path::Path;
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

/// Compares every answer of an exercise, or of a variant of it, and does what the command says:
///
/// ```text
/// keep              keep the numbers of seed 0 (of a variant none are kept)
/// compare           compare them with those that are kept
/// seeds 0 20        compare the answers with each other, on the inputs of these seeds
/// hand-out 17 PATH  write the numbers of a seed, as they belong to files without answers
/// ```
pub fn run(name: &str, variant: Option<&str>, mains: &[Main]) -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let exercise = catalogue::find(name).and_then(|exercise| match variant {
        Some(variant) => exercise.varied(variant),
        None => Ok(exercise),
    });
    let outcome = exercise.map_err(|fault| vec![fault.to_string()]);
    match outcome.and_then(|exercise| done(&exercise, mains, &args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(faults) => {
            println!("{}", faults.join("\n"));
            ExitCode::FAILURE
        }
    }
}

/// What the command says.
fn done(exercise: &Exercise, mains: &[Main], args: &[&str]) -> Result<(), Vec<String>> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| vec![format!("{text}?")]);
    let unwritten = |path: &Path, error| vec![format!("{}: {error}", path.display())];
    match *args {
        ["seeds", from, to] => {
            let seeds = number(from)?..number(to)?;
            let faults = seeds.filter_map(|seed| compared(exercise, mains, seed).err());
            let faults: Vec<String> = faults.flatten().collect();
            if faults.is_empty() { Ok(()) } else { Err(faults) }
        }
        ["hand-out", seed, path] => {
            let seed = number(seed)?;
            let (_, mut kept) = compared(exercise, mains, seed)?;
            let files = exercise.handed_out(seed).map_err(|it| vec![it.to_string()])?;
            kept.made_from = files.fingerprint();
            let path = Path::new(path);
            fs::write(path, kept.write()).map_err(|error| unwritten(path, error))
        }
        _ => {
            let (tried, kept) = compared(exercise, mains, 0)?;
            if exercise.variant.is_some() {
                return Ok(());
            }
            let path = Numbers::path(&exercise.name);
            let verdicts = verdicts::verdicts(exercise, &tried, &kept);
            if args == ["compare"] {
                let faults = faults::differs(&path, &kept);
                let faults = faults.into_iter().chain(verdicts::differ(&path, &verdicts));
                let faults: Vec<String> = faults.collect();
                return if faults.is_empty() { Ok(()) } else { Err(faults) };
            }
            let write = || {
                fs::create_dir_all(path.parent().unwrap_or(&path))?;
                fs::write(path.with_extension("txt"), verdicts)?;
                fs::write(&path, kept.write())
            };
            write().map_err(|error| unwritten(&path, error))
        }
    }
}

/// Every answer, tried on the inputs of a seed, and the numbers to keep of them; or all that is
/// wrong with them.
fn compared<'a>(
    exercise: &'a Exercise,
    mains: &[Main],
    seed: u64,
) -> Result<(Vec<Tried<'a>>, Numbers), Vec<String>> {
    let tried = tried(exercise, mains, seed);
    let kept = numbers(exercise, &tried, seed);
    let faults = faults::faults(exercise, &tried, &kept);
    match faults.is_empty() {
        true => Ok((tried, kept)),
        false => Err(faults),
    }
}

/// Every answer, with what it gave.
fn tried<'a>(exercise: &'a Exercise, mains: &[Main], seed: u64) -> Vec<Tried<'a>> {
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
        let record = record(main, seed).expect("the main of an answer calls its check");
        Tried { role, line, main, record }
    };
    roles.into_iter().zip(mains).map(with_record).collect()
}

/// What is kept of these answers: the solution's numbers, and those of each mistake that are
/// not kept of it already.
fn numbers(exercise: &Exercise, tried: &[Tried], seed: u64) -> Numbers {
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
        seed,
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
