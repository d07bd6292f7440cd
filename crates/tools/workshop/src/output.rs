//! Standard output, which may end before the text does.
//!
//! `println!` panics where nobody reads any more (`| head -1`) or a disk is full. Here a
//! text that was not printed is an error like others; the caller passes it on, and
//! `main` alone decides what it means ([`was_closed`]).

use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::io::{self, ErrorKind, StdoutLock, Write};

use anyhow::Error;

/// Prints a text, [fit to be printed](printable).
///
/// # Errors
/// If standard output does not take it.
pub fn print(text: impl Display) -> io::Result<()> {
    let mut out = Output::locked();
    out.write_all(printable(text).as_bytes())?;
    out.flush()
}

/// A text in which nothing moves a terminal's cursor or turns the direction of what stands
/// beside it, whatever names it has from files and of files: such characters are escaped, as
/// JSON escapes them.
pub fn printable(text: impl Display) -> String {
    let is_shown = |c: char| match c {
        '\n' | '\t' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        c => !c.is_control(),
    };
    let text = text.to_string();
    if text.chars().all(is_shown) {
        return text;
    }
    let escaped = |c: char| match is_shown(c) {
        true => c.to_string(),
        false => format!("\\u{:04x}", u32::from(c)),
    };
    text.chars().map(escaped).collect()
}

/// Whether a command ended since nobody read on, which is no failure.
pub fn was_closed(error: &Error) -> bool {
    let closed = |error: &io::Error| {
        let is_ours = error.get_ref().is_some_and(|inner| inner.is::<Unprinted>());
        is_ours && error.kind() == ErrorKind::BrokenPipe
    };
    error.chain().any(|error| error.downcast_ref().is_some_and(closed))
}

/// Standard output whose errors say that they are its own.
pub struct Output(StdoutLock<'static>);

impl Output {
    /// Standard output, for one writer.
    pub fn locked() -> Self {
        Self(io::stdout().lock())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(unprinted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(unprinted)
    }
}

fn unprinted(error: io::Error) -> io::Error {
    match error.kind() {
        // What `write_all` tries again.
        ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, Unprinted(error)),
    }
}

/// Why standard output took no more.
#[derive(Debug)]
struct Unprinted(io::Error);

impl Display for Unprinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write to standard output: {}", self.0)
    }
}

impl StdError for Unprinted {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_printed_moves_the_cursor() {
        assert_eq!(printable("é 日\t\u{301}\n"), "é 日\t\u{301}\n");
        let text = "a\x1b[2J\r\u{9b}31m\u{202e}\u{2066}b";
        let expected = r"a\u001b[2J\u000d\u009b31m\u202e\u2066b";
        assert_eq!(printable(text), expected);
    }

    #[test]
    fn only_our_own_broken_pipe_is_no_failure() {
        let broken = || io::Error::from(ErrorKind::BrokenPipe);
        let ours = Error::from(unprinted(broken())).context("a list");
        assert!(was_closed(&ours));
        assert!(!was_closed(&Error::from(broken())));
        let full = Error::from(unprinted(io::Error::from(ErrorKind::StorageFull)));
        assert!(!was_closed(&full));
        assert_eq!(full.to_string(), "cannot write to standard output: no storage space");
    }
}
