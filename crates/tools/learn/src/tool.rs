//! A tool: compiled, and run in place of this program.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use workshop::build::{self, Profile};
use workshop::group;

/// A command that is a tool's.
#[derive(Debug)]
pub struct Tool {
    /// The command.
    pub name: &'static str,
    about: &'static str,
    /// The package that it is.
    pub package: &'static str,
    /// How it is compiled.
    pub profile: Profile,
}

/// How clap calls what a tool is given as it stands.
pub const ARGS: &str = "args";

/// The commands of tools, in the order in which they are listed.
pub const TOOLS: [Tool; 21] = {
    use Profile::{Dev, Release};
    [
        tool(
            "tour",
            "A sentence through a trained layer, in every stage",
            "terminal",
            Dev,
        ),
        tool(
            "count",
            "The parameters of a layer, and what a pass costs",
            "terminal",
            Dev,
        ),
        tool("attend", "Your own layer, from files, in every stage", "terminal", Dev),
        tool(
            "diagnose",
            "What is wrong with your attention, by its numbers",
            "diagnose",
            Dev,
        ),
        tool(
            "zoo",
            "Wrong attention layers for PyTorch, to test your tests with",
            "zoo",
            Dev,
        ),
        tool("train", "Heads that specialise while you watch, in seconds", "train", Dev),
        tool("predict", "Say what will come out, then run it", "predict", Dev),
        tool(
            "tutor",
            "A server for your assistant: which mistake it is, and never the answer",
            "tutor",
            Dev,
        ),
        tool(
            "class",
            "A class's submissions, checked in a sandbox: which mistakes they make",
            "class",
            Dev,
        ),
        tool(
            "hand-out",
            "A set of exercises for your class, by a seed and without solutions",
            "hand-out",
            Dev,
        ),
        // In these a whole model computes.
        tool(
            "look",
            "Your own sentence in all heads of a trained model",
            "look",
            Release,
        ),
        tool("maps", "Attention maps from a file, of any framework", "look", Release),
        tool("compare", "Two texts or models: which heads differ most", "look", Release),
        tool("habits", "What every head does over many texts", "look", Release),
        tool("ablate", "Heads switched off: what changes in a text", "look", Release),
        tool("logits", "What each head adds to the next token's logit", "look", Release),
        tool("patch", "Which heads carry what differs in two texts", "look", Release),
        tool(
            "model",
            "Your own model: every hidden state and every map",
            "look",
            Release,
        ),
        tool("write", "A model that goes on with your text", "look", Release),
        tool(
            "fetch",
            "Download a trained model, for commands and pages",
            "look",
            Release,
        ),
        tool(
            "bench",
            "How fast the layer is on your machine, rung by rung",
            "bench",
            Release,
        ),
    ]
};

const fn tool(
    name: &'static str,
    about: &'static str,
    package: &'static str,
    profile: Profile,
) -> Tool {
    Tool { name, about, package, profile }
}

impl Tool {
    /// As `cargo learn` lists it: what it is given it reads itself.
    pub fn command(&self) -> clap::Command {
        let args = clap::Arg::new(ARGS)
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .value_parser(clap::value_parser!(OsString));
        clap::Command::new(self.name).about(self.about).disable_help_flag(true).arg(args)
    }

    /// Runs it in place of this program.
    pub fn run(&self, args: Vec<OsString>) -> ExitCode {
        // The bench has one purpose, and is not told which; but for one of its commands, all
        // that it compiles is the layer.
        let is_bench = self.package == "bench";
        let name = (!is_bench).then(|| OsString::from(self.name));
        let profile = match is_bench && args.iter().all(|arg| arg != "model") {
            true => Profile::Featureless,
            false => self.profile,
        };
        run(self.package, profile, name.into_iter().chain(args))
    }
}

/// Runs the preprocessor: mdBook hands over the book on standard input.
pub fn preprocess(args: Vec<OsString>) -> ExitCode {
    run("book", Profile::Dev, [OsString::from("preprocess")].into_iter().chain(args))
}

/// Compiles a tool where it is not as its sources are, and becomes it: what it is sent (a
/// Ctrl-C, say) and what it exits with are its own.
pub fn run(
    package: &str,
    profile: Profile,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> ExitCode {
    let become_it = || -> Result<ExitCode> {
        let mut tool = command(package, profile)?;
        tool.args(args.into_iter().map(Into::into));
        group::replace(&mut tool)
            .with_context(|| format!("{package} could not be started"))
    };
    become_it().unwrap_or_else(|error| workshop::exit(Err(error)))
}

/// A tool that is ready to run.
///
/// # Errors
/// Sources that do not compile.
pub fn command(package: &str, profile: Profile) -> Result<Command> {
    build::tool(package, profile).map(Command::new)
}
