//! A name that the text has said before, and the head that finds its end.

use crate::Args;
use anyhow::{Context, Result, ensure};
use attention::Matrix;
use figures::{Figure, Heads, head_maps};

use super::findings;

/// The head that copies most, on a name that is in no book.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let word = findings()?.words.get(1).context("a name that is made up")?;
    let n = word.pieces.len();
    ensure!(word.map.len() == n && word.map.iter().all(|row| row.len() == n), "a map");
    let pieces: Vec<&str> =
        word.pieces.iter().map(|piece| piece.trim_start_matches('Ġ')).collect();
    let maps = [Matrix::from_fn(n, n, |i, j| word.map[i][j])];
    let name = format!("head {}.{}", word.layer, word.head);
    let heads = Heads::new(&maps, &pieces, &pieces)?.called(&[&name])?;
    let title = format!(
        "Layer {}, head {}: the last “urs” looks at what came after the other two",
        word.layer, word.head
    );
    Ok(head_maps(title, &heads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_true() {
        let word = &findings().unwrap().words[1];
        let row = word.map.last().unwrap();
        let n = word.pieces.len();
        let after = (0..n - 1).filter(|&at| word.pieces[at] == "urs").map(|at| at + 1);
        assert_eq!(after.clone().count(), 2);
        assert!(after.map(|at| row[at]).sum::<f64>() > 0.9);
    }
}
