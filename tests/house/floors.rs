//! The order of the house: a folder uses only those before it, what is compared never calls
//! each other, and crates/README.md is the map of what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use workshop::paths;

use crate::house;

/// In the order of use, as crates/README.md has them.
const FOLDERS: [&str; 6] =
    ["1-stages", "2-around", "3-fast", "4-models", "5-book", "tools"];

/// What must not be, although a folder's own crates may use each other: implementations that
/// are compared, and what would make light commands heavy.
const NEVER: [(&str, &[&str]); 9] = [
    ("single-head", &["per-head", "fused-heads"]),
    ("per-head", &["fused-heads"]),
    ("fused-heads", &["single-head", "per-head"]),
    ("variants", &["single-head", "per-head", "fused-heads"]),
    ("tiles", &["single-head", "per-head", "fused-heads", "gradients"]),
    ("kernels", &["single-head", "per-head", "fused-heads", "gradients", "cached"]),
    ("cached", &["single-head", "per-head", "fused-heads", "kernels"]),
    ("figures", &["lessons", "exercises", "runs", "model-files"]),
    (
        "learn",
        &[
            "book",
            "pages",
            "notebooks",
            "look",
            "terminal",
            "bench",
            "predict",
            "hand-out",
        ],
    ),
];

/// What tests, benches and examples may use besides.
const FOR_TESTS: &[&str] = &[
    "anyhow",
    // The exercises as their files say them: it uses nothing itself.
    "catalogue",
    "clap",
    "half",
    "insta",
    // What figures write for plotly.js is what this crate writes.
    "plotly",
    "proptest",
    "rand",
    "rayon",
    // The machine, which an example's speed is next to.
    "runs",
    "safetensors",
    "serde_json",
    "tempfile",
    // What PyTorch computed, read.
    "tensors",
];

/// A manifest below `crates`.
struct Manifest {
    /// Its folder from `crates` on: `3-fast/distributed/mpi`.
    place: String,
    /// What the package is called.
    name: String,
    /// What it compiles with.
    uses: BTreeSet<String>,
    /// What its tests, benches and examples compile with besides.
    tests_use: BTreeSet<String>,
}

impl Manifest {
    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("Cargo.toml"));
        let text = text.expect("a manifest is text");
        let table: toml::Table = text.parse().expect("a manifest is TOML");
        let place = folder.strip_prefix(paths::workspace().join("crates"));
        let place = place.expect("below crates").display().to_string();
        let name = table["package"]["name"].as_str().expect("a name").to_owned();
        let of = |kind| names(&table, kind);
        let uses = [of("dependencies"), of("build-dependencies")].concat();
        Self {
            place: place.replace('\\', "/"),
            name,
            uses: uses.into_iter().collect(),
            tests_use: of("dev-dependencies").into_iter().collect(),
        }
    }

    /// Which of the six folders it stands in.
    fn floor(&self) -> usize {
        let folder = self.place.split('/').next();
        let floor = FOLDERS.iter().position(|it| Some(*it) == folder);
        floor.unwrap_or_else(|| panic!("{} is in none of the six folders", self.place))
    }
}

/// The names in this table, for every platform and for some.
fn names(manifest: &toml::Table, table: &str) -> Vec<String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let platforms = platforms.into_iter().flat_map(|of| of.values());
    let everywhere = toml::Value::from(manifest.clone());
    let places = platforms.cloned().chain([everywhere]);
    let found = places.filter_map(|place| place.get(table)?.as_table().cloned());
    found.flat_map(|names| names.into_iter().map(|(name, _)| name)).collect()
}

fn manifests() -> Vec<Manifest> {
    house::crates().iter().map(|folder| Manifest::read(folder)).collect()
}

/// What runs up or is on the list of what must not be.
fn broken(manifests: &[Manifest]) -> Vec<String> {
    let floor_of: BTreeMap<&str, usize> =
        manifests.iter().map(|it| (it.name.as_str(), it.floor())).collect();
    let mut broken = Vec::new();
    for manifest in manifests {
        for used in manifest.uses.iter().chain(&manifest.tests_use) {
            let Some(&floor) = floor_of.get(used.as_str()) else { continue };
            if floor > manifest.floor() {
                broken.push(format!("{} uses {used}, which is above it", manifest.place));
            }
            let never = NEVER.iter().find(|(name, _)| *name == manifest.name);
            if never.is_some_and(|(_, never)| never.contains(&used.as_str())) {
                broken.push(format!("{} must not use {used}", manifest.place));
            }
        }
    }
    broken
}

#[test]
fn a_folder_uses_only_those_before_it() {
    let broken = broken(&manifests());
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn planted_arrows_up_are_found() {
    let plant = |place: &str, uses: &str| {
        let mut planted = manifests();
        let manifest = planted.iter_mut().find(|it| it.place == place).unwrap();
        manifest.tests_use.insert(uses.to_owned());
        broken(&planted)
    };
    assert_eq!(
        plant("3-fast/distributed/mpi", "lessons"),
        ["3-fast/distributed/mpi uses lessons, which is above it"]
    );
    assert_eq!(
        plant("1-stages/fused-heads", "per-head"),
        ["1-stages/fused-heads must not use per-head"]
    );
    assert!(plant("4-models/models", "tiles").is_empty());
}

#[test]
fn the_list_names_what_there_is() {
    let manifests = manifests();
    let is_there = |name: &str| manifests.iter().any(|it| it.name == name);
    for (name, never) in NEVER {
        for name in never.iter().chain([&name]) {
            assert!(is_there(name), "there is no {name}");
        }
    }
}

/// What the map's last column says of each place: the names, in order.
fn map() -> BTreeMap<String, BTreeSet<String>> {
    let file = paths::workspace().join("crates/README.md");
    let text = fs::read_to_string(file).expect("crates has a map");
    let mut folder = "";
    let mut map = BTreeMap::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            folder = name;
        }
        let Some(row) = line.strip_prefix("| `") else { continue };
        let (name, _) = row.split_once('`').expect("a name ends");
        let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let uses = cells.last().expect("a row has cells").split([',', ';']);
        let uses = uses.map(|name| name.trim().to_owned()).filter(|name| name != "–");
        map.insert(format!("{folder}/{name}"), uses.collect());
    }
    map
}

#[test]
fn the_map_says_what_is_there() {
    let manifests = manifests();
    let ours: BTreeSet<&str> = manifests.iter().map(|it| it.name.as_str()).collect();
    let mut there = BTreeMap::new();
    for manifest in &manifests {
        let is_tool = manifest.place.starts_with("tools");
        let shown = |name: &&String| !is_tool || ours.contains(name.as_str());
        let uses = manifest.uses.iter().filter(shown).cloned().collect();
        there.insert(manifest.place.clone(), uses);
    }
    let map: BTreeMap<String, BTreeSet<String>> = map();
    for (place, uses) in &there {
        assert_eq!(map.get(place), Some(uses), "crates/README.md on {place}");
    }
    assert_eq!(
        map.keys().collect::<Vec<_>>(),
        there.keys().collect::<Vec<_>>(),
        "crates/README.md names what is not there"
    );
}

/// What only tests use is as light as what it tests: nothing of ours besides, and of others
/// what is on the list.
#[test]
fn tests_bring_in_little() {
    let manifests = manifests();
    let ours: BTreeSet<&str> = manifests.iter().map(|it| it.name.as_str()).collect();
    for manifest in &manifests {
        let is_tool = manifest.place.starts_with("tools");
        let is_extra = |name: &&String| {
            let known =
                manifest.uses.contains(*name) || FOR_TESTS.contains(&name.as_str());
            !known && (!is_tool || ours.contains(name.as_str()))
        };
        let extra: Vec<_> = manifest.tests_use.iter().filter(is_extra).collect();
        assert!(extra.is_empty(), "the tests of {} use {extra:?}", manifest.place);
    }
}
