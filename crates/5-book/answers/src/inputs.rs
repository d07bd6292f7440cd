//! What the function is given, for other languages.

use std::collections::BTreeMap;
use std::fmt::Write;

use attention::Matrix;
use exercises::{AnyExercise, Array, Kind, number};
use serde_json::{Value as Json, json};
use tensors::NewTensor;

/// With what a text in Python makes arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// `torch.tensor`, in float64.
    Torch,
    /// `numpy.array`.
    Numpy,
    /// `jax.numpy.array`.
    Jax,
    /// Lists of lists.
    Lists,
}

impl Library {
    /// What makes arrays: the module, the function in it, and a line that makes floats wide.
    /// Lists need none.
    pub(crate) fn module(self) -> Option<[&'static str; 3]> {
        match self {
            Self::Torch => {
                Some(["torch", "tensor", "torch.set_default_dtype(torch.float64)\n"])
            }
            Self::Numpy => Some(["numpy", "array", ""]),
            Self::Jax => Some(["jax.numpy", "array", ""]),
            Self::Lists => None,
        }
    }
}

/// The inputs of a seed, which stands in the numbers that are kept: a line of JSON for each case: `{"case": 0, "sizes": "…", "inputs": {"q": [[…]], …}}`. Names
/// with points are objects in objects, and lists where what follows the point is a number. A
/// number that JSON does not have is a text: `"nan"`, `"inf"`, `"-inf"`. What is not there (a
/// projection's bias) is `null`.
pub fn lines(exercise: &dyn AnyExercise, seed: u64) -> String {
    let mut lines = String::new();
    for (case, given) in exercise.inputs(seed).iter().enumerate() {
        let inputs = Tree::of(&given.arrays).json();
        let line = json!({"case": case, "sizes": given.sizes, "inputs": inputs});
        let _ = writeln!(lines, "{line}");
    }
    lines
}

/// A text in Python: `cases`, a list of the arguments of each, by name.
pub fn python(exercise: &dyn AnyExercise, library: Library, seed: u64) -> String {
    let mut text = String::from("from types import SimpleNamespace as N\n");
    text += &match library.module() {
        Some([module, array, wide]) => format!(
            "import {module}\n{wide}array, empty = {module}.{array}, {module}.zeros\n"
        ),
        None => "array = list\nempty = lambda shape: [[]] * shape[0]\n".to_owned(),
    };
    text += "nan, inf = float(\"nan\"), float(\"inf\")\n\ncases = [\n";
    for given in exercise.inputs(seed) {
        let _ = writeln!(text, "    # {}", given.sizes);
        let Tree::Named(arguments) = Tree::of(&given.arrays) else { continue };
        let arguments: Vec<String> = arguments
            .iter()
            .map(|(name, value)| format!("{name}={}", value.python()))
            .collect();
        let _ = writeln!(text, "    dict({}),", arguments.join(", "));
    }
    text + "]\n"
}

/// The arrays of all cases for a file, named `case_0.q`, in f64.
///
/// # Errors
/// If they cannot be written, which no exercise brings about.
pub fn tensors(exercise: &dyn AnyExercise, seed: u64) -> tensors::Result<Vec<NewTensor>> {
    let mut tensors = Vec::new();
    for (case, given) in exercise.inputs(seed).iter().enumerate() {
        let arrays = given.arrays.iter().filter(|array| array.kind != Kind::Nothing);
        for Array { name, shape, values, .. } in arrays {
            let values = Matrix::from_row_slice(1, values.len(), values);
            tensors.push(NewTensor::new(
                format!("case_{case}.{name}"),
                shape,
                [&values],
            )?);
        }
    }
    Ok(tensors)
}

/// The arguments: arrays under names, and lists of what is numbered.
pub(crate) enum Tree<'a> {
    Leaf(&'a Array),
    Named(Vec<(&'a str, Tree<'a>)>),
}

impl<'a> Tree<'a> {
    pub(crate) fn of(arrays: &'a [Array]) -> Self {
        let named = arrays.iter().map(|array| (array.name.as_str(), array));
        Self::of_named(&named.collect::<Vec<_>>())
    }

    fn of_named(arrays: &[(&'a str, &'a Array)]) -> Self {
        let mut order = Vec::new();
        let mut groups: BTreeMap<&str, Vec<(&str, &Array)>> = BTreeMap::new();
        for &(name, array) in arrays {
            let (first, rest) = name.split_once('.').unwrap_or((name, ""));
            groups.entry(first).or_insert_with(|| {
                order.push(first);
                Vec::new()
            });
            groups.entry(first).or_default().push((rest, array));
        }
        let branch = |name: &'a str| match &groups[name][..] {
            [("", array)] => (name, Self::Leaf(array)),
            group => (name, Self::of_named(group)),
        };
        Self::Named(order.into_iter().map(branch).collect())
    }

    pub(crate) fn is_list(named: &[(&str, Self)]) -> bool {
        named.iter().all(|(name, _)| name.parse::<usize>().is_ok())
    }

    fn json(&self) -> Json {
        match self {
            Self::Leaf(array) => nested(&array.shape, &array.values, array.kind),
            Self::Named(named) if Self::is_list(named) => {
                named.iter().map(|(_, it)| it.json()).collect()
            }
            Self::Named(named) => Json::Object(
                named.iter().map(|(name, it)| ((*name).to_owned(), it.json())).collect(),
            ),
        }
    }

    fn python(&self) -> String {
        match self {
            Self::Leaf(array) => leaf(array),
            Self::Named(named) if Self::is_list(named) => {
                let all: Vec<String> = named.iter().map(|(_, it)| it.python()).collect();
                format!("[{}]", all.join(", "))
            }
            Self::Named(named) => {
                let all =
                    named.iter().map(|(name, it)| format!("{name}={}", it.python()));
                format!("N({})", all.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// An array in Python. One without entries says its shape, which brackets do not.
fn leaf(array: &Array) -> String {
    let json = nested(&array.shape, &array.values, array.kind).to_string();
    let text = match array.kind {
        Kind::Flag => json.replace("true", "True").replace("false", "False"),
        Kind::Nothing => return "None".into(),
        Kind::Number | Kind::Whole => json.replace('"', ""),
    };
    match (&array.shape[..], array.values.is_empty()) {
        ([], _) => text,
        (shape, true) => format!("empty({shape:?})"),
        _ => format!("array({text})"),
    }
}

fn nested(shape: &[usize], values: &[f64], kind: Kind) -> Json {
    match shape {
        [] => values.first().map_or(Json::Null, |&x| match kind {
            Kind::Flag => Json::Bool(x != 0.0),
            Kind::Whole => json!(x as i64),
            Kind::Number | Kind::Nothing => number(x),
        }),
        [n, rest @ ..] => {
            let size = values.len() / (*n).max(1);
            let part = |at| nested(rest, &values[at * size..(at + 1) * size], kind);
            (0..*n).map(part).collect()
        }
    }
}
