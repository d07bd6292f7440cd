//! Where a tensor differs most.

use attention::Matrix;
use serde::Serialize;

use crate::compare::apart;
use crate::recipe::Recipe;
use crate::search::Segment;
use crate::{Mistake, Precision, Record, Run, State};

/// This share of all squares is said to be all of it.
const NEARLY_ALL: f64 = 0.98;

const MEANT: &str = "what was meant";

/// Where a tensor differs most from the nearest: shares of the sum of squares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Places {
    /// Which tensor.
    pub tensor: State,
    /// From what: the mistakes that are clearly nearer than what was meant, by their names, or
    /// "what was meant".
    pub from: String,
    /// Of each sequence.
    pub sequences: Vec<f64>,
    /// Of each head: of a tensor that has heads, or of the output, where each head adds what
    /// its rows of W^O span; empty where that is everything.
    pub heads: Vec<f64>,
    /// Of each row, summed over sequences and heads.
    pub rows: Vec<f64>,
    /// What that comes to, in words.
    pub summary: Vec<String>,
}

impl Places {
    pub(crate) fn of(run: &Run<'_>, segment: &Segment) -> Option<Self> {
        let (record, trial) = (run.record, segment.nearest()?);
        let nearest = run.forward(&trial.recipe, trial.empty_row).step(segment.state)?;
        let given = &record.tensors[&segment.state];
        let both = given.iter().zip(nearest.iter());
        let difference: Vec<Matrix> =
            both.map(|(a, b)| a.zip_map(b, apart_signed)).collect();
        let each = (given.len() / record.batch()).max(1);
        let squares = |m: &Matrix| m.norm_squared();
        let of_sequence = |of: &[Matrix]| of.iter().map(squares).sum();
        let of_head =
            |i: usize| difference.iter().skip(i).step_by(each).map(squares).sum();
        let of_row = |r: usize| difference.iter().map(|m| m.row(r).norm_squared()).sum();
        let heads = match segment.state {
            state if state.is_per_head() => shares((0..each).map(of_head)),
            State::Output => by_head(run, &difference),
            _ => Vec::new(),
        };
        let mut places = Self {
            tensor: segment.state,
            from: match trial.mistakes[..] {
                [] => MEANT.to_string(),
                _ => Mistake::names(&trial.mistakes),
            },
            sequences: shares(difference.chunks(each).map(of_sequence)),
            heads,
            rows: shares((0..difference[0].nrows()).map(of_row)),
            summary: Vec::new(),
        };
        places.summary = places.words(record);
        Some(places)
    }

    fn words(&self, record: &Record) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(differ) = self.differing() {
            let list = differ.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            words.push(match differ.len() {
                1 => format!("only sequence {list} differs"),
                2..=8 => format!("only the sequences {list} differ"),
                n => format!("only {n} of {} sequences differ", self.sequences.len()),
            });
        }
        let head = self.heads.iter().position(|&share| share > NEARLY_ALL);
        if let Some(i) = head.filter(|_| self.heads.len() > 1) {
            words.push(format!("only head {i} differs"));
        }
        let from = self.rows.iter().position(|&share| share > 0.0).unwrap_or(0);
        let mut sum = 0.0;
        let is_before = |share: &&f64| {
            sum += **share;
            sum < 1.0 - NEARLY_ALL
        };
        let first = self.rows.iter().take_while(is_before).count().max(from);
        if first > 0 && first < self.rows.len() {
            words.push(format!(
                "tokens before {first} do not differ, those from {first} on do"
            ));
        }
        if let Some(share) = self.of_padded(record).filter(|&share| share > NEARLY_ALL) {
            words.push(format!(
                "{:.0} % of it is in rows of padded tokens, which mostly nobody reads",
                100.0 * share
            ));
        }
        if words.is_empty() {
            words.push("all sequences, heads and tokens differ".to_string());
        }
        words
    }

    /// The sequences that differ, if others do not.
    fn differing(&self) -> Option<Vec<usize>> {
        let n = self.sequences.len();
        let least = (1.0 - NEARLY_ALL) / n as f64;
        let differ = (0..n).filter(|&s| self.sequences[s] > least).collect::<Vec<_>>();
        (differ.len() < n).then_some(differ).filter(|differ| !differ.is_empty())
    }

    /// A word on padding, where some sequences alone differ from what was meant and no mask
    /// was given.
    pub(crate) fn remark(&self, record: &Record) -> Option<String> {
        let is_meant = self.from == MEANT && self.tensor >= State::Attn;
        let some_are_right = self.differing().is_some();
        (is_meant && some_are_right && record.masks.is_empty()).then(|| {
            "some sequences are right, and there is no mask: was a mask of padding meant? Put \
             it in the file as key_padding_mask (batch, n_kv)."
                .to_string()
        })
    }

    /// The share of rows that are padding in every sequence.
    fn of_padded(&self, record: &Record) -> Option<f64> {
        let padding = record.masks.padding.as_ref()?;
        let is_padded = |r: usize| padding.iter().all(|open| open.get(r) == Some(&false));
        let rows = self.rows.iter().enumerate().filter(|(r, _)| is_padded(*r));
        Some(rows.map(|(_, share)| share).sum())
    }
}

fn apart_signed(a: f64, b: f64) -> f64 {
    let size = apart(a, b);
    if size.is_finite() { a - b } else { 1e9 }
}

fn shares(sums: impl Iterator<Item = f64>) -> Vec<f64> {
    let sums: Vec<f64> = sums.collect();
    let total: f64 = sums.iter().sum();
    if total == 0.0 { sums } else { sums.iter().map(|sum| sum / total).collect() }
}

/// How much of a difference of outputs each head alone could make: it adds what is in the
/// span of its rows of W^O.
fn by_head(run: &Run<'_>, difference: &[Matrix]) -> Vec<f64> {
    let Some(linear) = &run.record.weights.output else { return Vec::new() };
    let h = run.intent.n_heads;
    let width = linear.d_in() / h;
    let is_other = difference[0].ncols() != linear.d_out();
    if h == 1 || width == 0 || is_other || width * 2 > linear.d_out() {
        return Vec::new();
    }
    let total: f64 = difference.iter().map(|m| m.norm_squared()).sum();
    let share = |i: usize| {
        let span = linear.weight.rows(i * width, width).transpose().qr().q();
        let within: f64 = difference.iter().map(|m| (m * &span).norm_squared()).sum();
        within / total
    };
    (0..h).map(share).collect()
}

/// What made an output NaN or infinite, if it is.
pub(crate) fn not_a_number(run: &Run<'_>) -> Option<String> {
    let record = run.record;
    let has_nan = |tensor: &[Matrix]| tensor.iter().flatten().any(|x| x.is_nan());
    let (state, _) = record.tensors.iter().find(|(_, tensor)| has_nan(tensor))?;
    let name = state.name();
    if run.has_empty_rows(&Recipe::RIGHT) {
        return Some(format!(
            "{name} has NaN, and some query may attend to no key: a softmax of nothing but −∞ is \
             0 / 0, so it is the mask that makes it."
        ));
    }
    if record.precision == Precision::F16 {
        let half = Run { precision: Precision::F16, ..Run::new(record, run.intent) };
        let overflows = |state: &&State| {
            let tensor = half.step(**state, &Recipe::RIGHT);
            tensor.is_some_and(|it| it.iter().flatten().any(|x| !x.is_finite()))
        };
        if let Some(first) = State::ALL.iter().find(overflows) {
            return Some(format!(
                "{name} has NaN, and {} has numbers beyond 65,504, which float16 cannot hold: an \
                 overflow.",
                first.name()
            ));
        }
    }
    Some(match record.tensors.len() {
        1 => format!(
            "{name} has NaN. With q, k, v, scores, attn and heads in the file, the first that \
             has it would be named."
        ),
        _ => format!("{name} is the first tensor with NaN."),
    })
}
