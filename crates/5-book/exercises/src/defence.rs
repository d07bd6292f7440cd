//! A defence: after an answer passes, one question about what it does with other numbers.
//!
//! A right answer can be copied; what it does cannot be, without being understood. So an input
//! of the answer's own seed is changed in one place, the answer is called again, and what
//! changed in its numbers is the right one of a few options.

use attention::{Matrix, Rng, SeedableRng, random_matrix};

use crate::{Changeable, Outcome, same_answer};

/// A change of one array of an input. Rows are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A row is replaced by zeros.
    RowToZero(usize),
    /// Two rows are exchanged.
    RowsExchanged(usize, usize),
    /// Every entry is doubled.
    Doubled,
}

impl Change {
    /// The changes of a part of an input that have something to ask.
    pub fn all(part: &Changeable) -> Vec<Self> {
        let n_rows = match part {
            Changeable::Matrix(matrix) => matrix.nrows(),
            _ => 0,
        };
        let middle = 1..n_rows.saturating_sub(1);
        let mut all: Vec<_> = middle.map(Self::RowToZero).collect();
        if n_rows > 2 {
            all.push(Self::RowsExchanged(0, n_rows - 1));
        }
        all.push(Self::Doubled);
        all
    }

    /// Makes it.
    pub fn make(self, part: Changeable) {
        match (self, part) {
            (Self::RowToZero(row), Changeable::Matrix(matrix)) => {
                matrix.row_mut(row).fill(0.0);
            }
            (Self::RowsExchanged(a, b), Changeable::Matrix(matrix)) => {
                matrix.swap_rows(a, b);
            }
            (_, Changeable::Matrix(matrix)) => *matrix *= 2.0,
            (_, Changeable::Row(row)) => row.iter_mut().for_each(|entry| *entry *= 2.0),
            (_, Changeable::Number(number)) => *number *= 2.0,
            (_, Changeable::Whole(count)) => *count *= 2,
        }
    }

    fn text(self, array: &str) -> String {
        match self {
            Self::RowToZero(row) => format!("row {row} of `{array}` is set to zero"),
            Self::RowsExchanged(a, b) => {
                format!("rows {a} and {b} of `{array}` are exchanged")
            }
            Self::Doubled => format!("`{array}` is doubled"),
        }
    }

    /// What may have come of it; at last, something else.
    fn effects(self) -> Vec<Effect> {
        use Effect::{
            Columns, Exchanged, ExchangedColumns, Nothing, Otherwise, Rows, Times,
        };
        match self {
            Self::RowToZero(row) => vec![
                Nothing,
                Rows(row, row),
                Rows(row, usize::MAX),
                Columns(row),
                Rows(0, usize::MAX),
                Otherwise,
            ],
            Self::RowsExchanged(a, b) => {
                vec![Nothing, Exchanged(a, b), ExchangedColumns(a, b), Otherwise]
            }
            Self::Doubled => vec![Nothing, Times(2.0), Times(4.0), Otherwise],
        }
    }
}

/// What a change of an input does to an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Effect {
    Nothing,
    /// These rows change, from the first to the last, and no other.
    Rows(usize, usize),
    Columns(usize),
    Exchanged(usize, usize),
    ExchangedColumns(usize, usize),
    Times(f64),
    Otherwise,
}

impl Effect {
    /// Whether this is what came of it; of what comes of it otherwise nothing is known.
    fn fits(self, before: &Matrix, after: &Matrix, fraction: f64) -> bool {
        let is_same = |a: Matrix, b: Matrix| same_answer(&[a], &[b], fraction);
        let expected = |change: &dyn Fn(&mut Matrix)| {
            let mut expected = before.clone();
            change(&mut expected);
            is_same(after.clone(), expected)
        };
        let row = |at| is_same(before.rows(at, 1).into(), after.rows(at, 1).into());
        let column =
            |at| is_same(before.columns(at, 1).into(), after.columns(at, 1).into());
        match self {
            Self::Nothing => expected(&|_| {}),
            Self::Rows(first, last) => {
                (0..before.nrows()).all(|at| row(at) != (first..=last).contains(&at))
            }
            Self::Columns(only) => {
                (0..before.ncols()).all(|at| column(at) != (at == only))
            }
            Self::Exchanged(a, b) => expected(&|matrix| matrix.swap_rows(a, b)),
            Self::ExchangedColumns(a, b) => expected(&|matrix| matrix.swap_columns(a, b)),
            Self::Times(factor) => expected(&|matrix| *matrix *= factor),
            Self::Otherwise => true,
        }
    }

    /// Whether it is an option where an answer has so many rows and columns.
    fn is_of(self, before: &Matrix) -> bool {
        let (n_rows, n_columns) = before.shape();
        match self {
            Self::Rows(row, _) => row < n_rows && n_rows > 1,
            Self::Exchanged(_, last) => last < n_rows,
            Self::Columns(last) | Self::ExchangedColumns(_, last) => last < n_columns,
            _ => true,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Nothing => "nothing changes".into(),
            Self::Rows(0, usize::MAX) => {
                "every row changes, and more than one column".into()
            }
            Self::Rows(first, usize::MAX) => {
                format!("row {first} and all rows below it change, and no other")
            }
            Self::Rows(row, _) => format!("row {row} changes, and no other"),
            Self::Columns(column) => format!("column {column} changes, and no other"),
            Self::Exchanged(a, b) => format!("rows {a} and {b} are exchanged"),
            Self::ExchangedColumns(a, b) => format!("columns {a} and {b} are exchanged"),
            Self::Times(factor) => format!("every entry is multiplied by {factor}"),
            Self::Otherwise => "something else".into(),
        }
    }
}

/// An input that is changed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Which case.
    pub case: usize,
    /// Which array of it.
    pub array: &'static str,
    /// What is changed.
    pub change: Change,
}

/// So many probes are tried, until one has something to ask.
const N_PROBES: usize = 8;

/// Some of these, by the seed.
pub fn drawn(all: Vec<Probe>, name: &str, seed: u64) -> Vec<Probe> {
    let mut rng = Rng::seed_from_u64(catalogue::digest(name).wrapping_add(seed));
    let order = random_matrix(1, all.len(), 1.0, &mut rng);
    let mut ordered: Vec<_> = order.iter().zip(all).collect();
    ordered.sort_by(|(a, _): &(&f64, Probe), (b, _)| a.total_cmp(b));
    ordered.into_iter().map(|(_, probe)| probe).take(N_PROBES).collect()
}

/// A question about an answer, and its options.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Question {
    /// What is changed, in which input.
    pub text: String,
    /// What may come of it.
    pub options: Vec<String>,
    /// Which of them does.
    #[serde(skip)]
    pub right: usize,
}

impl Question {
    /// What a probe asks; nothing if the answer panics, or does what is no option.
    pub fn of(
        probe: &Probe,
        sizes: &str,
        [before, after]: [&Outcome<Vec<Matrix>>; 2],
        fraction: f64,
    ) -> Option<Self> {
        let (Outcome::Value(before), Outcome::Value(after)) = (before, after) else {
            return None;
        };
        let (before, after) = (before.last()?, after.last()?);
        if before.shape() != after.shape() {
            return None;
        }
        let mut effects = probe.change.effects();
        effects.retain(|it| it.is_of(before));
        let right = effects.iter().position(|it| it.fits(before, after, fraction))?;
        Some(Self {
            text: format!(
                "With {sizes}, {}. What becomes of your answer?",
                probe.change.text(probe.array)
            ),
            options: effects.into_iter().map(Effect::text).collect(),
            right,
        })
    }

    /// Whether the right option says what happens: the last is that something else does.
    pub fn is_telling(&self) -> bool {
        self.right + 1 < self.options.len()
    }

    /// The question and its options, each with its letter.
    pub fn lines(&self) -> String {
        let options = self.options.iter().zip('A'..);
        let options = options.map(|(option, letter)| format!("  {letter}  {option}\n"));
        format!("{}\n\n{}", self.text, options.collect::<String>())
    }

    /// Whether this letter is that of the right option; nothing if it is that of none.
    pub fn is_right(&self, letter: &str) -> Option<bool> {
        let letter = letter.trim().to_uppercase();
        let mut letters = ('A'..).take(self.options.len());
        let at = letters.position(|it| letter == it.to_string())?;
        Some(at == self.right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(change: Change, after: &dyn Fn(&mut Matrix)) -> Option<String> {
        let before = Matrix::from_fn(4, 4, |i, j| (1 + i * 7 + j * j) as f64);
        let mut changed = before.clone();
        after(&mut changed);
        let probe = Probe { case: 0, array: "k", change };
        let [before, after] = [before, changed].map(|it| Outcome::Value(vec![it]));
        let question = Question::of(&probe, "4 tokens", [&before, &after], 1e-4)?;
        Some(question.options[question.right].clone())
    }

    #[test]
    fn what_changes_is_found() {
        let zero = Change::RowToZero(2);
        let found = |after: &dyn Fn(&mut Matrix)| asked(zero, after);
        assert_eq!(found(&|_| {}).unwrap(), "nothing changes");
        let row = found(&|it| it.row_mut(2).fill(9.0)).unwrap();
        assert_eq!(row, "row 2 changes, and no other");
        let below = found(&|it| it.rows_mut(2, 2).fill(9.0)).unwrap();
        assert_eq!(below, "row 2 and all rows below it change, and no other");
        let column = found(&|it| it.column_mut(2).fill(9.0)).unwrap();
        assert_eq!(column, "column 2 changes, and no other");
        let every = found(&|it| *it *= -1.0).unwrap();
        assert_eq!(every, "every row changes, and more than one column");
        assert_eq!(found(&|it| it.row_mut(1).fill(9.0)).unwrap(), "something else");
        let exchanged = asked(Change::RowsExchanged(0, 3), &|it| it.swap_columns(0, 3));
        assert_eq!(exchanged.unwrap(), "columns 0 and 3 are exchanged");
        let doubled = asked(Change::Doubled, &|it| *it *= 4.0).unwrap();
        assert_eq!(doubled, "every entry is multiplied by 4");
        let other = asked(Change::Doubled, &|it| it[(0, 0)] += 1.0).unwrap();
        assert_eq!(other, "something else");
    }
}
