//! Families as data: a table in JSON, a row for each.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The rows of a table. One that is `like` an earlier row has what that one has, but for what it
/// says itself; of an object, such as the names of tensors, entry by entry.
///
/// # Panics
/// For a table that makes no families: all tables are in this crate.
pub(crate) fn rows<F: Deserialize<'static>>(table: &str) -> Vec<F> {
    let table: Vec<Map<String, Value>> = serde_json::from_str(table).expect("rows");
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    for mut row in table {
        if let Some(like) = row.remove("like") {
            let whole = rows.iter().find(|it| it["name"] == like).cloned();
            row = with(whole.expect("the row that another is like"), row);
        }
        rows.push(row);
    }
    // The names are borrowed from here as long as the program runs.
    let text: &'static str = serde_json::to_string(&rows).expect("a text").leak();
    serde_json::from_str(text).expect("families")
}

/// A row with what another says.
fn with(mut row: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in other {
        match (row.get_mut(&key), value) {
            (Some(Value::Object(entries)), Value::Object(others)) => {
                entries.extend(others)
            }
            (_, value) => drop(row.insert(key, value)),
        }
    }
    row
}
