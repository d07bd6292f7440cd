//! How a text is shown next to its maps, in a terminal as in a page.

/// The longest text, in tokens, whose maps a page shows at ease: with 72 heads they have
/// 1.8 million shares.
pub const MOST_SHOWN: usize = 160;

/// A piece as it is fit to be shown: byte-level tokenizers write a space as Ġ, which is
/// shown as `_`, and control characters are left out.
pub fn shown(piece: &str) -> String {
    piece.replace('Ġ', "_").chars().filter(|c| !c.is_control()).collect()
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
        ] {
            assert_eq!(shown(piece), expected);
        }
    }
}
