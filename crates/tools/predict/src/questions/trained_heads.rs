//! Trained heads.

use anyhow::{Context, Result};
use attention::{
    HeadParameters, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention,
    max_abs_diff,
};
use fused_heads::FusedAttention;
use model_files::read_layer;
use tensors::{NewTensor, TensorFile, to_bytes};

use super::super::answer::{Answer, Form};
use super::parts::{at, attended, bars, largest, listed, sentence};
use super::{Instance, Outcome, Question, Topic, of};

const LEANING: [&str; 3] = ["that token alone", "some of them", "every token"];
const CHECKS: [&str; 4] = [
    "shapes of the matrices",
    "sums of the rows",
    "number of parameters",
    "none of these",
];

pub const TOPIC: Topic = Topic {
    name: "trained-heads",
    questions: &[
        Question {
            id: "leaning",
            title: "Is a strong link special?",
            section: "Attends to is not resolves",
            pose: |seed| {
                let set @ (name, head, query, key) = of(
                    seed,
                    [
                        ("animal_tired", 11, "it", "animal"),
                        ("animal_tired", 8, "too", "cross"),
                        ("bank_loan", 7, "bank", "loan"),
                    ],
                );
                Instance::new(
                    format!(
                        "“{}” In head {head} of the trained layer, “{query}” attends more to \
                         “{key}” than to any other word. Of which tokens is that true?",
                        sentence(name)
                    ),
                    "One strong link is not a sign of anything before you have looked at the \
                     column that it stands in.",
                    Form::Choice(&LEANING),
                    move || leaning(set),
                )
            },
        },
        Question {
            id: "file-shape",
            title: "How a file stores W^K",
            section: "Your own layer",
            pose: |seed| {
                let (d_model, key_width) = of(seed, [(64, 24), (48, 80), (96, 40)]);
                Instance::new(
                    format!(
                        "A PyTorch layer of d_model {d_model} takes keys that are \
                         {key_width} numbers wide. What shape does the weight of its key \
                         projection have in a file?"
                    ),
                    "PyTorch computes x · Wᵀ + b.",
                    Form::Shape,
                    move || file_shape(d_model, key_width),
                )
            },
        },
        Question {
            id: "turned",
            title: "Square matrices, transposed by mistake",
            section: "Your own layer",
            pose: |seed| {
                let which =
                    of(seed, [[true; 3], [true, true, false], [false, false, true]]);
                let names = ["W^Q", "W^K", "W^V"].into_iter().zip(which);
                let names = names.filter(|(_, is_transposed)| *is_transposed);
                let names: Vec<String> = names.map(|(name, _)| name.to_owned()).collect();
                Instance::new(
                    format!(
                        "W^Q, W^K and W^V of the trained layer are squares. You load {} \
                         transposed, by mistake. Which of these checks finds it?",
                        listed(&names)
                    ),
                    "Imagine each check on the wrong layer. What does it compare with?",
                    Form::Choice(&CHECKS),
                    move || transposed(which),
                )
            },
        },
    ],
};

fn leaning((name, head, query, key): (&str, usize, &str, &str)) -> Result<Outcome> {
    let layer = model_files::minilm()?;
    let sentence = layer.sentence(name)?;
    let map = &attended(&layer, sentence)?.attn[head];
    let column = at(sentence, key)?;
    let is_word = |token: &str| token.starts_with(|c: char| c.is_alphanumeric());
    let mut n_most = 0;
    for row in map.row_iter() {
        // What is no word counts for nothing here.
        let shares = row.iter().zip(&sentence.tokens);
        let shares =
            shares.map(|(&share, token)| if is_word(token) { share } else { 0.0 });
        n_most += usize::from(largest(&shares.collect::<Vec<_>>())? == column);
    }
    let n = sentence.tokens.len();
    let answer = match n_most {
        1 => LEANING[0],
        all if all == n => LEANING[2],
        _ => LEANING[1],
    };
    let shares: Vec<f64> = map.column(column).iter().copied().collect();
    let shown = format!(
        "{}\nof all words, {key} gets the most from {n_most} of {n} tokens",
        bars(
            &format!("how much each token attends to {key} in head {head}"),
            &sentence.tokens,
            &shares
        )
    );
    let why = if n_most == n {
        format!(
            "Much of this head's attention goes to “{key}”, whatever the query is. So the \
             link is there, and it says little about “{query}”."
        )
    } else {
        format!(
            "Here other tokens attend to other words, so the link says something about \
             “{query}”. What it says, the map does not show."
        )
    };
    let choice = |at: usize| Answer::Choice(LEANING[at].to_owned());
    let mut outcome = Outcome::new(Answer::Choice(answer.to_owned()), shown, why);
    let slips = [
        "That is the story that is often told of such a head.",
        "Count the rows in which no word gets more.",
        "Look at the rows in which another word gets more.",
    ];
    for (at, says) in slips.into_iter().enumerate() {
        if LEANING[at] != answer {
            outcome = outcome.slip(choice(at), says);
        }
    }
    Ok(outcome)
}

fn file_shape(d_model: usize, key_width: usize) -> Result<Outcome> {
    let try_shape = |shape: [usize; 2]| {
        let zeros = |rows, cols| Matrix::<f32>::zeros(rows, cols);
        let square = [d_model, d_model];
        let named = [
            ("q_proj_weight", square),
            ("k_proj_weight", shape),
            ("v_proj_weight", square),
            ("out_proj.weight", square),
        ];
        let tensors = named.map(|(name, [rows, cols])| {
            NewTensor::new(name, &[rows, cols], [&zeros(rows, cols)])
        });
        let tensors = tensors.into_iter().collect::<tensors::Result<Vec<_>>>()?;
        let file = TensorFile::from_bytes("refused", to_bytes(&tensors)?)?;
        read_layer(&file, 8, None)
    };
    let shapes = [[d_model, key_width], [key_width, d_model]];
    let tried = shapes.map(|shape| (shape, try_shape(shape)));
    let taken =
        tried.iter().find_map(|(shape, layer)| Some((shape, layer.as_ref().ok()?)));
    let (&[rows, cols], layer) = taken.context("one of the two shapes is right")?;
    let mut shown = String::from("k_proj_weight in the file\n");
    for (shape, layer) in &tried {
        let outcome = match layer {
            Ok(_) => "is read".to_owned(),
            Err(error) => error.to_string(),
        };
        shown += &format!("({}, {})   {outcome}\n", shape[0], shape[1]);
    }
    let here = layer.pack().w_k().weight.shape();
    shown += &format!("W^K of all heads, once it is read: {here:?}");
    let why = "PyTorch stores W as [out, in], this book as [in, out]. So each weight is \
               transposed once, where it is loaded. Keys of another width show which way \
               it lies; a square would not.";
    Ok(Outcome::new(Answer::Shape((rows, cols)), shown, why)
        .slip(
            Answer::Shape(here),
            "That is how it is here, once it is loaded: [in, out].",
        )
        .slip(
            Answer::Shape((d_model, d_model)),
            "That would be so if keys were as wide as queries.",
        ))
}

fn transposed(which: [bool; 3]) -> Result<Outcome> {
    let trained = model_files::minilm()?;
    let right = FusedAttention::new(&trained.parameters);
    let wrong = FusedAttention::new(&with_transposed(&trained.parameters, which)?);
    let (mut are_ones, mut moved) = (true, 0.0_f64);
    for sentence in &trained.sentences {
        let of = |layer: &FusedAttention| layer.self_attend(&sentence.input, &Mask::None);
        let (wrong, right) = (of(&wrong)?, of(&right)?);
        for map in &wrong.attn {
            are_ones &= map.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12);
        }
        moved = moved.max(max_abs_diff(&wrong.out, &right.out)?);
    }
    let shape = |layer: &FusedAttention| layer.parameters().w_q().weight.shape();
    let passed = [
        shape(&wrong) == shape(&right),
        are_ones,
        wrong.parameter_count() == right.parameter_count(),
    ];
    let mut shown = String::new();
    for (check, passed) in CHECKS.iter().zip(passed) {
        let verdict = if passed { "finds nothing" } else { "finds it" };
        shown += &format!("{check:<25}{verdict}\n");
    }
    shown +=
        &format!("and yet, in the four sentences, an output is off by up to {moved:.3}");
    // The check that fails; where all pass, the last of the list.
    let found = passed.iter().position(|passed| !passed).unwrap_or(passed.len());
    let why = "Only other numbers find it: a reference from the program that the weights \
               come from, or a layer whose matrices are no squares.";
    let choice = |at: usize| Answer::Choice(CHECKS[at].to_owned());
    Ok(Outcome::new(choice(found), shown, why)
        .slip(choice(0), "A transposed square has the same shape.")
        .slip(choice(1), "Softmax makes them 1, whatever the scores are.")
        .slip(choice(2), "A transpose moves numbers and makes none."))
}

/// The trained layer with some of W^Q, W^K and W^V transposed.
fn with_transposed(layer: &LayerParameters, which: [bool; 3]) -> Result<LayerParameters> {
    let fused = layer.pack();
    let d_k = layer.dims().d_k();
    let of_head = |linear: &Linear, is_transposed: bool, i: usize| {
        let weight = &linear.weight;
        let weight = if is_transposed { weight.transpose() } else { weight.clone() };
        Linear {
            weight: weight.columns(i * d_k, d_k).into_owned(),
            bias: linear.bias.as_ref().map(|b| b.columns(i * d_k, d_k).into_owned()),
        }
    };
    let head = |i| HeadParameters {
        w_q: of_head(fused.w_q(), which[0], i),
        w_k: of_head(fused.w_k(), which[1], i),
        w_v: of_head(fused.w_v(), which[2], i),
    };
    let heads = (0..layer.dims().n_heads()).map(head).collect();
    Ok(LayerParameters::new(heads, layer.w_o().clone())?)
}
