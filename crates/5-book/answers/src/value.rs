//! Numbers in lists of lists, as every language prints and stores them.

use attention::Matrix;

/// A number, or a list of such.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// One number. True is 1, false is 0.
    Number(f64),
    /// `None`, `null`.
    Nothing,
    /// A list, a tuple, an axis of an array.
    List(Vec<Value>),
}

impl Value {
    /// An array of this shape with these entries, the last axis the fastest.
    pub fn of_array(shape: &[usize], entries: &[f64]) -> Self {
        match shape {
            [] => entries.first().map_or(Self::Nothing, |&x| Self::Number(x)),
            [0, ..] => Self::List(Vec::new()),
            [n, rest @ ..] => {
                let size = entries.len() / n;
                let part =
                    |at| Self::of_array(rest, &entries[at * size..(at + 1) * size]);
                Self::List((0..*n).map(part).collect())
            }
        }
    }

    /// What JSON says; a text may be a number that JSON has no other way to write.
    pub fn of_json(json: &serde_json::Value) -> Option<Self> {
        use serde_json::Value as Json;
        Some(match json {
            Json::Null => Self::Nothing,
            Json::Bool(is) => Self::Number(f64::from(u8::from(*is))),
            Json::Number(x) => Self::Number(x.as_f64()?),
            Json::String(text) => Self::Number(word(text)?),
            Json::Array(all) => {
                Self::List(all.iter().map(Self::of_json).collect::<Option<_>>()?)
            }
            Json::Object(all) => {
                Self::List(all.values().map(Self::of_json).collect::<Option<_>>()?)
            }
        })
    }

    /// How many axes it has, if it is an array: all lists of a level equally long.
    pub fn n_axes(&self) -> Option<usize> {
        Some(self.shape()?.len())
    }

    fn shape(&self) -> Option<Vec<usize>> {
        match self {
            Self::Number(_) => Some(Vec::new()),
            Self::Nothing => None,
            Self::List(all) => {
                let mut shapes = all.iter().map(Self::shape);
                let first = shapes.next().unwrap_or(Some(Vec::new()))?;
                let is_like_first = shapes.all(|shape| shape.as_ref() == Some(&first));
                is_like_first.then(|| [vec![all.len()], first].concat())
            }
        }
    }

    /// As a matrix: a number is `[1, 1]`, and a list a row.
    pub fn matrix(&self) -> Option<Matrix> {
        let shape = self.shape()?;
        let (n_rows, n_columns) = match shape[..] {
            [] => (1, 1),
            [n] => (1, n),
            [n, m] => (n, m),
            _ => return None,
        };
        let mut entries = Vec::with_capacity(n_rows * n_columns);
        self.collect(&mut entries);
        Some(Matrix::from_row_slice(n_rows, n_columns, &entries))
    }

    fn collect(&self, entries: &mut Vec<f64>) {
        match self {
            Self::Number(x) => entries.push(*x),
            Self::Nothing => {}
            Self::List(all) => all.iter().for_each(|it| it.collect(entries)),
        }
    }
}

/// A number that is written as a word.
pub fn word(text: &str) -> Option<f64> {
    match text.to_lowercase().trim_start_matches('+') {
        "nan" | "-nan" => Some(f64::NAN),
        "inf" | "infinity" | "∞" => Some(f64::INFINITY),
        "-inf" | "-infinity" | "-∞" => Some(f64::NEG_INFINITY),
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => None,
    }
}
