//! A head taken away in two ways, and the damage next to that of a control.

use std::process::ExitCode;

use attention::{Linear, Matrix};

use super::inputs;
use crate::{Answer, Case, Exercise, Place, Section};

mod mistakes;
#[cfg(test)]
mod tests;

/// What the heads put out, side by side, what mixes them, and the head to be taken away.
#[derive(Clone)]
pub struct Input {
    concat: Matrix,
    w_o: Linear,
    n_heads: usize,
    head: usize,
    basis: Matrix,
}

/// What is left without a head, and how much it was worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Ablated {
    /// The output with zeros instead of the head, `[n_tokens, d_model]`.
    pub zeroed: Matrix,
    /// The output with the head's mean over the tokens instead of the head,
    /// `[n_tokens, d_model]`.
    pub averaged: Matrix,
    /// By how much the output moves when the head is zeroed.
    pub damage: f64,
    /// By how much it moves when the control is removed instead.
    pub control: f64,
}

impl Answer for Ablated {
    fn parts(&self) -> Vec<Matrix> {
        let damages = Matrix::from_row_slice(1, 2, &[self.damage, self.control]);
        vec![self.zeroed.clone(), self.averaged.clone(), damages]
    }

    fn part_name(&self, part: usize) -> String {
        ["zeroed", "averaged", "damage and control"][part].into()
    }
}

impl Input {
    fn d_v(&self) -> usize {
        self.concat.ncols() / self.n_heads
    }

    /// What the head put out, in its columns, and zeros in all others.
    fn of_head(&self) -> Matrix {
        let (first, d_v) = (self.head * self.d_v(), self.d_v());
        let mut part = self.concat.clone() * 0.0;
        part.columns_mut(first, d_v).copy_from(&self.concat.columns(first, d_v));
        part
    }

    /// The same with the mean over the tokens in each row.
    fn mean_of_head(&self) -> Matrix {
        let mut part = self.of_head();
        for mut column in part.column_iter_mut() {
            let mean = column.mean();
            column.fill(mean);
        }
        part
    }

    /// What lies in the subspace of the control, as it is.
    fn in_subspace(&self) -> Matrix {
        &self.concat * &self.basis * self.basis.transpose()
    }

    /// The same, as large as what the head put out.
    fn of_control(&self) -> Matrix {
        let part = self.in_subspace();
        &part * (self.of_head().norm() / part.norm())
    }

    fn out(&self, concat: &Matrix) -> Matrix {
        self.w_o.forward(concat).expect("W^O has a row for each column")
    }

    /// By how much the output moves when this part is taken off the concatenation.
    fn damage(&self, part: &Matrix) -> f64 {
        (part * &self.w_o.weight).norm()
    }

    fn right(&self) -> Ablated {
        self.without(&self.of_head(), &self.mean_of_head())
    }

    /// The right answer if this were what the head put out, and this its mean.
    fn without(&self, part: &Matrix, mean: &Matrix) -> Ablated {
        Ablated {
            zeroed: self.out(&(&self.concat - part)),
            averaged: self.out(&(&self.concat - part + mean)),
            damage: self.damage(part),
            control: self.damage(&self.of_control()),
        }
    }

    fn right_first(&self) -> usize {
        self.head * self.d_v()
    }

    /// The answer that takes d_v columns from these on, for zeros and for means.
    fn of_columns(&self, first: [usize; 2]) -> Ablated {
        let d_v = self.d_v();
        let [zeros, means] = first.map(|first| {
            let mut part = self.concat.clone() * 0.0;
            part.columns_mut(first, d_v).copy_from(&self.concat.columns(first, d_v));
            part
        });
        let mut mean = means.clone();
        for mut column in mean.column_iter_mut() {
            let usual = column.mean();
            column.fill(usual);
        }
        let averaged = self.out(&(&self.concat - means + mean));
        let right = self.right();
        Ablated { averaged, control: right.control, ..self.without(&zeros, &zeros) }
    }

    /// The right answer, its control as large as the columns from this one on.
    fn control_like(&self, first: usize) -> Ablated {
        let part = self.in_subspace();
        let norm = self.concat.columns(first, self.d_v()).norm();
        Ablated { control: self.damage(&(&part * (norm / part.norm()))), ..self.right() }
    }

    /// From W^O, as a sum over heads: it never takes anything off.
    fn sum_of_the_other_heads(&self) -> Ablated {
        let d_v = self.d_v();
        let written = |head: &Matrix, i: usize| head * self.w_o.weight.rows(i * d_v, d_v);
        let mut zeroed = self.out(&(&self.concat * 0.0));
        for i in (0..self.n_heads).filter(|&i| i != self.head) {
            zeroed += written(&self.concat.columns(i * d_v, d_v).into_owned(), i);
        }
        let own = self.concat.columns(self.head * d_v, d_v).into_owned();
        let n_tokens = own.nrows();
        let mean = Matrix::from_fn(n_tokens, d_v, |_, c| own.column(c).mean());
        let carried = &self.concat * &self.basis; // [n_tokens, d_v]
        let control = &carried * (self.basis.transpose() * &self.w_o.weight);
        Ablated {
            averaged: &zeroed + written(&mean, self.head),
            damage: (self.out(&self.concat) - &zeroed).norm(),
            // An orthonormal basis keeps lengths.
            control: control.norm() * own.norm() / carried.norm(),
            zeroed,
        }
    }
}

/// What the reader writes: from the heads side by side, `[n_tokens, h · d_v]`, W^O with its
/// bias, the number of heads, one of them, and a basis of the control, `[h · d_v, d_v]`,
/// what is left without that head.
pub type Ablate = fn(
    concat: &Matrix,
    w_o: &Linear,
    n_heads: usize,
    head: usize,
    basis: &Matrix,
) -> Ablated;

/// Checks an answer.
pub fn check(answer: Ablate) -> ExitCode {
    EXERCISE.check(move |Input { concat, w_o, n_heads, head, basis }| {
        answer(concat, w_o, *n_heads, *head, basis)
    })
}

const AWAY: Section =
    Section::new("heads-that-specialise", "Ablation: taking a head away");

/// The exercise.
pub static EXERCISE: Exercise<Input, Ablated> = Exercise {
    name: "ablation",
    title: "A head taken away",
    read: AWAY,
    begin: "a copy of the concatenation. Which of its columns are the head's? Fill them, mix \
        the copy with W^O, and compare it with the output as it was",
    print: "the columns that you changed, and the norm of what you removed, for the head \
        and for the control",
    passed: "A head's damage is a number next to another one: that of a random subspace, as \
        wide and as loud, which has learned nothing.",
    cases,
    reference: Input::sum_of_the_other_heads,
    mistakes: mistakes::ALL,
    place: |_, Place { part, row, column }| match (part, column) {
        (0, _) => format!("zeroed, token {row}, feature {column}"),
        (1, _) => format!("zeroed is right; averaged, token {row}, feature {column}"),
        (_, 0) => "zeroed and averaged are right; damage".into(),
        _ => "all but the control is right; control".into(),
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, n_heads: usize, d_v: usize, d_model, head, seed| {
        let width = n_heads * d_v;
        let dims = inputs::dims(d_model, n_heads, d_v, d_v);
        Case {
            sizes: format!(
                "{n_tokens} tokens, {n_heads} heads, d_v {d_v}, d_model {d_model}, head \
                 {head}"
            ),
            square: n_tokens == width && width == d_model && n_heads == d_v,
            input: Input {
                // A mean that is not 0, so that it matters.
                concat: inputs::matrix(n_tokens, width, seed).add_scalar(0.5),
                w_o: inputs::layer(dims, seed).w_o().clone(),
                n_heads,
                head,
                basis: inputs::matrix(width, d_v, seed + 50).qr().q(),
            },
        }
    };
    vec![case(4, 2, 2, 4, 1, 1), case(3, 3, 2, 9, 2, 2), case(5, 2, 3, 4, 0, 3)]
}
