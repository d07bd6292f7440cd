//! What people write instead.

use attention::Matrix;

use super::{Head, Input, PATHS};
use crate::{Mistake, Section};

const LOOK: Section = Section::new("two-layers", "Where the heads look");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "gives the head of layer 2 the whole residual",
        does: "Column h + 1 is all that the head of layer 2 adds, what it reads from heads \
            of layer 1 among it, and the last columns have that once more",
        looks_right: "It is what the head does in the model, but rows sum to too much",
        read: PATHS,
        answer: |input| {
            let n = input.n_parts();
            input.changed(|out| {
                let all = out.columns(n, n).column_sum();
                out.column_mut(n).copy_from(&all);
            })
        },
    },
    Mistake {
        name: "counts x in every column of layer 1",
        does: "It takes the residual behind a head, x and all, where the head's own output \
            belongs",
        looks_right: "The residual is what goes on to the next layer",
        read: PATHS,
        answer: |input| {
            let adds = |head: &Head, x: &Matrix| head.adds(x);
            input.by(|head, x| x + head.adds(x), adds)
        },
    },
    Mistake {
        name: "counts the straight path in every column",
        does: "It takes the residual behind each head, in both layers, where the head's own \
            output belongs",
        looks_right: "The residual is what goes on to the next layer",
        read: PATHS,
        answer: |input| input.by(|head, x| x + head.adds(x), |head, x| x + head.adds(x)),
    },
    Mistake {
        name: "adds the paths up from left to right",
        does: "Column i has the paths before it too, so the last column is the whole logit",
        looks_right: "A residual grows like that, layer by layer",
        read: PATHS,
        answer: |input| {
            input.changed(|out| {
                for i in 1..out.ncols() {
                    let before = out.column(i - 1).into_owned();
                    out.column_mut(i).zip_apply(&before, |it, before| *it += before);
                }
            })
        },
    },
    Mistake {
        name: "leaves the straight path out",
        does: "Column 0 is zeros, and rows sum to what attention adds alone",
        looks_right: "No head has a part in it",
        read: PATHS,
        answer: |input| input.changed(|out| out.column_mut(0).fill(0.0)),
    },
    Mistake {
        name: "leaves the paths through two heads out",
        does: "The last columns are zeros: what heads do only together is missing, and rows \
            do not sum to the logit",
        looks_right: "Every head has its column",
        read: PATHS,
        answer: |input| {
            let n = input.n_parts();
            input.changed(|out| out.columns_range_mut(n + 1..).fill(0.0))
        },
    },
    Mistake {
        name: "gives shares of the logit",
        does: "It divides each row by its sum. Paths may cancel, and then shares are of any \
            size and sign",
        looks_right: "Rows sum to 1, as those of a map do",
        read: PATHS,
        answer: |input| {
            input.changed(|out| {
                for mut row in out.row_iter_mut() {
                    row /= row.sum();
                }
            })
        },
    },
    Mistake {
        name: "takes sizes without their signs",
        does: "A path that lowers the logit looks like one that raises it, and rows do not \
            sum to the logit",
        looks_right: "Large is important, either way",
        read: PATHS,
        answer: |input| input.changed(|out| out.apply(|it| *it = it.abs())),
    },
    Mistake {
        name: "alternates the two layers' columns",
        does: "Behind each part's straight column it puts the one through layer 2",
        looks_right: "Every path is there, and rows sum to the logit",
        read: PATHS,
        answer: |input| {
            let (right, n) = (input.right(), input.n_parts());
            let from = |column: usize| column / 2 + column % 2 * n;
            Matrix::from_fn(right.nrows(), 2 * n, |t, column| right[(t, from(column))])
        },
    },
    Mistake {
        name: "transposes the maps",
        does: "It gathers down the columns of a map: token t gets what was read from it and \
            not what it read",
        looks_right: "A map is square",
        read: LOOK,
        answer: |input| {
            let adds = |head: &Head, x: &Matrix| head.attn.transpose() * x * &head.w_ov;
            input.by(adds, adds)
        },
    },
    Mistake {
        name: "transposes W_OV",
        does: "It multiplies by W_OVᵀ, which is how PyTorch stores a matrix and not what it \
            computes with",
        looks_right: "W_OV is square",
        read: PATHS,
        answer: |input| {
            let adds = |head: &Head, x: &Matrix| &head.attn * x * head.w_ov.transpose();
            input.by(adds, adds)
        },
    },
    Mistake {
        name: "leaves the maps out",
        does: "Each head reads the token that it writes to, as a feed-forward would",
        looks_right: "Every shape is right, and so is token 0 under a causal mask",
        read: LOOK,
        answer: |input| {
            let adds = |head: &Head, x: &Matrix| x * &head.w_ov;
            input.by(adds, adds)
        },
    },
    Mistake {
        name: "leaves W_OV out",
        does: "Each head hands over the tokens as they are",
        looks_right: "Every shape is right, since W_OV is square",
        read: PATHS,
        answer: |input| {
            let adds = |head: &Head, x: &Matrix| &head.attn * x;
            input.by(adds, adds)
        },
    },
    Mistake {
        name: "multiplies the two maps in the wrong order",
        does: "On the paths through two heads it lets layer 2 look first. The later map \
            stands on the left: attn_2 · attn_1 · x",
        looks_right: "Read from left to right, layer 1 comes first",
        read: PATHS,
        answer: |input| {
            input.composed(|a, b| &a.attn * &b.attn * &input.x * &a.w_ov * &b.w_ov)
        },
    },
    Mistake {
        name: "multiplies the two W_OV in the wrong order",
        does: "On the paths through two heads a token meets the matrix of layer 2 first. Rows \
            are tokens, so the earlier matrix stands on the left: x · W_1 · W_2",
        looks_right: "For columns as tokens it would be so",
        read: PATHS,
        answer: |input| {
            input.composed(|a, b| &b.attn * &a.attn * &input.x * &b.w_ov * &a.w_ov)
        },
    },
    Mistake {
        name: "forgets the map of layer 1 on the paths through two heads",
        does: "It takes the token that layer 2 looks at, where it should take those that layer \
            1 had looked at from there",
        looks_right: "All other columns are right",
        read: PATHS,
        answer: |input| input.composed(|a, b| &b.attn * &input.x * &a.w_ov * &b.w_ov),
    },
    Mistake {
        name: "forgets the map of layer 2 on the paths through two heads",
        does: "What a head of layer 1 wrote to a token is read by that token alone",
        looks_right: "All other columns are right",
        read: PATHS,
        answer: |input| input.composed(|a, b| &a.attn * &input.x * &a.w_ov * &b.w_ov),
    },
    Mistake {
        name: "forgets W_OV of layer 1 on the paths through two heads",
        does: "It hands the tokens themselves from head to head",
        looks_right: "All other columns are right",
        read: PATHS,
        answer: |input| input.composed(|a, b| &b.attn * &a.attn * &input.x * &b.w_ov),
    },
    Mistake {
        name: "forgets W_OV of layer 2 on the paths through two heads",
        does: "What layer 1 wrote meets the direction as it is",
        looks_right: "All other columns are right",
        read: PATHS,
        answer: |input| input.composed(|a, b| &b.attn * &a.attn * &input.x * &a.w_ov),
    },
    Mistake {
        name: "lets heads of layer 1 read one another",
        does: "Each head reads x and what the heads before it added. Heads of one layer read \
            the same tokens",
        looks_right: "Rows sum to a logit, and with one head it is right",
        read: PATHS,
        answer: |input| {
            let (mut parts, mut residual) = (vec![input.x.clone()], input.x.clone());
            for head in &input.first {
                let added = head.adds(&residual);
                residual += &added;
                parts.push(added);
            }
            let behind: Vec<Matrix> =
                parts.iter().map(|it| input.second.adds(it)).collect();
            input.logits(parts.into_iter().chain(behind))
        },
    },
];
