//! Where the controls stand: read from text once, and typed from there on.

use anyhow::{Context, Result, bail, ensure};
use attention::{Error, Matrix};

use super::control::{Control, Kind};

/// Where every control of a live figure stands.
#[derive(Debug, Clone)]
pub struct Settings {
    set: Vec<(&'static str, Value)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Number(f64),
    Count(usize),
    Choice(String),
    Switch(bool),
    Text(String),
    Matrix(Matrix),
    Point([f64; 2]),
}

impl Settings {
    /// The controls where they stand first, but for these keys. The texts are those of an
    /// address: `0.5`, `on`, a matrix as `1,0;0,1`, a point as `2,-1`.
    ///
    /// # Errors
    /// A key that there is not; a text that the control cannot be set to.
    pub fn new<'a>(
        controls: &[Control],
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self> {
        let pairs: Vec<(&str, &str)> = pairs.into_iter().collect();
        for (key, _) in &pairs {
            ensure!(controls.iter().any(|control| control.key == *key), {
                let known: Vec<&str> =
                    controls.iter().map(|control| control.key).collect();
                format!("{key} is not among {}", known.join(", "))
            });
        }
        let set = controls.iter().map(|control| {
            let given = pairs.iter().rev().find(|(key, _)| *key == control.key);
            let text =
                given.map_or_else(|| control.first(), |(_, text)| (*text).to_owned());
            Ok((control.key, read(control, &text)?))
        });
        Ok(Self { set: set.collect::<Result<_>>()? })
    }

    /// Whether all controls but these stand where they stand first.
    ///
    /// # Errors
    /// If they are other controls.
    pub fn has_moved_only(&self, controls: &[Control], keys: &[&str]) -> Result<bool> {
        let first = Self::new(controls, [])?;
        for (key, value) in &first.set {
            if !keys.contains(key) && self.get(key)? != value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn get(&self, key: &str) -> Result<&Value> {
        let found = self.set.iter().find(|(known, _)| *known == key);
        found
            .map(|(_, value)| value)
            .with_context(|| format!("there is no control {key}"))
    }

    /// Where a number stands.
    ///
    /// # Errors
    /// If there is no such number; so do the others.
    pub fn number(&self, key: &str) -> Result<f64> {
        match self.get(key)? {
            Value::Number(number) => Ok(*number),
            _ => bail!("{key} is not a number"),
        }
    }

    /// Where a whole number stands.
    ///
    /// # Errors
    /// If there is no such number.
    pub fn count(&self, key: &str) -> Result<usize> {
        match self.get(key)? {
            Value::Count(count) => Ok(*count),
            _ => bail!("{key} is not a whole number"),
        }
    }

    /// What is chosen.
    ///
    /// # Errors
    /// If there is no such choice.
    pub fn choice(&self, key: &str) -> Result<&str> {
        match self.get(key)? {
            Value::Choice(choice) => Ok(choice),
            _ => bail!("{key} is not a choice"),
        }
    }

    /// A size that is chosen.
    ///
    /// # Errors
    /// If there is no such choice, or it is not of sizes.
    pub fn size(&self, key: &str) -> Result<usize> {
        let chosen = self.choice(key)?;
        chosen.parse().with_context(|| format!("{key} is “{chosen}”, which is no size"))
    }

    /// Whether a switch is on.
    ///
    /// # Errors
    /// If there is no such switch.
    pub fn is_on(&self, key: &str) -> Result<bool> {
        match self.get(key)? {
            Value::Switch(on) => Ok(*on),
            _ => bail!("{key} is not a switch"),
        }
    }

    /// What a line of text says.
    ///
    /// # Errors
    /// If there is no such line.
    pub fn text(&self, key: &str) -> Result<&str> {
        match self.get(key)? {
            Value::Text(text) => Ok(text),
            _ => bail!("{key} is not a text"),
        }
    }

    /// What a matrix holds, or a painted table: 1 for a cell that is on, 0 for the others.
    ///
    /// # Errors
    /// If there is no such matrix.
    pub fn matrix(&self, key: &str) -> Result<&Matrix> {
        match self.get(key)? {
            Value::Matrix(matrix) => Ok(matrix),
            _ => bail!("{key} is not a matrix"),
        }
    }

    /// Where a point lies.
    ///
    /// # Errors
    /// If there is no such point.
    pub fn point(&self, key: &str) -> Result<[f64; 2]> {
        match self.get(key)? {
            Value::Point(point) => Ok(*point),
            _ => bail!("{key} is not a point"),
        }
    }
}

fn read(control: &Control, text: &str) -> Result<Value> {
    let label = &control.label;
    Ok(match &control.kind {
        Kind::Number { range, .. } => Value::Number(number(label, text, *range)?),
        Kind::Count { range: [least, most], .. } => {
            let count =
                text.trim().parse().ok().filter(|it| (least..=most).contains(&it));
            Value::Count(count.with_context(|| {
                format!(
                    "{label} is “{text}”, expected a whole number from {least} to {most}"
                )
            })?)
        }
        Kind::Choice { options, .. } => {
            let known = || options.iter().map(|(value, _)| value.as_str());
            ensure!(known().any(|value| value == text), {
                let known: Vec<&str> = known().collect();
                format!("{label} is “{text}”, expected one of {}", known.join(", "))
            });
            Value::Choice(text.to_owned())
        }
        Kind::Switch { .. } => match text {
            "on" => Value::Switch(true),
            "off" => Value::Switch(false),
            _ => bail!("{label} is “{text}”, expected on or off"),
        },
        Kind::Text { most, .. } => {
            let found = text.chars().count();
            ensure!(found <= *most, {
                format!("{label} has {found} characters, expected at most {most}")
            });
            Value::Text(text.to_owned())
        }
        Kind::Matrix { rows, columns, most, .. } => {
            Value::Matrix(matrix(label, text, [rows, columns], [-most, *most])?)
        }
        Kind::Paint { rows, columns, .. } => {
            let cells = matrix(label, text, [rows, columns], [0.0, 1.0])?;
            ensure!(cells.iter().all(|&cell| cell == 0.0 || cell == 1.0), {
                format!("{label}: a cell is 1 or 0")
            });
            Value::Matrix(cells)
        }
        Kind::Point { most, .. } => {
            let axes = ["x".to_owned(), "y".to_owned()];
            let point = matrix(label, text, [&[String::new()], &axes], [-most, *most])?;
            Value::Point([point[0], point[1]])
        }
    })
}

fn number(what: &str, text: &str, [least, most]: [f64; 2]) -> Result<f64> {
    let number = text.trim().parse().ok();
    number.filter(|it| (least..=most).contains(it)).with_context(|| {
        format!("{what} is “{text}”, expected a number from {least} to {most}")
    })
}

fn matrix(
    label: &str,
    text: &str,
    [rows, columns]: [&[String]; 2],
    range: [f64; 2],
) -> Result<Matrix> {
    let lines: Vec<Vec<&str>> =
        text.split(';').map(|line| line.split(',').collect()).collect();
    for line in &lines {
        let (expected, found) = ((rows.len(), columns.len()), (lines.len(), line.len()));
        Error::expect_shape(label, expected, found)?;
    }
    let mut entries = Vec::new();
    for (row, line) in rows.iter().zip(&lines) {
        for (column, text) in columns.iter().zip(line) {
            let place =
                [row.as_str(), column].into_iter().filter(|name| !name.is_empty());
            let place = place.collect::<Vec<_>>().join(", ");
            entries.push(number(&format!("{label}, {place},"), text, range)?);
        }
    }
    Ok(Matrix::from_row_slice(rows.len(), columns.len(), &entries))
}
