//! A small class, and submissions that cheat.

mod cheats;
mod defence;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::report::Class;

/// The program of a mistake, from the sheet of its exercise; of the solution for no id.
fn source(exercise: &str, id: &str) -> String {
    let exercise = catalogue::find(exercise).unwrap();
    let Some(mistake) = exercise.sheet.mistakes.iter().find(|it| it.id == id) else {
        return exercise.solution.text;
    };
    exercise.source(&mistake.answers[0], mistake.of.as_deref()).unwrap()
}

fn write(folder: &Path, file: &str, text: impl AsRef<[u8]>) {
    workshop::step::write(&folder.join(file), text).unwrap();
}

fn zip_of(path: &Path, files: &[(&str, &str)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

/// The names of all exercises.
fn names() -> BTreeSet<String> {
    catalogue::all().unwrap().iter().map(|it| it.name.clone()).collect()
}

fn class_of(folder: &Path, sandbox: Sandbox) -> Class {
    let submissions = submissions::read(&[folder.to_owned()], &names()).unwrap();
    checked(submissions, None, sandbox, None, "python3").unwrap()
}

/// The verdict on an answer, and the id of its mistake.
fn verdict<'a>(class: &'a Class, student: &str, exercise: &str) -> (&'a str, &'a str) {
    let student = class.students.iter().find(|it| it.student == student);
    let checked = &student.expect("a student").exercises[exercise];
    (checked.verdict, checked.ids.first().map_or("", |id| id))
}

const NUMBERS: &str = "\
import learn
learn.answer(lambda q, k, d_model: [[0.5 for _ in k] for _ in q])
";

/// What is handed in: of each kind something, right and wrong.
fn hand_in(class: &Path) {
    let right = source("scale", "");
    write(class, "Ada L/exercises/scale.rs", &right);
    write(class, "Ada L/exercises/softmax.rs", source("softmax", "softmax-base-two"));
    write(class, "Ada L/exercises/learn.py", "");
    write(class, "Ada L/notes.odt", "");
    write(class, "Zoë/scale.rs", source("scale", "scaled-by-d-model"));
    write(class, "Zoë/scores.rs", "fn main() {");
    write(class, "Zoë/scale.json", "[1, 2]");
    write(
        class,
        "untouched/exercises/scale.rs",
        catalogue::find("scale").unwrap().given(),
    );
    write(class, "untouched/Cargo.toml", "[package]");
    write(class, "untouched/crates/5-book/exercises/set/scale.rs", &right);
    write(class, "numbers/scale.json", "[[[0.5, 0.5]]]");
    write(class, "python/scale.py", NUMBERS);
    write(class, "test/write_a_test.rs", source("write_a_test", ""));
    zip_of(&class.join("zipped.zip"), &[("top/exercises/scale.rs", &right)]);
    zip_of(&class.join("leaves.zip"), &[("../Zoë/scale.rs", &right)]);
    fs::create_dir(class.join("linked")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        class.join("Ada L/exercises/scale.rs"),
        class.join("linked/scale.rs"),
    )
    .unwrap();
}

#[test]
fn a_class_is_read_checked_and_reported() {
    let place = tempfile::tempdir().unwrap();
    let class = place.path().join("class");
    hand_in(&class);
    let checked = class_of(&class, Sandbox::found());

    let of = |student, exercise| verdict(&checked, student, exercise);
    assert_eq!(of("Ada L", "scale"), ("passed", ""));
    assert_eq!(of("Ada L", "softmax"), ("mistake", "softmax-base-two"));
    assert_eq!(of("Zoë", "scale"), ("mistake", "scaled-by-d-model"));
    assert_eq!(of("Zoë", "scores"), ("not-checked", ""));
    assert_eq!(of("untouched", "scale"), ("not-written", ""));
    assert_eq!(of("numbers", "scale"), ("not-checked", ""));
    assert_eq!(of("test", "write_a_test"), ("passed", ""));
    assert_eq!(of("zipped", "scale"), ("passed", ""));
    let python = workshop_has_python();
    assert_eq!(
        of("python", "scale"),
        (if python { "unknown" } else { "not-checked" }, "")
    );

    let text = checked.text();
    for expected in [
        "1 file is no answer: notes.odt",
        "leaves: leaves.zip is refused: the entry \"../Zoë/scale.rs\" leaves the folder",
        "Zoë: scale.json is left out beside scale.rs",
        "Zoë: scores: it does not compile: error: this file contains an unclosed delimiter",
        "numbers: scale: 1 answers were found",
        "   1 × divides by √d_model\n",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(cfg!(not(unix)) || text.contains("linked: scale.rs is a link"), "{text}");
    assert!(text.contains("\nZoë ") && text.contains(" ✗ scaled-by-d-model"), "{text}");
    let report = place.path().join("report");
    super::write(&checked, &report).unwrap();
    files_are_as_they_should_be(&checked, &report);
}

/// What is written is whole, and nobody's name or solution is where it should not be.
fn files_are_as_they_should_be(checked: &Class, report: &Path) {
    let read = |file: &str| fs::read_to_string(report.join(file)).unwrap();
    let csv = read("class.csv");
    assert!(csv.contains("\nZoë,scale,4,scale.rs,mistake,scaled-by-d-model,"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&read("class.json")).unwrap();
    assert_eq!(json["sandbox"], checked.sandbox);
    let page = read("class.html");
    assert!(page.contains("<h2>Divides by √d_model</h2>"), "{page}");
    for student in &checked.students {
        assert!(!page.contains(&format!(">{}<", student.student)), "{page}");
        let comment = read(&format!("comments/{}.md", student.student));
        for name in student.exercises.keys() {
            let exercise = catalogue::find(name).unwrap();
            assert_eq!(exercise.given_away(&comment), None, "{comment}");
        }
    }
    assert!(
        read("comments/Zoë.md")
            .contains("✗ 04 · Scale: your answer divides by √d_model.")
    );
}

fn workshop_has_python() -> bool {
    std::process::Command::new("python3").arg("-V").output().is_ok()
}

#[test]
fn a_run_is_kept_by_its_text_and_equal_texts_run_once() {
    let place = tempfile::tempdir().unwrap();
    let (class, kept) = (place.path().join("class"), place.path().join("kept"));
    let n_kept = || fs::read_dir(&kept).map_or(0, Iterator::count);
    let check = || {
        let submissions =
            submissions::read(std::slice::from_ref(&class), &names()).unwrap();
        let class =
            checked(submissions, None, Sandbox::found(), Some(kept.clone()), "python3");
        class
            .unwrap()
            .students
            .iter()
            .map(|it| it.exercises["scale"].verdict)
            .collect::<Vec<_>>()
    };
    write(&class, "a/scale.rs", source("scale", ""));
    write(&class, "b/scale.rs", source("scale", ""));
    assert_eq!((check(), n_kept()), (vec!["passed", "passed"], 1));
    let path = fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    fs::write(&path, r#"{"Failed":"kept"}"#).unwrap();
    assert_eq!((check(), n_kept()), (vec!["not-checked", "not-checked"], 1));
    write(&class, "b/scale.rs", source("scale", "") + "\n");
    assert_eq!((check(), n_kept()), (vec!["not-checked", "passed"], 2));
}

#[test]
fn a_set_of_another_folder_is_what_an_answer_is_compared_with() {
    let place = tempfile::tempdir().unwrap();
    let own = catalogue::folder();
    let sets = place.path().join("sets");
    for end in ["set/scale.md", "set/scale.rs", "numbers/scale.bin"] {
        let from = own.parent().unwrap().join(end);
        for student in ["Ada", "Bob"] {
            workshop::step::copy(&from, &sets.join(student).join(end)).unwrap();
        }
    }
    let class = place.path().join("class");
    for student in ["Ada", "Bob"] {
        write(&class, &format!("{student}/scale.rs"), source("scale", ""));
    }
    // As if Bob's sheet were another than the one that his numbers were made from.
    let sheet = fs::read_to_string(sets.join("Bob/set/scale.rs")).unwrap();
    write(&sets, "Bob/set/scale.rs", sheet.replace("sqrt()", "cbrt()"));
    let submissions = submissions::read(std::slice::from_ref(&class), &names()).unwrap();
    let class =
        checked(submissions, Some(&sets), Sandbox::found(), None, "python3").unwrap();
    assert_eq!(verdict(&class, "Ada", "scale"), ("passed", ""));
    let refused = class.students[1].refused.join("\n");
    assert!(refused.contains("has changed since"), "{refused}");
}
