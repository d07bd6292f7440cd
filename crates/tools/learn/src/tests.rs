//! A page of the book lists the commands that there are.

use std::fs;

use crate::help::GROUPS;
use crate::tool::TOOLS;
use crate::{commands as all_commands, help};
use workshop::build::{Profile, TOGETHER};

/// A line per command, in the order and the words of `cargo learn help --all`. Left out is what
/// is marked as for those who change the book.
fn commands() -> String {
    let mut lines =
        vec![(String::new(), "this book and the notebooks, opened".to_owned())];
    let cli = all_commands();
    for command in help::grouped(&cli).into_iter().flat_map(|(_, commands)| commands) {
        let about = command.get_about().expect("each has one").to_string();
        if !about.ends_with("who change one)") {
            let mut about = about.chars();
            let first = about.next().expect("not empty").to_lowercase();
            lines.push((command.get_name().to_owned(), first.chain(about).collect()));
        }
    }
    let line = |(name, about)| format!("{:<23} # {about}", format!("cargo learn {name}"));
    lines.into_iter().map(line).collect::<Vec<String>>().join("\n")
}

#[test]
fn the_page_of_commands_lists_every_command() {
    let page = workshop::paths::workspace().join("chapters/commands.md");
    let page = fs::read_to_string(page).unwrap();
    let commands = commands();
    assert!(commands.contains("\ncargo learn train "), "{commands}");
    assert!(page.contains(&format!("```sh\n{commands}\n```")), "expected:\n{commands}");
}

#[test]
fn a_newcomer_is_shown_ten_commands_and_all_on_request() {
    let cli = all_commands();
    let n: usize = GROUPS.iter().map(|(_, names)| names.len()).sum();
    assert!((8..=10).contains(&n), "{n}");
    for (_, names) in GROUPS {
        names.iter().for_each(|it| assert!(cli.find_subcommand(it).is_some(), "{it}"));
    }
    let (short, all) = (help::of(&cli, false), help::of(&cli, true));
    assert!(short.contains("\n  diagnose ") && !short.contains("\n  patch "), "{short}");
    assert!(all.contains("\n  patch ") && !all.contains("preprocess"), "{all}");
}

#[test]
fn every_tool_that_is_compiled_quickly_is_named_with_the_others() {
    let quick = TOOLS.iter().filter(|tool| tool.profile == Profile::Dev);
    for tool in quick {
        assert!(TOGETHER.contains(&tool.package), "{} has no program", tool.name);
    }
}
