//! What people write instead.

use attention::Matrix;

use super::{GATED, Input, mean_square, rms, sigmoid, silu, swiglu};
use crate::{Mistake, Section};

const NORM: Section = Section::new("the-block", "Layer norm and RMSNorm");
const RESIDUAL: Section =
    Section::new("the-block", "The residual, and pre-norm or post-norm");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "subtracts the mean",
        does: "It computes layer norm without its bias. RMSNorm leaves the mean where it is, \
            and weights that were trained with one do not fit the other",
        looks_right: "It is the norm that chapters before this one have, and for tokens \
            with a mean of 0 the two agree",
        read: NORM,
        answer: |input| {
            let mut centred = input.clone();
            for mut token in centred.x.row_iter_mut() {
                token.add_scalar_mut(-token.mean());
            }
            &input.x + centred.fed(&centred.normed(rms), swiglu)
        },
    },
    Mistake {
        name: "divides by the spread and keeps the mean",
        does: "It divides by the root of the variance, the spread around the mean. RMSNorm \
            divides by the root of the mean square, the spread around 0",
        looks_right: "For tokens with a mean of 0 the two agree",
        read: NORM,
        answer: |input| {
            input.with_norm(|token, eps| {
                let mean = token.iter().sum::<f64>() / token.len() as f64;
                (mean_square(token) - mean * mean + eps).sqrt()
            })
        },
    },
    Mistake {
        name: "sums the squares and takes no mean",
        does: "It divides by the length of the token, so entries shrink as the width grows",
        looks_right: "Every token then has a length of 1, which is a norm too",
        read: NORM,
        answer: |input| {
            input.with_norm(|token, eps| {
                (mean_square(token) * token.len() as f64 + eps).sqrt()
            })
        },
    },
    Mistake {
        name: "divides by the mean square and not by its root",
        does: "A token that is ten times as large comes out ten times as small",
        looks_right: "At a mean square near 1 there is little to see",
        read: NORM,
        answer: |input| input.with_norm(|token, eps| mean_square(token) + eps),
    },
    Mistake {
        name: "adds eps outside of the root",
        does: "It divides by √(mean square) + eps. For a quiet token the two differ greatly",
        looks_right: "Nothing is divided by 0, and tokens of ordinary scale come out right",
        read: NORM,
        answer: |input| input.with_norm(|token, eps| mean_square(token).sqrt() + eps),
    },
    Mistake {
        name: "leaves eps out",
        does: "A token of zeros has a mean square of 0, and 0 / 0 is NaN",
        looks_right: "For every other token the difference is hard to see",
        read: NORM,
        answer: |input| input.with_norm(|token, _| mean_square(token).sqrt()),
    },
    Mistake {
        name: "takes the mean square of the whole matrix",
        does: "All tokens share one scale, so what comes out for a token depends on the \
            others",
        looks_right: "With one token it is right",
        read: NORM,
        answer: |input| {
            let all = mean_square(input.x.as_slice());
            input.with_norm(|_, eps| (all + eps).sqrt())
        },
    },
    Mistake {
        name: "takes the mean square over the tokens",
        does: "It norms each feature over all tokens, so each token's output depends on the \
            others, and on padding too",
        looks_right: "It is a norm of the same matrix, along its other axis",
        read: NORM,
        answer: |input| {
            let mut n = input.x.clone();
            for (j, mut column) in n.column_iter_mut().enumerate() {
                let square = column.norm_squared() / column.len() as f64;
                column *= input.gain[j] / (square + input.eps).sqrt();
            }
            &input.x + input.fed(&n, swiglu)
        },
    },
    Mistake {
        name: "leaves the gain out",
        does: "It stops at tokens whose mean square is 1, and what was learned is never used",
        looks_right: "A fresh norm has a gain of 1",
        read: NORM,
        answer: |input| {
            let gain = vec![1.0; input.gain.len()];
            Input { gain, ..input.clone() }.right()
        },
    },
    Mistake {
        name: "multiplies by 1 + gain",
        does: "It adds 1 to each gain, as Gemma does, whose files hold the gain less 1",
        looks_right: "It is right for the files of one family of models",
        read: NORM,
        answer: |input| {
            let gain = input.gain.iter().map(|gain| 1.0 + gain).collect();
            Input { gain, ..input.clone() }.right()
        },
    },
    Mistake {
        name: "exchanges the gate and what passes",
        does: "It computes (n W_gate) ⊙ silu(n W_up), so the wrong one of the two decides",
        looks_right: "Both matrices have one shape, and files name them gate_proj and up_proj, \
            or w1 and w3",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| gate * silu(up)),
    },
    Mistake {
        name: "sends both products through silu",
        does: "It computes silu(n W_gate) ⊙ silu(n W_up), so what passes is bent as well",
        looks_right: "A feed-forward has its activation behind the first product, and here \
            are two",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| silu(gate) * silu(up)),
    },
    Mistake {
        name: "multiplies first and sends the product through silu",
        does: "It computes silu((n W_gate) ⊙ (n W_up)), so two negative entries open the gate",
        looks_right: "One silu, one product, in the other order",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| silu(gate * up)),
    },
    Mistake {
        name: "has a sigmoid for silu",
        does: "It leaves z out of z · sigmoid(z). That is the gate of the first paper, GLU, \
            and not of SwiGLU",
        looks_right: "A gate between 0 and 1 is what the word says",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| sigmoid(gate) * up),
    },
    Mistake {
        name: "has relu for silu",
        does: "It cuts the gate off at 0, which is ReGLU",
        looks_right: "Far from 0 on either side the two agree",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| gate.max(0.0) * up),
    },
    Mistake {
        name: "has GELU for silu",
        does: "It bends the gate by GELU, in its form with tanh: GeGLU, which Gemma has",
        looks_right: "The two curves are nowhere further apart than 0.2",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| gelu(gate) * up),
    },
    Mistake {
        name: "has z · sigmoid(−z) for silu",
        does: "It has exp(z) where exp(−z) belongs, so the gate closes where it should open",
        looks_right: "At 0 it is right, and so is its slope there",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| gate * sigmoid(-gate) * up),
    },
    Mistake {
        name: "adds the two products",
        does: "It computes silu(n W_gate) + n W_up, so what passes passes whatever the gate \
            says",
        looks_right: "Both have d_ff entries, and a sum fits as well as a product",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| silu(gate) + up),
    },
    Mistake {
        name: "has no gate",
        does: "It computes silu(n W_up) W_down, the plain feed-forward of two matrices, and \
            W_gate is never used",
        looks_right: "It is the feed-forward of the paper with another activation",
        read: GATED,
        answer: |input| input.with_middle(|_, up| silu(up)),
    },
    Mistake {
        name: "never uses W_up",
        does: "It computes silu(n W_gate) W_down, the plain feed-forward of two matrices",
        looks_right: "It is the feed-forward of the paper with another activation",
        read: GATED,
        answer: |input| input.with_middle(|gate, _| silu(gate)),
    },
    Mistake {
        name: "has no activation",
        does: "It multiplies the two products as they are, so nothing is bent, and two \
            negative entries pass as if they were positive",
        looks_right: "A product of two linear maps is not linear, and it does learn",
        read: GATED,
        answer: |input| input.with_middle(|gate, up| gate * up),
    },
    Mistake {
        name: "leaves out the residual",
        does: "It gives back what the feed-forward says, and the token itself is gone",
        looks_right: "The shape is right, and the formula of the feed-forward ends there",
        read: RESIDUAL,
        answer: |input| input.fed(&input.normed(rms), swiglu),
    },
    Mistake {
        name: "adds the normed tokens and not the tokens",
        does: "It computes n + f(n), so every block norms what passes through",
        looks_right: "It is x = norm(x), then x + f(x), a line shorter",
        read: RESIDUAL,
        answer: |input| {
            let n = input.normed(rms);
            &n + input.fed(&n, swiglu)
        },
    },
    Mistake {
        name: "reads the tokens as they are, without the norm",
        does: "It computes x + f(x), and gain and eps are never used",
        looks_right: "The gate, the two products and the residual are right",
        read: RESIDUAL,
        answer: |input| &input.x + input.fed(&input.x, swiglu),
    },
    Mistake {
        name: "norms the gate's input alone",
        does: "It computes silu(n W_gate) ⊙ (x W_up): what passes grows with the token",
        looks_right: "The gate is right, and the norm is there",
        read: GATED,
        answer: |input| {
            let gate = input.normed(rms) * &input.ff.w_gate;
            let up = &input.x * &input.ff.w_up;
            &input.x + gate.zip_map(&up, swiglu) * &input.ff.w_down
        },
    },
    Mistake {
        name: "norms the sum",
        does: "It computes norm(x + f(x)), with the norm after, as the paper of 2017 has it",
        looks_right: "There is one norm, one feed-forward and one residual",
        read: RESIDUAL,
        answer: |input| {
            let x = &input.x + input.fed(&input.x, swiglu);
            Input { x, ..input.clone() }.normed(rms)
        },
    },
    Mistake {
        name: "uses W_gate twice",
        does: "It computes silu(n W_gate) ⊙ (n W_gate), and W_up is never used",
        looks_right: "Both matrices have one shape",
        read: GATED,
        answer: |input| input.with_middle(|gate, _| silu(gate) * gate),
    },
    Mistake {
        name: "uses W_up twice",
        does: "It computes silu(n W_up) ⊙ (n W_up), and W_gate is never used",
        looks_right: "Both matrices have one shape",
        read: GATED,
        answer: |input| input.with_middle(|_, up| silu(up) * up),
    },
    Mistake {
        name: "multiplies by the gain and norms nothing",
        does: "It never divides by the root of the mean square",
        looks_right: "Tokens whose mean square is near 1 come out nearly right",
        read: NORM,
        answer: |input| input.with_norm(|_, _| 1.0),
    },
];

fn gelu(z: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (z + 0.044_715 * z.powi(3));
    0.5 * z * (1.0 + inner.tanh())
}
