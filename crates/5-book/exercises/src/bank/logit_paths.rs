//! A logit of a two-layer model, path by path.

use std::process::ExitCode;

use attention::{Mask, Matrix};

use super::inputs;
use crate::{Case, Exercise, Place, Section};

mod mistakes;

/// A head as what it does to the residual.
#[derive(Debug, Clone)]
pub struct Head {
    /// Its map, `[n_tokens, n_tokens]`.
    pub attn: Matrix,
    /// W^V W^O, `[d_model, d_model]`.
    pub w_ov: Matrix,
}

impl Head {
    /// What it adds to the residual if it reads this.
    fn adds(&self, x: &Matrix) -> Matrix {
        &self.attn * x * &self.w_ov
    }

    /// This head's map with those of another before it, and the product of their matrices:
    /// the virtual head of the two.
    fn behind(&self, before: &Head) -> Head {
        Head { attn: &self.attn * &before.attn, w_ov: &before.w_ov * &self.w_ov }
    }
}

/// Tokens, two layers of heads, and a word's column of the unembedding.
#[derive(Clone)]
pub struct Input {
    x: Matrix,
    first: Vec<Head>,
    second: Head,
    direction: Vec<f64>,
}

impl Input {
    fn n_parts(&self) -> usize {
        1 + self.first.len()
    }

    /// By virtual heads.
    fn right(&self) -> Matrix {
        let first = self.first.iter().map(|head| head.adds(&self.x));
        let both = self.first.iter().map(|head| self.second.behind(head).adds(&self.x));
        let straight = [self.x.clone()].into_iter().chain(first);
        self.logits(straight.chain([self.second.adds(&self.x)]).chain(both))
    }

    /// A column for each part.
    fn logits(&self, parts: impl Iterator<Item = Matrix>) -> Matrix {
        let direction =
            Matrix::from_column_slice(self.direction.len(), 1, &self.direction);
        let columns: Vec<_> =
            parts.map(|part| (part * &direction).column(0).into_owned()).collect();
        Matrix::from_columns(&columns)
    }

    /// With what heads add, in each layer.
    fn by(
        &self,
        first: impl Fn(&Head, &Matrix) -> Matrix,
        second: impl Fn(&Head, &Matrix) -> Matrix,
    ) -> Matrix {
        let mut parts = vec![self.x.clone()];
        parts.extend(self.first.iter().map(|head| first(head, &self.x)));
        let behind: Vec<Matrix> =
            parts.iter().map(|part| second(&self.second, part)).collect();
        self.logits(parts.into_iter().chain(behind))
    }

    /// With what the two heads of a path add together.
    fn composed(&self, of: impl Fn(&Head, &Head) -> Matrix) -> Matrix {
        let mut out = self.right();
        let parts = self.first.iter().map(|head| of(head, &self.second));
        out.columns_mut(self.n_parts() + 1, self.first.len())
            .copy_from(&self.logits(parts));
        out
    }

    /// The right answer, its columns changed.
    fn changed(&self, change: impl Fn(&mut Matrix)) -> Matrix {
        let mut out = self.right();
        change(&mut out);
        out
    }
}

/// What the reader writes: a row per token and a column per path, `[n_tokens, 2h + 2]`.
pub type LogitPaths =
    fn(x: &Matrix, first: &[Head], second: &Head, direction: &[f64]) -> Matrix;

/// Checks an answer.
pub fn check(answer: LogitPaths) -> ExitCode {
    EXERCISE.check(move |input| {
        answer(&input.x, &input.first, &input.second, &input.direction)
    })
}

const PATHS: Section =
    Section::new("two-layers", "Induction heads: two heads in two layers");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "logit_paths",
    title: "A logit, path by path",
    read: PATHS,
    begin: "one head in layer 1: write the residual behind it as a sum of two parts, and send \
        each of the parts through the head of layer 2",
    print: "each part of the residual behind layer 1, and its dot product with the direction",
    passed: "Each row sums to the logit, and the last columns say what two heads do only \
        together.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |input, Place { row, column, .. }| {
        let path = match (column % input.n_parts(), column < input.n_parts()) {
            (0, true) => "straight".into(),
            (i, true) => format!("through head {} of layer 1", i - 1),
            (0, false) => "through the head of layer 2 alone".into(),
            (i, false) => format!("through head {} of layer 1 and then layer 2", i - 1),
        };
        format!("token {row}, column {column} ({path})")
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, d_model: usize, n_heads: usize, seed: u64| {
        let head = |seed: u64| Head {
            attn: inputs::map(n_tokens, n_tokens, &Mask::Causal, seed),
            w_ov: inputs::matrix(d_model, d_model, seed + 1),
        };
        Case {
            sizes: format!(
                "{n_tokens} tokens, d_model {d_model}, {n_heads} heads in layer 1"
            ),
            square: n_tokens == d_model,
            input: Input {
                x: inputs::matrix(n_tokens, d_model, seed),
                first: (0..n_heads as u64).map(|i| head(seed + 10 * i + 10)).collect(),
                second: head(seed + 2),
                direction: inputs::matrix(1, d_model, seed + 5).iter().copied().collect(),
            },
        }
    };
    vec![case(3, 3, 2, 1), case(4, 3, 2, 100), case(3, 5, 3, 200)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// The model itself, run forward.
    #[test]
    fn each_row_sums_to_the_logit() {
        for Case { input, sizes, .. } in cases() {
            let mut residual = input.x.clone();
            for head in &input.first {
                residual += head.adds(&input.x);
            }
            residual += input.second.adds(&residual);
            let logits = input.logits([residual].into_iter());
            let sums = input.right().column_sum();
            assert!((sums - logits.column(0)).amax() < 1e-12, "{sizes}");
        }
    }

    /// By taking parts away: what a logit loses without a part.
    #[test]
    fn differences_of_whole_runs_pass() {
        let by_differences = |input: &Input| {
            let run = |is_kept: &dyn Fn(usize) -> bool, has_second: bool| {
                let mut residual = Matrix::zeros(input.x.nrows(), input.x.ncols());
                let parts = input.first.iter().map(|head| head.adds(&input.x));
                for (i, part) in [input.x.clone()].into_iter().chain(parts).enumerate() {
                    residual += part * f64::from(u8::from(is_kept(i)));
                }
                let added = input.second.adds(&residual);
                if has_second { residual + added } else { residual }
            };
            let lost = |i: usize, has_second: bool| {
                run(&|_| true, has_second) - run(&|at| at != i, has_second)
            };
            let n = input.n_parts();
            let straight = (0..n).map(|i| lost(i, false));
            let behind = (0..n).map(|i| lost(i, true) - lost(i, false));
            input.logits(straight.chain(behind).collect::<Vec<_>>().into_iter())
        };
        assert_eq!(EXERCISE.diagnose(by_differences), Verdict::Passed);
    }
}
