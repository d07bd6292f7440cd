//! “One look is not enough”: three heads on “flew”, and a blend whose parts cannot be had back.

mod blended;
pub mod other_parts;

use anyhow::Result;
use attention::{Matrix, weighted_values};
pub use figures::mean_of_others;
use figures::{Cells, Equation, Figure, Heads, WeightRow, average, equations, head_maps};
use model_files::Sentence;
use single_head::HeadPass;

use crate::args::{Args, Entry};
use crate::trained::{self, at};

pub(crate) const FIGURES: &[Entry] =
    &[("averages", averages), ("flew-in-three-heads", rows), ("three-maps", maps)];

/// Who, what and where: the link, and the head that gives it the most among the twelve.
pub const QUESTIONS: [(&str, &str, usize); 3] =
    [("who", "pilot", 11), ("what", "plane", 5), ("where", "paris", 4)];

/// "The pilot flew the plane to Paris." in the trained layer.
pub struct Pilot {
    /// The sentence.
    pub sentence: Sentence,
    /// What each head does with it, head 0 first.
    pub heads: Vec<HeadPass>,
}

impl Pilot {
    /// All twelve heads.
    ///
    /// # Errors
    /// None; the layer and the sentence are parts of the program.
    pub fn new() -> Result<Self> {
        let layer = trained::layer()?;
        let sentence = layer.sentence("pilot")?.clone();
        let heads = trained::passes(&layer.parameters, &sentence.input)?;
        Ok(Self { sentence, heads })
    }

    /// Where a word stands.
    ///
    /// # Errors
    /// If the sentence has no such word.
    pub fn at(&self, word: &str) -> Result<usize> {
        at(&self.sentence, word)
    }

    /// The share that “flew” gives a word in a head.
    ///
    /// # Errors
    /// If the sentence has no such word.
    pub fn from_flew(&self, head: usize, word: &str) -> Result<f64> {
        Ok(self.heads[head].attn[(self.at("flew")?, self.at(word)?)])
    }

    /// A word's value in a head, `[1, d_v]`.
    ///
    /// # Errors
    /// If the sentence has no such word.
    pub fn value(&self, head: usize, word: &str) -> Result<Matrix> {
        Ok(self.heads[head].v.rows(self.at(word)?, 1).into_owned())
    }
}

/// How many queries give this key more than any other key.
pub fn rows_led_by(key: usize, attn: &Matrix) -> usize {
    attn.row_iter().filter(|row| row.iter().all(|&other| other <= row[key])).count()
}

/// A blend of two values, the second with this share, `[1, d_v]`.
pub fn blend(first: &Matrix, second: &Matrix, to_second: f64) -> Matrix {
    let shares = Matrix::from_row_slice(1, 2, &[1.0 - to_second, to_second]);
    let pair = Matrix::from_rows(&[first.row(0), second.row(0)]);
    weighted_values(&shares, pair.as_view())
}

/// Values of three features that have names, so that a blend can be read.
pub struct Readable {
    /// What the columns of `v` are.
    pub features: [&'static str; 3],
    /// Whose the rows of `v` are.
    pub tokens: [&'static str; 4],
    /// The values, `[4, 3]`.
    pub v: Matrix,
    /// Shares of four queries, the last two with one output, `[4, 4]`.
    pub attn: Matrix,
    /// The blends, `[4, 3]`.
    pub out: Matrix,
}

/// Two rows of shares that give the same output.
#[rustfmt::skip]
pub fn readable() -> Readable {
    let v = Matrix::from_row_slice(4, 3, &[
        1.0, 0.0, 0.0,
        0.0, 1.0, 0.0,
        0.0, 0.0, 1.0,
        0.8, 0.0, 0.2,
    ]);
    let attn = Matrix::from_row_slice(4, 4, &[
        1.0, 0.0, 0.0, 0.0,
        0.0, 0.0, 1.0, 0.0,
        0.8, 0.0, 0.2, 0.0,
        0.0, 0.0, 0.0, 1.0,
    ]);
    Readable {
        features: ["agent", "object", "place"],
        tokens: ["pilot", "plane", "paris", "crew"],
        out: weighted_values(&attn, v.as_view()),
        v,
        attn,
    }
}

/// Four rows of attention weights times the values.
fn averages(_: &Args) -> Result<Figure> {
    let Readable { features, tokens, v, attn, out } = readable();
    let rows = ["pilot alone", "paris alone", "a blend", "crew alone"];
    let line = Equation::of(Cells::new("A", &attn).attn().rows(&rows).columns(&tokens))
        .times(Cells::new("V", &v).rows(&tokens).columns(&features))
        .equals(Cells::new("out", &out).columns(&features).lit(2));
    let title = "Each row of attention weights makes one average of the values; the last \
                 two are equal";
    Ok(equations(title, &[line])?)
}

/// One row of three maps, bar beside bar.
fn rows(_: &Args) -> Result<Figure> {
    let pilot = Pilot::new()?;
    let flew = pilot.at("flew")?;
    let rows = QUESTIONS.map(|(.., head)| WeightRow {
        name: format!("head {head}"),
        shares: pilot.heads[head].attn.row(flew).iter().copied().collect(),
    });
    let title = "From “flew”, head 11 looks most at pilot, head 4 at Paris, and head 5 \
                 spreads over pilot, plane and Paris";
    Ok(average(title, &pilot.sentence.tokens, &rows)?)
}

/// The same three maps, whole.
fn maps(_: &Args) -> Result<Figure> {
    let pilot = Pilot::new()?;
    let numbers = QUESTIONS.map(|(.., head)| head);
    let attn = numbers.map(|head| pilot.heads[head].attn.clone());
    let heads = Heads::of_tokens(&attn, &pilot.sentence.tokens)?.numbered(&numbers)?;
    let [pilots, _, cities] = &attn;
    let title = format!(
        "Head 4 looks most at Paris from {} of {} tokens, head 11 most at pilot from {}",
        rows_led_by(pilot.at("paris")?, cities),
        pilot.sentence.tokens.len(),
        rows_led_by(pilot.at("pilot")?, pilots),
    );
    Ok(head_maps(title, &heads))
}
