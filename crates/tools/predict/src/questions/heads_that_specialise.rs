//! Heads that specialise.

use anyhow::Result;
use attention::{Dims, Mask, Matrix, weighted_values};
use per_head::{PerHeadAttention, concat};

use super::super::answer::{Answer, Form};
use super::parts::{layer, tokens};
use super::{Instance, Outcome, Question, Topic, of};

const LEFT: [&str; 3] = ["b^O in every row", "zeros", "the same output as before"];

/// Sums in another order differ by less than this.
const ROUNDING: f64 = 1e-9;

pub const TOPIC: Topic = Topic {
    name: "heads-that-specialise",
    questions: &[
        Question {
            id: "blend-forgets",
            title: "What a blend forgets",
            section: "What one head does instead",
            pose: |seed| {
                let (one, other) = of(
                    seed,
                    [("agent", "object"), ("agent", "place"), ("object", "place")],
                );
                Instance::new(
                    format!(
                        "A token is the sum of a vector for who it is and one for its role. \
                         One head gives equal shares to three tokens: the agent, the object \
                         and the place. Now the {one} and the {other} exchange who they are, \
                         and keep their roles. By how much does the head's output move, at \
                         most?"
                    ),
                    "Values are linear in the tokens. What is the sum of all three, before \
                     and after?",
                    Form::Decimal { within: 1e-6 },
                    move || blend_forgets(one, other),
                )
            },
        },
        Question {
            id: "sum-of-removals",
            title: "Every head removed in turn",
            section: "Ablation: taking a head away",
            pose: |seed| {
                let n_heads = of(seed, [4, 3, 6]);
                Instance::new(
                    format!(
                        "Remove each of the {n_heads} heads of a layer in turn: set what it \
                         puts out to zero, and note by how much the output changes. Then \
                         subtract all {n_heads} changes from the output. What is left?"
                    ),
                    "“A lens per head” wrote the layer as a sum. Which term of it belongs \
                     to no head?",
                    Form::Choice(&LEFT),
                    move || sum_of_removals(n_heads),
                )
            },
        },
        Question {
            id: "mean-for-a-head",
            title: "A head replaced by its mean",
            section: "Ablation: taking a head away",
            pose: |seed| {
                let (d_model, n_heads) = of(seed, [(256, 8), (128, 4), (96, 6)]);
                Instance::new(
                    format!(
                        "A layer has d_model {d_model} and {n_heads} heads. One of them puts \
                         out the same row for every token, whatever it attends to. Its \
                         output is replaced by its mean over the tokens. How many columns of \
                         the layer's output change?"
                    ),
                    "What is the mean of rows that are all equal?",
                    Form::Whole,
                    move || mean_for_a_head(d_model, n_heads),
                )
            },
        },
    ],
};

fn blend_forgets(one: &str, other: &str) -> Result<Outcome> {
    let roles = ["agent", "object", "place"];
    let place = |role: &str| roles.iter().position(|&known| known == role);
    let (identity, role): (Matrix, Matrix) = (tokens(3, 16), tokens(3, 16).map(f64::cos));
    let mut exchanged = identity.clone();
    if let (Some(one), Some(other)) = (place(one), place(other)) {
        exchanged.swap_rows(one, other);
    }
    let w_v: Matrix = tokens(16, 4).map(f64::sin);
    let out = |identity: &Matrix, shares: [f64; 3]| {
        let values = (identity + &role) * &w_v;
        weighted_values(&Matrix::from_row_slice(1, 3, &shares), values.as_view())
    };
    let moved = |shares| (out(&identity, shares) - out(&exchanged, shares)).amax();
    let (equal, unequal) = (moved([1.0 / 3.0; 3]), moved([0.5, 0.3, 0.2]));
    let rounding =
        if equal < ROUNDING { "below 1e-9".to_owned() } else { format!("{equal:.3}") };
    let shown = format!(
        "largest change of the output\n\
         equal shares             {rounding}\n\
         shares of .5, .3 and .2  {unequal:.3}"
    );
    let why = "The sum of the three tokens is the same, and so is the sum of their values. \
               With equal shares the output says who is there, and not who is what. With \
               unequal shares it does say something.";
    let answer = if equal < ROUNDING { 0.0 } else { equal };
    Ok(Outcome::new(Answer::Decimal(answer), shown, why)
        .slip(Answer::Decimal(unequal), "That is with shares that are not equal."))
}

/// A layer of random parameters with five tokens, and what its heads put out.
fn heads_of(d_model: usize, n_heads: usize) -> Result<(PerHeadAttention, Vec<Matrix>)> {
    let layer = PerHeadAttention::new(layer(Dims::new(d_model, n_heads)?, true));
    let x = tokens(5, d_model);
    let heads = layer.heads(&x, &x, &x, &Mask::None)?;
    Ok((layer, heads.into_iter().map(|head| head.out).collect()))
}

fn sum_of_removals(n_heads: usize) -> Result<Outcome> {
    let (layer, heads) = heads_of(8 * n_heads, n_heads)?;
    let w_o = layer.parameters().w_o();
    let whole = w_o.forward(&concat(&heads)?)?;
    let mut left = whole.clone();
    for i in 0..n_heads {
        let mut without = heads.clone();
        without[i].fill(0.0);
        left -= &whole - w_o.forward(&concat(&without)?)?;
    }
    let bias = w_o.forward(&Matrix::zeros(whole.nrows(), w_o.d_in()))?;
    let candidates = [&bias, &(&whole * 0.0), &whole];
    let off = candidates.map(|candidate| (&left - candidate).amax());
    let line = |(what, off): (&&str, &f64)| {
        let off = if *off < ROUNDING { "none".to_owned() } else { format!("{off:.3}") };
        format!("difference from {what:<26} {off}\n")
    };
    let shown: String = LEFT.iter().zip(&off).map(line).collect();
    let at = off.iter().position(|&off| off < ROUNDING);
    let why = "The output is a sum over heads, plus the bias. A removed head takes its own \
               term away and no other, so all removals together leave the bias. What comes \
               after the layer is no sum, and there removals do not add up.";
    let choice = |at: usize| Answer::Choice(LEFT[at].to_owned());
    let answer = at.map_or_else(|| Answer::Choice("something else".into()), choice);
    Ok(Outcome::new(answer, shown, why)
        .slip(choice(1), "The bias belongs to no head, so no removal takes it.")
        .slip(choice(2), "That would be so if no head mattered."))
}

fn mean_for_a_head(d_model: usize, n_heads: usize) -> Result<Outcome> {
    let (layer, mut heads) = heads_of(d_model, n_heads)?;
    let first = heads[1].row(0).into_owned();
    heads[1].row_iter_mut().for_each(|mut row| row.copy_from(&first));
    let w_o = layer.parameters().w_o();
    let whole = w_o.forward(&concat(&heads)?)?;
    let changed = |new: &Matrix| -> Result<usize> {
        let mut heads = heads.clone();
        heads[1].copy_from(new);
        let out = w_o.forward(&concat(&heads)?)?;
        let moves = |at: &usize| (out.column(*at) - whole.column(*at)).amax() > ROUNDING;
        Ok((0..whole.ncols()).filter(moves).count())
    };
    let (n_tokens, d_v) = heads[1].shape();
    let mean = Matrix::from_fn(n_tokens, d_v, |_, c| heads[1].column(c).mean());
    let (by_mean, by_zero) = (changed(&mean)?, changed(&(&mean * 0.0))?);
    let shown = format!(
        "replaced by its mean   {by_mean} of {d_model} columns change\n\
         replaced by zeros      {by_zero} of {d_model} columns change"
    );
    let why = "Such a head says nothing about any token: it works as a bias. Removal by \
               zeros counts the loss of that bias as damage, and removal by the mean does \
               not.";
    Ok(Outcome::new(Answer::Whole(by_mean), shown, why)
        .slip(Answer::Whole(by_zero), "That is what happens if it is replaced by zeros.")
        .slip(
            Answer::Whole(d_v),
            "That is how many columns of the concatenation it fills.",
        ))
}
