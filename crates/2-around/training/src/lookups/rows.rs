//! Where the words of sentences stand, and what a head gives them, changed.

use attention::{Matrix, Result};

use crate::one_layer::{Answers, Examples, Model, named_classes};

/// The right class of each sentence, target by target; none where answers are numbers.
pub(super) fn classes_of(answers: &Answers) -> &[Vec<usize>] {
    match answers {
        Answers::Classes { of_targets, .. } => of_targets,
        Answers::Numbers(_) => &[],
    }
}

/// What the model names where its heads attend by these rows, target by target.
pub(super) fn named(
    model: &Model,
    examples: &Examples,
    rows: &[Matrix],
) -> Result<Vec<Vec<usize>>> {
    let answers = model.say_attending(examples, rows)?;
    let n_classes = answers.ncols() / classes_of(&examples.answers).len();
    Ok(named_classes(&answers, n_classes))
}

/// `places[r][s]` is where the word of role r stands in sentence s.
pub(super) fn places(examples: &Examples) -> Vec<Vec<usize>> {
    let of_target = |planted: &Matrix| {
        planted.row_iter().map(|row| row.transpose().argmax().0).collect()
    };
    examples.planted.iter().map(of_target).collect()
}

/// The rows of all heads, each sentence's changed in place.
pub(super) fn each(rows: &[Matrix], change: impl Fn(&mut [f64], usize)) -> Vec<Matrix> {
    let changed = |rows: &Matrix| {
        let mut by_sentence = rows.transpose(); // a sentence a column, and so in one piece
        for (s, mut column) in by_sentence.column_iter_mut().enumerate() {
            change(column.as_mut_slice(), s);
        }
        by_sentence.transpose()
    };
    rows.iter().map(changed).collect()
}
