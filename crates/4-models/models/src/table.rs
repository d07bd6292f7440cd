//! Families as data: what is known of one kind of model, in JSON.

use model_files::Rule;
use model_files::Use::Harmless;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What is known of one kind of model.
pub(crate) struct Table<F> {
    pub families: Vec<F>,
    /// Settings that change nothing in any family, with the reason.
    pub keys: Vec<Rule>,
    /// Tensors that are no part of any family's model, with the reason.
    pub tensors: Vec<Rule>,
}

/// A table as it is written. A family that is `like` an earlier one has what that one has, but
/// for what it says itself; of an object, such as the names of tensors, entry by entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableText {
    #[serde(borrow)]
    keys: Vec<(&'static str, &'static str)>,
    #[serde(borrow)]
    tensors: Vec<(&'static str, &'static str)>,
    families: Vec<Map<String, Value>>,
}

impl<F: Deserialize<'static>> Table<F> {
    /// The table that is written so.
    ///
    /// # Panics
    /// For what makes no table: all of them are in this crate.
    pub fn read(text: &'static str) -> Self {
        let TableText { keys, tensors, families } =
            serde_json::from_str(text).expect("a table of families");
        let mut whole: Vec<Map<String, Value>> = Vec::new();
        for mut family in families {
            if let Some(like) = family.remove("like") {
                let other = whole.iter().find(|it| it["name"] == like).cloned();
                family = with(other.expect("what a family is like"), family);
            }
            whole.push(family);
        }
        // The names are borrowed from here as long as the program runs.
        let text: &'static str = serde_json::to_string(&whole).expect("a text").leak();
        let rules = |all: Vec<_>| {
            all.into_iter().map(|(names, why)| Rule(names, Harmless(why))).collect()
        };
        let families = serde_json::from_str(text).expect("families");
        Self { families, keys: rules(keys), tensors: rules(tensors) }
    }
}

/// A family with what another says.
fn with(mut family: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in other {
        match (family.get_mut(&key), value) {
            (Some(Value::Object(entries)), Value::Object(others)) => {
                entries.extend(others)
            }
            (_, value) => drop(family.insert(key, value)),
        }
    }
    family
}
