//! Runs with written lines instead of a reader.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use super::super::ask::Desk;
use super::super::{Args, run_at};

const FIVE: Args = Args { chapter: None, all: false, list: false };
const LIST: Args = Args { list: true, ..FIVE };

fn of_chapter(chapter: u8) -> Args {
    Args { chapter: Some(chapter), ..FIVE }
}

/// What is said when these lines are typed, with the folder of the answers left out.
fn played(args: &Args, folder: &Path, lines: &str) -> String {
    let mut said = Vec::new();
    let desk = Desk { from: lines.as_bytes(), to: &mut said, echoes: true };
    run_at(args, &super::CHAPTERS, folder.join("predictions.json"), desk).unwrap();
    let said = String::from_utf8(said).unwrap();
    said.replace(&folder.display().to_string(), "…").replace('\\', "/")
}

#[test]
fn two_runs_as_a_person_sees_them() {
    let folder = tempdir().unwrap();
    let lines = "66048\n589,824\n768\n\n8e4\n80 000\n";
    let first =
        played(&of_chapter(6), folder.path(), "~263K\nmany\n?\n0\n\n32768\n2,097,152\n");
    insta::assert_snapshot!("first_run", first);
    let second = played(&of_chapter(6), folder.path(), lines);
    insta::assert_snapshot!("next_run", second);
    insta::assert_snapshot!("list_after_both", played(&LIST, folder.path(), ""));
}

#[test]
fn choices_and_maps_as_a_person_sees_them() {
    let folder = tempdir().unwrap();
    let said = played(&of_chapter(16), folder.path(), "that\n1\n64x24\n1\nq\n");
    insta::assert_snapshot!("choices", said);
}

#[test]
fn the_end_of_the_input_keeps_what_was_answered() {
    for end in ["", "q\n", "Q\nnever read\n"] {
        let folder = tempdir().unwrap();
        let said = played(&FIVE, folder.path(), &format!("3\npilot\n{end}"));
        assert!(said.contains("\n2 right, 0 missed.\n"), "{said}");
        let kept = fs::read_to_string(folder.path().join("predictions.json")).unwrap();
        assert!(kept.contains("flew-head-11"), "{kept}");
        let again = played(&FIVE, folder.path(), "");
        assert!(again.contains("1 of 5 · chapter 2,"), "{again}");
    }
}

#[test]
fn without_an_answer_nothing_is_kept() {
    let folder = tempdir().unwrap();
    for lines in ["", "q\n", "\n\n\n\n\n", "?\nnonsense\nq\n"] {
        let said = played(&FIVE, folder.path(), lines);
        assert!(said.ends_with("\nNothing was answered.\n"), "{said}");
        assert!(!folder.path().join("predictions.json").exists());
    }
}

#[test]
fn what_was_missed_is_asked_first_the_next_time() {
    let folder = tempdir().unwrap();
    played(&FIVE, folder.path(), "3\nplane\n0.5\n");
    let said = played(&FIVE, folder.path(), "loan\n");
    assert!(said.contains("5 questions of 65, 1 of them missed before"), "{said}");
    assert!(
        said.contains("1 of 5 · chapter 1, One look is not enough · again"),
        "{said}"
    );
    let third = played(&FIVE, folder.path(), "");
    assert!(!third.contains("again") && third.contains("chapter 2,"), "{third}");
}

#[test]
fn what_was_missed_comes_back_with_other_numbers() {
    let folder = tempdir().unwrap();
    let first = played(&of_chapter(7), folder.path(), "20\n");
    assert!(first.contains("6 queries and 6 keys"), "{first}");
    assert!(first.contains("It is 21, not 20."), "{first}");
    // The old answer is of no use any more.
    let second = played(&of_chapter(7), folder.path(), "21\n");
    assert!(second.contains("7 queries and 7 keys"), "{second}");
    assert!(second.contains("It is 28, not 21."), "{second}");
    let third = played(&of_chapter(7), folder.path(), "36\n");
    assert!(third.contains("8 queries and 8 keys"), "{third}");
    assert!(third.contains("Right: 36."), "{third}");
}

#[test]
fn what_was_skipped_keeps_its_numbers() {
    let folder = tempdir().unwrap();
    for _ in 0..2 {
        let said = played(&of_chapter(7), folder.path(), "\nq\n");
        assert!(said.contains("6 queries and 6 keys"), "{said}");
    }
}

#[test]
fn a_list_changes_nothing_and_tells_no_answer() {
    let folder = tempdir().unwrap();
    let said = played(&LIST, folder.path(), "");
    let tally = "65 questions: 65 new, 0 missed, 0 right.\n";
    assert!(said.ends_with(tally), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(folder.path().join("predictions.json"), "broken").unwrap();
    let said = played(&LIST, folder.path(), "");
    assert!(said.contains("predictions.json cannot be used"), "{said}");
    assert!(said.ends_with(tally), "{said}");
    let kept = fs::read_to_string(folder.path().join("predictions.json")).unwrap();
    assert_eq!(kept, "broken");
}

#[test]
fn a_broken_file_is_named_and_the_questions_come() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("predictions.json"), "{\"version\": 1,").unwrap();
    let said = played(&FIVE, folder.path(), "3\nq\n");
    assert!(said.contains("predictions.unused-1.json"), "{said}");
    assert!(said.contains("\n1 right, 0 missed.\n"), "{said}");
}

#[test]
fn where_nothing_can_be_kept_the_questions_come() {
    let folder = tempdir().unwrap();
    let in_the_way = folder.path().join("state");
    fs::write(&in_the_way, "a file, and no folder").unwrap();
    let said = played(&FIVE, &in_the_way, "3\nplane\nq\n");
    assert!(said.contains("Your answers are not kept."), "{said}");
    assert!(said.contains("\n1 right, 1 missed.\n"), "{said}");
    assert!(!said.contains("Kept in"), "{said}");
}

#[test]
fn bytes_that_are_no_text_are_unreadable_and_asked_again() {
    let folder = tempdir().unwrap();
    let mut said = Vec::new();
    let from: &[u8] = b"\xff\xfe\n3\nq\n";
    let desk = Desk { from, to: &mut said, echoes: false };
    let path = folder.path().join("predictions.json");
    run_at(&FIVE, &super::CHAPTERS, path, desk).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("cannot be read") && said.contains("1 right"), "{said}");
}

#[test]
fn where_all_are_known_it_says_so_and_all_asks_again() {
    let folder = tempdir().unwrap();
    let answers = "every row\n0\napart\n";
    played(&of_chapter(3), folder.path(), answers);
    let said = played(&of_chapter(3), folder.path(), "");
    assert_eq!(said, "You know all of them: 3 questions. --all asks them again.\n");
    let all = Args { all: true, ..of_chapter(3) };
    // The numbers are others, and one of the answers is too.
    let said = played(&all, folder.path(), "every row\n0\nalike\n");
    assert!(said.contains("1 of 3 · chapter 3, One head · again"), "{said}");
    assert!(said.contains("\n3 right, 0 missed.\n"), "{said}");
}
