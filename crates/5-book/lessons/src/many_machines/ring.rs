//! Ring attention, step by step: who computes how much, and who waits: live.

use anyhow::Result;
use attention::{Matrix, thousands};
use figures::TokenCut;

use super::turns::{
    Waiting, all_pairs, in_a_row, in_stripes, in_two_chunks, owner, pairs,
};
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{kilobytes, written};

/// Draws the pairs of each step, and whose keys a rank has at one of them.
pub(crate) const LIVE: LiveFigure<Set, Facts> = LiveFigure::new("ring", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Under the causal mask, how must the tokens be cut so that no rank waits \
              for another, at any step?",
        is_answered: |set, it| set.causal && it.for_ranks < 1e-12,
        answer: |set| set.cut = "chunks",
        found: "A chunk from the beginning and one from the end have as many pairs \
                together as any other two; stripes come near, but not quite.",
    },
    Question {
        ask: "Leave the tokens in order, under the causal mask. With how many ranks do \
              they wait for each other in at least 45 % of their time?",
        is_answered: |set, it| set.cut == "order" && set.causal && it.for_ranks >= 0.45,
        answer: |set| set.ranks = 8,
        found: "Each step but the first takes as long as a whole block, and half of all \
                pairs are masked: with more ranks the waiting comes near a half.",
    },
    Question {
        ask: "Let a byte travel as long as 8 multiply-adds take. With how many tokens do \
              4 ranks not wait for messages?",
        is_answered: |set, it| set.link >= 8 && set.ranks == 4 && it.for_messages == 0.0,
        answer: |set| (set.link, set.tokens) = (8, 256),
        found: "A step's pairs grow with the square of a rank's tokens, its message with \
                their number: long sequences hide what they send.",
    },
];

/// How wide keys and values are, and the bytes of a number.
const WIDTH: usize = 512;
const NUMBER: usize = 4;

/// How tokens may be cut.
const CUTS: [(&str, &str); 3] =
    [("order", "in order"), ("chunks", "two chunks each"), ("stripes", "in stripes")];
/// So many tokens of a rank show how they are cut.
const SHOWN: usize = 6;

/// More ranks are not drawn.
const MOST_RANKS: usize = 8;

live! {
    struct Set {
        step: usize = "Step", slider([0, MOST_RANKS - 1], 1, 1).played();
        cut: &'static str = "Tokens are cut", named(CUTS);
        causal: bool = "Causal mask", switch(true);
        ranks: usize = "Ranks", count([2, MOST_RANKS], 4);
        tokens: usize = "Tokens", count([16, 4096], 64);
        link: usize = "Multiply-adds while a byte travels", count([0, 1000], 1);
    }

    struct Facts {
        /// The parts of the time in which ranks wait, for each other and for messages.
        for_ranks: f64, for_messages: f64,
        /// The bytes that a rank sends at a step and in all.
        sent: [usize; 2],
        /// `[step][rank]`
        pairs: Vec<Vec<usize>>,
    }
}

/// A ring of ranks, and what they have to do.
struct Ring {
    /// Of each rank.
    tokens: Vec<Vec<usize>>,
    /// `[step][rank]`
    pairs: Vec<Vec<usize>>,
    /// How long a message takes, in pairs.
    message: f64,
    waiting: Waiting,
}

impl Ring {
    fn new(set: &Set) -> Self {
        let (n_tokens, p) = (set.tokens, set.ranks);
        let tokens = cut(set.cut, n_tokens, p);
        let counted = if set.causal { pairs } else { all_pairs };
        let pairs = counted(&tokens);
        let ring = Self { tokens, pairs, message: 0.0, waiting: Waiting::default() };
        // In multiply-adds, of which a pair takes one a feature in Q Kᵀ and another in A V.
        // Counted in f64: in a page, a usize ends at four thousand million.
        let message = ring.sent()[0] as f64 * set.link as f64 / (2 * WIDTH) as f64;
        Self { message, waiting: Waiting::of(&ring.pairs, message), ..ring }
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
}

/// The tokens of each rank.
fn cut(how: &str, n_tokens: usize, p: usize) -> Vec<Vec<usize>> {
    match how {
        "order" => in_a_row(n_tokens, p),
        "chunks" => in_two_chunks(n_tokens, p),
        _ => in_stripes(n_tokens, p),
    }
}

/// Every cut, shown on a few tokens.
fn cuts(set: &Set) -> [TokenCut; CUTS.len()] {
    CUTS.map(|(how, name)| {
        let mut ranks = vec![0; SHOWN * set.ranks];
        for (rank, tokens) in cut(how, ranks.len(), set.ranks).iter().enumerate() {
            tokens.iter().for_each(|&token| ranks[token] = rank);
        }
        TokenCut { name, sets: format!("cut={how}"), ranks, is_chosen: how == set.cut }
    })
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let ring = Ring::new(set);
    let p = ring.size();
    let step = set.step.min(p - 1);
    let title = format!(
        "Ring attention of {} tokens, {WIDTH} wide, on {p} ranks, {}, {}",
        thousands(set.tokens as u64),
        CUTS.into_iter().find(|(how, _)| *how == set.cut).map_or("", |(_, name)| name),
        if set.causal { "causal" } else { "without a mask" },
    );
    let (parts, cuts) = (ring.computed(), cuts(set));
    let figure = figures::ring(title, &parts, &ring.pairs, ring.message, step, &cuts)?;
    let Waiting { for_ranks, for_messages } = ring.waiting;
    let (words, sent) = (words(&ring, step), ring.sent());
    let facts = Facts { for_ranks, for_messages, sent, pairs: ring.pairs };
    Ok(LiveView { figure, words, facts })
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

#[cfg(test)]
mod tests;
