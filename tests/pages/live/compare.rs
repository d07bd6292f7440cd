//! Two answers, number by number.

use serde_json::Value;

/// How far the page's answer is from the native one.
pub struct Compared {
    /// The largest difference of two numbers; of numbers over 1, as a part of them.
    pub largest: f64,
    /// What differs more than it may, and what is not of the same kind.
    pub problems: Vec<String>,
    bound: f64,
}

impl Compared {
    pub fn new(native: &Value, page: &Value, bound: f64) -> Self {
        let mut compared = Self { largest: 0.0, problems: Vec::new(), bound };
        compared.values("", native, page);
        compared.problems.truncate(5);
        compared
    }

    fn values(&mut self, at: &str, native: &Value, page: &Value) {
        match (native, page) {
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                let pairs = a.iter().zip(b).enumerate();
                pairs.for_each(|(i, (a, b))| self.values(&format!("{at}/{i}"), a, b));
            }
            (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
                a.iter()
                    .for_each(|(key, a)| self.values(&format!("{at}/{key}"), a, &b[key]));
            }
            (Value::Number(a), Value::Number(b)) => {
                self.numbers(at, a.as_f64().unwrap(), b.as_f64().unwrap());
            }
            (Value::String(a), Value::String(b)) => self.texts(at, a, b),
            (a, b) if a == b => {}
            (a, b) => {
                let [a, b] = [a, b].map(begin);
                self.problems.push(format!("{at}: {a} natively, {b} in the page"));
            }
        }
    }

    fn numbers(&mut self, at: &str, native: f64, page: f64) {
        let difference = (native - page).abs() / native.abs().max(1.0);
        self.largest = self.largest.max(difference);
        if difference > self.bound {
            self.problems.push(format!("{at}: {native} natively, {page} in the page"));
        }
    }

    /// Texts that differ in a number are compared by that number.
    fn texts(&mut self, at: &str, native: &str, page: &str) {
        if native == page {
            return;
        }
        let ((words, numbers), (other_words, others)) = (apart(native), apart(page));
        if words != other_words || numbers.len() != others.len() {
            self.problems
                .push(format!("{at}: “{native}” natively, “{page}” in the page"));
            return;
        }
        numbers.iter().zip(others).for_each(|(a, b)| self.numbers(at, *a, b));
    }
}

/// The beginning of a value, of which a whole figure is too much to read.
fn begin(value: &Value) -> String {
    value.to_string().chars().take(100).collect()
}

/// The words of a text and its numbers.
fn apart(text: &str) -> (String, Vec<f64>) {
    let text = text.replace('−', "-");
    let (mut words, mut numbers, mut rest) = (String::new(), Vec::new(), text.as_str());
    while let Some(c) = rest.chars().next() {
        let length = if c.is_ascii_digit() || c == '.' { number_length(rest) } else { 0 };
        match rest[..length].parse::<f64>() {
            Ok(number) if length > 0 => {
                numbers.push(number);
                words.push('#');
                rest = &rest[length..];
            }
            _ => {
                words.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    (words, numbers)
}

/// The longest beginning that is a number without a sign.
fn number_length(text: &str) -> usize {
    let fits = |end: &usize| {
        text.is_char_boundary(*end)
            && text[..*end].chars().all(|c| c.is_ascii_digit() || ".e-".contains(c))
            && text[..*end].parse::<f64>().is_ok()
    };
    (1..=text.len().min(24)).rev().find(fits).unwrap_or(0)
}

#[test]
fn a_difference_is_found_wherever_it_is() {
    use serde_json::json;
    let compared = |a, b| Compared::new(&a, &b, 1e-12);
    let native = json!({ "a": [1.0, 2.0], "words": "off by 1.2e-16, at 3." });
    let page = json!({ "a": [1.0, 2.0], "words": "off by 3.4e-16, at 3." });
    let same = compared(native.clone(), page);
    assert!(same.problems.is_empty() && same.largest < 1e-15, "{:?}", same.problems);
    for other in [
        json!({ "a": [1.0, 2.0 + 1e-9], "words": "off by 1.2e-16, at 3." }),
        json!({ "a": [1.0], "words": "off by 1.2e-16, at 3." }),
        json!({ "a": [1.0, null], "words": "off by 1.2e-16, at 3." }),
        json!({ "a": [1.0, 2.0], "words": "off by 1.2e-16, at 4." }),
        json!({ "a": [1.0, 2.0], "words": "of 1.2e-16, at 3." }),
    ] {
        assert_eq!(compared(native.clone(), other).problems.len(), 1);
    }
}
