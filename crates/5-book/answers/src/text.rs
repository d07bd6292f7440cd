//! Numbers as they were printed: by Python's `print` of lists, numpy, PyTorch and JAX, as JSON,
//! or by hand.

use exercises::Precision;

use crate::value::word;
use crate::{Error, Result, Value};

/// What was printed, and how exact it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// The numbers.
    pub value: Value,
    /// By how much they may differ from those that were computed.
    pub precision: Precision,
}

/// Reads a text: brackets of any kind, `tensor(…)`, `array(…)` and their like, with what they
/// say of a dtype, and commas or none. Several one after the other are a list.
///
/// # Errors
/// What is no number, with its line.
pub fn printed(text: &str) -> Result<Printed> {
    if text.contains("Traceback (most recent call last)") {
        let last = text.trim_end().lines().next_back().unwrap_or_default();
        return Err(Error::Traceback(last.trim().to_owned()));
    }
    let depths = text.chars().scan(0_usize, |depth, c| {
        let closed = depth.saturating_sub(usize::from("])}".contains(c)));
        *depth = closed + usize::from("[({".contains(c));
        Some(*depth)
    });
    if depths.max() > Some(DEEPEST) {
        let found = format!("more than {DEEPEST} brackets in each other");
        return Err(Error::Text { line: 1, found });
    }
    let mut reader = Reader {
        text,
        at: 0,
        digits: Digits::default(),
        rounding: 0.0,
        dtype: Precision::FULL,
    };
    let mut all = reader.list(None)?;
    reader.end_of_array();
    let value = match all.len() {
        0 => return Err(Error::Empty),
        1 => all.swap_remove(0),
        _ => Value::List(all),
    };
    let rounding = Precision { rounding: reader.rounding, arithmetic: 0.0 };
    Ok(Printed { value, precision: rounding.or(reader.dtype) })
}

/// So many brackets stand in each other at most: each takes a call.
const DEEPEST: usize = 64;

/// The digits of an array, of which one format printed all numbers.
#[derive(Default)]
struct Digits {
    /// The most behind the point, of numbers without an exponent.
    decimals: i32,
    /// The most behind the point of numbers with one, and the largest exponent.
    scientific: Option<(i32, i32)>,
    largest: f64,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    digits: Digits,
    /// Half of the last digit of the coarsest array, as a fraction of its largest number.
    rounding: f64,
    dtype: Precision,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    /// The values up to a bracket that closes, or to the end.
    fn list(&mut self, opened: Option<(char, usize)>) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        loop {
            let rest = self.rest();
            let skipped = rest
                .trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == ';');
            self.at += rest.len() - skipped.len();
            let Some(first) = skipped.chars().next() else {
                return match opened {
                    Some((bracket, line)) => Err(Error::Bracket { line, bracket }),
                    None => Ok(all),
                };
            };
            match first {
                '[' | '(' | '{' => {
                    let line = self.line();
                    self.at += 1;
                    let inner = self.list(Some((first, line)))?;
                    all.push(Value::List(inner));
                }
                ']' | ')' | '}' if opened.is_some() => {
                    self.at += 1;
                    return Ok(all);
                }
                '"' | '\'' => all.extend(self.quoted(first)?),
                '.' | '…' if skipped.starts_with("..") || first == '…' => {
                    let found: String =
                        skipped.chars().take_while(|c| ".…".contains(*c)).collect();
                    return Err(Error::LeftOut { line: self.line(), found });
                }
                _ => all.extend(self.token()?),
            }
        }
    }

    /// A text in quotes: a number that JSON cannot write, or the name of what comes next.
    fn quoted(&mut self, quote: char) -> Result<Option<Value>> {
        let rest = &self.rest()[1..];
        let end = rest.find(quote).ok_or_else(|| self.refused(rest))?;
        let text = &rest[..end];
        self.at += end + 2;
        let behind = self.rest().trim_start();
        if let Some(value) = behind.strip_prefix(':') {
            self.at += self.rest().len() - value.len();
            return Ok(None);
        }
        match word(text) {
            Some(x) => Ok(Some(Value::Number(x))),
            None => Err(self.refused(text)),
        }
    }

    /// A number, a word, a call, or a keyword with what it says.
    fn token(&mut self) -> Result<Option<Value>> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || "+-−._∞".contains(c);
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let token = &rest[..end];
        if token.is_empty() {
            return Err(self.refused(rest));
        }
        let behind = &rest[end..];
        if behind.starts_with('(') {
            return self.call(end);
        }
        if let Some(value) = behind.trim_start().strip_prefix('=') {
            self.at += rest.len() - value.len();
            self.keyword(token);
            return Ok(None);
        }
        let value = self.number(token).ok_or_else(|| self.refused(token))?;
        self.at += end;
        Ok(Some(value))
    }

    /// `tensor([…], dtype=…)`: what is in it, with the digits of its own.
    fn call(&mut self, name_ends: usize) -> Result<Option<Value>> {
        let line = self.line();
        self.end_of_array();
        self.at += name_ends + 1;
        let mut arguments = self.list(Some(('(', line)))?;
        self.end_of_array();
        Ok((!arguments.is_empty()).then(|| arguments.swap_remove(0)))
    }

    /// What a keyword says: the dtype matters, a device or a graph does not.
    fn keyword(&mut self, name: &str) {
        let rest = self.rest();
        let end = rest.find([',', ')', '\n']).unwrap_or(rest.len());
        let value = match rest.trim_start().chars().next() {
            Some('<') => rest.find('>').map_or(end, |at| at + 1),
            Some('(') => rest.find(')').map_or(end, |at| at + 1),
            _ => end,
        };
        let text = &rest[..value];
        self.at += value;
        if name == "dtype" {
            let precision = match text {
                text if text.contains("bfloat16") => Precision::BF16,
                text if text.contains("float16") || text.contains("half") => {
                    Precision::F16
                }
                _ => Precision::FULL,
            };
            self.dtype = self.dtype.or(precision);
        }
    }

    fn number(&mut self, token: &str) -> Option<Value> {
        if matches!(token, "None" | "null") {
            return Some(Value::Nothing);
        }
        if let Some(x) = word(&token.replace('−', "-")) {
            return Some(Value::Number(x));
        }
        let token = token.replace('−', "-").replace('_', "");
        let x: f64 = token.parse().ok()?;
        let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((&token, ""));
        let decimals =
            mantissa.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
        let digits = &mut self.digits;
        match exponent.parse::<i32>() {
            Ok(exponent) => {
                let (most, largest) = digits.scientific.unwrap_or((0, i32::MIN));
                digits.scientific = Some((most.max(decimals), largest.max(exponent)));
            }
            Err(_) => digits.decimals = digits.decimals.max(decimals),
        }
        digits.largest = digits.largest.max(x.abs());
        Some(Value::Number(x))
    }

    /// Takes the digits of an array into account, of which all numbers have been read. Whole
    /// numbers alone are what they are.
    fn end_of_array(&mut self) {
        let Digits { decimals, scientific, largest } = std::mem::take(&mut self.digits);
        let half = |last: i32| 0.5 * 10_f64.powi(last);
        let fixed = if decimals == 0 { 0.0 } else { half(-decimals) };
        let scientific =
            scientific.map_or(0.0, |(digits, exponent)| half(exponent - digits));
        self.rounding = self.rounding.max(fixed.max(scientific) / largest.max(1.0));
    }

    fn refused(&self, found: &str) -> Error {
        let found = found.lines().next().unwrap_or_default();
        Error::Text { line: self.line(), found: found.chars().take(40).collect() }
    }
}

#[cfg(test)]
mod tests;
