//! Text for a terminal of 80 columns or more.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, fill};

const WIDTH: usize = 78;

/// The text in lines that fit, broken between words, each after `indent` spaces. A line
/// break in the text stays.
pub fn wrapped(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let options = Options::new(WIDTH)
        .initial_indent(&margin)
        .subsequent_indent(&margin)
        .break_words(false)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    fill(text, options)
}

/// The text as it is, each line after `indent` spaces.
pub fn indented(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let lines = text.trim_end().lines();
    lines.map(|line| format!("{margin}{line}").trim_end().to_owned() + "\n").collect()
}

/// `1 question`, `2 questions`.
pub fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_keep_their_margin() {
        let text = wrapped(&format!("{} end\nnext", "word ".repeat(20).trim()), 2);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(lines.iter().all(|line| line.starts_with("  w") || line.len() < 40));
        assert_eq!(lines.last(), Some(&"  next"));
        assert_eq!(wrapped(&"x".repeat(100), 0).len(), 100);
    }
}
