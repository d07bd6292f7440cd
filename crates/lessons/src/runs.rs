//! Reading what `training` keeps of many seeds.

use anyhow::{Context, Result};
use serde_json::Value;

/// A list of numbers in a run; null is NaN.
///
/// # Errors
/// If it is none.
pub fn numbers(list: &Value) -> Result<Vec<f64>> {
    let list = list.as_array().context("a list")?;
    let number = |x: &Value| match x {
        Value::Null => Ok(f64::NAN),
        x => x.as_f64().context("a number"),
    };
    list.iter().map(number).collect()
}

/// A list of such lists.
///
/// # Errors
/// If it is none.
pub fn rows(list: &Value) -> Result<Vec<Vec<f64>>> {
    list.as_array().context("rows")?.iter().map(numbers).collect()
}
