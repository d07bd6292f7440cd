//! What people write instead.

use attention::{Matrix, softmax_rows};

use super::{Absorbed, Input, LATENT};
use crate::{Mistake, Section};

const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const ROWS: Section =
    Section::new("scores-softmax-scale", "From scores to shares: softmax");
const COLUMNS: Section =
    Section::new("one-matrix-many-heads", "How a matrix lies in memory");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Absorbed>] = &[
    Mistake {
        name: "divides the scores by √r",
        does: "It divides by the root of the width of a latent row. The scores are still \
            those of queries and keys of width d_k, computed on another way",
        looks_right: "The dot product that it computes has r terms",
        read: SCALE,
        answer: |input| input.divided_by((input.r() as f64).sqrt()),
    },
    Mistake {
        name: "divides by the root of the width of all heads",
        does: "It divides by √(n_heads · d_k), the width of q",
        looks_right: "With one head it is right",
        read: SCALE,
        answer: |input| input.divided_by((input.q.ncols() as f64).sqrt()),
    },
    Mistake {
        name: "does not divide the scores",
        does: "Softmax gets the bare dot products, and rows come out too sharp",
        looks_right: "Every output is still an average, and the absorbed queries are right",
        read: SCALE,
        answer: |input| input.divided_by(1.0),
    },
    Mistake {
        name: "divides the scores by d_k and not by its root",
        does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
        looks_right: "A sum of d_k products divided by d_k is their mean",
        read: SCALE,
        answer: |input| input.divided_by(input.d_k() as f64),
    },
    Mistake {
        name: "divides the absorbed queries by √d_k",
        does: "It divides the absorbed queries, and the scores once more or not at all. Bare \
            absorbed queries were asked for",
        looks_right: "A factor may stand anywhere in a product, and the outputs can be right",
        read: LATENT,
        answer: |input| {
            let right = input.right();
            Absorbed { queries: right.queries / input.root(), out: right.out }
        },
    },
    Mistake {
        name: "divides the absorbed queries by √d_k",
        does: "It divides the absorbed queries, and then the scores once more",
        looks_right: "Each of the two divisions is right alone",
        read: LATENT,
        answer: |input| {
            let queries = input.right().queries / input.root();
            let out = input.divided_by(input.root() * input.root()).out;
            Absorbed { queries, out }
        },
    },
    Mistake {
        name: "gives every head the first projection of keys",
        does: "All heads absorb U_0, so their queries meet keys of head 0",
        looks_right: "Every shape is right, and so is head 0",
        read: LATENT,
        answer: |input| {
            let absorbed = |i| input.q_of(i) * input.u_of(0).transpose();
            input.with(absorbed, input.root(), |i, average| average * input.v_of(i))
        },
    },
    Mistake {
        name: "gives every head the first projection of values",
        does: "All averages go through V_0. The maps are right, and what is handed over is \
            head 0's",
        looks_right: "All absorbed queries are right, and so is head 0",
        read: LATENT,
        answer: |input| {
            input.with(
                |i| input.absorbed(i),
                input.root(),
                |_, average| average * input.v_of(0),
            )
        },
    },
    Mistake {
        name: "does not transpose U",
        does: "It computes q_i · U_i, in which entries of a query meet latent numbers and \
            not entries of a key",
        looks_right: "c · U_i makes a key without a transpose, and where r = d_k the shape \
            is right",
        read: LATENT,
        answer: |input| {
            let absorbed = |i| input.q_of(i) * input.u_of(i);
            input.with(absorbed, input.root(), |i, average| average * input.v_of(i))
        },
    },
    Mistake {
        name: "absorbs the projection of the values",
        does: "It computes q_i · V_iᵀ, so that queries are compared with values",
        looks_right: "Both projections read the same rows, and where d_v = d_k it fits",
        read: LATENT,
        answer: |input| {
            let absorbed = |i| input.q_of(i) * input.v_of(i).transpose();
            input.with(absorbed, input.root(), |i, average| average * input.v_of(i))
        },
    },
    Mistake {
        name: "hands over keys",
        does: "The averages go through U_i and not V_i, so what comes out is an average of \
            keys",
        looks_right: "The maps are right, and where d_v = d_k so is the shape",
        read: LATENT,
        answer: |input| {
            input.with(
                |i| input.absorbed(i),
                input.root(),
                |i, average| average * input.u_of(i),
            )
        },
    },
    Mistake {
        name: "exchanges the two projections",
        does: "Queries absorb V_i, and averages go through U_i",
        looks_right: "Where d_v = d_k every shape is right",
        read: LATENT,
        answer: |input| {
            let absorbed = |i| input.q_of(i) * input.v_of(i).transpose();
            input.with(absorbed, input.root(), |i, average| average * input.u_of(i))
        },
    },
    Mistake {
        name: "hands over the latents",
        does: "It stops at the average of latent rows, which all heads share, and never \
            makes values of it",
        looks_right: "A latent is what the cache has for a value, and where r = d_v the \
            shape is right",
        read: LATENT,
        answer: |input| {
            input.with(|i| input.absorbed(i), input.root(), |_, average| average)
        },
    },
    Mistake {
        name: "gives each head a slice of the latents",
        does: "Head i meets r / n_heads columns of a latent row. Every head reads the whole \
            row: that is why so few numbers do for all",
        looks_right: "Queries, keys and values are cut into heads like that",
        read: LATENT,
        answer: |input| {
            let width = input.r() / input.n_heads;
            let out = |i: usize| {
                let slice = input.latents.columns(i * width, width);
                let absorbed = input.absorbed(i);
                let products = absorbed.columns(i * width, width) * slice.transpose();
                softmax_rows(products / input.root()) * &input.latents * input.v_of(i)
            };
            input.joined(|i| input.absorbed(i), out)
        },
    },
    Mistake {
        name: "takes interleaved columns for a head's block",
        does: "Head i gets columns i, i + h, i + 2h, … of the projections",
        looks_right: "Every head gets as many columns as it should",
        read: COLUMNS,
        answer: |input| {
            let every = |w: &Matrix, i: usize| {
                let columns: Vec<usize> = (i..w.ncols()).step_by(input.n_heads).collect();
                w.select_columns(&columns)
            };
            let absorbed = |i| input.q_of(i) * every(&input.w_uk, i).transpose();
            input.with(absorbed, input.root(), |i, average| {
                average * every(&input.w_uv, i)
            })
        },
    },
    Mistake {
        name: "takes softmax down the columns",
        does: "Queries compete for a token, and the shares of a query do not sum to 1",
        looks_right: "There is a softmax, and with one token it cannot be told",
        read: ROWS,
        answer: |input| {
            let out = |i: usize| {
                let products =
                    input.absorbed(i) * input.latents.transpose() / input.root();
                let shares = softmax_rows(products.transpose()).transpose();
                shares * &input.latents * input.v_of(i)
            };
            input.joined(|i| input.absorbed(i), out)
        },
    },
    Mistake {
        name: "gives all heads the map of head 0",
        does: "It computes the shares once, and all heads average with them",
        looks_right: "All heads meet the same latent rows, so the maps seem to be shared too",
        read: LATENT,
        answer: |input| {
            let scores = input.absorbed(0) * input.latents.transpose() / input.root();
            let average = softmax_rows(scores) * &input.latents;
            input.joined(|i| input.absorbed(i), |i| &average * input.v_of(i))
        },
    },
    Mistake {
        name: "weighs with the scores themselves",
        does: "It leaves softmax out: weights may be negative, and do not sum to 1",
        looks_right: "A high score does count for more",
        read: ROWS,
        answer: |input| {
            input.joined(
                |i| input.absorbed(i),
                |i| {
                    input.absorbed(i) * input.latents.transpose() / input.root()
                        * &input.latents
                        * input.v_of(i)
                },
            )
        },
    },
    Mistake {
        name: "takes softmax twice",
        does: "It makes shares of the shares, and every row comes out nearly even",
        looks_right: "Every row sums to 1",
        read: ROWS,
        answer: |input| {
            input.joined(
                |i| input.absorbed(i),
                |i| {
                    let scores =
                        input.absorbed(i) * input.latents.transpose() / input.root();
                    softmax_rows(softmax_rows(scores)) * &input.latents * input.v_of(i)
                },
            )
        },
    },
    Mistake {
        name: "lets blocks of columns overlap",
        does: "It starts the projection of head i at column i and not at column i · d_k",
        looks_right: "Head 0 is right, and each block is as wide as it should be",
        read: COLUMNS,
        answer: |input| {
            let overlapping = |w: &Matrix, i: usize| {
                w.columns(i, w.ncols() / input.n_heads).into_owned()
            };
            let absorbed = |i| input.q_of(i) * overlapping(&input.w_uk, i).transpose();
            input.with(absorbed, input.root(), |i, average| {
                average * overlapping(&input.w_uv, i)
            })
        },
    },
    Mistake {
        name: "lets blocks of columns overlap",
        does: "It starts the projection of keys of head i at column i and not at column i · d_k",
        looks_right: "Head 0 is right, and each block is as wide as it should be",
        read: COLUMNS,
        answer: |input| {
            let absorbed =
                |i| input.q_of(i) * input.w_uk.columns(i, input.d_k()).transpose();
            input.with(absorbed, input.root(), |i, average| average * input.v_of(i))
        },
    },
    Mistake {
        name: "lets the absorbed queries overlap",
        does: "It writes the query of head i from column i on and not from column i · r",
        looks_right: "The outputs are right, and the last head's query is whole",
        read: LATENT,
        answer: |input| {
            let (right, r) = (input.right(), input.r());
            let mut queries = Matrix::zeros(right.queries.nrows(), right.queries.ncols());
            for i in 0..input.n_heads {
                queries.columns_mut(i, r).copy_from(&input.absorbed(i));
            }
            Absorbed { queries, out: right.out }
        },
    },
];
