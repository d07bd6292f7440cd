//! What people write instead.

use super::{Input, Pair, STRETCHED, TAU};
use crate::Mistake;

type Named = Mistake<Input, Vec<f64>>;

/// All of them.
pub(super) const ALL: &[Named] = &[
    Mistake {
        name: "multiplies frequencies by the factor",
        does: "Interpolated, positions should move together, and it moves them apart",
        looks_right: "The text is `factor` times as long",
        read: STRETCHED,
        answer: |input| input.with_interpolated(|f| f * input.factor),
    },
    Mistake {
        name: "interpolates nothing",
        does: "It leaves frequencies as they are, so positions beyond the training have \
            angles that the model has never met",
        looks_right: "With a factor of 1 it is right",
        read: STRETCHED,
        answer: |input| input.with_interpolated(|f| f),
    },
    Mistake {
        name: "multiplies the base by the factor itself",
        does: "It leaves the exponent d / (d − 2) out, and the last pair is divided by \
            factor^((d − 2) / d), which is less than the factor",
        looks_right: "For a wide head the exponent is nearly 1",
        read: STRETCHED,
        answer: |input| input.with_base(|_| input.base * input.factor),
    },
    Mistake {
        name: "has the exponent's fraction upside down",
        does: "It raises the factor to (d − 2) / d, and the last pair is divided by less than \
            the factor",
        looks_right: "For a wide head both are nearly 1",
        read: STRETCHED,
        answer: |input| {
            input.with_base(|d| input.base * input.factor.powf((d - 2.0) / d))
        },
    },
    Mistake {
        name: "counts pairs in the exponent",
        does: "It raises the factor to n / (n − 2) with n the number of pairs. d is the width \
            of the head",
        looks_right: "There is a frequency per pair, and the ends seem to be pairs 0 and n − 1",
        read: STRETCHED,
        answer: |input| {
            input.with_base(|d| input.base * input.factor.powf(d / 2.0 / (d / 2.0 - 2.0)))
        },
    },
    Mistake {
        name: "makes the base smaller",
        does: "It divides the base, so all pairs but the first go round faster",
        looks_right: "Something is to become smaller: the frequencies, and not the base",
        read: STRETCHED,
        answer: |input| {
            input.with_base(|d| input.base / input.factor.powf(d / (d - 2.0)))
        },
    },
    Mistake {
        name: "leaves the base as it is",
        does: "With the NTK-aware rule it stretches nothing",
        looks_right: "With a factor of 1 it is right",
        read: STRETCHED,
        answer: |input| input.with_base(|_| input.base),
    },
    Mistake {
        name: "stretches the base and divides as well",
        does: "It divides the new base's frequencies by the factor too, so the slowest pair is \
            stretched twice and the fastest once",
        looks_right: "Each of the two is a rule of its own",
        read: STRETCHED,
        answer: |input| {
            let mut out = input.right();
            if input.stretch == super::Stretch::NtkAware {
                out.iter_mut().for_each(|f| *f /= input.factor);
            }
            out
        },
    },
    Mistake {
        name: "keeps the slow pairs and divides the fast ones",
        does: "Its ramp runs the wrong way. Slow pairs meet new angles in a longer text, and \
            fast ones have met all of theirs",
        looks_right: "The blend is right, and so are both ends of it",
        read: STRETCHED,
        answer: |input| {
            input.keeping(|pair| 1.0 - pair.between(pair.turns).clamp(0.0, 1.0))
        },
    },
    Mistake {
        name: "does not clamp the ramp",
        does: "Beyond `fast` the weight is above 1 and below `slow` it is below 0, so \
            frequencies leave the range from f / factor to f",
        looks_right: "Between the two it is right",
        read: STRETCHED,
        answer: |input| input.keeping(|pair| pair.between(pair.turns)),
    },
    Mistake {
        name: "has no ramp and keeps what is between",
        does: "It divides the pairs with `slow` turns or fewer and keeps all others",
        looks_right: "Both ends are right",
        read: STRETCHED,
        answer: |input| input.keeping(|pair| f64::from(u8::from(pair.turns > pair.slow))),
    },
    Mistake {
        name: "has no ramp and divides what is between",
        does: "It keeps the pairs with `fast` turns or more and divides all others",
        looks_right: "Both ends are right",
        read: STRETCHED,
        answer: |input| {
            input.keeping(|pair| f64::from(u8::from(pair.turns >= pair.fast)))
        },
    },
    Mistake {
        name: "counts radians for turns",
        does: "It leaves 2π out, so each pair seems to have made 6.28 times as many turns",
        looks_right: "n_trained · f is how far a pair has rotated",
        read: STRETCHED,
        answer: |input| in_turns(input, |pair| pair.turns * TAU),
    },
    Mistake {
        name: "counts turns in the longer text",
        does: "It multiplies by the factor, as if the model had been trained on the text that \
            it is to read",
        looks_right: "That is the length for which the frequencies are made",
        read: STRETCHED,
        answer: |input| in_turns(input, |pair| pair.turns * input.factor),
    },
    Mistake {
        name: "divides the length of a turn by that of the training",
        does: "It takes 1 / r: how much of the training one turn takes, and not how \
            often the pair goes round in the training",
        looks_right: "It is a ratio of the same two lengths",
        read: STRETCHED,
        answer: |input| in_turns(input, |pair| 1.0 / pair.turns),
    },
    Mistake {
        name: "asks how long a turn is",
        does: "It compares 2π / f with `slow` and `fast`, which are numbers of turns",
        looks_right: "The wavelength is what papers speak of",
        read: STRETCHED,
        answer: |input| in_turns(input, |pair| pair.n_trained / pair.turns),
    },
    Mistake {
        name: "lets the ramp be linear in p",
        does: "It goes from the pair with `fast` turns to the one with `slow` in equal steps. \
            The paper's ramp, which was asked for, is linear in the number of turns",
        looks_right: "It is what the authors' own code does, and both ends are right",
        read: STRETCHED,
        answer: |input| {
            let p_with = |turns: f64, pair: Pair| {
                let f = turns * TAU / pair.n_trained;
                -f.ln() * input.d as f64 / (2.0 * input.base.ln())
            };
            input.keeping(|pair| {
                let [from, to] = [pair.fast, pair.slow].map(|turns| p_with(turns, pair));
                1.0 - ((pair.p - from) / (to - from)).clamp(0.0, 1.0)
            })
        },
    },
    Mistake {
        name: "blends lengths and not frequencies",
        does: "It takes the weighted mean of 1 / f and factor / f and inverts that",
        looks_right: "Both ends are right, and between them it is a blend",
        read: STRETCHED,
        answer: |input| {
            input.with_yarn(|pair| {
                let kept = pair.between(pair.turns).clamp(0.0, 1.0);
                pair.f / (kept + (1.0 - kept) * input.factor)
            })
        },
    },
    Mistake {
        name: "blends with the frequencies of the stretched base",
        does: "Where YaRN has f / factor it takes the NTK-aware frequency",
        looks_right: "YaRN came after the NTK-aware rule and is called NTK-by-parts too",
        read: STRETCHED,
        answer: |input| {
            input.with_yarn(|pair| {
                let kept = pair.between(pair.turns).clamp(0.0, 1.0);
                let d = input.d as f64;
                let stretched = input.base_of(d).powf(-2.0 * pair.p / d);
                kept * pair.f + (1.0 - kept) * stretched
            })
        },
    },
    Mistake {
        name: "uses p / d in the exponent and not 2p / d",
        does: "All frequencies but the first are too high, the last by far",
        looks_right: "Pair 0 is right, and p counts the pairs",
        read: STRETCHED,
        answer: |input| {
            Input { base: input.base.sqrt(), ..input.clone() }.halved(input.base)
        },
    },
];

/// With another number of turns.
fn in_turns(input: &Input, turns: impl Fn(Pair) -> f64) -> Vec<f64> {
    input.keeping(|pair| pair.between(turns(pair)).clamp(0.0, 1.0))
}

impl Input {
    /// Of the root of a base, whose NTK-aware rule multiplies the base itself.
    fn halved(&self, base: f64) -> Vec<f64> {
        match self.stretch {
            super::Stretch::NtkAware => {
                self.with_base(|d| (base * self.factor.powf(d / (d - 2.0))).sqrt())
            }
            _ => self.right(),
        }
    }
}
