//! The zoo's table of mistakes, made of the bank.

use std::fmt::{Debug, Write};

use anyhow::{Context, Result};
use diagnosis::bank;
use diagnosis::recipe::{Mixing, Projection, Recipe};
use serde_json::json;

/// Between these lines of `zoo.py` stands what is made here.
const FIRST: &str =
    "# Made of the bank by `cargo learn zoo --keep PYTHON`; do not edit.\n";
const LAST: &str = "# The end of what is made of the bank.\n";

/// The zoo's source with a table that is made of the bank.
///
/// # Errors
/// A source in which the lines around the table are missing.
pub fn with_table(source: &str) -> Result<String> {
    let (before, rest) = source.split_once(FIRST).context("no line before the table")?;
    let (_, after) = rest.split_once(LAST).context("no line after the table")?;
    Ok(format!("{before}{FIRST}{}{LAST}{after}", table()))
}

/// The right choices, and every mistake by its id, as Python.
fn table() -> String {
    let right = choices(&Recipe::RIGHT);
    let mut text = "RIGHT = {\n".to_owned();
    for (name, choice) in &right {
        text += &format!("    \"{name}\": {choice},\n");
    }
    text += "}\n\nMISTAKES = {\n";
    for mistake in bank() {
        let own = choices(&Recipe::with(&[mistake]));
        let changed = own.iter().zip(&right).filter(|(own, right)| own != right);
        let changed: Vec<String> =
            changed.map(|((name, choice), _)| format!("\"{name}\": {choice}")).collect();
        let entry = mistake.entry();
        let _ = write!(
            text,
            "    \"{}\": Mistake(\n        {},\n        {{{}}},\n        {},\n        {},\n    ),\n",
            mistake.id,
            json!(mistake.step.name()),
            changed.join(", "),
            json!(entry.does),
            json!(entry.symptom),
        );
    }
    text + "}\n"
}

/// The choices of a recipe by their names, as Python. A choice that is new does not compile
/// until it stands here.
fn choices(recipe: &Recipe) -> Vec<(String, String)> {
    let Recipe { axes, packing, projections, relu, split, norms, .. } = recipe;
    let Recipe { rotary, sharing, similarity, scale, cap, slopes, causal, .. } = recipe;
    let Recipe { window, padding, pairs, fill, sinks, softmax, values, .. } = recipe;
    let Recipe { merge, mixing, relu_on_output, addition, tile: _, .. } = recipe;
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, choice: &dyn Debug| all.push((name.into(), word(choice)));
    add("axes", axes);
    add("packing", packing);
    for (role, of) in ["q", "k", "v"].into_iter().zip(projections) {
        let Projection { input, weight, product, bias } = of;
        add(&format!("{role}_input"), input);
        add(&format!("{role}_weight"), weight);
        add(&format!("{role}_product"), product);
        add(&format!("{role}_bias"), bias);
    }
    add("relu", relu);
    add("split", split);
    add("norms", norms);
    add("rotary", rotary);
    add("sharing", sharing);
    add("similarity", similarity);
    add("scale", scale);
    add("cap", cap);
    add("slopes", slopes);
    add("causal", causal);
    add("window", window);
    add("padding", padding);
    add("pairs", pairs);
    add("fill", fill);
    add("sinks", sinks);
    add("softmax", softmax);
    add("values", values);
    add("merge", merge);
    let Mixing { product, bias } = mixing;
    add("output_product", product);
    match *bias {
        Mixing::PER_HEAD => all.push(("output_bias".into(), "\"per-head\"".into())),
        times => all.push(("output_bias".into(), times.to_string())),
    }
    all.push(("relu_on_output".into(), word(relu_on_output)));
    all.push(("addition".into(), word(addition)));
    all
}

/// `OverKeys` is `"over-keys"`, and `true` is `True`.
fn word(choice: &dyn Debug) -> String {
    let name = format!("{choice:?}");
    match name.as_str() {
        "true" => return "True".into(),
        "false" => return "False".into(),
        _ if name.starts_with(|c: char| c.is_ascii_digit()) => return name,
        _ => (),
    }
    let mut word = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    format!("\"{word}\"")
}
