//! What of a long text is drawn, and what is said of the rest.

use std::borrow::Cow;

use maps::{Extract, TextHeads};
use model_files::MOST_SHOWN;

/// What is drawn of a text: all of it, or of a long one the rows of its last tokens, unless it
/// has few rows anyway.
pub(super) fn drawn(text: &TextHeads) -> Cow<'_, TextHeads> {
    // Each has room for its own key, its neighbours, and one that it attends to.
    const ROWS: usize = MOST_SHOWN / 4;
    let (asking, _) = text.asking();
    let is_long = text.pieces.len().max(asking.len()) > MOST_SHOWN;
    match asking.len().checked_sub(ROWS) {
        Some(first) if is_long && first > 0 => {
            Cow::Owned(text.rows(&(first..asking.len()).collect::<Vec<_>>()))
        }
        _ => Cow::Borrowed(text),
    }
}

/// What the page leaves out, as a paragraph.
pub(super) fn left_out(text: &TextHeads) -> String {
    let drawn = drawn(text);
    let (n, all) = (drawn.asking().0.len(), text.asking().0.len());
    let rows = match (n < all, &text.places) {
        (true, _) => Some(format!(
            "Of {all} queries the last {n} are drawn; <code>--queries</code> chooses others"
        )),
        (false, Some(_)) => Some(format!("{n} of {} tokens ask", text.pieces.len())),
        (false, None) => None,
    };
    let keys = Extract::of(&drawn, MOST_SHOWN).left_out();
    let said: Vec<String> = [rows, keys].into_iter().flatten().collect();
    match said.is_empty() {
        true => String::new(),
        false => format!("<p>{}.</p>", said.join("; ")),
    }
}
