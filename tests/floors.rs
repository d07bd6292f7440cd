//! The layers: an arrow between crates goes only down, in tests and benches too.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use workshop::paths;

/// What each crate of the subject may use, the lowest floor first. Implementations that are
/// compared never call each other; the one exception is the formula itself, which
/// `per-head` takes from `single-head`.
const SUBJECT: [(&str, &[&str]); 22] = [
    // The first and the third only fix features of what nalgebra stands on.
    ("attention", &["bytemuck", "nalgebra", "num-complex", "rand", "thiserror"]),
    ("single-head", &["attention"]),
    ("per-head", &["attention", "single-head"]),
    ("fused-heads", &["attention"]),
    ("variants", &["attention", "thiserror"]),
    ("kernels/tiles", &["attention", "pulp", "rayon"]),
    ("kernels/decode", &["attention", "pulp", "rayon", "tiles"]),
    ("kernels", &["attention", "nalgebra", "pulp", "rayon", "tiles"]),
    ("figures/plotly-values", &["serde", "serde_json"]),
    ("figures", &["attention", "plotly", "plotly-values", "serde_json", "thiserror"]),
    ("gradients", &["attention", "fused-heads", "thiserror"]),
    ("block", &["attention", "fused-heads", "gradients", "libm", "thiserror"]),
    (
        "spread",
        &[
            "attention",
            "decode",
            "fused-heads",
            "gradients",
            "kernels",
            "thiserror",
            "tiles",
        ],
    ),
    (
        "training",
        &[
            "attention",
            "block",
            "fused-heads",
            "gradients",
            "rand",
            "thiserror",
            "variants",
        ],
    ),
    ("pretrained", &["attention", "safetensors", "serde", "serde_json", "thiserror"]),
    (
        "encoders",
        &["attention", "block", "pretrained", "serde_json", "thiserror", "tokenizers"],
    ),
    (
        "decoders",
        &[
            "attention",
            "block",
            "decode",
            "encoders",
            "pretrained",
            "rand",
            "rayon",
            "serde",
            "serde_json",
            "thiserror",
            "tiles",
            "variants",
        ],
    ),
    (
        "sensors",
        &[
            "attention",
            "block",
            "fused-heads",
            "pretrained",
            "rand",
            "thiserror",
            "training",
        ],
    ),
    (
        "lessons",
        &[
            "anyhow",
            "attention",
            "figures",
            "fused-heads",
            "gradients",
            "kernels",
            "per-head",
            "pretrained",
            "rand",
            "record",
            "serde_json",
            "single-head",
            "training",
        ],
    ),
    (
        "further-lessons",
        &[
            "anyhow",
            "attention",
            "block",
            "decoders",
            "figures",
            "fused-heads",
            "gradients",
            "lessons",
            "pretrained",
            "rand",
            "record",
            "sensors",
            "serde_json",
            "spread",
            "training",
            "variants",
        ],
    ),
    ("gallery", &["anyhow", "figures", "further-lessons", "lessons"]),
    (
        "exercises",
        &[
            "attention",
            "single-head",
            "per-head",
            "fused-heads",
            "gradients",
            "block",
            "pretrained",
            "textwrap",
            "variants",
        ],
    ),
];

/// Which of our crates each tool may use; `learn`, the command, may only use what is light.
const TOOLS: [(&str, &[&str]); 15] = [
    ("live", &["gallery", "lessons"]),
    ("live-model", &["attention", "encoders", "fused-heads", "pretrained"]),
    ("tools/workshop", &[]),
    ("tools/record", &["attention"]),
    ("tools/machine", &["tiles"]),
    ("tools/practice", &["workshop"]),
    ("tools/lab", &["workshop"]),
    (
        "tools/look",
        &[
            "workshop",
            "attention",
            "decoders",
            "encoders",
            "fused-heads",
            "kernels",
            "assets",
            "pretrained",
        ],
    ),
    ("tools/assets", &[]),
    ("tools/pages", &["workshop", "practice", "assets"]),
    ("tools/book", &["workshop", "pages", "gallery", "lessons", "figures", "record"]),
    (
        "tools/bench",
        &[
            "workshop",
            "record",
            "machine",
            "attention",
            "decode",
            "per-head",
            "fused-heads",
            "gradients",
            "kernels",
            "pretrained",
            "tiles",
        ],
    ),
    (
        "tools/predict",
        &[
            "workshop",
            "attention",
            "single-head",
            "per-head",
            "fused-heads",
            "kernels",
            "gradients",
            "pretrained",
        ],
    ),
    (
        "tools/terminal",
        &[
            "workshop",
            "predict",
            "lessons",
            "attention",
            "single-head",
            "per-head",
            "fused-heads",
            "training",
            "pretrained",
            "figures",
        ],
    ),
    ("learn", &["workshop", "practice"]),
];

/// What tests, benches and examples may use besides, in any crate.
const FOR_TESTS: [&str; 11] = [
    "anyhow",
    "clap",
    "half",
    "insta",
    // What an example's speed is next to.
    "machine",
    // What `plotly-values` is held against.
    "plotly",
    "proptest",
    "rand",
    "safetensors",
    "serde_json",
    "tempfile",
];

fn manifest(of: &str) -> toml::Table {
    let manifest = paths::workspace().join("crates").join(of).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("every crate has a manifest");
    text.parse().expect("the manifest is TOML")
}

/// The names in this table, for every platform and for some.
fn names(manifest: &toml::Table, table: &str) -> BTreeSet<String> {
    let tables = |of: &toml::Table| of.values().cloned().collect::<Vec<_>>();
    let platforms = manifest.get("target").and_then(toml::Value::as_table).map(tables);
    let platforms = platforms.into_iter().flatten();
    let of = |place: &toml::Value| place.get(table).and_then(|it| it.as_table().cloned());
    let found = platforms.chain([manifest.clone().into()]).filter_map(|place| of(&place));
    found.flat_map(|names| names.into_iter().map(|(name, _)| name)).collect()
}

/// The names of our own crates.
fn ours() -> BTreeSet<String> {
    let folders = SUBJECT.iter().chain(&TOOLS).map(|(folder, _)| *folder);
    folders.map(|folder| folder.rsplit('/').next().unwrap_or(folder).to_owned()).collect()
}

fn refuse(of: &str, found: BTreeSet<String>, allowed: &[&str], also: &[&str]) {
    let is_extra = |name: &&String| {
        let name = name.as_str();
        !allowed.contains(&name) && !also.contains(&name)
    };
    let extra: Vec<&String> = found.iter().filter(is_extra).collect();
    assert!(extra.is_empty(), "{of} may not use {extra:?}; it may use {allowed:?}");
}

#[test]
fn every_crate_uses_only_what_is_below_it() {
    for (name, allowed) in SUBJECT {
        let manifest = manifest(name);
        refuse(name, names(&manifest, "dependencies"), allowed, &[]);
        refuse(name, names(&manifest, "build-dependencies"), allowed, &[]);
        refuse(name, names(&manifest, "dev-dependencies"), allowed, &FOR_TESTS);
    }
}

#[test]
fn every_tool_uses_only_what_is_below_it() {
    let ours = ours();
    for (name, allowed) in TOOLS {
        for table in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let found = names(&manifest(name), table);
            let found = found.intersection(&ours).cloned().collect();
            refuse(name, found, allowed, &[]);
        }
    }
}

#[test]
fn every_crate_has_its_floor() {
    let crates = paths::workspace().join("crates");
    let folders = |under: PathBuf| {
        let entries = fs::read_dir(under).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.join("Cargo.toml").is_file()).collect::<Vec<_>>()
    };
    let found: BTreeSet<String> = ["", "figures", "kernels", "tools"]
        .map(|room| crates.join(room))
        .into_iter()
        .flat_map(folders)
        .map(|path| path.strip_prefix(&crates).unwrap().to_str().unwrap().to_owned())
        .collect();
    let known: BTreeSet<String> =
        SUBJECT.iter().chain(&TOOLS).map(|(folder, _)| (*folder).to_owned()).collect();
    assert_eq!(found, known);
}

/// A crate of this name exists for the arrow to point to: a list that is out of date would
/// allow what nobody meant.
#[test]
fn floors_name_what_there_is() {
    let ours = ours();
    for (name, allowed) in TOOLS {
        for crate_below in allowed {
            assert!(ours.contains(*crate_below), "{name}: there is no {crate_below}");
        }
    }
    for (name, allowed) in SUBJECT {
        let manifest = manifest(name);
        let used = names(&manifest, "dependencies");
        for below in allowed {
            assert!(used.contains(*below), "{name} does not use {below}: take it out");
        }
    }
}
