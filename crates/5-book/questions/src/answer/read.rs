//! Reading a line: generous about how a thing is written, and never guessing what is meant.

use super::{Answer, Form, Prediction};

impl Form {
    /// What a line says, or nothing if it does not say an answer of this form.
    pub fn read(&self, line: &str) -> Option<Prediction> {
        let line = line.trim();
        match self {
            Self::Whole => whole(line),
            Self::Decimal { .. } => {
                decimal(line).map(Answer::Decimal).map(Prediction::Exactly)
            }
            Self::Shape => shape(line).map(Answer::Shape).map(Prediction::Exactly),
            Self::Choice(options) => {
                let option = choice(line, options).or_else(|| loosely(line, options));
                option.map(Answer::Text).map(Prediction::Exactly)
            }
            Self::Token(options) => {
                choice(line, options).map(Answer::Text).map(Prediction::Exactly)
            }
        }
    }
}

/// `12345`, `12,345`, `12 345`, `12_345`; `~12K`, `12.3K` and `~12000` are roughly that.
fn whole(text: &str) -> Option<Prediction> {
    let text = without_times(text);
    let (is_about, text) = without_about(text);
    let unit = match text.chars().last()? {
        'k' | 'K' => 1e3,
        'm' | 'M' => 1e6,
        _ => 1.0,
    };
    if unit == 1.0 && !is_about {
        let n = digits(text)?.parse().ok()?;
        return Some(Prediction::Exactly(Answer::Whole(n)));
    }
    let text = if unit == 1.0 { text } else { text[..text.len() - 1].trim_end() };
    let (value, step) = match text.split_once('.') {
        Some((whole, fraction)) if unit > 1.0 => {
            let is_number = all_digits(whole) && all_digits(fraction);
            let value = is_number.then(|| text.parse::<f64>().ok())??;
            (value, unit / 10_f64.powi(fraction.len() as i32))
        }
        _ => {
            let digits = digits(text)?;
            let zeros = digits.len() - digits.trim_end_matches('0').len();
            (digits.parse::<f64>().ok()?, unit * 10_f64.powi(zeros as i32))
        }
    };
    // ~0K could be nearly anything, and what no f64 can hold would be near to everything.
    let says_something = (value > 0.0 || unit == 1.0) && (value * unit).is_finite();
    let value = (value * unit).round();
    let step = if value == 0.0 { 1.0 } else { step };
    says_something.then_some(Prediction::About { value, step })
}

/// `0.25`, `.25`, `0,25`, `1/4`, `25 %`, `√2`, `sqrt(2)`, `NaN`, `∞`.
fn decimal(text: &str) -> Option<f64> {
    let (_, text) = without_about(without_times(text));
    let text = text.replace('−', "-");
    let lower = text.to_lowercase();
    if let Some((above, below)) = text.split_once('/') {
        return Some(plain(above.trim())? / plain(below.trim())?);
    }
    if let Some(percent) = text.strip_suffix('%') {
        return Some(plain(percent.trim())? / 100.0);
    }
    if let Some(square) = lower.strip_prefix('√').or(lower.strip_prefix("sqrt")) {
        let square = square.trim().trim_start_matches('(').trim_end_matches(')');
        return plain(square.trim()).map(f64::sqrt);
    }
    match lower.as_str() {
        "nan" => Some(f64::NAN),
        "∞" | "inf" | "infinity" => Some(f64::INFINITY),
        "-∞" | "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        _ => plain(&text),
    }
}

/// Digits with at most one point or comma among them.
fn plain(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let has_digit = unsigned.contains(|c: char| c.is_ascii_digit());
    let marks = unsigned.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let is_number = has_digit && matches!(marks.as_str(), "" | "." | ",");
    is_number.then(|| text.replace(',', ".").parse().ok())?
}

/// `5x9`, `5 × 9`, `(5, 9)`, `[5, 9]`, `5, 9`, `5 9`.
fn shape(text: &str) -> Option<(usize, usize)> {
    let inside = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let text = inside('(', ')').or_else(|| inside('[', ']')).unwrap_or(text);
    let text = text.replace("by", " ");
    let sizes: Vec<&str> = text
        .split(|c: char| "xX×*,".contains(c) || c.is_whitespace())
        .filter(|part| !part.is_empty())
        .collect();
    let [rows, columns] = sizes[..] else { return None };
    let size = |part: &str| all_digits(part).then(|| part.parse().ok())?;
    Some((size(rows)?, size(columns)?))
}

/// The number of an option, its name, or a beginning that only one option has. Case and
/// what is no letter or digit do not count, so that `cls` is `[CLS]`.
fn choice(text: &str, options: &[String]) -> Option<String> {
    if all_digits(text) {
        let at = text.parse::<usize>().ok()?.checked_sub(1)?;
        return options.get(at).cloned();
    }
    let key = |text: &str| {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        let letters = letters.collect::<String>().to_lowercase();
        if letters.is_empty() { text.to_owned() } else { letters }
    };
    let given = key(text);
    if let Some(option) = options.iter().find(|option| key(option) == given) {
        return Some(option.clone());
    }
    let begun = options.iter().filter(|option| key(option).starts_with(&given));
    only(begun).filter(|_| !given.is_empty())
}

fn only<'a>(mut options: impl Iterator<Item = &'a String>) -> Option<String> {
    options.next().filter(|_| options.next().is_none()).cloned()
}

/// The one option that says the same but for “every” and the like, and for a plural:
/// `rows` is `every row`.
fn loosely(text: &str, options: &[String]) -> Option<String> {
    const NOTHING: [&str; 7] = ["", "every", "each", "all", "the", "a", "an"];
    let words = |text: &str| -> Vec<String> {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !NOTHING.contains(word));
        words.map(|word| word.strip_suffix('s').unwrap_or(word).to_owned()).collect()
    };
    let given = words(text);
    let alike = options.iter().filter(|option| words(option) == given);
    only(alike).filter(|_| !given.is_empty())
}

/// The digits of a whole number whose thousands may be apart.
fn digits(text: &str) -> Option<String> {
    let mark = |c: char| matches!(c, ',' | '_' | '\'' | '’') || c.is_whitespace();
    let marks: Vec<char> = text.chars().filter(|&c| mark(c)).collect();
    let groups: Vec<&str> = text.split(mark).collect();
    let (first, rest) = groups.split_first()?;
    let is_grouped = rest.is_empty()
        || ((1..=3).contains(&first.len())
            && rest.iter().all(|group| group.len() == 3)
            && marks.iter().all(|mark| *mark == marks[0]));
    (is_grouped && groups.iter().all(|group| all_digits(group))).then(|| groups.concat())
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `~12`, `≈ 12`, `about 12`.
fn without_about(text: &str) -> (bool, &str) {
    let rest = ["~", "≈", "about "].iter().find_map(|mark| text.strip_prefix(mark));
    (rest.is_some(), rest.unwrap_or(text).trim_start())
}

/// A factor may be written as `4x`, `× 4` or `4 times`.
fn without_times(text: &str) -> &str {
    let is_times = |c: char| matches!(c, 'x' | '×' | '*');
    let text = text.strip_suffix("times").unwrap_or(text).trim_end();
    let text = text.strip_suffix(is_times).unwrap_or(text).trim_end();
    text.strip_prefix(is_times).unwrap_or(text).trim_start()
}
