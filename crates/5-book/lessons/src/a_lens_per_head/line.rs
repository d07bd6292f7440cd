//! The Line: a layer from words to an output, with every number: live.

use anyhow::Result;
use attention::{LayerParameters, Mask, Matrix};
use figures::{
    Figure, LINE_WORDS, Line, LineHead, LineStep, Station, Way, line, line_strip,
};
use per_head::{PerHeadAttention, concat};

use super::two_lenses;
use crate::args::Args;
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::written;
use crate::one_head::{WORDS, words};

/// Draws the layer of two lenses step by step.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("line", draw, QUESTIONS).still(|set| set.step = LAST);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Play it to the end. How many rows come out of a layer into which three \
              words go?",
        is_answered: |set, _| set.step == LAST,
        answer: |set| set.step = LAST,
        found: "Three: a row per word goes in, and at every step there is still a row \
                per word, whatever it holds.",
    },
    Question {
        ask: "Without a mask, one of the words attends to all three evenly in one of the \
              heads. Light it.",
        is_answered: |set, it| {
            let is_even = |shares: &Vec<f64>| {
                let third = 1.0 / shares.len() as f64;
                shares.iter().all(|share| (share - third).abs() < 1e-9)
            };
            !set.causal && it.shares.iter().any(is_even)
        },
        answer: |set| set.word = 0,
        found: "River is no verb and no plural, so its query in head 0 is (0, 0). All \
                its scores are 0, and a softmax of equal scores is even.",
    },
    Question {
        ask: "Light a word to which both heads give its own values, unmixed.",
        is_answered: |set, it| {
            it.shares.iter().all(|shares| (shares[set.word] - 1.0).abs() < 1e-9)
        },
        answer: |set| (set.causal, set.word) = (true, 0),
        found: "Under the causal mask river sees only itself: a softmax over one score \
                is 1, whatever the score.",
    },
];

/// The last of the steps, at which all is drawn.
const LAST: usize = LineStep::ALL.len() - 1;

live! {
    struct Set {
        step: usize = "Step", slider([0, LAST], 1, 0).played();
        word: usize = "Word", choice([
            ("2", "overflowed", 2), ("1", "banks", 1), ("0", "river", 0),
        ]);
        causal: bool = "Causal mask", switch(false);
    }

    struct Facts {
        /// Of the word, in each head.
        shares: Vec<Vec<f64>>,
        /// The word's row, with what the layer adds to it.
        row: Vec<f64>,
    }
}

/// What the layer computes on the way.
#[derive(Debug)]
struct Computed {
    x: Matrix,
    heads: [LineHead; 2],
    out: Matrix,
    parameters: LayerParameters,
}

impl Computed {
    fn of(mask: &Mask) -> Result<Self> {
        let (x, parameters) = (words(), two_lenses()?);
        let layer = PerHeadAttention::new(parameters.clone());
        let passes = layer.heads(&x, &x, &x, mask)?;
        let heads = [0, 1].map(|nth| {
            let pass = passes[nth].clone();
            let masked = mask.apply(pass.scores.clone());
            LineHead {
                products: &pass.q * pass.k.transpose(),
                exps: exps(&masked),
                masked,
                q: pass.q,
                k: pass.k,
                v: pass.v,
                scores: pass.scores,
                attn: pass.attn,
                out: pass.out,
            }
        });
        let side_by_side = concat(heads.iter().map(|head| &head.out))?;
        let out = parameters.w_o().forward(&side_by_side)?;
        Ok(Self { x, heads, out, parameters })
    }
}

/// `exp(s − max s)` in each row.
fn exps(masked: &Matrix) -> Matrix {
    Matrix::from_fn(masked.nrows(), masked.ncols(), |i, j| {
        (masked[(i, j)] - masked.row(i).max()).exp()
    })
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let mask = if set.causal { Mask::Causal } else { Mask::None };
    let computed = Computed::of(&mask)?;
    let Computed { x, heads, out, parameters } = &computed;
    let drawn = Line {
        words: WORDS,
        x,
        heads: heads.clone(),
        w_o: &parameters.w_o().weight,
        out,
    };
    let step = LineStep::ALL[set.step];
    let title = format!("{}. {}", set.step, title(step, set.causal));
    let words = words_of(set, step, heads);
    let figure = line(title, &drawn, step, set.word)?;
    let row = |matrix: &Matrix| matrix.row(set.word).iter().copied().collect::<Vec<_>>();
    let shares = heads.iter().map(|head| row(&head.attn)).collect();
    Ok(LiveView { figure, words, facts: Facts { shares, row: row(&(x + out)) } })
}

/// What is to be seen at a step.
fn title(step: LineStep, is_causal: bool) -> &'static str {
    match step {
        LineStep::Words => "Three words",
        LineStep::Rows => "A row per word",
        LineStep::Project => "Three lenses per head: Q, K and V",
        LineStep::FirstScores => "The first query meets every key",
        LineStep::SecondScores => "The second query meets every key",
        LineStep::Scores => "Each query has met every key",
        LineStep::Scale => "The scores, divided by √d_k",
        LineStep::Mask if is_causal => "A causal mask blocks later keys",
        LineStep::Mask => "No mask: every score stays",
        LineStep::Exp => "The exponential of each score",
        LineStep::Softmax => "Each row, divided by its sum",
        LineStep::Mix => "Each row mixes the values",
        LineStep::Concat => "The heads side by side",
        LineStep::Output => "W^O mixes the heads",
        LineStep::Add => "The output is added, and goes on",
    }
}

/// A sentence for a step, of the word that is lit.
fn words_of(set: &Set, step: LineStep, heads: &[LineHead; 2]) -> String {
    let word = WORDS[set.word];
    match step {
        LineStep::Words => "Words are no numbers yet.".to_owned(),
        LineStep::Rows => format!("Each word is a row of 4 entries; {word}’s is lit."),
        LineStep::Project => format!(
            "Each head makes three rows of 2 from {word}’s row of 4: what it looks for, \
             what it is found by, and what it hands over."
        ),
        LineStep::FirstScores | LineStep::SecondScores | LineStep::Scores => {
            "A score is a query’s row times a key’s column: it stands where they cross."
                .to_owned()
        }
        LineStep::Scale => "By √2, since a head is 2 wide.".to_owned(),
        LineStep::Mask if set.causal => {
            "Above the diagonal every score becomes −∞.".to_owned()
        }
        LineStep::Mask => "Switch the causal mask on, and it blocks scores.".to_owned(),
        LineStep::Exp => {
            "The largest score of a row is subtracted first, so that no exponential is too large."
                .to_owned()
        }
        LineStep::Softmax => {
            let [a, b] = heads.each_ref().map(|head| strongest(head, set.word));
            format!("{} gives {a} in head 0, and {b} in head 1.", capital(word))
        }
        LineStep::Mix => {
            format!("What {word} takes from a head is an average of that head’s values.")
        }
        LineStep::Concat => {
            "Two blocks of 2 columns make 4; nothing is mixed yet.".to_owned()
        }
        LineStep::Output => {
            format!("Now each of {word}’s 4 entries can hold something of both heads.")
        }
        LineStep::Add => format!(
            "{} keeps its row, plus what both heads found for it; the rest of the layers \
             take it from here.",
            capital(word)
        ),
    }
}

/// `.67 to banks`, of a word in a head.
fn strongest(head: &LineHead, word: usize) -> String {
    let shares = head.attn.row(word);
    let most = shares.max();
    let is_most = |&j: &usize| (shares[j] - most).abs() < 1e-9;
    let names: Vec<&str> = (0..LINE_WORDS).filter(is_most).map(|j| WORDS[j]).collect();
    let each = if names.len() > 1 { " each" } else { "" };
    format!("{}{each} to {}", written(most, 2), list(&names))
}

/// `river and banks`.
fn list(names: &[&str]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        names => names.concat(),
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// `at=backwards-scores-mask`: the stations of a chapter, and what it does with them.
pub(super) fn strip(args: &Args) -> Result<Figure> {
    let asked = args.get("at").unwrap_or_default();
    let names: Vec<&str> = asked.split('-').filter(|name| !name.is_empty()).collect();
    let (way, names) = match names.split_first() {
        Some((first, rest)) if Way::named(first).is_ok() => (Way::named(first)?, rest),
        _ => (Way::Forwards, &names[..]),
    };
    let stations: Result<Vec<Station>, _> =
        names.iter().map(|name| Station::named(name)).collect();
    Ok(line_strip(&stations?, way))
}

#[cfg(test)]
mod tests;
