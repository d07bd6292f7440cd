//! The help: what a newcomer needs in groups, and every command on request.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Command;

use crate::commands;
use crate::tool::TOOLS;

/// The commands that a newcomer needs.
pub const GROUPS: [(&str, &[&str]); 4] = [
    ("Learn", &["check", "predict"]),
    ("See for yourself", &["count", "tour", "train"]),
    ("Your own text, your own layer", &["look", "write", "diagnose"]),
    ("Measure, and check everything", &["bench", "verify"]),
];

/// The commands under their titles: those of [`GROUPS`], and the others.
pub fn grouped(cli: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let shown = || cli.get_subcommands().filter(|it| !it.is_hide_set());
    let named = |name: &&str| shown().find(|it| it.get_name() == *name);
    let is_other =
        |it: &&Command| !GROUPS.iter().any(|(_, names)| names.contains(&it.get_name()));
    let groups =
        GROUPS.map(|(title, names)| (title, names.iter().filter_map(named).collect()));
    let mut others: Vec<&Command> = shown().filter(is_other).collect();
    // Before those that keep the book come those that show something.
    others.sort_by_key(|it| !TOOLS.iter().any(|tool| tool.name == it.get_name()));
    groups.into_iter().chain([("Others", others)]).collect()
}

/// The help of all commands together: those of [`GROUPS`], and with `all` the others too.
pub fn of(cli: &Command, all: bool) -> String {
    let long = cli.get_long_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{long}\n\nUsage: cargo learn [--no-open] [COMMAND]\n");
    let grouped = grouped(cli);
    let n: usize = grouped.iter().map(|(_, commands)| commands.len()).sum();
    let n_shown = if all { grouped.len() } else { GROUPS.len() };
    for (title, commands) in &grouped[..n_shown] {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{title}:");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:<10} {about}", command.get_name());
        }
    }
    let more = match all {
        true => String::new(),
        false => format!(" `cargo learn help --all` lists all {n}."),
    };
    text + &format!("\n`cargo learn help COMMAND` says more about one.{more}\n")
}

/// Prints the help of a command, which a tool prints itself, or of all.
pub fn print(name: Option<&str>, all: bool) -> ExitCode {
    if let Some(tool) = TOOLS.iter().find(|it| Some(it.name) == name) {
        return tool.run(vec!["--help".into()]);
    }
    let mut cli = commands();
    let of_one = name.map(|name| match cli.find_subcommand_mut(name) {
        Some(command) => Ok(command.render_long_help().to_string()),
        None => Err(format!("error: there is no command {name:?}\n")),
    });
    match of_one.unwrap_or_else(|| Ok(of(&commands(), all))) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprint!("{text}");
            ExitCode::from(2)
        }
    }
}
