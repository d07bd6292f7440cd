//! Answers: which kinds there are, and how a prediction is compared with one.

mod read;
#[cfg(test)]
mod tests;

use std::fmt;

use attention::{Shape, thousands};

/// What kind of answer a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A whole number, exactly.
    Whole,
    /// A number that counts as right if it is within so much of what comes out.
    Decimal {
        /// How far it may be off.
        within: f64,
    },
    /// Rows and columns.
    Shape,
    /// One of these.
    Choice(Vec<String>),
    /// One of these tokens of a sentence.
    Token(Vec<String>),
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A count.
    Whole(usize),
    /// A measured or computed number, NaN among them.
    Decimal(f64),
    /// The shape of a matrix.
    Shape(Shape),
    /// One of the options, as it is written there; of what is no answer, any words.
    Text(String),
}

/// What a reader's line says.
#[derive(Debug, Clone, PartialEq)]
pub enum Prediction {
    /// An answer that is meant exactly.
    Exactly(Answer),
    /// A rounded number: `~12K` is 12,000 in steps of 1,000.
    About {
        /// The number as it is written.
        value: f64,
        /// What one more in its last written digit is worth.
        step: f64,
    },
}

/// How a prediction turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is what came out.
    Right,
    /// What came out, rounded. Not missed, and not known either.
    Near,
    /// It is something else.
    Missed,
}

impl Form {
    /// What there is to choose from; nothing where a number or a shape is asked for.
    pub fn options(&self) -> &[String] {
        match self {
            Self::Choice(options) | Self::Token(options) => options,
            Self::Whole | Self::Decimal { .. } | Self::Shape => &[],
        }
    }

    /// A value as an answer of this form, if it can be one. Of a quotient, its whole part.
    pub(crate) fn takes(&self, value: &Answer) -> Option<Answer> {
        match (self, value) {
            (Self::Decimal { .. }, Answer::Whole(n)) => Some(Answer::Decimal(*n as f64)),
            (Self::Whole, Answer::Decimal(x)) => Some(Answer::Whole(*x as usize)),
            (Self::Whole, Answer::Whole(_))
            | (Self::Decimal { .. }, Answer::Decimal(_))
            | (Self::Shape, Answer::Shape(_)) => Some(value.clone()),
            (_, Answer::Text(text)) if self.options().contains(text) => {
                Some(value.clone())
            }
            _ => None,
        }
    }

    /// What stands before the place to type in.
    pub fn prompt(&self) -> String {
        match self {
            Self::Whole => "a whole number".into(),
            Self::Decimal { within } => format!("a number, within {within}"),
            Self::Shape => "a shape, rows x columns".into(),
            Self::Choice(_) | Self::Token(_) => "one of these".into(),
        }
    }

    /// The ways to write such an answer, for a reader whose line could not be read. The
    /// examples are the answer to no question.
    pub fn forms(&self) -> &'static str {
        match self {
            Self::Whole => {
                "a whole number, such as 12345, 12,345, 12 345, 12_345 or, roughly, ~12.3K"
            }
            Self::Decimal { .. } => "a number, such as 0.125, 13/17, 12.5%, √7 or NaN",
            Self::Shape => "a shape, rows first, such as 5x9, (5, 9) or 5, 9",
            Self::Choice(_) | Self::Token(_) => "one of the list, by its name or number",
        }
    }

    /// Compares what was given with what came out.
    pub fn judge(&self, given: &Prediction, answer: &Answer) -> Verdict {
        let right = |is_right| if is_right { Verdict::Right } else { Verdict::Missed };
        match (given, answer) {
            (Prediction::About { value, step }, Answer::Whole(n)) => {
                let off = (*value - *n as f64).abs();
                match off {
                    0.0 => Verdict::Right,
                    off if *step > 1.0 && off <= step / 2.0 => Verdict::Near,
                    _ => Verdict::Missed,
                }
            }
            (Prediction::About { .. }, _) => Verdict::Missed,
            (Prediction::Exactly(Answer::Decimal(given)), Answer::Decimal(answer)) => {
                right(self.is_within(*given, *answer))
            }
            (Prediction::Exactly(given), answer) => right(given == answer),
        }
    }

    /// The least and the largest number that count as this answer. A last digit that f64
    /// rounds away is forgiven.
    pub fn range(&self, answer: f64) -> [f64; 2] {
        let Self::Decimal { within } = self else { return [answer; 2] };
        let off = within + 1e-9;
        [answer - off, answer + off]
    }

    /// NaN is NaN here, and ∞ is ∞.
    fn is_within(&self, given: f64, answer: f64) -> bool {
        let [least, most] = self.range(answer);
        (given.is_nan() && answer.is_nan()) || (least <= given && given <= most)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => f.write_str(&thousands(*n)),
            Self::Decimal(number) if number.is_finite() => {
                let digits = format!("{number:.3}");
                f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
            }
            Self::Decimal(number) => write!(f, "{number}"),
            Self::Shape((rows, columns)) => write!(f, "({rows}, {columns})"),
            Self::Text(text) => f.write_str(text),
        }
    }
}
