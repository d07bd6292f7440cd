//! Ring attention, step by step: who computes how much, and who waits: live.

use anyhow::Result;
use attention::{Matrix, thousands};
use figures::{NamedMatrix, matrix_bands};

use super::turns::{
    Waiting, all_pairs, in_a_row, in_stripes, in_two_chunks, owner, pairs,
};
use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::written;

/// Draws the pairs of each step, and whose keys a rank has at one of them.
pub const LIVE: Live = Live {
    name: "ring",
    questions: &[
        Question {
            ask: "Under the causal mask, how must the tokens be cut so that no rank waits for \
                  another, at any step?",
            is_answered: |settings, view| {
                Ok(settings.is_on("causal")? && view.number(FOR_RANKS)? < 1e-12)
            },
            answer: &[("cut", "chunks")],
            found: "A chunk from the beginning and one from the end have as many pairs together \
                    as any other two; stripes come near, but not quite.",
        },
        Question {
            ask: "Leave the tokens in order, under the causal mask. With how many ranks do they \
                  wait for each other in at least 45 % of their time?",
            is_answered: |settings, view| {
                let is_in_order = settings.choice("cut")? == "order";
                Ok(is_in_order
                    && settings.is_on("causal")?
                    && view.number(FOR_RANKS)? >= 0.45)
            },
            answer: &[("ranks", "8")],
            found: "Each step but the first takes as long as a whole block, and half of all \
                    pairs are masked: with more ranks the waiting comes near a half.",
        },
        Question {
            ask: "Let a byte travel as long as 8 multiply-adds take. With how many tokens do 4 \
                  ranks not wait for messages?",
            is_answered: |settings, view| {
                let is_slow =
                    settings.count("link")? >= 8 && settings.count("ranks")? == 4;
                Ok(is_slow && view.number(FOR_MESSAGES)? == 0.0)
            },
            answer: &[("link", "8"), ("tokens", "256")],
            found: "A step's pairs grow with the square of a rank's tokens, its message with \
                    their number: long sequences hide what they send.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// Where the numbers hold the parts of the time in which ranks wait, and the bytes that a rank
/// sends at a step and in all.
const FOR_RANKS: usize = 0;
const FOR_MESSAGES: usize = 1;

/// How wide keys and values are, and the bytes of a number.
const WIDTH: usize = 512;
const NUMBER: usize = 4;

/// More ranks are not drawn.
const MOST_RANKS: usize = 8;

fn controls() -> Vec<Control> {
    let count = |range, first| Kind::Count { range, first };
    let cuts = Kind::choice([
        ("order", "in order"),
        ("chunks", "two chunks for each rank"),
        ("stripes", "in stripes, every p-th token"),
    ]);
    vec![
        Control::new("step", "Step", count([0, MOST_RANKS - 1], 1)),
        Control::new("cut", "Tokens are cut", cuts),
        Control::new("causal", "Causal mask", Kind::Switch { first: true }),
        Control::new("ranks", "Ranks", count([2, MOST_RANKS], 4)),
        Control::new("tokens", "Tokens", count([16, 4096], 64)),
        Control::new("link", "Multiply-adds while a byte travels", count([0, 1000], 1)),
    ]
}

/// A ring of ranks, and what they have to do.
struct Ring {
    /// Of each rank.
    tokens: Vec<Vec<usize>>,
    /// `[step][rank]`
    pairs: Vec<Vec<usize>>,
    waiting: Waiting,
}

impl Ring {
    fn new(settings: &Settings) -> Result<Self> {
        let (n_tokens, p) = (settings.count("tokens")?, settings.count("ranks")?);
        let tokens = match settings.choice("cut")? {
            "order" => in_a_row(n_tokens, p),
            "chunks" => in_two_chunks(n_tokens, p),
            _ => in_stripes(n_tokens, p),
        };
        let counted = if settings.is_on("causal")? { pairs } else { all_pairs };
        let pairs = counted(&tokens);
        let ring = Self { tokens, pairs, waiting: Waiting::default() };
        // In multiply-adds, of which a pair takes one a feature in Q Kᵀ and another in A V.
        // Counted in f64: in a page, a usize ends at four thousand million.
        let message = ring.sent()[0] as f64 * settings.count("link")? as f64;
        let waiting = Waiting::of(&ring.pairs, message / (2 * WIDTH) as f64);
        Ok(Self { waiting, ..ring })
    }

    fn size(&self) -> usize {
        self.tokens.len()
    }

    /// Of the keys and values of each rank.
    fn bytes(&self) -> impl Iterator<Item = usize> {
        self.tokens.iter().map(|tokens| 2 * tokens.len() * WIDTH * NUMBER)
    }

    /// The most that a rank sends at a step, and in all: everything but what belongs to the
    /// rank after it.
    fn sent(&self) -> [usize; 2] {
        let [least, most] =
            [self.bytes().min(), self.bytes().max()].map(Option::unwrap_or_default);
        [most, self.bytes().sum::<usize>() - least]
    }

    /// The part of a block's pairs that is computed, `[rank, step]`.
    fn computed(&self) -> Matrix {
        let p = self.size();
        Matrix::from_fn(p, p, |r, step| {
            let all = self.tokens[r].len() * self.tokens[owner(r, step, p)].len();
            self.pairs[step][r] as f64 / all.max(1) as f64
        })
    }

    /// 1 for the rank whose keys a rank has, `[rank, rank]`.
    fn held(&self, step: usize) -> Matrix {
        let p = self.size();
        Matrix::from_fn(p, p, |r, other| f64::from(u8::from(owner(r, step, p) == other)))
    }
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let ring = Ring::new(settings)?;
    let p = ring.size();
    let step = settings.count("step")?.min(p - 1);
    let title = format!(
        "Ring attention of {} tokens, {WIDTH} wide, on {p} ranks, {}, {}",
        thousands(settings.count("tokens")? as u64),
        match settings.choice("cut")? {
            "order" => "in order",
            "chunks" => "two chunks each",
            _ => "in stripes",
        },
        if settings.is_on("causal")? { "causal" } else { "without a mask" },
    );
    let names = |one: &dyn Fn(usize) -> String| (0..p).map(one).collect::<Vec<_>>();
    let ranks = names(&|r| format!("rank {r}"));
    let steps = names(&|at| format!("{}step {at}", if at == step { "▸ " } else { "" }));
    let owners = names(&|r| format!("of rank {r}"));
    let [ranks, steps, owners] = [&ranks, &steps, &owners]
        .map(|it| it.iter().map(String::as_str).collect::<Vec<_>>());
    let (computed, held) = (ring.computed(), ring.held(step));
    let at_step = format!("keys at step {step}");
    let bands = [
        NamedMatrix { name: "part computed", columns: &steps, entries: &computed },
        NamedMatrix { name: &at_step, columns: &owners, entries: &held },
    ];
    let figure = matrix_bands(title, &ranks, &[&bands[..1], &bands[1..]])?;
    let Waiting { for_ranks, for_messages } = ring.waiting;
    let sent = ring.sent().map(|bytes| bytes as f64);
    let numbers = [for_ranks, for_messages].into_iter().chain(sent);
    let pairs = ring.pairs.iter().flatten().map(|&pairs| pairs as f64);
    Ok(LiveView {
        figure,
        words: words(&ring, step),
        numbers: numbers.chain(pairs).collect(),
    })
}

fn words(ring: &Ring, step: usize) -> String {
    let p = ring.size();
    let whose = match step {
        0 => "its own keys and values".to_owned(),
        1 => "the keys and values of the rank before it".to_owned(),
        n => format!("the keys and values of the rank {n} places before it"),
    };
    let pairs = ring.pairs[step].iter().copied();
    let [least, most] = [pairs.clone().min(), pairs.max()]
        .map(|pairs| thousands(pairs.unwrap_or(0) as u64));
    let computes = match least == most {
        true => format!("all compute {most} pairs"),
        false => format!("ranks compute from {least} to {most} pairs"),
    };
    let [a_step, in_all] = ring.sent();
    let is_even = ring.bytes().all(|bytes| bytes == a_step);
    let percent = |part: f64| format!("{} %", written(100.0 * part, 1));
    format!(
        "At step {step} (of 0 to {}) each rank has {whose}, and {computes}. Over all steps, \
         ranks wait {} of their time for each other and {} for messages. A rank sends {} a \
         step and {} in all{}.",
        p - 1,
        percent(ring.waiting.for_ranks),
        percent(ring.waiting.for_messages),
        kilobytes(a_step),
        kilobytes(in_all),
        if is_even { "" } else { ", at most" },
    )
}

fn kilobytes(bytes: usize) -> String {
    format!("{} kB", thousands((bytes as u64 + 500) / 1000))
}

#[cfg(test)]
mod tests;
