//! What people write instead.

use attention::Matrix;

use super::{BLOCKS, Input, Running};
use crate::{Mistake, Section};

const HUGE: Section = Section::new("bad-numbers", "Huge scores");
const NOTHING: Section = Section::new("bad-numbers", "A query with nothing to attend to");

/// One block in steps, each of which a mistake can change.
struct Steps {
    /// The new maximum, from the old one and that of the block.
    maximum: fn(f64, f64) -> f64,
    /// What l is multiplied by, from the old maximum and the new one.
    of_l: fn(f64, f64) -> f64,
    /// What o is multiplied by.
    of_o: fn(f64, f64) -> f64,
    /// What is subtracted from a score, from the old maximum and the new one.
    subtracted: fn(f64, f64) -> f64,
}

const RIGHT: Steps = Steps {
    maximum: f64::max,
    of_l: correction,
    of_o: correction,
    subtracted: |_, m| finite(m),
};

/// 0 for a maximum of −∞, under which there is nothing to subtract from.
fn finite(m: f64) -> f64 {
    if m == f64::NEG_INFINITY { 0.0 } else { m }
}

fn correction(old: f64, new: f64) -> f64 {
    (old - finite(new)).exp()
}

fn one(_: f64, _: f64) -> f64 {
    1.0
}

/// e to the power of the difference the wrong way round, 1 where that is not finite.
fn inverse(old: f64, new: f64) -> f64 {
    if old == f64::NEG_INFINITY { 1.0 } else { (new - old).exp() }
}

impl Steps {
    fn take_in(&self, running: &mut Running, scores: &[f64], values: &Matrix) {
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (old, new) = (running.m, (self.maximum)(running.m, largest));
        running.l *= (self.of_l)(old, new);
        running.o.iter_mut().for_each(|o| *o *= (self.of_o)(old, new));
        add(running, scores, values, (self.subtracted)(old, new));
        running.m = new;
    }

    fn run(&self, input: &Input) -> Vec<Running> {
        input.after_each_block(|running, scores, values| {
            self.take_in(running, scores, values);
        })
    }
}

/// The terms of a block, with this subtracted from each score.
fn add(running: &mut Running, scores: &[f64], values: &Matrix, subtracted: f64) {
    for (score, value) in scores.iter().zip(values.row_iter()) {
        let exp = (score - subtracted).exp();
        running.l += exp;
        running.o.iter_mut().zip(value.iter()).for_each(|(o, v)| *o += exp * v);
    }
}

/// l, or else o, has the last key's term alone, unless a block is empty.
fn overwrites(input: &Input, l: bool) -> Vec<Running> {
    input.after_each_block(|running, scores, values| {
        RIGHT.take_in(running, scores, values);
        if let (Some(score), Some(value)) = (scores.last(), values.row_iter().last())
            && running.m > f64::NEG_INFINITY
        {
            let exp = (score - running.m).exp();
            match l {
                true => running.l = exp,
                false => running.o = value.iter().map(|v| exp * v).collect(),
            }
        }
    })
}

const SIGN: Mistake<Input, Vec<Running>> = Mistake {
    name: "has the sign of the correction's exponent reversed",
    does: "It multiplies by exp(m′ − m), so a maximum that rose makes the old terms larger \
        where it must make them smaller. Before the first block that is e to the power of ∞",
    looks_right: "It is a factor between the same two maxima, and 1 where they are equal",
    read: BLOCKS,
    answer: |input| {
        let inverse = |old: f64, new: f64| (new - old).exp();
        Steps { of_l: inverse, of_o: inverse, ..RIGHT }.run(input)
    },
};

const NO_MAXIMUM: Mistake<Input, Vec<Running>> = Mistake {
    name: "subtracts no maximum",
    does: "It adds up exp(score) as it is. For scores near 1000 that is ∞, and for scores \
        near −1000 it is 0",
    looks_right: "Nothing has to be corrected then, and for small scores o / l is right",
    read: HUGE,
    answer: |input| {
        Steps { of_l: one, of_o: one, subtracted: |_, _| 0.0, ..RIGHT }.run(input)
    },
};

const OLD_MAXIMUM: Mistake<Input, Vec<Running>> = Mistake {
    name: "subtracts the maximum from before the block",
    does: "The block's own terms are relative to the old maximum and the others to the \
        new one. In the first block the old one is −∞, and an exponential is ∞",
    looks_right: "The correction is right, and while the maximum stays nothing shows",
    read: BLOCKS,
    answer: |input| Steps { subtracted: |old, _| finite(old), ..RIGHT }.run(input),
};

/// All of them.
pub const ALL: &[Mistake<Input, Vec<Running>>] = &[
    Mistake {
        name: "forgets the correction of l",
        does: "The sum keeps terms that are relative to an old maximum, and is too large \
            after a block with a larger score",
        looks_right: "m and o are right, and while the maximum stays, so is l",
        read: BLOCKS,
        answer: |input| Steps { of_l: one, ..RIGHT }.run(input),
    },
    Mistake {
        name: "forgets the correction of o",
        does: "The output keeps terms that are relative to an old maximum, so the keys of \
            earlier blocks count too much",
        looks_right: "m and l are right, and while the maximum stays, so is o",
        read: BLOCKS,
        answer: |input| Steps { of_o: one, ..RIGHT }.run(input),
    },
    Mistake {
        name: "corrects neither l nor o",
        does: "Each block has a maximum of its own in its exponents, and the sums mix them",
        looks_right: "With one block it is right, and with falling scores too",
        read: BLOCKS,
        answer: |input| Steps { of_l: one, of_o: one, ..RIGHT }.run(input),
    },
    Mistake {
        name: "applies the correction twice",
        does: "It multiplies l and o by the square of the factor, so the keys of earlier \
            blocks nearly vanish",
        looks_right: "The factor is right, and where it is 1 nothing shows",
        read: BLOCKS,
        answer: |input| {
            let twice = |old, new| correction(old, new).powi(2);
            Steps { of_l: twice, of_o: twice, ..RIGHT }.run(input)
        },
    },
    Mistake {
        name: "applies the correction of o twice",
        does: "It multiplies o by the square of the factor, for instance once for each of \
            two loops; l is right",
        looks_right: "The factor is right, and where it is 1 nothing shows",
        read: BLOCKS,
        answer: |input| {
            Steps { of_o: |old, new| correction(old, new).powi(2), ..RIGHT }.run(input)
        },
    },
    SIGN,
    Mistake {
        answer: |input| Steps { of_l: inverse, of_o: inverse, ..RIGHT }.run(input),
        ..SIGN
    },
    Mistake {
        name: "takes the maximum of the block alone",
        does: "It forgets the larger score of an earlier block, so m falls, and the \
            correction becomes larger than 1. After scores of 1000 and then −1000 it \
            is ∞",
        looks_right: "In exact arithmetic o / l does not depend on m at all",
        read: BLOCKS,
        answer: |input| Steps { maximum: |_, block| block, ..RIGHT }.run(input),
    },
    Mistake {
        name: "takes the maximum of the block alone and corrects nothing",
        does: "It takes a softmax of each block by itself and adds them up, as if every \
            block had the same maximum",
        looks_right: "Each block is right by itself",
        read: BLOCKS,
        answer: |input| {
            Steps { maximum: |_, block| block, of_l: one, of_o: one, ..RIGHT }.run(input)
        },
    },
    Mistake {
        name: "makes NaN of a block in which every key is blocked",
        does: "While no key is open the maximum is −∞, and −∞ − (−∞) is NaN. It never goes \
            away again",
        looks_right: "It is the formula, and right as soon as the first block has an open \
            key",
        read: NOTHING,
        answer: |input| {
            let bare = |old: f64, new: f64| (old - new).exp();
            Steps { of_l: bare, of_o: bare, subtracted: |_, m| m, ..RIGHT }.run(input)
        },
    },
    Mistake {
        name: "divides by l after each block",
        does: "It makes an average of o, to which the next block adds terms that are no \
            average. The division comes once, at the end",
        looks_right: "After the first block o is what the query would read",
        read: BLOCKS,
        answer: |input| {
            input.after_each_block(|running, scores, values| {
                RIGHT.take_in(running, scores, values);
                let l = if running.l == 0.0 { 1.0 } else { running.l };
                running.o.iter_mut().for_each(|o| *o /= l);
            })
        },
    },
    Mistake {
        name: "keeps the average and not the sum",
        does: "It keeps o / l after each block, and multiplies it by the old l before the \
            next. That is consistent, and not what `o` holds here: the division comes once, \
            at the end",
        looks_right: "The last o is the output of the head, with no division left to do",
        read: BLOCKS,
        answer: |input| {
            let averaged = |mut state: Running| {
                let l = if state.l == 0.0 { 1.0 } else { state.l };
                state.o.iter_mut().for_each(|o| *o /= l);
                state
            };
            RIGHT.run(input).into_iter().map(averaged).collect()
        },
    },
    Mistake {
        name: "subtracts the block's own maximum from its scores",
        does: "m is the largest score so far, and the exponents of the block are relative to \
            the largest of the block. Where that is smaller, its keys count too much",
        looks_right: "m is right, and while scores rise both maxima are the same",
        read: BLOCKS,
        answer: |input| {
            input.after_each_block(|running, scores, values| {
                let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let (old, new) = (running.m, running.m.max(largest));
                running.l *= correction(old, new);
                running.o.iter_mut().for_each(|o| *o *= correction(old, new));
                add(running, scores, values, finite(largest));
                running.m = new;
            })
        },
    },
    Mistake {
        name: "adds the values without their exponentials",
        does: "Every key adds its value to o in full, whatever its score, and a blocked key \
            does too",
        looks_right: "m and l are right, and o is corrected when the maximum rises",
        read: BLOCKS,
        answer: |input| {
            input.after_each_block(|running, scores, values| {
                let o: Vec<f64> = running.o.clone();
                let old = running.m;
                RIGHT.take_in(running, scores, values);
                let sums = values.row_sum();
                let added = o.iter().zip(sums.iter());
                running.o =
                    added.map(|(o, v)| o * correction(old, running.m) + v).collect();
            })
        },
    },
    Mistake {
        name: "does not keep the new maximum",
        does: "m stays −∞, so each block takes its own for the first, and the correction of \
            all before it is 0",
        looks_right: "The first block is right but for m",
        read: BLOCKS,
        answer: |input| {
            input.after_each_block(|running, scores, values| {
                RIGHT.take_in(running, scores, values);
                running.m = f64::NEG_INFINITY;
            })
        },
    },
    OLD_MAXIMUM,
    Mistake {
        answer: |input| Steps { subtracted: |old, _| old, ..RIGHT }.run(input),
        ..OLD_MAXIMUM
    },
    Mistake {
        name: "corrects after it has added the block",
        does: "The block's own terms, which are relative to the new maximum already, are \
            multiplied by the factor too",
        looks_right: "The factor is right, and so is every sum; only their order is not",
        read: BLOCKS,
        answer: |input| {
            input.after_each_block(|running, scores, values| {
                let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let (old, new) = (running.m, running.m.max(largest));
                add(running, scores, values, finite(new));
                running.l *= correction(old, new);
                running.o.iter_mut().for_each(|o| *o *= correction(old, new));
                running.m = new;
            })
        },
    },
    Mistake {
        name: "keeps the last block alone",
        does: "It sets l and o where it should add to them",
        looks_right: "After the first block everything is right, and m always is",
        read: BLOCKS,
        answer: |input| {
            let none = |_: f64, _: f64| 0.0;
            Steps { of_l: none, of_o: none, ..RIGHT }.run(input)
        },
    },
    NO_MAXIMUM,
    Mistake {
        answer: |input| {
            let nothing = |old: f64, _: f64| old;
            Steps { maximum: nothing, of_l: one, of_o: one, subtracted: |_, _| 0.0 }
                .run(input)
        },
        ..NO_MAXIMUM
    },
    Mistake {
        name: "starts its maximum at 0",
        does: "A block of scores far below 0 gets 0 for its largest, and all of its \
            exponentials are 0",
        looks_right: "A sum starts at 0; but a maximum starts at −∞, f64::NEG_INFINITY",
        read: HUGE,
        answer: |input| {
            Steps { maximum: |old, block| old.max(block.max(0.0)), ..RIGHT }.run(input)
        },
    },
    Mistake {
        name: "keeps only what the last key adds to l",
        does: "It writes `l = …` where `l += …` adds up",
        looks_right: "m and o are right, and with one key per block so is l",
        read: BLOCKS,
        answer: |input| overwrites(input, true),
    },
    Mistake {
        name: "keeps only what the last key adds to o",
        does: "It writes `o = …` where `o += …` adds up",
        looks_right: "m and l are right",
        read: BLOCKS,
        answer: |input| overwrites(input, false),
    },
];
