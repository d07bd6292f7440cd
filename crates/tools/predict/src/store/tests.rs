//! What is kept, and what is never lost.

use tempfile::{TempDir, tempdir};

use super::super::answer::Verdict;
use super::*;

fn place() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("state").join("predictions.json");
    (folder, path)
}

fn attempt(given: &str) -> Attempt {
    Attempt { sitting: 1, seed: 0, given: given.into(), verdict: Verdict::Missed }
}

/// Every file in the folder of this one, with what it holds; the lock is no news.
fn beside(path: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut files: Vec<(String, String)> = entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    files.retain(|(name, _)| !name.ends_with(".lock"));
    files.sort();
    files
}

#[test]
fn each_answer_is_in_the_file_at_once_and_nothing_else_is_left() {
    let (_folder, path) = place();
    let (mut store, notices) = Store::open(path.clone());
    assert!(notices.is_empty() && beside(&path).is_empty(), "{notices:?}");
    assert_eq!(store.record("a", attempt("7")), None);
    assert_eq!(store.record("b", attempt("8")), None);
    let files = beside(&path);
    assert_eq!(files.len(), 1, "{files:?}");
    insta::assert_snapshot!(files[0].1, @r#"
    {
      "version": 1,
      "sittings": 1,
      "questions": {
        "a": [
          {
            "sitting": 1,
            "seed": 0,
            "given": "7",
            "verdict": "missed"
          }
        ],
        "b": [
          {
            "sitting": 1,
            "seed": 0,
            "given": "8",
            "verdict": "missed"
          }
        ]
      }
    }
    "#);

    let (again, notices) = Store::open(path.clone());
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(again.memory(), store.memory());
    assert_eq!(again.path(), Some(path.as_path()));
}

#[test]
fn a_file_that_cannot_be_used_is_moved_aside_whole() {
    let contents = [
        "",
        "{\"version\": 1, \"sittings\": 3",
        "[1, 2]",
        "{\"version\": 2, \"all\": \"new\"}",
        "{\"version\": 1, \"sittings\": 1, \"questions\": {}, \"more\": 0}",
        "{\"version\": 1, \"sittings\": -1, \"questions\": {}}",
    ];
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut told = String::new();
    for (nth, content) in contents.iter().enumerate() {
        fs::write(&path, content).unwrap();

        let (memory, notice) = Store::peek(&path);
        assert_eq!(memory, Memory::default());
        assert!(notice.unwrap().contains("cannot be used"));
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            *content,
            "a look changes nothing"
        );

        let (mut store, notices) = Store::open(path.clone());
        assert_eq!(notices.len(), 1, "{notices:?}");
        told += &notices[0].replace(&path.parent().unwrap().display().to_string(), "…");
        told += "\n";
        assert_eq!(store.record("a", attempt("7")), None);
        let files = beside(&path);
        let aside = format!("predictions.unused-{}.json", nth + 1);
        assert!(files.contains(&(aside, (*content).to_owned())), "{files:?}");
        assert_eq!(files.len(), nth + 2, "the new one, and all that were moved");
    }
    insta::assert_snapshot!(told, @"
    …/predictions.json cannot be used: EOF while parsing a value at line 1 column 0. It is now …/predictions.unused-1.json, and a new one is begun.
    …/predictions.json cannot be used: EOF while parsing an object at line 1 column 28. It is now …/predictions.unused-2.json, and a new one is begun.
    …/predictions.json cannot be used: trailing characters at line 1 column 5. It is now …/predictions.unused-3.json, and a new one is begun.
    …/predictions.json cannot be used: it is of version 2, and this is version 1. It is now …/predictions.unused-4.json, and a new one is begun.
    …/predictions.json cannot be used: unknown field `more`, expected one of `version`, `sittings`, `questions` at line 1 column 53. It is now …/predictions.unused-5.json, and a new one is begun.
    …/predictions.json cannot be used: invalid value: integer `-1`, expected u64 at line 1 column 29. It is now …/predictions.unused-6.json, and a new one is begun.
    ");
}

#[test]
fn a_file_that_breaks_during_a_sitting_is_moved_aside_too() {
    let (_folder, path) = place();
    let (mut store, _) = Store::open(path.clone());
    store.record("a", attempt("7"));
    fs::write(&path, "not ours").unwrap();
    let notice = store.record("b", attempt("8")).unwrap();
    assert!(notice.contains("predictions.unused-1.json"), "{notice}");
    let (again, _) = Store::open(path.clone());
    assert_eq!(again.memory().history("a").len(), 1, "what was answered is kept");
    assert_eq!(again.memory().history("b").len(), 1);
}

#[test]
fn two_sittings_at_once_keep_the_answers_of_both() {
    let (_folder, path) = place();
    let (mut one, _) = Store::open(path.clone());
    let (mut other, _) = Store::open(path.clone());
    one.record("a", attempt("7"));
    other.record("b", attempt("8"));
    one.record("c", attempt("9"));
    let (all, _) = Store::open(path);
    for question in ["a", "b", "c"] {
        assert_eq!(all.memory().history(question).len(), 1, "{question}");
    }
}

#[test]
fn where_nothing_can_be_written_it_says_so_once_and_goes_on() {
    let folder = tempdir().unwrap();
    let in_the_way = folder.path().join("state");
    fs::write(&in_the_way, "a file, and no folder").unwrap();
    let (mut store, notices) = Store::open(in_the_way.join("predictions.json"));
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("are not kept"), "{notices:?}");
    assert_eq!(store.record("a", attempt("7")), None);
    assert_eq!(store.memory().history("a").len(), 1);
    assert_eq!(store.path(), None);
}

#[test]
fn a_folder_in_the_files_place_is_left_alone() {
    let (_folder, path) = place();
    fs::create_dir_all(&path).unwrap();
    let (mut store, notices) = Store::open(path.clone());
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(store.record("a", attempt("7")), None);
    assert!(path.is_dir());
}

#[test]
fn a_folder_that_goes_away_is_made_again_if_it_can_be() {
    let (_folder, path) = place();
    let (mut store, _) = Store::open(path.clone());
    let folder = path.parent().unwrap();
    store.record("a", attempt("7"));
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(store.record("b", attempt("8")), None);
    let (again, _) = Store::open(path.clone());
    assert_eq!(again.memory(), store.memory());

    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, "a file, and no folder").unwrap();
    let notice = store.record("c", attempt("9")).unwrap();
    assert!(notice.contains("are not kept"), "{notice}");
    assert_eq!(store.record("d", attempt("10")), None);
    assert_eq!(store.memory().history("d").len(), 1);
}

#[test]
fn many_answers_from_several_sittings_at_once_are_all_kept() {
    const EACH: usize = 10;
    let (_folder, path) = place();
    std::thread::scope(|scope| {
        for who in ["a", "b", "c"] {
            let path = path.clone();
            scope.spawn(move || {
                let (mut store, _) = Store::open(path);
                for nth in 0..EACH {
                    assert_eq!(store.record(&format!("{who}{nth}"), attempt("7")), None);
                }
            });
        }
    });
    let (all, _) = Store::open(path);
    let kept = |question: &str| all.memory().history(question).len();
    let n_kept: usize = ["a", "b", "c"]
        .map(|who| (0..EACH).map(|nth| kept(&format!("{who}{nth}"))).sum::<usize>())
        .iter()
        .sum();
    assert_eq!(n_kept, 3 * EACH);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_the_file_that_it_names_is_written() {
    let (folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let elsewhere = folder.path().join("elsewhere.json");
    // A link that leads nowhere yet, and by a relative path.
    std::os::unix::fs::symlink("../elsewhere.json", &path).unwrap();
    for nth in ["a", "b"] {
        let (mut store, notices) = Store::open(path.clone());
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(store.record(nth, attempt("7")), None);
    }
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    let (memory, _) = Store::peek(&elsewhere);
    assert_eq!((memory.history("a").len(), memory.history("b").len()), (1, 1));
}
