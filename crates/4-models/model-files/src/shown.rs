//! How a text is shown next to its maps, in a terminal as in a page.

/// The longest text, in tokens, whose maps a page shows at ease: with 256 heads they have
/// ten million shares.
pub const MOST_SHOWN: usize = 200;

/// A piece as it is fit to be shown: byte-level tokenizers write a space as Ġ, which is
/// shown as `_`, and what is not [fit to be shown](is_shown) is left out.
pub fn shown(piece: &str) -> String {
    piece.replace('Ġ', "_").chars().filter(|&c| is_shown(c)).collect()
}

/// Whether a character of a text from a file only shows itself: no control character, which
/// may move a terminal's cursor, and no mark that changes the direction of what is beside it.
pub fn is_shown(c: char) -> bool {
    let is_mark = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{2028}' | '\u{2029}'
    );
    !c.is_control() && !is_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_shown_without_what_moves_the_cursor() {
        for (piece, expected) in [
            ("bank", "bank"),
            ("##ed", "##ed"),
            ("Ġthe", "_the"),
            ("ĠĠ", "__"),
            ("é日🙂", "é日🙂"),
            ("a\x1b[31m\tb\n\u{9b}", "a[31mb"),
            ("a\u{202e}b\u{2066}\u{7f}c", "abc"),
            ("a\u{202e}b\u{2066}\u{200f}\u{61c}\u{200d}c", "ab\u{200d}c"),
        ] {
            assert_eq!(shown(piece), expected);
        }
    }
}
