//! Two texts, or two models, side by side: which heads differ most, each with its control.

use std::fmt::Write;

use anyhow::{Context, Result};
use maps::compare::{Basis, differences};

use crate::view::{View, share};

/// So many heads are printed.
const MOST: usize = 12;

/// All that is printed of two views.
///
/// # Errors
/// If they have not the same heads.
pub fn report(first: &View, second: &View) -> Result<String> {
    let shape = |view: &View| {
        let n_heads = view.text.maps.iter().map(Vec::len).max().unwrap_or_default();
        format!("{} layers of {n_heads} heads", view.text.maps.len())
    };
    let found = differences(&first.text, &second.text);
    let (basis, all) = found.with_context(|| {
        format!(
            "{} has {}, and {} has {}: heads are compared by their layer and number",
            first.model,
            shape(first),
            second.model,
            shape(second)
        )
    })?;
    let (kind, mean) = match basis {
        Basis::Rows => ("of its rows", ", on average over the words"),
        Basis::Kinds => (
            "of what it gives each kind of key",
            "; the texts have different numbers of tokens, so rows cannot be compared",
        ),
    };
    let mut text = format!(
        "\nBeside it, {}: {} tokens: {}\n\nHow far each head is from itself there: half the \
         summed differences {kind} (0: the same, 1: no key in common){mean}.\nOthers is the \
         control: how far the other heads of its layer are from it, on the first text.\n\n\
         head   differs  others\n",
        second.model,
        second.text.pieces.len(),
        second.text.shown_pieces().join(" "),
    );
    for it in all.iter().take(MOST) {
        let [layer, head] = it.head;
        let others = it.others.map_or("–".to_owned(), share);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<6} {:>7}  {others:>6}",
            format!("{layer}.{head}"),
            share(it.distance)
        );
    }
    let is_other = |it: &&maps::compare::Difference| {
        it.others.is_some_and(|others| it.distance >= others)
    };
    let _ = writeln!(
        text,
        "\n{} of {} heads differ by as much as another head of their layer.",
        all.iter().filter(is_other).count(),
        all.len()
    );
    Ok(text)
}
