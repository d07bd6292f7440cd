//! The layers: an arrow between crates goes only down.

use std::collections::BTreeSet;
use std::fs;

use workshop::paths;

/// What each crate may use. Implementations that are compared never call each other; the
/// one exception is the formula itself, which `per-head` takes from `single-head`.
const FLOORS: [(&str, &[&str]); 11] = [
    // The first and the third only fix features of what nalgebra stands on.
    ("attention", &["bytemuck", "nalgebra", "num-complex", "rand", "thiserror"]),
    ("single-head", &["attention"]),
    ("per-head", &["attention", "single-head"]),
    ("fused-heads", &["attention"]),
    ("pretrained", &["attention", "safetensors", "serde_json", "thiserror"]),
    ("figures", &["attention", "plotly", "serde_json", "thiserror"]),
    ("gradients", &["attention", "fused-heads"]),
    ("kernels", &["attention", "nalgebra", "pulp", "rayon"]),
    (
        "exercises",
        &[
            "attention",
            "single-head",
            "per-head",
            "fused-heads",
            "gradients",
            "pretrained",
            "textwrap",
        ],
    ),
    ("training", &["attention", "fused-heads", "gradients", "rand", "thiserror"]),
    ("learn", &["*"]),
];

fn dependencies(of: &str) -> BTreeSet<String> {
    let manifest = paths::workspace().join("crates").join(of).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("every crate has a manifest");
    let manifest: toml::Table = text.parse().expect("the manifest is TOML");
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
}

#[test]
fn every_crate_uses_only_what_is_below_it() {
    for (name, allowed) in FLOORS {
        let allowed: BTreeSet<String> = allowed.iter().map(|&a| a.to_owned()).collect();
        if allowed.contains("*") {
            continue;
        }
        let extra: Vec<_> = dependencies(name).difference(&allowed).cloned().collect();
        assert!(extra.is_empty(), "{name} may not use {extra:?}; it may use {allowed:?}");
    }
}

#[test]
fn every_crate_has_its_floor() {
    let crates = fs::read_dir(paths::workspace().join("crates")).unwrap();
    let found: BTreeSet<String> =
        crates.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let known: BTreeSet<String> =
        FLOORS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, known);
}
