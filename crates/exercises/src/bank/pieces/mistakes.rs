//! What people write instead.

use super::{Input, Piece, TOKENS, WRONG};
use crate::{Mistake, Section};

const HUGE: Section = Section::new("08-bad-numbers", "Huge scores");
const NOTHING: Section =
    Section::new("08-bad-numbers", "A query with nothing to attend to");

/// A merge of two pieces, the one that was merged so far and the next, in steps, each of
/// which a mistake can change.
struct Steps {
    /// The common reference, from those of the two.
    reference: fn([f64; 2]) -> f64,
    /// The factors of both, from their references and the common one.
    factors: fn([f64; 2], f64) -> Factors,
    /// An entry of the output, from o and l of all.
    finish: fn(f64, f64) -> f64,
}

/// What l and o of the piece so far are multiplied by, and those of the next one.
struct Factors {
    l: [f64; 2],
    o: [f64; 2],
}

const RIGHT: Steps = Steps { reference: larger, factors: right, finish: divided };

fn larger([ours, theirs]: [f64; 2]) -> f64 {
    ours.max(theirs)
}

fn right(references: [f64; 2], common: f64) -> Factors {
    both(references.map(|m| factor(m, common)))
}

/// The same factors for l and o.
fn both(of: [f64; 2]) -> Factors {
    Factors { l: of, o: of }
}

fn factor(m: f64, common: f64) -> f64 {
    (m - if common == f64::NEG_INFINITY { 0.0 } else { common }).exp()
}

/// The sign the wrong way round; a piece that saw nothing has none.
fn inverse(m: f64, common: f64) -> f64 {
    if m == f64::NEG_INFINITY { 1.0 } else { (common - m).exp() }
}

/// 0 for a query that has seen no key.
fn divided(o: f64, l: f64) -> f64 {
    if l == 0.0 { 0.0 } else { o / l }
}

impl Steps {
    /// From `all`, which is changed, and the next piece.
    fn merge(&self, all: &mut Piece, next: &Piece) {
        let references = [all.m, next.m];
        let common = (self.reference)(references);
        let Factors { l, o } = (self.factors)(references, common);
        all.m = common;
        all.l = l[0] * all.l + l[1] * next.l;
        for (all, next) in all.o.iter_mut().zip(&next.o) {
            *all = o[0] * *all + o[1] * next;
        }
    }

    fn finished(&self, all: &Piece) -> Vec<f64> {
        all.o.iter().map(|&o| (self.finish)(o, all.l)).collect()
    }

    /// The output from these pieces, merged one by one into this one.
    fn onto(&self, mut all: Piece, pieces: &[Piece]) -> Vec<f64> {
        pieces.iter().for_each(|next| self.merge(&mut all, next));
        self.finished(&all)
    }

    fn run(&self, input: &Input) -> Vec<f64> {
        self.onto(Piece::nothing(input.d_v()), &input.pieces)
    }

    /// The first piece is what the others are merged into.
    fn onto_first(&self, input: &Input) -> Vec<f64> {
        self.onto(input.pieces[0].clone(), &input.pieces[1..])
    }

    /// As [`run`](Self::run), and pieces that saw nothing are left out.
    fn onto_first_that_saw(&self, input: &Input) -> Vec<f64> {
        let pieces = seen(input);
        match pieces.split_first() {
            None => vec![0.0; input.d_v()],
            Some((first, others)) => self.onto(first.clone(), others),
        }
    }
}

/// The output from all factors at once, each from a piece's m.
fn at_once(
    input: &Input,
    factor: impl Fn(f64) -> f64,
    finish: fn(f64, f64) -> f64,
) -> Vec<f64> {
    let sum = |of: &dyn Fn(&Piece) -> f64| {
        input.pieces.iter().map(|piece| factor(piece.m) * of(piece)).sum::<f64>()
    };
    let l = sum(&|piece| piece.l);
    (0..input.d_v()).map(|c| finish(sum(&|piece| piece.o[c]), l)).collect()
}

fn seen(input: &Input) -> Vec<Piece> {
    input.pieces.iter().filter(|piece| piece.l > 0.0).cloned().collect()
}

fn largest(pieces: &[Piece]) -> f64 {
    pieces.iter().map(|piece| piece.m).fold(f64::NEG_INFINITY, f64::max)
}

/// What each piece says by itself, o / l.
fn outputs(pieces: &[Piece]) -> Vec<Vec<f64>> {
    pieces.iter().map(|piece| RIGHT.finished(piece)).collect()
}

/// The sum of outputs, each times a number.
fn weighted(input: &Input, outputs: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let terms = |c: usize| outputs.iter().zip(weights).map(move |(o, w)| w * o[c]);
    (0..input.d_v()).map(|c| terms(c).sum()).collect()
}

/// All with the same share.
fn mean(input: &Input, pieces: &[Piece]) -> Vec<f64> {
    let share = 1.0 / pieces.len().max(1) as f64;
    weighted(input, &outputs(pieces), &vec![share; pieces.len()])
}

type Named = Mistake<Input, Vec<f64>>;

/// With a guard against a sum of 0, or without.
const fn no_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "subtracts nothing from the references",
        does: "Its factors are exp(m). For m near 1000 that is ∞, and ∞ / ∞ is NaN; for m \
            near −1000 every factor is 0",
        looks_right: "One factor that is common to all pieces cancels in o / l, so with small \
            scores it is right",
        read: HUGE,
        answer,
    }
}

/// Those that saw nothing counted, or not.
const fn takes_the_mean(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes the mean of the pieces' outputs",
        does: "It divides each piece by its own l and gives every piece the same share, \
            however little its keys weigh next to those of the others",
        looks_right: "Where all blocks have like scores it is nearly right, and with one \
            piece it is right",
        read: WRONG,
        answer,
    }
}

/// From zeros or from the first piece.
const fn averages_pairs(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "averages two outputs at a time",
        does: "It divides each piece by its own l and takes half of what it has and half of \
            the next, so of 8 pieces the last has half of all shares",
        looks_right: "It goes piece by piece, as a ring does, and an average of averages \
            seems to be one",
        read: WRONG,
        answer,
    }
}

/// Of either piece, or of both.
const fn only_l(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "rescales l and not o",
        does: "The sums are relative to one reference, and the outputs are not: o / l \
            divides numbers of different scales",
        looks_right: "m and l are right, and where all references are equal so is o",
        read: TOKENS,
        answer,
    }
}

/// Of either piece, or of both.
const fn only_o(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "rescales o and not l",
        does: "The outputs are relative to one reference, and the sums are not: o / l \
            divides numbers of different scales",
        looks_right: "m and o are right, and where all references are equal so is l",
        read: TOKENS,
        answer,
    }
}

/// Of either piece, or of both; NaN where a piece saw nothing, or not.
const fn wrong_sign(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "has the sign of an exponent reversed",
        does: "It multiplies by exp(m'' − m), where m'' is the larger reference. So a piece \
            with low scores becomes larger where it must become smaller",
        looks_right: "It is a factor between the same two references, and 1 where they are \
            equal",
        read: TOKENS,
        answer,
    }
}

/// With a guard where all saw nothing, or without.
const fn starts_at_0(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "starts its maximum at 0 or near it",
        does: "References far below 0 are compared with a score that no key has, and all \
            factors are 0",
        looks_right: "A sum starts at 0, and a little below 0 it makes no difference; but a \
            maximum starts at −∞, f64::NEG_INFINITY",
        read: HUGE,
        answer,
    }
}

/// Pieces that saw nothing left out, or not.
const fn keeps_the_first_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes the first piece's reference for all",
        does: "A later piece with much larger scores gets a factor of ∞, and ∞ / ∞ is NaN",
        looks_right: "In exact arithmetic o / l does not depend on the reference at all",
        read: HUGE,
        answer,
    }
}

/// Pieces that saw nothing left out, or not.
const fn takes_the_last_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes the newest piece's reference",
        does: "If the newest piece has much lower scores, what came before gets a factor of \
            ∞, and ∞ / ∞ is NaN",
        looks_right: "In exact arithmetic o / l does not depend on the reference at all",
        read: HUGE,
        answer,
    }
}

/// The smaller of two, or a mean; pieces that saw nothing left out, or not.
const fn takes_a_smaller_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes a reference below the largest",
        does: "With the smaller of two references, or a mean of them, some factors are above \
            1. Where references are far apart one of them is ∞, and ∞ / ∞ is NaN",
        looks_right: "In exact arithmetic o / l does not depend on the reference at all",
        read: HUGE,
        answer,
    }
}

/// And once more at the end, or not.
const fn divides_after_each(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "divides after every merge",
        does: "It makes an average of what it has and then adds a piece that is not one. \
            The division comes once, after the last piece",
        looks_right: "After the first piece it is what the query would read",
        read: TOKENS,
        answer,
    }
}

/// All at once, or from an average to the next.
const fn takes_o_for_an_average(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes o for an average",
        does: "It multiplies o by exp(m − m'') · l, which is the weight of o / l. But o was \
            not divided, so l counts twice",
        looks_right: "The weights are those of the pieces' outputs, and where l is 1 it is \
            right",
        read: TOKENS,
        answer,
    }
}

/// With that piece's factor, or without.
const fn divides_by_the_last(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "divides by the last piece's l",
        does: "o is the sum over all pieces, and l that of the last piece alone",
        looks_right: "m and o are right, and with one piece so is l",
        read: TOKENS,
        answer,
    }
}

/// Merged into a piece that saw nothing, or into the first.
const fn nan_of_nothing(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "makes NaN of two pieces that saw no key",
        does: "Both have the reference −∞, as a merge has before its first piece, and \
            −∞ − (−∞) is NaN. It never goes away again",
        looks_right: "It is the formula, and right as soon as one of the two saw a key",
        read: NOTHING,
        answer,
    }
}

/// All of them.
pub const ALL: &[Named] = &[
    no_reference(|input| at_once(input, f64::exp, |o, l| o / l)),
    no_reference(|input| at_once(input, f64::exp, divided)),
    no_reference(|input| {
        let is_nothing = largest(&input.pieces) == f64::NEG_INFINITY;
        at_once(input, f64::exp, if is_nothing { divided } else { |o, l| o / l })
    }),
    Mistake {
        name: "adds up l and o as they are",
        does: "Each piece is relative to the largest score of its own block, so a block of \
            low scores counts as much as one of high scores",
        looks_right: "Both are sums over keys, and sums over more keys are added up; where \
            all references are equal it is right",
        read: TOKENS,
        answer: |input| at_once(input, |_| 1.0, divided),
    },
    Mistake {
        name: "adds up the pieces' outputs",
        does: "It divides each piece by its own l and adds, so its shares sum to the number \
            of pieces and not to 1",
        looks_right: "With one piece it is right, and a sum over heads is added up like this",
        read: WRONG,
        answer: |input| {
            let outputs = outputs(&input.pieces);
            weighted(input, &outputs, &vec![1.0; outputs.len()])
        },
    },
    takes_the_mean(|input| mean(input, &input.pieces)),
    takes_the_mean(|input| mean(input, &seen(input))),
    averages_pairs(|input| halves(input, &input.pieces)),
    averages_pairs(|input| halves(input, &seen(input))),
    averages_pairs(|input| {
        halves(input, &[&[Piece::nothing(input.d_v())], input.pieces.as_slice()].concat())
    }),
    only_l(|input| {
        let factors = |m, c| Factors { o: [1.0, 1.0], ..right(m, c) };
        Steps { factors, ..RIGHT }.run(input)
    }),
    only_l(|input| {
        let factors =
            |[m, n]: [f64; 2], c| Factors { o: [1.0, factor(n, c)], ..right([m, n], c) };
        Steps { factors, ..RIGHT }.run(input)
    }),
    only_l(|input| {
        let factors =
            |[m, n]: [f64; 2], c| Factors { o: [factor(m, c), 1.0], ..right([m, n], c) };
        Steps { factors, ..RIGHT }.run(input)
    }),
    only_o(|input| {
        let factors = |m, c| Factors { l: [1.0, 1.0], ..right(m, c) };
        Steps { factors, ..RIGHT }.run(input)
    }),
    only_o(|input| {
        let factors =
            |[m, n]: [f64; 2], c| Factors { l: [1.0, factor(n, c)], ..right([m, n], c) };
        Steps { factors, ..RIGHT }.run(input)
    }),
    only_o(|input| {
        let factors =
            |[m, n]: [f64; 2], c| Factors { l: [factor(m, c), 1.0], ..right([m, n], c) };
        Steps { factors, ..RIGHT }.run(input)
    }),
    Mistake {
        name: "does not rescale what it has merged so far",
        does: "Only the next piece gets a factor. When that raises the reference, all \
            before it stays relative to the old one and counts too much. A reference that is \
            replaced before the factors are computed does the same",
        looks_right: "While the reference stays it is right",
        read: TOKENS,
        answer: |input| {
            let factors = |[_, n]: [f64; 2], c| both([1.0, factor(n, c)]);
            Steps { factors, ..RIGHT }.run(input)
        },
    },
    Mistake {
        name: "does not rescale the next piece",
        does: "Only what it has so far gets a factor. A piece with lower scores stays \
            relative to its own reference and counts too much",
        looks_right: "It is right whenever the next piece raises the reference",
        read: TOKENS,
        answer: |input| {
            let factors = |[m, _]: [f64; 2], c| both([factor(m, c), 1.0]);
            Steps { factors, ..RIGHT }.run(input)
        },
    },
    Mistake {
        name: "exchanges the two factors",
        does: "What it has so far gets the factor of the next piece, and that gets the \
            factor of what was before",
        looks_right: "Both factors are right, and where they are equal so is the result",
        read: TOKENS,
        answer: |input| {
            let factors = |[m, n]: [f64; 2], c| right([n, m], c);
            Steps { factors, ..RIGHT }.onto_first(input)
        },
    },
    wrong_sign(|input| {
        let factors = |m: [f64; 2], c| both(m.map(|m| inverse(m, c)));
        Steps { factors, ..RIGHT }.run(input)
    }),
    wrong_sign(|input| {
        let factors = |m: [f64; 2], c: f64| both(m.map(|m| (c - m).exp()));
        Steps { factors, ..RIGHT }.onto_first(input)
    }),
    wrong_sign(|input| {
        let factors = |[m, n]: [f64; 2], c| both([inverse(m, c), factor(n, c)]);
        Steps { factors, ..RIGHT }.run(input)
    }),
    wrong_sign(|input| {
        let factors = |[m, n]: [f64; 2], c| both([factor(m, c), inverse(n, c)]);
        Steps { factors, ..RIGHT }.run(input)
    }),
    Mistake {
        name: "rescales twice",
        does: "It multiplies by the square of each factor, so a piece with lower scores \
            nearly vanishes",
        looks_right: "The factors are right, and where they are 1 nothing shows",
        read: TOKENS,
        answer: |input| {
            let factors = |m: [f64; 2], c| both(m.map(|m| factor(m, c).powi(2)));
            Steps { factors, ..RIGHT }.run(input)
        },
    },
    nan_of_nothing(|input| RIGHT_BUT_FOR_NOTHING.run(input)),
    nan_of_nothing(|input| RIGHT_BUT_FOR_NOTHING.onto_first(input)),
    Mistake {
        name: "divides 0 by 0 for a piece that saw no key",
        does: "It takes o / l of each piece, and where l is 0 that is NaN. A factor of 0 does \
            not help, since 0 · NaN is NaN",
        looks_right: "Where every rank has a key that the query may see, it is right",
        read: NOTHING,
        answer: |input| match seen(input).len() == input.pieces.len() {
            true => RIGHT.run(input),
            false => vec![f64::NAN; input.d_v()],
        },
    },
    Mistake {
        name: "has no answer where no piece saw a key",
        does: "m is then −∞ and l is 0. Both −∞ − (−∞) and 0 / 0 are NaN. Such a query \
            reads nothing, and its output is 0",
        looks_right: "It is the formula, and right as soon as one piece saw a key",
        read: NOTHING,
        answer: |input| Steps { finish: |o, l| o / l, ..RIGHT }.run(input),
    },
    starts_at_0(|input| {
        let common = largest(&input.pieces).max(0.0);
        at_once(input, |m| factor(m, common), |o, l| o / l)
    }),
    starts_at_0(|input| {
        let common = largest(&input.pieces).max(0.0);
        at_once(input, |m| factor(m, common), divided)
    }),
    starts_at_0(|input| {
        let largest = largest(&input.pieces);
        let finish = if largest.is_finite() { |o, l| o / l } else { divided };
        at_once(input, |m| factor(m, largest.max(0.0)), finish)
    }),
    keeps_the_first_reference(|input| {
        let first = input.pieces[0].m;
        at_once(input, |m| (m - first).exp(), |o, l| o / l)
    }),
    keeps_the_first_reference(|input| {
        Steps { reference: |[ours, _]| ours, ..RIGHT }.onto_first_that_saw(input)
    }),
    takes_a_smaller_reference(|input| {
        let seen = seen(input);
        let sum: f64 = seen.iter().map(|piece| piece.m).sum();
        let mean = sum / seen.len().max(1) as f64;
        at_once(input, |m| factor(m, mean), divided)
    }),
    Mistake {
        name: "takes the largest |m| for the reference",
        does: "For a piece with m near −1000 it subtracts 1000, and its factor is that of a \
            key 2000 below the best one: 0",
        looks_right: "Where the largest m is also the largest without its sign, it is right",
        read: HUGE,
        answer: |input| {
            let sizes = input.pieces.iter().filter(|piece| piece.l > 0.0);
            let common = sizes.map(|piece| piece.m.abs()).fold(0.0, f64::max);
            at_once(input, |m| factor(m, common), divided)
        },
    },
    takes_the_last_reference(|input| {
        let last = input.pieces[input.pieces.len() - 1].m;
        at_once(input, |m| (m - last).exp(), |o, l| o / l)
    }),
    takes_the_last_reference(|input| {
        Steps { reference: |[_, theirs]| theirs, ..RIGHT }.onto_first_that_saw(input)
    }),
    takes_the_last_reference(|input| {
        Steps { reference: |[_, theirs]| theirs, ..RIGHT_BUT_FOR_NOTHING }.run(input)
    }),
    takes_a_smaller_reference(|input| {
        let reference = |[ours, theirs]: [f64; 2]| ours.min(theirs);
        Steps { reference, ..RIGHT_BUT_FOR_NOTHING }.onto_first(input)
    }),
    takes_a_smaller_reference(|input| {
        let reference = |[ours, theirs]: [f64; 2]| ours.min(theirs);
        Steps { reference, ..RIGHT }.onto_first_that_saw(input)
    }),
    Mistake {
        name: "divides every piece before it merges them",
        does: "It divides o by the piece's own l, and the sum of such o by the sum of all l: \
            a block's output loses the weight that its l is",
        looks_right: "Both divisions are known from one machine, and all factors are right",
        read: TOKENS,
        answer: |input| {
            let divided = Input {
                pieces: input.pieces.iter().map(divided_piece).collect(),
                at_once: input.at_once.clone(),
            };
            RIGHT.run(&divided)
        },
    },
    Mistake {
        name: "weighs the pieces' outputs by exp(m − m'') alone",
        does: "It takes a softmax of the references. The weight of a piece is \
            exp(m − m'') · l, which also says how many keys scored near the best one",
        looks_right: "The shares sum to 1, and with one key per block it is right",
        read: TOKENS,
        answer: |input| {
            let pieces: Vec<Piece> = input.pieces.iter().map(divided_piece).collect();
            let common = largest(&pieces);
            let exp: Vec<f64> = pieces.iter().map(|p| factor(p.m, common)).collect();
            let sum: f64 = exp.iter().sum();
            let weights: Vec<f64> = exp.iter().map(|&x| divided(x, sum)).collect();
            weighted(input, &outputs(&input.pieces), &weights)
        },
    },
    Mistake {
        name: "divides by the sum of the factors",
        does: "It adds up exp(m − m'') · o and divides by the sum of exp(m − m''), without l. \
            So its shares sum to more than 1 where a block has more than one key",
        looks_right: "It is an average whose weights are a softmax of the references; but o \
            is a sum and no average",
        read: TOKENS,
        answer: |input| {
            let with_l_1 = |piece: &Piece| {
                let l = if piece.l == 0.0 { 0.0 } else { 1.0 };
                Piece { l, ..piece.clone() }
            };
            let pieces: Vec<Piece> = input.pieces.iter().map(with_l_1).collect();
            RIGHT.onto(Piece::nothing(input.d_v()), &pieces)
        },
    },
    Mistake {
        name: "takes m + l for the log-sum-exp",
        does: "It weighs the pieces' outputs by a softmax of m + l. The log-sum-exp of a \
            piece is m + ln l",
        looks_right: "With one key per block it is right",
        read: TOKENS,
        answer: |input| {
            let pieces = seen(input);
            let sum = |piece: &Piece| piece.m + piece.l;
            let largest = pieces.iter().map(sum).fold(f64::NEG_INFINITY, f64::max);
            let exp: Vec<f64> = pieces.iter().map(|p| (sum(p) - largest).exp()).collect();
            let total: f64 = exp.iter().sum();
            let weights: Vec<f64> = exp.iter().map(|x| x / total).collect();
            weighted(input, &outputs(&pieces), &weights)
        },
    },
    takes_o_for_an_average(|input| {
        let multiplied = |piece: &Piece| {
            let o = piece.o.iter().map(|o| o * piece.l).collect();
            Piece { o, ..piece.clone() }
        };
        let pieces: Vec<Piece> = input.pieces.iter().map(multiplied).collect();
        RIGHT.onto(Piece::nothing(input.d_v()), &pieces)
    }),
    takes_o_for_an_average(|input| {
        let mut average = RIGHT.finished(&input.pieces[0]);
        let mut all = input.pieces[0].clone();
        for next in &input.pieces[1..] {
            let Factors { l: factors, .. } =
                right([all.m, next.m], larger([all.m, next.m]));
            let shares = [factors[0] * all.l, factors[1] * next.l];
            RIGHT.merge(&mut all, next);
            let sums = weighted(input, &[average, next.o.clone()], &shares);
            average = sums.iter().map(|&o| divided(o, all.l)).collect();
        }
        average
    }),
    Mistake {
        name: "takes powers of 2",
        does: "Its factors are 2^(m − m''), and l and o are sums of powers of e",
        looks_right: "Fast kernels do it, with scores that are multiplied by log₂ e before",
        read: TOKENS,
        answer: |input| {
            let common = largest(&input.pieces);
            let common = if common.is_finite() { common } else { 0.0 };
            at_once(input, |m| (m - common).exp2(), divided)
        },
    },
    Mistake {
        name: "divides by l twice",
        does: "It divides the sum of all o by the sum of all l, and the result by it again",
        looks_right: "Both sums are right, and where l is 1 it is right",
        read: TOKENS,
        answer: |input| {
            Steps { finish: |o, l| divided(divided(o, l), l), ..RIGHT }.run(input)
        },
    },
    Mistake {
        name: "does not divide by l",
        does: "It returns the sum of all o, whose shares sum to l and not to 1",
        looks_right: "The merge is right, and only its last line is missing",
        read: TOKENS,
        answer: |input| Steps { finish: |o, _| o, ..RIGHT }.run(input),
    },
    Mistake {
        name: "divides by the number of pieces in place of l",
        does: "It takes the mean of the rescaled o, whose shares then have any sum",
        looks_right: "The factors are right, and a mean is what many things are merged by",
        read: TOKENS,
        answer: |input| {
            let sum = Steps { finish: |o, _| o, ..RIGHT }.run(input);
            sum.iter().map(|o| o / input.pieces.len() as f64).collect()
        },
    },
    Mistake {
        name: "divides by l and by the number of pieces",
        does: "The right output comes out smaller, and the more ranks there are the \
            smaller",
        looks_right: "With one piece it is right",
        read: TOKENS,
        answer: |input| {
            RIGHT.run(input).iter().map(|o| o / input.pieces.len() as f64).collect()
        },
    },
    divides_after_each(|input| after_each(input, |o, _| o)),
    divides_after_each(|input| after_each(input, divided)),
    divides_by_the_last(|input| {
        let factors =
            |m: [f64; 2], c| Factors { l: [0.0, factor(m[1], c)], ..right(m, c) };
        Steps { factors, ..RIGHT }.run(input)
    }),
    divides_by_the_last(|input| {
        let l = input.pieces[input.pieces.len() - 1].l;
        let sum = Steps { finish: |o, _| o, ..RIGHT }.run(input);
        sum.into_iter().map(|o| divided(o, l)).collect()
    }),
    Mistake {
        name: "does not keep the new reference",
        does: "Every merge rescales what it has from the first piece's reference, also if \
            it was rescaled to a larger one before",
        looks_right: "The first merge is right, and with references that fall so are all",
        read: TOKENS,
        answer: |input| {
            let first = input.pieces[0].clone();
            let mut all = first.clone();
            for next in &input.pieces[1..] {
                RIGHT.merge(&mut all, next);
                all.m = first.m;
            }
            RIGHT.finished(&all)
        },
    },
    Mistake {
        name: "leaves out every piece that does not raise the reference",
        does: "It merges where the next m is larger, and has nothing for where it is not. \
            Keys with lower scores have smaller shares, but they have some",
        looks_right: "While the references rise it is right",
        read: TOKENS,
        answer: |input| {
            let mut all = input.pieces[0].clone();
            for next in &input.pieces[1..] {
                if next.m > all.m {
                    RIGHT.merge(&mut all, next);
                }
            }
            RIGHT.finished(&all)
        },
    },
    Mistake {
        name: "merges only the first two pieces",
        does: "From the third piece on none is read, so on a ring of 4 or 8 ranks most keys \
            are missing",
        looks_right: "The formula is one for two pieces, and with two it is right",
        read: TOKENS,
        answer: |input| {
            let pieces = &input.pieces[..input.pieces.len().min(2)];
            RIGHT.onto(Piece::nothing(input.d_v()), pieces)
        },
    },
    Mistake {
        name: "leaves out the last piece",
        does: "It merges all pieces but one, so the keys of one rank are never read",
        looks_right: "Keys are passed on p − 1 times in a ring of p ranks; but there are p \
            pieces",
        read: TOKENS,
        answer: |input| {
            let (_, others) = input.pieces.split_last().expect("a piece");
            RIGHT.onto(Piece::nothing(input.d_v()), others)
        },
    },
    Mistake {
        name: "leaves out the first piece",
        does: "It merges all pieces but one, so the keys of one rank are never read",
        looks_right: "The first piece is merged with none before it, so a loop over merges \
            begins with the second",
        read: TOKENS,
        answer: |input| RIGHT.onto(Piece::nothing(input.d_v()), &input.pieces[1..]),
    },
    Mistake {
        name: "keeps the last piece alone",
        does: "The output is o / l of the last piece, as if l and o were set where they \
            should be added to, or m was never kept",
        looks_right: "With one piece it is right",
        read: TOKENS,
        answer: |input| RIGHT.finished(&input.pieces[input.pieces.len() - 1]),
    },
    Mistake {
        name: "keeps the first piece alone",
        does: "It returns o / l of piece 0, and no other piece is merged",
        looks_right: "With one piece it is right",
        read: TOKENS,
        answer: |input| RIGHT.finished(&input.pieces[0]),
    },
    Mistake {
        name: "keeps the piece with the largest reference alone",
        does: "It takes the block with the best key for all blocks. The other keys have \
            smaller shares, but they have some",
        looks_right: "Where references are far apart it is right",
        read: TOKENS,
        answer: |input| {
            let common = largest(&input.pieces);
            let best = input.pieces.iter().find(|piece| piece.m == common);
            RIGHT.finished(best.expect("a piece"))
        },
    },
];

/// −∞ − (−∞) is NaN.
const RIGHT_BUT_FOR_NOTHING: Steps =
    Steps { factors: |m, common| both(m.map(|m| (m - common).exp())), ..RIGHT };

/// o divided by l, and l kept.
fn divided_piece(piece: &Piece) -> Piece {
    Piece { o: RIGHT.finished(piece), ..piece.clone() }
}

/// Half of what there is and half of the next, from the first on.
fn halves(input: &Input, pieces: &[Piece]) -> Vec<f64> {
    let half = |all: Vec<f64>, next: Vec<f64>| weighted(input, &[all, next], &[0.5, 0.5]);
    let halved = outputs(pieces).into_iter().reduce(half);
    halved.unwrap_or_else(|| vec![0.0; input.d_v()])
}

fn after_each(input: &Input, finish: fn(f64, f64) -> f64) -> Vec<f64> {
    let mut all = Piece::nothing(input.d_v());
    for next in &input.pieces {
        RIGHT.merge(&mut all, next);
        all = divided_piece(&all);
    }
    Steps { finish, ..RIGHT }.finished(&all)
}
