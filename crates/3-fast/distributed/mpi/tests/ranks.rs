//! The program as `mpirun` starts it.

use std::path::PathBuf;
use std::process::{Command, Output};

/// The program on so many processes of this machine.
fn ranks(n: usize, args: &str) -> Output {
    let mut mpirun = Command::new("mpirun");
    // As in a container: by root, and with more processes than processors.
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    mpirun.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    // All that start at once share a folder, and the first that ends removes it under the
    // others (github.com/open-mpi/ompi/issues/8510): each has one of its own.
    let folder = tempfile::tempdir().expect("a folder for what mpirun keeps");
    mpirun.env("OMPI_MCA_orte_tmpdir_base", folder.path());
    mpirun.args(["-n", &n.to_string(), env!("CARGO_BIN_EXE_ranks")]);
    mpirun.args(args.split_whitespace()).output().expect("mpirun can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the program says if all goes well.
fn succeeds(n: usize, args: &str) -> String {
    let output = ranks(n, args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{n} processes, {args}:\n{out}{err}");
    out
}

/// What it says if it does not.
fn fails(n: usize, args: &str) -> String {
    let output = ranks(n, args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(!output.status.success(), "{n} processes, {args}:\n{out}{err}");
    err
}

/// Outputs in f64 and f32 and gradients are compared before anything is timed, and those of
/// each split that is timed; a difference above the bound is an error.
#[test]
fn every_number_of_processes_gives_what_one_machine_gives() {
    for n in [1, 2, 3, 4, 8] {
        // 3 sequences of 301 tokens, 5 heads: nothing is divided evenly.
        for mask in ["", "--open"] {
            let out = succeeds(n, &format!("--case 3,301,40,5 --repeats 1 {mask}"));
            println!("{n} processes: {}", out.lines().next().unwrap_or_default());
            let mut splits = vec!["heads", "tokens", "batch"];
            splits.extend((n > 2 && n % 2 == 0).then_some("both, 2 by heads"));
            for split in splits {
                let is_timed = out.lines().any(|line| line.starts_with(split));
                assert!(is_timed, "{n} processes, {split}:\n{out}");
            }
        }
    }
}

#[test]
fn more_processes_than_heads_and_tokens_work() {
    succeeds(4, "--case 1,3,6,2 --repeats 1");
    succeeds(8, "--case 1,1,6,1 --repeats 1");
}

#[test]
fn a_rank_that_fails_ends_the_others_and_says_which_and_why() {
    let words = fails(3, "--fail 1");
    let start = "error: rank 1 of 3 on ";
    let line = words.lines().find(|line| line.starts_with(start)).expect(&words);
    assert!(line.ends_with("ended, and ends the others: it was asked to fail"), "{line}");
}

#[test]
fn a_rank_that_panics_while_messages_are_on_their_way_says_so_too() {
    let words = fails(3, "--panic 1");
    assert!(words.contains("error: rank 1 of 3 on "), "{words}");
    assert!(words.contains("ended, and ends the others: it panicked"), "{words}");
}

#[test]
fn a_rank_that_is_killed_ends_the_others() {
    let words = fails(3, "--abort 2");
    let names_it = words.contains("rank 2") && words.contains("signal 6");
    assert!(names_it, "{words}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let words = fails(4, "--split both --by-heads 3");
    let why = "4 ranks cannot form a grid with 3 groups of heads: 4 = 3 × 1 + 1";
    assert!(words.contains(why), "{words}");
    let words = fails(2, "--case 1,16,10,4");
    assert!(words.contains("d_model 10 cannot be divided among 4 heads"), "{words}");
    assert_eq!(words.matches("cannot be divided").count(), 1, "said once: {words}");
}

#[test]
fn a_record_is_a_line_for_each_split_and_nothing_where_it_cannot_be_written() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("record.jsonl");
    // It may be there from an earlier time.
    let _ = std::fs::remove_file(&file);
    for _ in 0..2 {
        succeeds(2, &format!("--case 2,64,8,2 --repeats 1 --record {}", file.display()));
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let splits: Vec<_> =
        lines.iter().map(|line| line["split"].as_str().unwrap()).collect();
    assert_eq!(splits, ["heads", "tokens", "batch"].repeat(2));
    assert_eq!(lines[0]["sent"], lines[0]["predicted_sent"]);

    let nowhere = folder.join("nowhere/record.jsonl");
    let words =
        fails(2, &format!("--case 1,64,8,2 --repeats 1 --record {}", nowhere.display()));
    assert!(words.contains("nowhere/record.jsonl cannot be written"), "{words}");
}
