use std::collections::BTreeMap;

use super::*;
use crate::draw::students;
use crate::workspace::{PLACE, is_left_out, without_solution};

#[test]
fn a_seed_draws_the_same_each_time_and_every_variant_some_time() {
    let exercises = catalogue::all().unwrap();
    let set = |seed| Set::of_class(seed, exercises);
    assert_eq!(set(17), set(17));
    let anna = Set::of_student(17, "Anna", exercises);
    assert_eq!(anna, Set::of_student(17, "Anna", exercises));
    assert_ne!(anna.seed, Set::of_student(17, "Ben", exercises).seed);
    assert_eq!(anna.seed, 46_664_165, "as on every machine");
    let mut n_drawn = BTreeMap::new();
    for seed in 0..200 {
        for drawn in set(seed).drawn {
            *n_drawn.entry(drawn).or_insert(0) += 1;
        }
    }
    for exercise in exercises {
        let n = |variant: Option<&str>| {
            let drawn = (exercise.name.clone(), variant.map(str::to_owned));
            n_drawn.get(&drawn).copied().unwrap_or(0)
        };
        let variants = &exercise.sheet.variants;
        let expected = if variants.is_empty() { 200 } else { 0 };
        assert_eq!(n(None), expected, "{}", exercise.name);
        for variant in variants {
            let n = n(Some(&variant.id)) * variants.len();
            assert!((140..=260).contains(&n), "{} {}: {n}", exercise.name, variant.id);
        }
    }
}

#[test]
fn names_of_students_are_names_of_folders() {
    let read = |text: &str| students(text, Path::new("class.txt"));
    assert!(read("Anna Ö.").is_err(), "ends with a point");
    assert_eq!(read("Anna Ö\r\n\n Ben \n").unwrap(), ["Anna Ö", "Ben"]);
    for (text, fault) in [
        ("Anna\n../x", "class.txt:2: \"../x\" cannot be the name of a folder"),
        ("a\\b", "class.txt:1: \"a\\\\b\" cannot be the name of a folder"),
        ("Anna\nBen\nanna", "class.txt:3: \"anna\" is there already"),
        ("\n", "class.txt: no name"),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), fault);
    }
}

#[test]
fn what_is_written_of_an_exercise_has_no_answer_in_it() {
    let place = tempfile::tempdir().unwrap();
    for exercise in catalogue::all().unwrap() {
        let variant = exercise.sheet.variants.first().map(|it| it.id.as_str());
        let version = version(exercise, variant).unwrap();
        write::exercise(place.path(), &version, 17).unwrap();
        let file = place.path().join("set").join(&exercise.name);
        let [sheet, code] =
            ["md", "rs"].map(|end| read(&file.with_extension(end)).unwrap());
        let drawn = variant.map_or(String::new(), |id| format!(", variant {id}"));
        assert!(sheet.contains(&format!("\nHanded out: seed 17{drawn}\n")), "{sheet}");
        assert!(code.contains("todo!()") && !sheet.contains(" → "), "{sheet}");
        let both = sheet + &code;
        assert_eq!(exercise.given_away(&both), None, "{}", exercise.name);
        // A line of the solution that says something by itself.
        let lines = version.solution.answer().lines().map(str::trim);
        let lines = lines.filter(|line| line.len() > 50 && !line.starts_with("//"));
        for line in lines.filter(|line| !line.starts_with("pub fn")) {
            assert!(!both.contains(line), "{}: {line}", exercise.name);
        }
    }
}

fn args(folder: PathBuf, students: Option<PathBuf>) -> Args {
    Args { folder, seed: 17, exercise: vec!["scale".into()], students, workspace: false }
}

#[test]
fn what_is_there_stays_and_nothing_half_written_does() {
    let place = tempfile::tempdir().unwrap();
    let there = place.path().join("there");
    fs::create_dir(&there).unwrap();
    let refused = run(&args(there.clone(), None)).unwrap_err().to_string();
    assert!(refused.contains("there is there already"), "{refused}");
    let names = place.path().join("names");
    fs::write(&names, "a/b").unwrap();
    assert!(run(&args(place.path().join("new"), Some(names))).is_err());
    // One that fails when it has begun: no folder can be made within a file.
    assert!(run(&args(place.path().join("names/new"), None)).is_err());
    let left = fs::read_dir(place.path()).unwrap().count();
    assert_eq!(left, 2, "the folder and the file that were there");
}

#[test]
fn the_books_set_is_no_part_of_a_workspace() {
    for file in ["set/scale.rs", "set/scale.md", "numbers/scale.bin", "numbers/scale.txt"]
    {
        assert!(is_left_out(&format!("{}/{file}", PLACE)), "{file}");
    }
    for file in
        ["crates/5-book/exercises/src/lib.rs", "chapters/masks.md", "set/scale.rs"]
    {
        assert!(!is_left_out(file), "{file}");
    }
    let page = format!("# Scale\n\n{{{{#include {PLACE}/set/scale.rs}}}}\n\nDivide.\n");
    let left = "# Scale\n\nThis exercise was handed out without a solution.\n";
    assert_eq!(without_solution(&page), left);
    assert_eq!(without_solution("# All\n\nA table.\n"), "# All\n\nA table.\n");
}
