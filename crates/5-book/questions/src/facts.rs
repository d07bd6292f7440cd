//! Values by their names: the numbers of a question, and what a run finds.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, ensure};
use attention::Shape;

use crate::Answer;

/// Values, each with the name that texts know it by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts(BTreeMap<String, Answer>);

/// Facts by the names of what holds them: `facts![open, half = n / 2]`.
macro_rules! facts {
    ($($name:ident $(= $value:expr)?),* $(,)?) => {
        $crate::facts::Facts::default()
            $(.with(stringify!($name), $crate::facts::fact!($name $(, $value)?)))*
    };
}

macro_rules! fact {
    ($name:ident) => {
        $name
    };
    ($name:ident, $value:expr) => {
        $value
    };
}

pub(crate) use {fact, facts};

impl Facts {
    /// These and one more.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Answer>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// These and those; of two with one name, that one.
    pub fn and(mut self, those: Self) -> Self {
        self.0.extend(those.0);
        self
    }

    pub fn get(&self, name: &str) -> Option<&Answer> {
        self.0.get(name)
    }

    /// The whole numbers of these names.
    pub fn wholes<const N: usize>(&self, names: [&str; N]) -> Result<[usize; N]> {
        self.each(names, |value| match value {
            Answer::Whole(n) => Some(*n),
            _ => None,
        })
    }

    /// The numbers of these names, whole or not.
    pub fn decimals<const N: usize>(&self, names: [&str; N]) -> Result<[f64; N]> {
        self.each(names, |value| match value {
            Answer::Whole(n) => Some(*n as f64),
            Answer::Decimal(x) => Some(*x),
            _ => None,
        })
    }

    /// The words of these names.
    pub fn words<const N: usize>(&self, names: [&str; N]) -> Result<[&str; N]> {
        self.each(names, |value| match value {
            Answer::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// A list as a text has it: `0.7, 0.2 and 0.1`, `12,000 and −∞`.
    pub fn list(&self, name: &str) -> Result<Vec<f64>> {
        let [text] = self.words([name])?;
        let number = |part: &str| {
            let plain = part.replace(',', "").replace('−', "-").replace('∞', "inf");
            plain.parse().with_context(|| format!("{part:?} is no number"))
        };
        text.replace(" and ", ", ").split(", ").map(number).collect()
    }

    /// As [`list`](Self::list), of so many.
    pub fn row<const N: usize>(&self, name: &str) -> Result<[f64; N]> {
        let list = self.list(name)?;
        ensure!(list.len() == N, "{name} has {} numbers and not {N}", list.len());
        Ok(std::array::from_fn(|at| list[at]))
    }

    fn each<'a, T, const N: usize>(
        &'a self,
        names: [&str; N],
        of: impl Fn(&'a Answer) -> Option<T>,
    ) -> Result<[T; N]> {
        let value =
            |name| self.get(name).and_then(&of).with_context(|| format!("no {name}"));
        let values = names.into_iter().map(value).collect::<Result<Vec<T>>>()?;
        values.try_into().map_err(|_| anyhow!("a value for each name"))
    }
}

#[cfg(test)]
impl Facts {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }
}

/// What stands in a text: a number if it is one, and words if not.
pub(crate) fn value(text: &str) -> Answer {
    let whole = text.parse().map(Answer::Whole);
    let decimal = || text.parse().map(Answer::Decimal);
    whole.or_else(|_| decimal()).unwrap_or_else(|_| text.into())
}

impl From<usize> for Answer {
    fn from(n: usize) -> Self {
        Self::Whole(n)
    }
}

impl From<f64> for Answer {
    fn from(x: f64) -> Self {
        Self::Decimal(x)
    }
}

impl From<f32> for Answer {
    fn from(x: f32) -> Self {
        Self::Decimal(x.into())
    }
}

impl From<Shape> for Answer {
    fn from(shape: Shape) -> Self {
        Self::Shape(shape)
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
