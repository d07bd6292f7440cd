//! A text with names in braces: `{n} keys`, `{n * n / 2}`, `{share:>8.4}`.
//!
//! Numbers are computed with `+ - * /` between spaces. Behind a colon stands how a value is
//! written, if not as it is: `<` or `>` and a width; then `,` for thousands, or a point and so
//! many decimals.

use attention::thousands;
use catalogue::{Fault, Result};

use crate::Answer;
use crate::facts::Facts;

/// What may stand between two numbers.
pub(crate) const OPERATORS: [&str; 4] = ["+", "-", "*", "/"];

/// A text, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub text: String,
    pub file: &'static str,
    pub line: usize,
}

impl Template {
    pub fn fault(&self, what: impl Into<String>) -> Fault {
        Fault::new(self.file, self.line, what)
    }

    /// More of the text, behind a space or a line break.
    pub fn add(&mut self, between: &str, more: &str) {
        if !self.text.is_empty() {
            self.text += between;
        }
        self.text += more;
    }

    /// Each name, how it is written, and what stands behind it.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.text.split('{').skip(1).map(|rest| {
            let (name, behind) = rest.split_once('}').unwrap_or((rest, ""));
            let (name, how) = name.split_once(':').unwrap_or((name, ""));
            (name, how, behind)
        })
    }

    /// The text with values in place of names.
    pub fn filled(&self, facts: &Facts) -> Result<String> {
        let mut filled = self.text.split('{').next().unwrap_or_default().to_owned();
        for (name, how, behind) in self.names() {
            let value = facts.get(name).cloned().or_else(|| computed(name, facts));
            let value =
                value.ok_or_else(|| self.fault(format!("nothing is called {name:?}")))?;
            let written = written(&value, how);
            filled += &written
                .ok_or_else(|| self.fault(format!("{name} is not written as {how:?}")))?;
            filled += behind;
        }
        Ok(filled)
    }
}

/// `n * n / 2 + 1`, products first.
fn computed(sum: &str, facts: &Facts) -> Option<Answer> {
    let (mut terms, mut operator) = (Vec::new(), "+");
    for word in sum.split(' ') {
        if OPERATORS.contains(&word) {
            operator = word;
            continue;
        }
        let number = facts.decimals([word]).map(|[x]| x);
        let number = number.ok().or_else(|| word.parse().ok())?;
        match operator {
            "*" => *terms.last_mut()? *= number,
            "/" => *terms.last_mut()? /= number,
            "-" => terms.push(-number),
            _ => terms.push(number),
        }
    }
    let sum = terms.into_iter().sum::<f64>();
    let is_whole = sum.fract() == 0.0 && sum >= 0.0;
    Some(if is_whole { Answer::Whole(sum as usize) } else { Answer::Decimal(sum) })
}

fn written(value: &Answer, how: &str) -> Option<String> {
    let is_left = how.starts_with('<');
    let how = how.trim_start_matches(['<', '>']);
    let digits = how.find(|c: char| !c.is_ascii_digit()).unwrap_or(how.len());
    let (width, how) = how.split_at(digits);
    let width = width.parse().unwrap_or(0);
    let decimals = |x: f64| {
        let decimals = how.strip_prefix('.')?.parse().ok()?;
        Some(format!("{x:.decimals$}"))
    };
    let text = match (value, how) {
        (Answer::Whole(n), ",") => thousands(n),
        (Answer::Whole(n), "") => n.to_string(),
        (Answer::Whole(n), _) => decimals(*n as f64)?,
        (Answer::Decimal(x), ",") if *x < 0.0 => format!("−{}", thousands(-x as usize)),
        (Answer::Decimal(x), "") => x.to_string(),
        (Answer::Decimal(x), _) => decimals(*x)?,
        (Answer::Shape(_) | Answer::Text(_), "") => value.to_string(),
        _ => return None,
    };
    Some(if is_left { format!("{text:<width$}") } else { format!("{text:>width$}") })
}
