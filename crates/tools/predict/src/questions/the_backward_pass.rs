//! The backward pass.

use anyhow::{Context, Result};
use attention::{Dims, Linear, Mask, Matrix, softmax_rows};
use fused_heads::FusedAttention;
use gradients::{LayerPass, linear_backward, softmax_rows_backward};

use super::super::answer::{Answer, Form};
use super::parts::{layer, tokens};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "the-backward-pass",
    questions: &[
        Question {
            id: "gradient-shape",
            title: "The shape of a gradient",
            section: "One product, and what its shapes force",
            pose: |seed| {
                let sizes @ (n, d_in, d_out) =
                    of(seed, [(8, 384, 32), (30, 256, 64), (5, 12, 40)]);
                Instance::new(
                    format!(
                        "Forward, Y = X W. X is ({n}, {d_in}), and the gradient dY is ({n}, \
                         {d_out}). What is the shape of dW?"
                    ),
                    "There is one number in dW for each entry of W.",
                    Form::Shape,
                    move || gradient_shape(sizes),
                )
            },
        },
        Question {
            id: "softmax-backward",
            title: "How the loss moves with a score",
            section: "Softmax: one dot product per row",
            pose: |seed| {
                let numbers @ (a, d) = of(
                    seed,
                    [
                        ([0.25, 0.75], [3.0, 1.0]),
                        ([0.5, 0.5], [6.0, 2.0]),
                        ([0.2, 0.8], [1.0, 6.0]),
                    ],
                );
                Instance::new(
                    format!(
                        "A row has the shares {} and {}, and the gradients of the loss with \
                         respect to them are {} and {}. What is the gradient of the first \
                         score?",
                        a[0], a[1], d[0], d[1]
                    ),
                    "If the first score rises, one share grows and the other shrinks. Take \
                     the average of the gradients first, weighted by the shares.",
                    Form::Decimal { within: 0.005 },
                    move || softmax_backward(numbers),
                )
            },
        },
        Question {
            id: "key-bias",
            title: "The gradient of the key bias",
            section: "What cannot learn",
            pose: |seed| {
                let sizes @ (n_tokens, d_model, n_heads) =
                    of(seed, [(6, 32, 4), (9, 24, 2), (12, 40, 5)]);
                Instance::new(
                    format!(
                        "{n_tokens} tokens go through a layer of d_model {d_model} and \
                         {n_heads} heads, and some gradient arrives at its output. How large \
                         is the largest entry of the gradient of the key bias b^K, rounding \
                         aside?"
                    ),
                    "What does b^K add to the scores of one query? What does softmax make \
                     of that?",
                    Form::Decimal { within: 1e-6 },
                    move || key_bias(sizes),
                )
            },
        },
        Question {
            id: "forgotten-scale",
            title: "√d_k forgotten in the backward pass",
            section: "What people get wrong",
            pose: |seed| {
                let d_k = of(seed, [64, 25, 100]);
                Instance::new(
                    format!(
                        "A head is d_k = {d_k} wide. Its backward pass forgets that the \
                         scores were divided by √d_k. How many times as large as it should \
                         be is dW^Q?"
                    ),
                    "A product that counts for a fraction of itself has a gradient that \
                     counts for the same fraction.",
                    Form::Decimal { within: 0.01 },
                    move || forgotten_scale(d_k),
                )
            },
        },
    ],
};

fn gradient_shape((n, d_in, d_out): (usize, usize, usize)) -> Result<Outcome> {
    let linear = Linear::new(tokens(d_in, d_out), None)?;
    let (x, d_y): (Matrix, Matrix) = (tokens(n, d_in), tokens(n, d_out));
    let back = linear_backward(&linear, &x, &d_y)?;
    let (d_w, d_x) = (back.d_linear.weight.shape(), back.d_x.shape());
    let x_t = x.transpose().shape();
    let shown = format!(
        "dW = Xᵀ dY   {x_t:?} · {:?} → {d_w:?}\ndX = dY Wᵀ   {:?} · {:?} → {d_x:?}",
        d_y.shape(),
        d_y.shape(),
        linear.weight.transpose().shape()
    );
    let why = "A gradient has the shape of what it belongs to, and only one product of X and \
               dY has it.";
    Ok(Outcome::new(Answer::Shape(d_w), shown, why)
        .slip(Answer::Shape((d_w.1, d_w.0)), "That is its transpose.")
        .slip(Answer::Shape(d_x), "That is the shape of dX.")
        .slip(Answer::Shape(d_y.shape()), "That is the shape of dY."))
}

fn softmax_backward((a, d): ([f64; 2], [f64; 2])) -> Result<Outcome> {
    let row = |numbers: &[f64; 2]| Matrix::from_row_slice(1, 2, numbers);
    let (attn, d_attn) = (row(&a), row(&d));
    let d_scores = softmax_rows_backward(&attn, d_attn.clone())?;
    let dot = attn.dot(&d_attn);
    let line =
        |name: &str, row: &Matrix| format!("{name:<20}{:>8.4}{:>8.4}\n", row[0], row[1]);
    let shown = line("shares a", &attn)
        + &line("gradients da", &d_attn)
        + &format!("their dot product   {dot:>8.4}\n")
        + &line("a (da − that)", &d_scores);
    let why = "What counts is how much better a share is than the average of its row, and \
               how large it is. The two results sum to 0.";
    Ok(Outcome::new(Answer::Decimal(d_scores[0]), shown, why)
        .slip(
            Answer::Decimal(a[0] * (1.0 - a[0]) * d[0]),
            "That is a (1 − a) da, as if the share could grow alone.",
        )
        .slip(Answer::Decimal(a[0] * d[0]), "That is a · da, with nothing subtracted.")
        .slip(Answer::Decimal(-d_scores[0]), "That has the wrong sign."))
}

fn key_bias((n_tokens, d_model, n_heads): (usize, usize, usize)) -> Result<Outcome> {
    let layer = FusedAttention::new(&layer(Dims::new(d_model, n_heads)?, true));
    let x: Matrix = tokens(n_tokens, d_model);
    let d_out = x.map(f64::sin);
    let back = LayerPass::self_attend(&layer, &x, &Mask::None)?.backward(&d_out)?;
    let largest = |linear: &Linear| {
        let bias = linear.bias.as_ref().context("this layer has biases")?;
        Ok::<f64, anyhow::Error>(bias.amax())
    };
    let [q, k, v] = [largest(&back.d_w_q)?, largest(&back.d_w_k)?, largest(&back.d_w_v)?];
    let rounding = if k < 1e-12 { "below 1e-12".to_owned() } else { format!("{k:.3}") };
    let shown = format!(
        "largest entry of the gradient\n\
         of b^Q   {q:.3}\n\
         of b^K   {rounding}\n\
         of b^V   {v:.3}"
    );
    let why = "b^K adds the same number to all scores of a query, and softmax does not see \
               it. So the loss does not depend on b^K, and each row of dS sums to 0.";
    // What is left is rounding, which another processor may round in another way.
    let answer = if k < 1e-12 { 0.0 } else { k };
    Ok(Outcome::new(Answer::Decimal(answer), shown, why)
        .slip(Answer::Decimal(q), "That is the query bias.")
        .slip(Answer::Decimal(v), "That is the value bias."))
}

fn forgotten_scale(d_k: usize) -> Result<Outcome> {
    let (n, d_v) = (5, 3);
    let [x, w_q]: [Matrix; 2] = [tokens(n, 6), tokens(6, d_k)];
    let (k, v, d_head): (Matrix, Matrix, Matrix) =
        (tokens(n, d_k), tokens(n, d_v), tokens(n, d_v).map(f64::cos));
    let (q, scale) = (&x * w_q, (d_k as f64).sqrt());
    let attn = softmax_rows(q * k.transpose() / scale);
    let d_scores = softmax_rows_backward(&attn, d_head * v.transpose())?;
    let d_w_q = |d_products: &Matrix| (x.transpose() * (d_products * &k)).norm();
    let (right, forgotten) = (d_w_q(&(&d_scores / scale)), d_w_q(&d_scores));
    let times = forgotten / right;
    let shown = format!(
        "norm of dW^Q with the division   {right:.5}\n\
         without it                       {forgotten:.5}\n\
         as many times as large           {times:.3}"
    );
    let why = "Forward, the product was divided by √d_k, so its gradient is divided by √d_k \
               too. dV does not pass the scale and stays right, which hides the mistake.";
    Ok(Outcome::new(Answer::Decimal(times), shown, why)
        .slip(Answer::Decimal(d_k as f64), "That is d_k, without the root.")
        .slip(Answer::Decimal(1.0 / times), "That would be too small by as much.")
        .slip(
            Answer::Decimal(1.0),
            "That would be right, and here a division is missing.",
        ))
}
