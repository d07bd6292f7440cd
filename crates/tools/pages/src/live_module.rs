//! The modules that run in pages: compiled if this machine can, and put beside the pages,
//! which ask for one when a live figure comes near the window, for another when a reader opens
//! an exercise in another language, and for the third when a reader chooses a model's files.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use assets::live::NO_MODULE;
use assets::versioned;
use serde_json::{Map, Value, json};
use workshop::{build, paths, step};

const TARGET: &str = "wasm32-unknown-unknown";

/// Where cargo finds the flags for this target.
const FLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";

/// Trained weights that figures draw from: what a page calls them, and their file.
pub const WEIGHTS: [(&str, &str); 4] = [
    ("layer", "crates/4-models/model-files/data/minilm-layer5.safetensors"),
    ("queries-keys", "crates/4-models/model-files/data/minilm-queries-keys.safetensors"),
    ("engines", "crates/4-models/sensors/data/remaining.safetensors"),
    ("dates", "crates/2-around/training/data/dates.safetensors"),
];

/// Broken layers to try the diagnosis on: what the page calls each, and its file.
const WRONG_LAYERS: [(&str, &str); 6] = [
    ("heads merged without a transpose", "a01"),
    ("heads split without a transpose", "a02"),
    ("an inverted mask", "a08"),
    ("a wrong scale", "a03"),
    ("weights not transposed", "a13"),
    ("RoPE pairs, not halves", "a24"),
];

/// Where they lie.
const LAYERS: &str = "crates/5-book/diagnosis/tests/layers";

/// A module: a crate, in a profile of its own.
struct Module {
    /// The crate, and the profile.
    package: &'static str,
    /// Names the file if it was compiled by other means: Debian's compiler, say.
    given: &'static str,
    /// As `.ci/live-with-debian` has them too.
    flags: &'static str,
}

/// Vectors of four f32, which every browser has had since 2023.
const LIVE: Module =
    Module { package: "live", given: "LIVE_MODULE", flags: "-C target-feature=+simd128" };

/// The same; and its tokenizer's hash maps ask the page for their seeds, by a function that
/// the page has and no library.
const ENCODER: Module = Module {
    package: "live-model",
    given: "LIVE_MODEL_MODULE",
    flags: "-C target-feature=+simd128 --cfg getrandom_backend=\"custom\" \
            -C link-arg=--allow-undefined",
};

/// It compares numbers and draws none; its hash maps ask the page for their seeds.
const ANSWERS: Module = Module {
    package: "live-answers",
    given: "LIVE_ANSWERS_MODULE",
    flags: ENCODER.flags,
};

/// Whether the live figures are live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    /// Their module lies beside the pages.
    Added {
        /// Its size, in bytes.
        n_bytes: usize,
    },
    /// This machine has no standard library for pages.
    NoTarget,
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { n_bytes } => {
                write!(f, "live figures, {:.1} MB", *n_bytes as f64 / 1e6)
            }
            Self::NoTarget => {
                write!(
                    f,
                    "pages are static: `rustup target add {TARGET}` makes them live"
                )
            }
        }
    }
}

/// Tells the pages that their modules will come, so that one that is open waits for them. A
/// module that is there from before serves them meanwhile.
pub(crate) fn announce(built: &Path) -> Result<()> {
    let has_module = announced(built).get("module").is_some();
    if has_module {
        Ok(())
    } else {
        tell(built, &awaited(&["module", "answers", "encoder"]))
    }
}

/// Compiles the module and writes it, and the weights that figures draw from, into the built
/// book; without the target the pages are told what would bring it.
pub(crate) fn add(built: &Path) -> Result<Live> {
    let bytes = LIVE.bytes().or_else(|error| tell(built, &json!({})).and(Err(error)))?;
    let Some(module) = bytes else {
        tell(built, &json!({ "still": Live::NoTarget.to_string() }))?;
        return Ok(Live::NoTarget);
    };
    let mut weights = Map::new();
    for (name, file) in WEIGHTS {
        let put = put_file(built, &format!("{name}.safetensors"), file)?;
        weights.insert(name.to_owned(), put.into());
    }
    // The others are compiled next.
    let mut found = awaited(&["answers", "encoder"]);
    found["module"] = put(built, "live.wasm", &module)?.into();
    found["weights"] = weights.into();
    tell(built, &found)?;
    Ok(Live::Added { n_bytes: module.len() })
}

/// The same for the module that checks answers.
fn add_answers(built: &Path) -> Result<()> {
    let Some(module) = ANSWERS.bytes()? else { return Ok(()) };
    let mut found = announced(built);
    if let Some(waits) = found.get_mut("awaited").and_then(Value::as_array_mut) {
        waits.retain(|it| it != "answers");
    }
    found["answers"] = put(built, "answers.wasm", &module)?.into();
    tell(built, &found)
}

/// The same for the module that reads a reader's own model, and before it, since it is small,
/// for the one that checks answers.
pub(crate) fn add_encoder(built: &Path) -> Result<Live> {
    let answers = add_answers(built);
    let mut found = announced(built);
    for waiting in ["awaited", "since"] {
        found.as_object_mut().map(|it| it.remove(waiting));
    }
    let bytes = ENCODER.bytes().or_else(|error| tell(built, &found).and(Err(error)))?;
    let Some(module) = bytes else { return Ok(Live::NoTarget) };
    found["encoder"] = put(built, "encoder.wasm", &module)?.into();
    let mut layers = Vec::new();
    for (name, file) in WRONG_LAYERS {
        let file = format!("{file}.safetensors");
        let put = put_file(built, &format!("layer-{file}"), &format!("{LAYERS}/{file}"))?;
        layers.push(json!([name, put]));
    }
    found["wrong_layers"] = layers.into();
    tell(built, &found)?;
    answers?;
    Ok(Live::Added { n_bytes: module.len() })
}

/// That these modules are being compiled, and since when, in seconds of Unix time.
fn awaited(modules: &[&str]) -> Value {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({ "awaited": modules, "since": since.as_secs() })
}

/// Writes what pages may fetch; gives the name to fetch it by.
fn put(built: &Path, name: &str, bytes: &[u8]) -> Result<String> {
    step::write(&built.join("assets").join(name), bytes)?;
    Ok(versioned(name, bytes))
}

/// The same with a file of the workspace.
fn put_file(built: &Path, name: &str, file: &str) -> Result<String> {
    put(built, name, &read(&paths::workspace().join(file))?)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| file.display().to_string())
}

/// Tells the pages what there is.
fn tell(built: &Path, found: &Value) -> Result<()> {
    step::write(&built.join("assets").join(NO_MODULE.0), found.to_string().as_bytes())
}

/// What the pages find now.
fn announced(built: &Path) -> Value {
    let found = fs::read(built.join("assets").join(NO_MODULE.0)).unwrap_or_default();
    serde_json::from_slice(&found).unwrap_or_else(|_| json!({}))
}

/// Has rustup install what modules are compiled for, where it is not there.
pub(crate) fn add_target() -> Result<()> {
    let has_given = env::var_os(LIVE.given).is_some();
    if has_given || build::has_target(TARGET) {
        Ok(())
    } else {
        build::add_target(TARGET)
    }
}

impl Module {
    /// The module, as its sources are; none on a machine that cannot compile it.
    fn bytes(&self) -> Result<Option<Vec<u8>>> {
        self.file()?.map(|file| read(&file)).transpose()
    }

    fn file(&self) -> Result<Option<PathBuf>> {
        if let Some(given) = env::var_os(self.given) {
            return Ok(Some(given.into()));
        }
        if !build::has_target(TARGET) {
            return Ok(None);
        }
        let mut cargo = build::cargo();
        cargo
            .args(["rustc", "--package", self.package, "--lib", "--crate-type", "cdylib"])
            .args(["--profile", self.package, "--target", TARGET])
            .env_remove("RUSTFLAGS")
            .env(FLAGS, self.flags);
        let library = self.package.replace('-', "_");
        Ok(Some(build::program(cargo, &library)?.program))
    }
}
