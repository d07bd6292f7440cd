//! Heads side by side, W^O, and what is done behind it.

use attention::Matrix;

use super::norms::divide;
use super::{Forward, select};
use crate::recipe::{Addition, Axes, Merge, Mixing, Split};
use crate::rows::{exchanged, numbers, permuted, together, view};
use crate::{NormKind, State};

impl Forward<'_> {
    /// `[n, d_v]` a head becomes `[n, h · d_v]` a sequence.
    pub(super) fn merge(&self, heads: &[Matrix]) -> Option<Vec<Matrix>> {
        let batch = self.n_sequences();
        let each = heads.len() / batch;
        if each == 0 {
            return None;
        }
        if self.recipe.split == Split::AcrossHeads {
            let is_meant = self.recipe.merge == Merge::Meant;
            let width = heads[0].len();
            return is_meant.then(|| view(&numbers(heads), each, width));
        }
        let of_sequence = |s: usize| -> Vec<Matrix> {
            let head = |i: usize| match self.recipe.merge {
                Merge::Reversed => heads[s * each + each - 1 - i].clone(),
                Merge::First => heads[s * each].clone(),
                Merge::Mean => {
                    heads[s * each..][..each].iter().sum::<Matrix>() / each as f64
                }
                Merge::HeadsBeforeBatch => heads[i * batch + s].clone(),
                _ => heads[s * each + i].clone(),
            };
            (0..each).map(head).collect()
        };
        (0..batch).map(|s| side_by_side(&of_sequence(s), self.recipe.merge)).collect()
    }

    /// `concat W^O + b^O`, and what is added.
    pub(super) fn output(&self, concat: &[Matrix]) -> Option<Vec<Matrix>> {
        let rows = self.rows_of_output();
        let is_narrow = self.is_narrow();
        let choose =
            |m: &Matrix| rows.map_or_else(|| Some(m.clone()), |rows| select(m, rows));
        let roles = match self.recipe.addition {
            Addition::Nothing | Addition::Norm | Addition::ZeroPadding => None,
            Addition::Residual | Addition::ResidualThenNorm => Some(self.inputs(0)?),
            Addition::ResidualOfValue => Some(self.inputs(2)?),
            Addition::ProjectedQuery => Some(self.read(State::Query)?.to_vec()),
        };
        let chosen = |m: &Matrix| if is_narrow { Some(m.clone()) } else { choose(m) };
        let chosen = concat.iter().map(chosen).collect::<Option<Vec<_>>>()?;
        let mut outputs = together(&chosen, |concat| self.mix(concat))?;
        for (s, output) in outputs.iter_mut().enumerate() {
            if self.recipe.relu_on_output {
                output.apply(|x| *x = x.max(0.0));
            }
            if let Some(added) = &roles {
                let added = choose(added.get(s)?)?;
                if added.shape() != output.shape() {
                    return None;
                }
                *output += added;
            }
            match self.recipe.addition {
                Addition::Norm | Addition::ResidualThenNorm => {
                    divide(output, NormKind::Layer, 1e-5, false);
                }
                Addition::ZeroPadding => self.zero_padding(output, s)?,
                _ => (),
            }
        }
        match self.recipe.axes {
            Axes::Meant => Some(outputs),
            Axes::Exchanged => Some(exchanged(&outputs)),
        }
    }

    /// The rows that are chosen, unless they are sequences.
    fn rows_of_output(&self) -> Option<&Vec<usize>> {
        self.run.rows.as_ref().filter(|_| self.recipe.axes == Axes::Meant)
    }

    /// Sets rows of padded tokens to 0.
    fn zero_padding(&self, output: &mut Matrix, s: usize) -> Option<()> {
        let rows = self.rows_of_output();
        let padding = self.record.masks.padding.as_ref()?;
        let s = if padding.len() == 1 { 0 } else { *self.run.sequences.get(s)? };
        for (at, mut row) in output.row_iter_mut().enumerate() {
            if !*padding.get(s)?.get(rows.map_or(at, |rows| rows[at]))? {
                row.fill(0.0);
            }
        }
        Some(())
    }

    fn mix(&self, concat: &Matrix) -> Option<Matrix> {
        let mixing = self.recipe.mixing;
        let Some(linear) = &self.record.weights.output else {
            return (mixing == Mixing::RIGHT).then(|| concat.clone());
        };
        let h = self.intent.n_heads;
        let times = match mixing.bias {
            Mixing::PER_HEAD => h as f64,
            times => f64::from(times),
        };
        self.affine(concat, linear, (mixing.product, h), times)
    }
}

/// The heads of one sequence, `(h, n, d_v)` in memory, as `[n, h · d_v]`.
fn side_by_side(heads: &[Matrix], merge: Merge) -> Option<Matrix> {
    let (n, d) = heads[0].shape();
    let h = heads.len();
    let order = match merge {
        Merge::View => [0, 1, 2],
        Merge::Interleaved => [1, 2, 0],
        Merge::WrongAxes => [0, 2, 1],
        _ => {
            let columns: Vec<_> = heads.iter().flat_map(Matrix::column_iter).collect();
            return Some(Matrix::from_columns(&columns));
        }
    };
    let numbers = permuted(&numbers(heads), [h, n, d], order);
    view(&numbers, n, h * d).pop()
}
