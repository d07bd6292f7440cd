//! The files of sets, and the numbers that the bank computes for them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use catalogue::Exercise;
use checks::mistakes::{Program, compiled};
use serde_json::{Map, Value, json};
use workshop::{at_once, step};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::draw::{Set, again};
use crate::version;
use crate::workspace::{self, PLACE};

/// A set, and where it goes.
struct Place<'a> {
    set: &'a Set,
    /// The folder above `set` and `numbers`.
    files: PathBuf,
    /// The folder of its solutions.
    solutions: PathBuf,
}

/// Writes every set, and the workspace around that of the class, into a folder.
///
/// Gives, of each set, the seed of the inputs of each exercise.
///
/// # Errors
/// An answer that does not compile, or is told apart from another under no seed.
pub fn all(
    folder: &Path,
    sets: &[Set],
    class: Option<&Set>,
    exercises: &[Exercise],
) -> Result<Vec<Seeds>> {
    let [students, solutions] =
        ["students", "teacher/solutions"].map(|it| folder.join(it));
    let mut places = Vec::new();
    for set in sets {
        let own = set.student.as_deref().unwrap_or_default();
        let [files, solutions] = [&students, &solutions].map(|it| it.join(own));
        places.push(Place { set, files, solutions });
    }
    if let Some(set) = class {
        let workspace = folder.join("workspace");
        workspace::copy(&workspace)?;
        let solutions = match sets {
            [only] if only == set => solutions,
            // Another set than those of the students.
            _ => folder.join("teacher/solutions-of-workspace"),
        };
        places.push(Place { set, files: workspace.join(PLACE), solutions });
    }
    let drawn: BTreeSet<_> = places.iter().flat_map(|it| &it.set.drawn).collect();
    let mut versions = Vec::new();
    for exercise in exercises {
        for (_, variant) in drawn.iter().filter(|(name, _)| *name == exercise.name) {
            versions.push(version(exercise, variant.as_deref())?);
        }
    }
    let programs = compiled(&versions)?;
    places.iter().map(|place| place.write(&versions, &programs)).collect()
}

/// By which seed the inputs of each exercise are drawn.
pub type Seeds = BTreeMap<String, u64>;

impl Place<'_> {
    fn write(&self, versions: &[Exercise], programs: &[Program]) -> Result<Seeds> {
        let Self { set, files, solutions } = self;
        let is_drawn = |it: &&Exercise| {
            let known = (&it.name, &it.variant);
            set.drawn.iter().any(|(name, variant)| (name, variant) == known)
        };
        fs::create_dir_all(files.join("numbers"))?;
        let drawn: Vec<&Exercise> = versions.iter().filter(is_drawn).collect();
        let outcomes = at_once::map(&drawn, at_once::n_processors(), |exercise| {
            let is_of = |it: &&Program| std::ptr::eq(it.exercise, *exercise);
            let program = programs.iter().find(is_of);
            let seed = match program {
                Some(program) => numbers(program, files, set.seed)?,
                // `write_a_test` compares no numbers.
                None => set.seed,
            };
            self::exercise(files, exercise, seed)?;
            let solution = solutions.join(&exercise.name).with_extension("rs");
            step::write(&solution, &exercise.solution.text)?;
            Ok((exercise.name.clone(), seed))
        });
        let faults = outcomes.iter().filter_map(|it: &Result<_>| it.as_ref().err());
        let faults: Vec<String> = faults.map(|it| format!("{it:#}")).collect();
        ensure!(faults.is_empty(), "{}", faults.join("\n"));
        if set.student.is_some() {
            archive(files)?;
        }
        Ok(outcomes.into_iter().flatten().collect())
    }
}

/// The two files of an exercise.
pub fn exercise(place: &Path, exercise: &Exercise, seed: u64) -> Result<()> {
    let out = exercise.handed_out(seed)?;
    let file = place.join("set").join(&out.name);
    step::write(&file.with_extension("rs"), &out.solution.text)?;
    step::write(&file.with_extension("md"), out.sheet.handed_out_text())
}

/// How often inputs are drawn again that do not tell all mistakes of an exercise apart.
const DRAWS: u64 = 20;

/// Writes the numbers of an exercise, and gives the seed of its inputs: that of the set, or the
/// first of those drawn after it whose inputs tell all mistakes apart.
fn numbers(program: &Program, place: &Path, seed: u64) -> Result<u64> {
    let name = &program.exercise.name;
    let file = place.join("numbers").join(name).with_extension("bin");
    let mut fault = None;
    for draw in 0..DRAWS {
        let seed = if draw == 0 { seed } else { again(seed, name, draw) };
        let text = seed.to_string();
        match program.run(["hand-out".as_ref(), text.as_ref(), file.as_os_str()]) {
            Ok(()) => return Ok(seed),
            Err(error) => fault = Some(error),
        }
    }
    Err(fault.unwrap_or_else(|| anyhow!("{name} was not drawn")))
}

/// What was drawn.
///
/// # Errors
/// A file that cannot be written.
pub fn record(file: &Path, seed: u64, sets: &[Set], seeds: &[Seeds]) -> Result<()> {
    let of = |(set, seeds): (&Set, &Seeds)| {
        let drawn = set.drawn.iter().map(|(name, variant)| {
            (name.clone(), json!({ "variant": variant, "seed": seeds.get(name) }))
        });
        json!({ "seed": set.seed, "exercises": drawn.collect::<Map<_, _>>() })
    };
    let mut all = sets.iter().zip(seeds);
    let record = match sets {
        [Set { student: None, .. }] => all.next().map(of),
        _ => {
            let student = |it: (&Set, &Seeds)| Some((it.0.student.clone()?, of(it)));
            let students: Map<String, Value> = all.filter_map(student).collect();
            Some(json!({ "seed": seed, "students": students }))
        }
    };
    step::write(file, serde_json::to_string_pretty(&record)? + "\n")
}

/// A set as a file that replaces another's when it is unpacked in a workspace.
fn archive(place: &Path) -> Result<()> {
    let mut path = place.as_os_str().to_owned();
    path.push(".zip");
    let failed = || Path::new(&path).display().to_string();
    let mut zip = ZipWriter::new(File::create(&path).with_context(failed)?);
    for part in ["set", "numbers"] {
        let mut files: Vec<PathBuf> = fs::read_dir(place.join(part))?
            .map(|entry| entry.map(|it| it.path()))
            .collect::<io::Result<_>>()?;
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{PLACE}/{part}/{name}");
            zip.start_file(name, SimpleFileOptions::default()).with_context(failed)?;
            zip.write_all(&fs::read(&file)?).with_context(failed)?;
        }
    }
    zip.finish().with_context(failed)?;
    Ok(())
}
