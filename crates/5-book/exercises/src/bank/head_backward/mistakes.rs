//! What people write instead.

use attention::{Matrix, softmax_rows};
use gradients::softmax_rows_backward;

use super::{CHAPTER, Input, WALK};
use crate::{Mistake, Section};

const CANNOT: Section = Section::new(CHAPTER, "What cannot learn");
const SOFTMAX: Section = Section::new(CHAPTER, "Softmax: one dot product per row");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

/// All of them.
pub(super) const ALL: &[Mistake<Input, [Matrix; 3]>] = &[
    Mistake {
        name: "forgets the √d_k in the backward pass",
        does: "It goes from the scores straight to Q and K, and both gradients are √d_k \
            times too large",
        looks_right: "The map that was handed over is scaled already, and dV is \
            right",
        read: WRONG,
        answer: |input| input.through_products(&input.d_scores()),
    },
    Mistake {
        name: "multiplies by √d_k in the backward pass",
        does: "It undoes the division, and a gradient is not undone but passed on: a \
            product counts for 1/√d_k of itself, so its gradient does too",
        looks_right: "The backward pass takes the steps in reverse, and the reverse of a \
            division is a multiplication",
        read: WALK,
        answer: |input| input.through_products(&(input.d_scores() * input.sqrt_d_k())),
    },
    Mistake {
        name: "divides by √d_k twice",
        does: "It divides the gradient of the products, and then dQ and dK once more; \
            forward there is one division, and so there is one backward",
        looks_right: "Q and K both met the scale; but they met it in one product",
        read: WALK,
        answer: |input| input.through_products(&(input.d_products() / input.sqrt_d_k())),
    },
    ONE_SCALE,
    Mistake {
        name: "divides dK by √d_k and not dQ",
        answer: |input| {
            let [dq, ..] = input.through_products(&input.d_scores());
            let [_, dk, dv] = input.right();
            [dq, dk, dv]
        },
        ..ONE_SCALE
    },
    Mistake {
        name: "divides dV by √d_k too",
        does: "It scales all three gradients at the end; but values are averaged after \
            the scale and never meet it",
        looks_right: "All three come from one head, and dQ and dK are right",
        read: WALK,
        answer: |input| {
            let [dq, dk, dv] = input.right();
            [dq, dk, dv / input.sqrt_d_k()]
        },
    },
    Mistake {
        name: "passes over the softmax",
        does: "It takes the gradient of the shares for that of the scores",
        looks_right: "Both have a number for each query and key, and every shape is \
            right",
        read: SOFTMAX,
        answer: |input| input.through_products(&(input.d_attn() / input.sqrt_d_k())),
    },
    Mistake {
        name: "goes back through softmax entry by entry",
        does: "It takes a (1 − a) · da, as if a share could grow by itself; what the \
            others of its row must give is missing",
        looks_right: "It is the derivative of a share by its own score",
        read: WRONG,
        answer: |input| {
            let alone = |a, d| a * (1.0 - a) * d;
            let d_scores = input.attn.zip_map(&input.d_attn(), alone);
            input.through_products(&(d_scores / input.sqrt_d_k()))
        },
    },
    Mistake {
        name: "forgets the dot product of the softmax",
        does: "It takes a · da, and what is common to a whole row is not taken off; so \
            raising all scores of a row alike would seem to change the loss",
        looks_right: "A key with a share of 0 gets nothing, and every shape is right",
        read: SOFTMAX,
        answer: |input| {
            let d_scores = input.attn.component_mul(&input.d_attn());
            input.through_products(&(d_scores / input.sqrt_d_k()))
        },
    },
    Mistake {
        name: "takes the dot products down the columns",
        does: "It takes off one number for each key; but softmax shares out each row, \
            so it is one for each query",
        looks_right: "Every shape is right, and a key with a share of 0 gets nothing",
        read: SOFTMAX,
        answer: |input| {
            let (attn, d_attn) = (input.attn.transpose(), input.d_attn().transpose());
            let d_scores = softmax_rows_backward(&attn, d_attn).expect("one shape");
            input.through_products(&(d_scores.transpose() / input.sqrt_d_k()))
        },
    },
    Mistake {
        name: "exchanges the map and its gradient in softmax backward",
        does: "It hands over da for the map and the map for da",
        looks_right: "Both have the same shape, and their dot products are the same",
        read: SOFTMAX,
        answer: |input| {
            let d_scores = softmax_rows_backward(&input.d_attn(), input.attn.clone());
            let d_scores = d_scores.expect("one shape");
            input.through_products(&(d_scores / input.sqrt_d_k()))
        },
    },
    Mistake {
        name: "gathers queries for dQ and keys for dK",
        does: "It computes dP · Q and dPᵀ · K; but a factor of a product gets the other \
            factor: a query gathers keys, and a key queries",
        looks_right: "Each gradient is made from what it belongs to, and with as many \
            keys as queries the shapes are right",
        read: WALK,
        answer: |input| {
            let d_products = input.d_products();
            let [_, _, dv] = input.right();
            [&d_products * &input.q, d_products.transpose() * &input.k, dv]
        },
    },
    Mistake {
        name: "uses the map's gradient for dV",
        does: "It computes dAᵀ · dhead; but a value gets dhead by the shares with which \
            it was read",
        looks_right: "In a backward pass one product follows another, and the shape is \
            right",
        read: WALK,
        answer: |input| {
            let [dq, dk, _] = input.right();
            [dq, dk, input.d_attn().transpose() * &input.d_head]
        },
    },
    Mistake {
        name: "computes the map anew, without its mask",
        does: "It makes shares from Q and K and not from the map of the forward pass, \
            so blocked keys get gradients, and values from queries that never read them",
        looks_right: "Without a mask it is the same map",
        read: CANNOT,
        answer: |input| {
            let scores = &input.q * input.k.transpose() / input.sqrt_d_k();
            Input { attn: softmax_rows(scores), ..input.clone() }.right()
        },
    },
    Mistake {
        name: "uses the gradient of the scores for dV",
        does: "It computes dSᵀ · dhead; but values meet the shares, and never the scores",
        looks_right: "dK is made with dSᵀ, and the shape is right",
        read: WALK,
        answer: |input| {
            let [dq, dk, _] = input.right();
            [dq, dk, input.d_scores().transpose() * &input.d_head]
        },
    },
    Mistake {
        name: "takes the mean over the queries for dV",
        does: "It divides dV by the number of queries; but a value that many queries \
            read moves all of their outputs, and that adds up",
        looks_right: "A loss is often a mean, and then it has been divided already",
        read: WALK,
        answer: |input| {
            let [dq, dk, dv] = input.right();
            [dq, dk, dv / input.q.nrows() as f64]
        },
    },
    Mistake {
        name: "returns them in the order in which they come",
        does: "It returns dV, dK, dQ; dQ, dK, dV was asked for",
        looks_right: "Backwards, V comes first, and where all sizes are equal every \
            shape is right",
        read: WALK,
        answer: |input| {
            let [dq, dk, dv] = input.right();
            [dv, dk, dq]
        },
    },
    Mistake {
        name: "exchanges dQ and dK",
        does: "It gives the gradient of the keys first and that of the queries \
            second",
        looks_right: "Both are as wide, and with as many keys as queries both have the \
            shape of the other",
        read: WALK,
        answer: |input| {
            let [dq, dk, dv] = input.right();
            [dk, dq, dv]
        },
    },
    Mistake {
        name: "does not transpose the map for dV",
        does: "It computes A · dhead, a row for each query; but a value gathers from the \
            queries that read it, which is a column of A",
        looks_right: "Forward it is A times V, and in self-attention A is square",
        read: WRONG,
        answer: |input| {
            let [dq, dk, _] = input.right();
            [dq, dk, &input.attn * &input.d_head]
        },
    },
    Mistake {
        name: "does not transpose V for dA",
        does: "It computes dhead · V, in which the features of a head meet the keys; \
            but a share gets the dot product of dhead with the value that it is for",
        looks_right: "Forward it is A times V, and where all sizes are equal the shape \
            is right",
        read: WRONG,
        answer: |input| {
            let v_t = input.v.transpose();
            let [dq, dk, _] = Input { v: v_t, ..input.clone() }.right();
            let [_, _, dv] = input.right();
            [dq, dk, dv]
        },
    },
    Mistake {
        name: "does not transpose dP for dK",
        does: "It computes dP · Q, in which a query gathers queries; but a key gathers \
            the queries that asked it, which is a column of dP",
        looks_right: "dQ needs no transpose, and with as many keys as queries dK fits \
            without one",
        read: WALK,
        answer: |input| {
            let [dq, _, dv] = input.right();
            [dq, input.d_products() * &input.q, dv]
        },
    },
    Mistake {
        name: "transposes K for dQ",
        does: "It computes dP · Kᵀ, as if K had gone in as it is; it went in transposed, so it is transposed back",
        looks_right: "The other products have a transpose in the backward pass, and where all \
            sizes are equal the shape is right",
        read: WALK,
        answer: |input| {
            let [_, dk, dv] = input.right();
            [input.d_products() * input.k.transpose(), dk, dv]
        },
    },
    Mistake {
        name: "exchanges keys and values for dQ",
        does: "It computes dP · V for dQ; a query gathers keys",
        looks_right: "Keys and values stand in the same rows, and where d_k = d_v the shape is right",
        read: WALK,
        answer: |input| {
            let [_, dk, dv] = input.right();
            [input.d_products() * &input.v, dk, dv]
        },
    },
    Mistake {
        name: "uses K for dA",
        does: "It computes dhead · Kᵀ; a share is for a value, and gets the dot product of dhead with that",
        looks_right: "Keys and values stand in the same rows, and where d_k = d_v the shape is right",
        read: WALK,
        answer: |input| {
            let right = input.right();
            let d_attn = &input.d_head * input.k.transpose();
            let d = softmax_rows_backward(&input.attn, d_attn).expect("one shape")
                / input.sqrt_d_k();
            let [dq, dk, _] = input.through_products(&d);
            let [_, _, dv] = right;
            [dq, dk, dv]
        },
    },
    Mistake {
        name: "gathers keys for dK",
        does: "It computes dPᵀ · K; a factor of a product gets the other factor, and a key gathers queries",
        looks_right: "dQ is right, and with as many keys as queries so is the shape",
        read: WALK,
        answer: |input| {
            let [dq, _, dv] = input.right();
            [dq, input.d_products().transpose() * &input.k, dv]
        },
    },
    Mistake {
        name: "gathers queries for dQ",
        does: "It computes dP · Q; a factor of a product gets the other factor, and a query gathers keys",
        looks_right: "dK is right, and with as many keys as queries so is the shape",
        read: WALK,
        answer: |input| {
            let [_, dk, dv] = input.right();
            [input.d_products() * &input.q, dk, dv]
        },
    },
    Mistake {
        name: "transposes dA",
        does: "It computes V · dheadᵀ, a row for each key; A has a row for each query",
        looks_right: "With as many keys as queries the shape is right",
        read: WALK,
        answer: |input| {
            let d_attn = &input.v * input.d_head.transpose();
            let d = softmax_rows_backward(&input.attn, d_attn).expect("one shape")
                / input.sqrt_d_k();
            input.through_products(&d)
        },
    },
];

/// The scale in one of two products.
const ONE_SCALE: Mistake<Input, [Matrix; 3]> = Mistake {
    name: "divides dQ by √d_k and not dK",
    does: "It puts the scale into one of two products; but both come from the \
        gradient of Q Kᵀ, which is that of the scores divided by √d_k",
    looks_right: "There is one division forward, and one backward; but there it \
        stands before the path splits",
    read: WRONG,
    answer: |input| {
        let [_, dk, _] = input.through_products(&input.d_scores());
        let [dq, _, dv] = input.right();
        [dq, dk, dv]
    },
};
