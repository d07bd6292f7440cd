//! A layer with its residual and its norm, in either place.

use std::process::ExitCode;

use attention::{Linear, Matrix, Rng, SeedableRng};
use block::LayerNorm;

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// Where the norm stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormPlace {
    /// The layer reads normed tokens: "pre-norm".
    Before,
    /// The sum is normed: "post-norm".
    After,
}

/// Tokens, and a layer and a norm for them.
pub struct Input {
    x: Matrix,
    layer: Linear,
    norm: LayerNorm,
    place: NormPlace,
}

impl Input {
    /// The layer: for this exercise it does not matter which; it is not linear.
    fn f(&self, x: &Matrix) -> Matrix {
        self.layer.forward(x).expect("as wide as the tokens").map(f64::tanh)
    }

    fn norm(&self, x: &Matrix) -> Matrix {
        self.norm.forward(x).expect("as wide as the tokens")
    }

    /// One thing before, another after.
    fn either(
        &self,
        before: impl Fn(&Matrix) -> Matrix,
        after: impl Fn(&Matrix) -> Matrix,
    ) -> Matrix {
        match self.place {
            NormPlace::Before => before(&self.x),
            NormPlace::After => after(&self.x),
        }
    }

    fn before(&self, x: &Matrix) -> Matrix {
        x + self.f(&self.norm(x))
    }

    fn after(&self, x: &Matrix) -> Matrix {
        self.norm(&(x + self.f(x)))
    }

    fn both(&self, x: &Matrix) -> Matrix {
        self.norm(&self.before(x))
    }

    fn normed_residual(&self, x: &Matrix) -> Matrix {
        self.norm(x) + self.f(x)
    }

    fn right(&self) -> Matrix {
        self.either(|x| self.before(x), |x| self.after(x))
    }
}

/// A layer or a norm, from tokens to tokens of the same shape.
pub type Layer<'a> = &'a dyn Fn(&Matrix) -> Matrix;

/// What the reader writes: from `x`, `[n_tokens, d_model]`, a layer, a norm and the place
/// of the norm, what comes out of the sub-layer, `[n_tokens, d_model]`.
pub type Sublayer = fn(x: &Matrix, f: Layer, norm: Layer, place: NormPlace) -> Matrix;

/// Checks an answer.
pub fn check(answer: Sublayer) -> ExitCode {
    EXERCISE.check(move |input| {
        answer(&input.x, &|x| input.f(x), &|x| input.norm(x), input.place)
    })
}

const RESIDUAL: Section =
    Section::new("the-block", "The residual, and pre-norm or post-norm");
const WRONG: Section = Section::new("the-block", "What people get wrong");

/// In one of the places, or in both.
const NO_RESIDUAL: Mistake<Input, Matrix> = Mistake {
    name: "leaves out the residual",
    does: "It gives back what the layer says, and the token itself is gone",
    looks_right: "The shape is right, and the norm is in its place",
    read: RESIDUAL,
    answer: |input| {
        input.either(|x| input.f(&input.norm(x)), |x| input.norm(&input.f(x)))
    },
};

/// In one of the places, or in both.
const BOTH_NORMS: Mistake<Input, Matrix> = Mistake {
    name: "norms both before and after",
    does: "The layer reads normed tokens, and the sum is normed as well",
    looks_right: "Each of the two is right in its place",
    read: RESIDUAL,
    answer: |input| input.either(|x| input.both(x), |x| input.both(x)),
};

/// In one of the places, or in both.
const NO_NORM: Mistake<Input, Matrix> = Mistake {
    name: "never norms",
    does: "It computes x + f(x), in one place or in both, and scale grows from block to \
        block",
    looks_right: "The residual is right",
    read: RESIDUAL,
    answer: |input| &input.x + input.f(&input.x),
};

/// In one of the places, or in both.
const NORMED_RESIDUAL: Mistake<Input, Matrix> = Mistake {
    name: "norms the residual and nothing else",
    does: "It computes norm(x) + f(x): the layer reads the tokens as they are, and they \
        come back normed",
    looks_right: "There is one norm, one layer and one sum",
    read: RESIDUAL,
    answer: |input| {
        input.either(|x| input.normed_residual(x), |x| input.normed_residual(x))
    },
};

/// In one of the places, or in both.
const NORMS_THE_LAYER: Mistake<Input, Matrix> = Mistake {
    name: "norms what the layer says",
    does: "With the norm after, it computes x + norm(f(x)), and the sum grows from block to \
        block",
    looks_right: "The norm stands after the layer",
    read: RESIDUAL,
    answer: |input| input.either(|x| input.before(x), |x| x + input.norm(&input.f(x))),
};

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "sublayer",
    title: "Residual and norm",
    read: RESIDUAL,
    begin: "the two formulas on paper, one under the other. What does f read in each, and \
        what is added to what it says?",
    print: "x, norm(x) and f(norm(x)) for one token",
    passed: "With the norm before, x itself goes through the sum. With the norm after, \
        what comes out has been normed.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "adds the normed tokens and not the tokens",
            does: "With the norm before, it computes norm(x) + f(norm(x)), so every layer \
                norms what passes through, and no token goes around it untouched",
            looks_right: "It is x = norm(x), then x + f(x), a line shorter",
            read: WRONG,
            answer: |input| {
                let normed = |x: &Matrix| {
                    let x = input.norm(x);
                    &x + input.f(&x)
                };
                input.either(normed, |x| input.after(x))
            },
        },
        Mistake {
            name: "puts the norm after in both",
            does: "It never looks at the place, and computes norm(x + f(x))",
            looks_right: "It is the paper's formula",
            read: RESIDUAL,
            answer: |input| input.after(&input.x),
        },
        Mistake {
            name: "puts the norm before in both",
            does: "It never looks at the place, and computes x + f(norm(x))",
            looks_right: "It is what most newer models do",
            read: RESIDUAL,
            answer: |input| input.before(&input.x),
        },
        Mistake {
            name: "has the two places exchanged",
            does: "It norms before where the norm should stand after, and after where it \
                should stand before",
            looks_right: "Both formulas are there",
            read: RESIDUAL,
            answer: |input| input.either(|x| input.after(x), |x| input.before(x)),
        },
        NO_RESIDUAL,
        Mistake {
            answer: |input| input.either(|x| input.f(&input.norm(x)), |x| input.after(x)),
            ..NO_RESIDUAL
        },
        Mistake {
            answer: |input| {
                input.either(|x| input.before(x), |x| input.norm(&input.f(x)))
            },
            ..NO_RESIDUAL
        },
        NORMS_THE_LAYER,
        Mistake {
            does: "With the norm before, it computes x + norm(f(x)): the layer reads the \
                tokens as they are, and what it says is normed",
            looks_right: "The norm stands before the sum",
            answer: |input| {
                input.either(|x| x + input.norm(&input.f(x)), |x| input.after(x))
            },
            ..NORMS_THE_LAYER
        },
        Mistake {
            does: "It computes x + norm(f(x)), whichever place is asked for",
            answer: |input| &input.x + input.norm(&input.f(&input.x)),
            ..NORMS_THE_LAYER
        },
        BOTH_NORMS,
        Mistake {
            answer: |input| input.either(|x| input.both(x), |x| input.after(x)),
            ..BOTH_NORMS
        },
        Mistake {
            answer: |input| input.either(|x| input.before(x), |x| input.both(x)),
            ..BOTH_NORMS
        },
        Mistake {
            name: "adds the residual after the norm",
            does: "With the norm after, it computes x + norm(x + f(x)), so x is there twice",
            looks_right: "The residual goes around everything, the norm too",
            read: RESIDUAL,
            answer: |input| input.either(|x| input.before(x), |x| x + input.after(x)),
        },
        NO_NORM,
        Mistake {
            answer: |input| input.either(|x| x + input.f(x), |x| input.after(x)),
            ..NO_NORM
        },
        Mistake {
            answer: |input| input.either(|x| input.before(x), |x| x + input.f(x)),
            ..NO_NORM
        },
        NORMED_RESIDUAL,
        Mistake {
            answer: |input| {
                input.either(|x| input.normed_residual(x), |x| input.after(x))
            },
            ..NORMED_RESIDUAL
        },
        Mistake {
            answer: |input| {
                input.either(|x| input.before(x), |x| input.normed_residual(x))
            },
            ..NORMED_RESIDUAL
        },
    ],
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, d_model: usize, place: NormPlace, seed: u64| {
        let row = |seed: u64| inputs::matrix(1, d_model, seed).row(0).into_owned();
        let norm = LayerNorm {
            gain: row(seed).map(|it| 1.0 + 0.3 * it),
            bias: row(seed + 1),
            eps: 1e-5,
        };
        let rng = &mut Rng::seed_from_u64(seed + 2);
        let name = match place {
            NormPlace::Before => "before",
            NormPlace::After => "after",
        };
        Case {
            sizes: format!("{n_tokens} tokens, d_model {d_model}, norm {name}"),
            square: false,
            input: Input {
                x: inputs::matrix(n_tokens, d_model, seed + 3) * 3.0,
                layer: Linear::random(d_model, d_model, true, rng),
                norm,
                place,
            },
        }
    };
    vec![
        case(3, 4, NormPlace::Before, 1),
        case(3, 4, NormPlace::After, 5),
        case(2, 6, NormPlace::Before, 9),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// The crate's own sub-layer.
    #[test]
    fn the_crates_sublayer_passes() {
        let by_crate = |input: &Input| {
            let norm = match input.place {
                NormPlace::Before => block::Norm::Before(input.norm.clone()),
                NormPlace::After => block::Norm::After(input.norm.clone()),
            };
            let sublayer = block::Sublayer::new((), norm);
            let around = sublayer.forward(&input.x, |_, x| Ok((input.f(x), ()))).unwrap();
            around.out
        };
        assert_eq!(EXERCISE.diagnose(by_crate), Verdict::Passed);
    }
}
