//! Chapter 12: trained heads.

use anyhow::{Context, Result};
use attention::{
    HeadParameters, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention,
    max_abs_diff,
};
use fused_heads::FusedAttention;
use pretrained::{NewTensor, TensorFile, to_bytes};

use super::super::answer::{Answer, Form};
use super::parts::{at, attended, bars, largest};
use super::{Chapter, Outcome, Question};

const LEANING: [&str; 3] = ["it alone", "about half of them", "every token"];
const CHECKS: [&str; 4] = [
    "shapes of the matrices",
    "sums of the rows",
    "number of parameters",
    "none of these",
];

pub const CHAPTER: Chapter = Chapter {
    number: 12,
    title: "Trained heads",
    questions: &[
        Question {
            id: "leaning",
            title: "Does only “it” look at “animal”?",
            section: "Attends to is not resolves",
            text: "“The animal didn't cross the street because it was too tired.” In head \
                   11 of the trained layer, it gives animal more than it gives any other \
                   word. Of which tokens is that true?",
            hint: "One strong link is not a sign of anything before you have looked at the \
                   column that it stands in.",
            form: Form::Choice(&LEANING),
            run: leaning,
        },
        Question {
            id: "file-shape",
            title: "How a file stores W^K",
            section: "The mistake that a square hides",
            text: "A PyTorch layer of d_model 64 takes keys that are 24 numbers wide. What \
                   shape has the weight of its key projection in a file?",
            hint: "PyTorch computes x · Wᵀ + b.",
            form: Form::Shape,
            run: file_shape,
        },
        Question {
            id: "turned",
            title: "Square matrices the wrong way round",
            section: "The mistake that a square hides",
            text: "W^Q, W^K and W^V of the trained layer are squares. You load all three \
                   the wrong way round. Which of these checks finds it?",
            hint: "Imagine each check on the wrong layer. What does it compare with?",
            form: Form::Choice(&CHECKS),
            run: turned,
        },
    ],
};

fn leaning() -> Result<Outcome> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("animal_tired")?;
    let map = &attended(&layer, sentence)?.attn[11];
    let animal = at(sentence, "animal")?;
    let is_word = |token: &str| token.starts_with(|c: char| c.is_alphanumeric());
    let mut leans = 0;
    for row in map.row_iter() {
        // What is no word counts for nothing here.
        let shares = row.iter().zip(&sentence.tokens);
        let shares =
            shares.map(|(&share, token)| if is_word(token) { share } else { 0.0 });
        leans += usize::from(largest(&shares.collect::<Vec<_>>())? == animal);
    }
    let n = sentence.tokens.len();
    let answer = match leans {
        1 => LEANING[0],
        all if all == n => LEANING[2],
        _ => LEANING[1],
    };
    let column: Vec<f64> = map.column(animal).iter().copied().collect();
    let shown = format!(
        "{}\nof all words, animal gets the most from {leans} of {n} tokens",
        bars("what each token gives animal in head 11", &sentence.tokens, &column)
    );
    let why = "This head looks at what the sentence is about, whoever asks. So “it attends \
               to animal” is true, and “it resolves the pronoun” does not follow.";
    Ok(Outcome::new(Answer::Choice(answer.to_owned()), shown, why)
        .slip(
            Answer::Choice(LEANING[0].to_owned()),
            "That is the story that is often told of such a head.",
        )
        .slip(
            Answer::Choice(LEANING[1].to_owned()),
            "That is not enough: the head leans further.",
        ))
}

fn file_shape() -> Result<Outcome> {
    let (d_model, key_width) = (64, 24);
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
        let tensors = tensors.into_iter().collect::<pretrained::Result<Vec<_>>>()?;
        let file = TensorFile::from_bytes("refused", to_bytes(&tensors)?)?;
        file.layer(8, None)
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
               turned once, where it is loaded. Keys of another width show which way it \
               lies; a square would not.";
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

fn turned() -> Result<Outcome> {
    let trained = pretrained::minilm()?;
    let right = FusedAttention::new(&trained.parameters);
    let wrong = FusedAttention::new(&wrong_way_round(&trained.parameters)?);
    let (mut are_ones, mut moved) = (true, 0.0_f64);
    for sentence in &trained.sentences {
        let of = |layer: &FusedAttention| layer.self_attend(&sentence.input, &Mask::None);
        for (wrong, right) in of(&wrong)?.attn.iter().zip(of(&right)?.attn) {
            are_ones &= wrong.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12);
            moved = moved.max(max_abs_diff(wrong, &right)?);
        }
    }
    let shape = |layer: &FusedAttention| layer.parameters().w_q().weight.shape();
    let passed = [
        shape(&wrong) == shape(&right),
        are_ones,
        wrong.parameter_count() == right.parameter_count(),
    ];
    let mut shown = String::new();
    for (check, passed) in CHECKS.iter().zip(passed) {
        let told = if passed { "finds nothing" } else { "finds it" };
        shown += &format!("{check:<25}{told}\n");
    }
    shown +=
        &format!("and yet, in the four sentences, a share is off by up to {moved:.3}");
    // The check that fails; where all pass, the last of the list.
    let found = passed.iter().position(|passed| !passed).unwrap_or(passed.len());
    let why = "Only other numbers find it: a reference from the program that the weights \
               come from, or a layer whose matrices are no squares.";
    let choice = |at: usize| Answer::Choice(CHECKS[at].to_owned());
    Ok(Outcome::new(choice(found), shown, why)
        .slip(choice(0), "A square turned round has the same shape.")
        .slip(choice(1), "Softmax makes them 1, whatever the scores are.")
        .slip(choice(2), "Turning moves numbers and makes none."))
}

/// The trained layer with W^Q, W^K and W^V turned, as somebody loads them who forgets to.
fn wrong_way_round(layer: &LayerParameters) -> Result<LayerParameters> {
    let fused = layer.pack();
    let d_k = layer.dims().d_k();
    let of_head = |linear: &Linear, i: usize| Linear {
        weight: linear.weight.transpose().columns(i * d_k, d_k).into_owned(),
        bias: linear.bias.as_ref().map(|b| b.columns(i * d_k, d_k).into_owned()),
    };
    let head = |i| HeadParameters {
        w_q: of_head(fused.w_q(), i),
        w_k: of_head(fused.w_k(), i),
        w_v: of_head(fused.w_v(), i),
    };
    let heads = (0..layer.dims().n_heads()).map(head).collect();
    Ok(LayerParameters::new(heads, layer.w_o().clone())?)
}
