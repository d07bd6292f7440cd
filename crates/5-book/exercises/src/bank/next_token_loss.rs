//! The mean loss of guessing what comes next.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows};

use super::{exponentials, inputs};
use crate::{Case, Exercise, Mistake, Section};

/// A text, and of each of its tokens the logits for the next.
pub struct Input {
    logits: Matrix,
    ids: Vec<usize>,
}

impl Input {
    fn n(&self) -> usize {
        self.ids.len()
    }

    /// By the cross-entropy of “Learning”, with the next token as the class.
    fn right(&self) -> f64 {
        let logits = self.logits.rows(0, self.n() - 1).into_owned();
        let loss = gradients::cross_entropy(&logits, &self.ids[1..]);
        loss.expect("every token has its logit").value
    }

    /// The mean, over these pairs of a row and a token that it is judged by, of `of`.
    fn mean(
        &self,
        pairs: impl Iterator<Item = (usize, usize)>,
        of: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        let terms: Vec<f64> =
            pairs.map(|(row, place)| of(row, self.ids[place])).collect();
        terms.iter().sum::<f64>() / terms.len() as f64
    }

    /// Each row with the token after it.
    fn next(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        (1..self.n()).map(|place| (place - 1, place))
    }

    /// The nats of one row, if this token came.
    fn nats(&self, row: usize, id: usize) -> f64 {
        let row = self.logits.row(row);
        let over = row.max();
        row.add_scalar(-over).map(f64::exp).sum().ln() + over - row[id]
    }

    fn by_shares(&self, shares: &Matrix) -> f64 {
        self.mean(self.next(), |row, id| -shares[(row, id)].ln())
    }
}

/// What the reader writes: from logits `[n_tokens, n_vocabulary]` and n_tokens ids, the mean
/// loss in nats.
pub type NextTokenLoss = fn(logits: &Matrix, ids: &[usize]) -> f64;

/// Checks an answer.
pub fn check(answer: NextTokenLoss) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.logits, &input.ids))
}

const GUESS: Section = Section::new("a-model-that-writes", "How good is a guess?");
const CLASS: Section = Section::new("learning", "When the answer is a class");
const ROWS: Section =
    Section::new("scores-softmax-scale", "From scores to shares: softmax");
const HUGE: Section = Section::new("bad-numbers", "Huge scores");

/// The exercise.
pub static EXERCISE: Exercise<Input, f64> = Exercise {
    name: "next_token_loss",
    title: "What came next",
    read: GUESS,
    begin: "a text of three tokens: which rows of logits have something to be judged by, and \
        by which token is each judged?",
    print: "of each row that is judged, the token that came next and its nats",
    passed: "Every row is judged by what came after it, and a guess that was very wrong \
        costs a finite number of nats.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "judges each row by its own token",
            does: "Row i is asked how likely token i was, which the model has just read",
            looks_right: "Logits and ids have the same length, so they pair up without an \
                offset",
            read: GUESS,
            answer: |input| {
                input.mean((0..input.n()).map(|i| (i, i)), |i, id| input.nats(i, id))
            },
        },
        Mistake {
            name: "judges each row by its own token",
            does: "It leaves the last row out, and asks each other row i how likely token i \
                was, which the model has just read. What came next is ids[i + 1]",
            looks_right: "There are n − 1 terms, and row i and token i have one index",
            read: GUESS,
            answer: |input| {
                input.mean((0..input.n() - 1).map(|i| (i, i)), |i, id| input.nats(i, id))
            },
        },
        Mistake {
            name: "drops the first row and not the last",
            does: "It cuts logits and ids at the same end, so each row that is left is judged \
                by its own token",
            looks_right: "There are n − 1 terms, and the first token is not guessed",
            read: GUESS,
            answer: |input| {
                input.mean((1..input.n()).map(|i| (i, i)), |i, id| input.nats(i, id))
            },
        },
        Mistake {
            name: "shifts twice",
            does: "Row i is judged by token i + 2: the ids were moved by one already, and are \
                moved again",
            looks_right: "The ids are moved in the right direction. Many libraries move them \
                inside, and a caller must not do it again",
            read: GUESS,
            answer: |input| {
                input.mean((2..input.n()).map(|i| (i - 2, i)), |i, id| input.nats(i, id))
            },
        },
        Mistake {
            name: "judges each row by the token before it",
            does: "It moves the ids by one in the wrong direction",
            looks_right: "There are n − 1 pairs, as there should be",
            read: GUESS,
            answer: |input| {
                input.mean((1..input.n()).map(|i| (i, i - 1)), |i, id| input.nats(i, id))
            },
        },
        Mistake {
            name: "judges the last row by the first token",
            does: "It rotates the ids instead of cutting them, so what leaves in front comes \
                back behind",
            looks_right: "All other rows are judged by the token after them",
            read: GUESS,
            answer: |input| {
                let n = input.n();
                input.mean((0..n).map(|i| (i, (i + 1) % n)), |i, id| input.nats(i, id))
            },
        },
        Mistake {
            name: "divides by n, and n − 1 tokens were guessed",
            does: "It counts the last row in the mean, with nothing that it could be judged \
                by",
            looks_right: "The sum is right, and a long text hides the difference",
            read: GUESS,
            answer: |input| input.right() * (input.n() - 1) as f64 / input.n() as f64,
        },
        Mistake {
            name: "sums and takes no mean",
            does: "It returns the nats of the whole text, which grow with its length",
            looks_right: "It is minus the logarithm of the text's probability",
            read: GUESS,
            answer: |input| input.right() * (input.n() - 1) as f64,
        },
        Mistake {
            name: "takes logarithms to base 2",
            does: "The loss comes out in bits, 1.4427 times as large",
            looks_right: "It is the unit of information; papers use both",
            read: GUESS,
            answer: |input| input.right() / std::f64::consts::LN_2,
        },
        Mistake {
            name: "returns the perplexity",
            does: "It takes the exponential of the mean",
            looks_right: "Papers print it under the same heading",
            read: GUESS,
            answer: |input| input.right().exp(),
        },
        Mistake {
            name: "averages probabilities before the logarithm",
            does: "It takes minus the logarithm of the mean probability, so one token that \
                was certain hides one that was thought impossible",
            looks_right: "With two tokens there is one guess, and the two orders agree",
            read: GUESS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                -input.mean(input.next(), |row, id| shares[(row, id)]).ln()
            },
        },
        Mistake {
            name: "has its sign reversed",
            does: "It returns the mean of ln p, which rises as the model gets better",
            looks_right: "Its size is right",
            read: GUESS,
            answer: |input| -input.right(),
        },
        Mistake {
            name: "leaves out the sum of the exponentials",
            does: "It takes the logarithm of exp(logit), which is the logit itself, and never \
                divides by all the others",
            looks_right: "A higher logit of the right token lowers it",
            read: CLASS,
            answer: |input| input.mean(input.next(), |row, id| -input.logits[(row, id)]),
        },
        Mistake {
            name: "does not take the largest logit away first",
            does: "Logits of 1000 have exponentials of ∞, and the quotient is NaN",
            looks_right: "It is the formula, and right for logits near 0",
            read: HUGE,
            answer: |input| input.by_shares(&exponentials::shares(&input.logits)),
        },
        // The same with the quotient as a difference.
        Mistake {
            name: "does not take the largest logit away first",
            does: "Logits of 1000 have exponentials of ∞, and the logarithm of their sum is ∞",
            looks_right: "It is the formula, and right for logits near 0",
            read: HUGE,
            answer: |input| {
                input.mean(input.next(), |row, id| {
                    let row = input.logits.row(row);
                    row.map(f64::exp).sum().ln() - row[id]
                })
            },
        },
        Mistake {
            name: "takes the largest logit of the whole text away",
            does: "A row that lies far below another is left with exponentials of 0, and \
                the logarithm of their sum is −∞",
            looks_right: "Nothing overflows, and rows of about the same size are right",
            read: HUGE,
            answer: |input| {
                let over = input.logits.max();
                input.mean(input.next(), |row, id| {
                    let row = input.logits.row(row);
                    row.add_scalar(-over).map(f64::exp).sum().ln() + over - row[id]
                })
            },
        },
        // The same with shares, which are 0 / 0.
        Mistake {
            name: "takes the largest logit of the whole text away",
            does: "A row that lies far below another is left with exponentials of 0, and its \
                shares are 0 / 0",
            looks_right: "Nothing overflows, and rows of about the same size are right",
            read: HUGE,
            answer: |input| {
                let below = input.logits.add_scalar(-input.logits.max());
                input.by_shares(&exponentials::shares(&below))
            },
        },
        Mistake {
            name: "takes the logarithm of a probability that is 0",
            does: "Where the right logit lies 1000 below the largest, its probability is too \
                small for an f64, and the loss is ∞",
            looks_right: "The softmax takes its maximum away, and no NaN comes out",
            read: CLASS,
            answer: |input| input.by_shares(&softmax_rows(input.logits.clone())),
        },
        Mistake {
            name: "adds a small number inside the logarithm",
            does: "No token can cost more than −ln of that number, about 20.7 for 1e-9",
            looks_right: "Nothing is ∞ any more, and likely tokens keep their digits",
            read: CLASS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                input.mean(input.next(), |row, id| -(shares[(row, id)] + 1e-9).ln())
            },
        },
        // The other number that is often seen.
        Mistake {
            name: "adds a small number inside the logarithm",
            does: "No token can cost more than −ln of that number, about 27.6 for 1e-12",
            looks_right: "Nothing is ∞ any more, and likely tokens keep their digits",
            read: CLASS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                input.mean(input.next(), |row, id| -(shares[(row, id)] + 1e-12).ln())
            },
        },
        Mistake {
            name: "takes softmax twice",
            does: "It makes probabilities of the probabilities, and a model that is sure and \
                right keeps a loss",
            looks_right: "Every row still sums to 1",
            read: CLASS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                input.by_shares(&softmax_rows(shares))
            },
        },
        Mistake {
            name: "takes softmax down the columns",
            does: "Each token of the vocabulary is shared out among the places of the text",
            looks_right: "There is a softmax, and nothing about the shape is odd",
            read: ROWS,
            answer: |input| {
                let columns = softmax_rows(input.logits.transpose());
                input.by_shares(&columns.transpose())
            },
        },
        Mistake {
            name: "keeps only what the last row adds",
            does: "It writes `=` where `+=` adds up, so each row overwrites the one before",
            looks_right: "Every row has its term",
            read: GUESS,
            answer: |input| {
                let last = input.n() - 1;
                input.nats(last - 1, input.ids[last]) / last as f64
            },
        },
        Mistake {
            name: "takes the smallest logit away",
            does: "Where the largest lies 1000 above the smallest its exponential is ∞, and so is the loss, however sure and right the model was",
            looks_right: "Any number may be taken from all logits, and small ones come out right",
            read: HUGE,
            answer: |input| {
                input.mean(input.next(), |row, id| {
                    let row = input.logits.row(row);
                    let under = row.min();
                    row.map(|logit| (logit - under).exp()).sum().ln() + under - row[id]
                })
            },
        },
    ],
    place: |_, _| "the loss".into(),
};

fn cases() -> Vec<Case<Input>> {
    let case = |ids: &[usize], n_vocabulary: usize, note: &str, seed: u64| Case {
        sizes: format!("{} tokens, a vocabulary of {n_vocabulary}{note}", ids.len()),
        square: false,
        input: Input {
            logits: inputs::matrix(ids.len(), n_vocabulary, seed),
            ids: ids.to_vec(),
        },
    };
    let mut large = case(&[1, 3, 0, 2], 5, "; all logits are near 1000", 3);
    large.input.logits.add_scalar_mut(1000.0);
    let note = "; the logits of row 1 are near −1000, those of the others near 0";
    let mut low = case(&[3, 0, 1, 3], 4, note, 5);
    low.input.logits.row_mut(1).add_scalar_mut(-1000.0);
    let mut wrong = case(
        &[0, 2, 1, 1],
        3,
        "; in row 1, what came next lies 2000 below the largest logit",
        4,
    );
    wrong.input.logits[(1, 1)] -= 2000.0;
    let note = "; what came next lies 2000 above all other logits";
    let mut sure = case(&[0, 1, 2], 3, note, 6);
    sure.input.logits[(0, 1)] += 2000.0;
    sure.input.logits[(1, 2)] += 2000.0;
    vec![
        case(&[2, 0, 1], 4, "", 1),
        case(&[4, 1, 1, 0, 3, 2], 5, "", 2),
        large,
        low,
        wrong,
        sure,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// In single precision, from the end, by differences between logits.
    #[test]
    fn differences_between_logits_are_right() {
        let by_differences = |input: &Input| {
            let of = |(i, &id): (usize, &usize)| {
                let row = input.logits.row(i).map(|logit| logit as f32);
                let over: Vec<f32> = row.iter().map(|logit| logit - row[id]).collect();
                let largest = over.iter().copied().fold(0.0, f32::max);
                largest + over.iter().map(|x| (x - largest).exp()).sum::<f32>().ln()
            };
            let nats: Vec<f32> = input.ids[1..].iter().enumerate().map(of).collect();
            f64::from(nats.iter().rev().sum::<f32>() / nats.len() as f32)
        };
        assert_eq!(EXERCISE.diagnose(by_differences), Verdict::Passed);
    }
}
