//! How a text is written.

use clap::CommandFactory;

use super::{Command, command, tiny, word};

/// `cargo learn write` with these arguments, for a tiny model with random weights.
fn write(more: &[&str]) -> Result<(), String> {
    let folder = tiny("llama-1");
    command(&["write", "the bank", "--tokens", "5", "--model", &word(&folder)], more)
}

#[test]
fn a_text_is_written_by_chance_in_all_ways_and_by_beams() {
    for more in [
        &["--top-k", "3"][..],
        &["--top-p", "0.9"],
        &["--temperature", "0.7", "--top-k", "40", "--top-p", "0.95", "--seed", "3"],
        &["--beams", "3"],
        &["--beams", "2", "--cache", "q8"],
        &["--without", "0.1", "--top-k", "2"],
    ] {
        write(more).unwrap();
    }
}

#[test]
fn settings_that_leave_nothing_are_refused_before_a_model_is_read() {
    let refused = |more: &[&str]| write(more).unwrap_err();
    insta::assert_snapshot!(refused(&["--top-k", "0"]), @"top-k is 0, expected at least 1 token");
    insta::assert_snapshot!(refused(&["--top-p", "1.5"]), @"top-p is 1.5, expected a number above 0 and at most 1");
    insta::assert_snapshot!(refused(&["--temperature", "0"]), @"the temperature is 0, expected a number above 0");
    for more in
        [["--top-p", "0.9"], ["--top-k", "3"], ["--temperature", "1"], ["--seed", "1"]]
    {
        let refused = refused(&[&["--beams", "4"], &more[..]].concat());
        let expected =
            format!("the argument '--beams <N>' cannot be used with '{} <", more[0]);
        assert!(refused.contains(&expected), "{refused}");
    }
    assert!(
        refused(&["--beams", "4", "--heads"]).contains("cannot be used with '--heads'")
    );
    assert!(refused(&["--beams", "0"]).contains("0 is not in 1..=64"));
}

#[test]
fn a_command_has_few_enough_options_to_be_read() {
    let commands = Command::command();
    let write = commands.find_subcommand("write").unwrap();
    assert!(write.get_opts().count() <= 12);
}
