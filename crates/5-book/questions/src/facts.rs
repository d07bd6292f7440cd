//! Values by their names: the numbers of a question, and what a run finds.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use attention::Shape;

use crate::Answer;

/// Values, each with the name that texts know it by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts(BTreeMap<String, Answer>);

/// Facts by the names of what holds them: `facts![open, half = n / 2]`.
macro_rules! facts {
    (@ $name:ident) => { $name };
    (@ $name:ident $value:expr) => { $value };
    ($($name:ident $(= $value:expr)?),* $(,)?) => {
        $crate::facts::Facts::default()
            $(.with(stringify!($name), $crate::facts::facts!(@ $name $($value)?)))*
    };
}

pub(crate) use facts;

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
        self.each(names, |it| if let Answer::Whole(n) = it { Some(*n) } else { None })
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
        self.each(
            names,
            |it| if let Answer::Text(text) = it { Some(&**text) } else { None },
        )
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
        self.list(name)?.try_into().map_err(|it| anyhow!("{it:?} are not {N} numbers"))
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

/// What stands in a text: a number or `(3, 4)` if it is one, and words if not.
pub(crate) fn value(text: &str) -> Answer {
    let shape = || {
        let (rows, columns) =
            text.strip_prefix('(')?.strip_suffix(')')?.split_once(", ")?;
        Some(Answer::Shape((rows.parse().ok()?, columns.parse().ok()?)))
    };
    let number = text.parse().map(Answer::Whole);
    let number = number.or_else(|_| text.parse().map(Answer::Decimal)).ok();
    number.or_else(shape).unwrap_or_else(|| text.into())
}

macro_rules! answers {
    ($($kind:ty, $value:ident => $answer:expr;)*) => {
        $(impl From<$kind> for Answer {
            fn from($value: $kind) -> Self {
                $answer
            }
        })*
    };
}

answers! {
    usize, n => Self::Whole(n);
    f64, x => Self::Decimal(x);
    f32, x => Self::Decimal(x.into());
    Shape, shape => Self::Shape(shape);
    &str, text => Self::Text(text.to_owned());
    String, text => Self::Text(text);
}
