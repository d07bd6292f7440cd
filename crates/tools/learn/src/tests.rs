//! A page of the book lists the commands that there are.

use std::fs;

use clap::CommandFactory;

use crate::Cli;

/// A line per command, in the order and the words of `cargo learn --help`. Left out is what
/// is marked as for those who change the book.
fn commands() -> String {
    let mut lines =
        vec![(String::new(), "this book and the notebooks, opened".to_owned())];
    for command in Cli::command().get_subcommands() {
        let about = command.get_about().expect("each has one").to_string();
        let is_shown = !command.is_hide_set() && !about.ends_with("who change one)");
        if is_shown {
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
