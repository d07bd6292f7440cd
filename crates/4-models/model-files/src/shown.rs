//! How a text is shown next to its maps, in a terminal as in a page.

/// The longest text, in tokens, whose maps a page shows at ease: with 72 heads they have
/// 1.8 million shares.
pub const MOST_SHOWN: usize = 160;

/// A piece as it is fit to be shown: byte-level tokenizers write a space as Ġ, which is
/// shown as `_`, and characters that move a cursor, or turn the order of others, are left
/// out.
pub fn shown(piece: &str) -> String {
    let is_shown = |c: &char| !c.is_control() && !is_bidirectional(*c);
    piece.replace('Ġ', "_").chars().filter(is_shown).collect()
}

/// Marks of the bidirectional algorithm, which are not seen themselves.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
            ("a\u{202e}b\u{2066}\u{200f}\u{61c}\u{200d}c", "ab\u{200d}c"),
        ] {
            assert_eq!(shown(piece), expected);
        }
    }
}
