//! The ladder.

use anyhow::Result;
use attention::OnlineSoftmax;
use attention::{Mask, Matrix, thousands};

use super::super::answer::{Answer, Form};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "the-ladder",
    questions: &[
        Question {
            id: "online-correction",
            title: "A larger score arrives",
            section: "A softmax in blocks (online softmax)",
            pose: |seed| {
                let (before, after) = of(seed, [(4, 16), (2, 20), (8, 10)]);
                Instance::new(
                    format!(
                        "A softmax in blocks has seen a largest score of ln {before}. The \
                         next block raises it to ln {after}. By what is the sum l \
                         multiplied, before the block's own terms are added?"
                    ),
                    "A term was the exponential of a score minus the old maximum. What \
                     should it be?",
                    Form::Decimal { within: 0.01 },
                    move || correction(before, after),
                )
            },
        },
        Question {
            id: "online-average",
            title: "What a softmax in blocks has so far",
            section: "A softmax in blocks (online softmax)",
            pose: |seed| {
                let numbers @ (powers, values) =
                    of(seed, [([2, 4], [10, 25]), ([5, 3], [16, 0]), ([2, 8], [5, 10])]);
                Instance::new(
                    format!(
                        "A query has met two keys, in a block each, with scores of ln {} and \
                         ln {}. Their values are {} and {}, one number each. What is o / l \
                         now?",
                        powers[0], powers[1], values[0], values[1]
                    ),
                    "It is the head's output for these two keys. Which shares do they \
                     have?",
                    Form::Decimal { within: 0.01 },
                    move || average(numbers),
                )
            },
        },
        Question {
            id: "online-state",
            title: "What is kept per query",
            section: "A softmax in blocks (online softmax)",
            pose: |seed| {
                let (n_kv, d_v) = of(seed, [(1024, 64), (4096, 32), (2048, 128)]);
                Instance::new(
                    format!(
                        "A head with d_v = {d_v} goes over {} keys in blocks. How many \
                         numbers does it keep for each query from block to block?",
                        thousands(n_kv)
                    ),
                    "They have the names m, l and o.",
                    Form::Whole,
                    move || state(n_kv, d_v),
                )
            },
        },
        Question {
            id: "causal-tiles",
            title: "Tiles under a causal mask",
            section: "A causal mask saves half",
            pose: |seed| {
                let (n, tile) = of(seed, [(1024, 128), (512, 128), (1536, 256)]);
                let side = n / tile;
                Instance::new(
                    format!(
                        "A map of {} queries and as many keys is cut into {side} × {side} \
                         tiles, and the mask is causal. How many tiles have an open entry, \
                         so that they must be computed?",
                        thousands(n)
                    ),
                    "Count the tiles on the diagonal, and those below it.",
                    Form::Whole,
                    move || causal_tiles(n, tile),
                )
            },
        },
    ],
};

/// Takes one key in, with the logarithm of a power of e for its score.
fn take_in(online: &mut OnlineSoftmax, power: u32, value: f32) {
    let exp = |numbers: &mut [f32]| numbers.iter_mut().for_each(|x| *x = x.exp());
    let score = Matrix::from_element(1, 1, (power as f32).ln());
    online.take_in(score, Matrix::from_element(1, 1, value).as_view(), exp);
}

fn correction(before: u32, after: u32) -> Result<Outcome> {
    let mut online = OnlineSoftmax::new(1, 1);
    take_in(&mut online, before, 1.0);
    let sum = online.sum[0];
    take_in(&mut online, after, 0.0);
    // The new key adds exactly 1 to l, since its score is the maximum, and nothing to o.
    let factor = f64::from((online.sum[0] - 1.0) / sum);
    let shown = format!(
        "before the block   m = ln {before:<3} l = {sum:.3}\n\
         after it           m = ln {after:<3} l = {factor:.3} · {sum:.3} + 1 = {:.3}",
        online.sum[0]
    );
    let why = format!(
        "Each term was e to the power of s − ln {before} and should be e to the power of s \
         − ln {after}. All are wrong by the same factor, e to the difference of the two \
         maxima: {before} / {after}."
    );
    Ok(Outcome::new(Answer::Decimal(factor), shown, why)
        .slip(
            Answer::Decimal(1.0 / factor),
            "That has the sign of the exponent reversed.",
        )
        .slip(Answer::Decimal(1.0), "That forgets the correction.")
        .slip(Answer::Decimal(factor * factor), "That applies the correction twice."))
}

fn average((powers, values): ([u32; 2], [u32; 2])) -> Result<Outcome> {
    let mut online = OnlineSoftmax::new(1, 1);
    let mut shown = String::new();
    for (power, value) in powers.into_iter().zip(values) {
        take_in(&mut online, power, value as f32);
        let (l, o) = (online.sum[0], online.out[0]);
        shown += &format!(
            "after ln {power:<3} l = {l:.3}  o = {o:.3}  o / l = {:.3}\n",
            o / l
        );
    }
    let right = f64::from(online.finish()[0]);
    let mean = f64::from(values[0] + values[1]) / 2.0;
    let why = "o / l is the average of the values seen so far, each counted by e to its \
               score. It is right after every block, for the keys seen so far.";
    Ok(Outcome::new(Answer::Decimal(right), shown, why)
        .slip(Answer::Decimal(mean), "That counts both values alike.")
        .slip(Answer::Decimal(values[1].into()), "That keeps the last block alone."))
}

fn state(n_kv: usize, d_v: usize) -> Result<Outcome> {
    let OnlineSoftmax { maximum, sum, out } = OnlineSoftmax::new(1, d_v);
    let n = maximum.len() + sum.len() + out.len();
    let shown = format!("m   {}\nl   {}\no   {}", maximum.len(), sum.len(), out.len());
    let why = "The length of the sentence is not in it. A row of shares would have one entry \
               for each key.";
    Ok(Outcome::new(Answer::Whole(n), shown, why)
        .slip(Answer::Whole(d_v), "That is o alone.")
        .slip(
            Answer::Whole(n_kv),
            "That is a row of the map, which is never whole here.",
        ))
}

fn causal_tiles(n: usize, tile: usize) -> Result<Outcome> {
    let side = n / tile;
    // The lowest and leftmost entry of a tile is the last that a causal mask would block.
    let is_open = |row: usize, column: usize| {
        let corner = ((row + 1) * tile - 1, column * tile);
        Mask::Causal.added(corner, (n, n)).is_some()
    };
    let cell = |row, column| if is_open(row, column) { " ■" } else { " ·" };
    let line = |row| (0..side).map(|column| cell(row, column)).collect::<String>() + "\n";
    let shown: String = (0..side).map(line).collect();
    let open = shown.matches('■').count();
    let why = format!(
        "With b tiles to a side, b (b + 1) / 2 of b² are left: {open} of {}. The longer the \
         sentence, the nearer to half.",
        side * side
    );
    Ok(Outcome::new(Answer::Whole(open), shown, why)
        .slip(Answer::Whole(side * side), "That is all of them.")
        .slip(
            Answer::Whole(side * (side - 1) / 2),
            "That leaves out the tiles on the diagonal, which are open in part.",
        ))
}
