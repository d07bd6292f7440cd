//! The module that makes the live figures live: compiled if this machine can, and put
//! beside the pages, which ask for it when a live figure comes near the window.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;
use workshop::{build, step};

use crate::figure::{self, NO_MODULE};

const TARGET: &str = "wasm32-unknown-unknown";

/// Vectors of four f32, which every browser has had since 2023.
const FLAGS: (&str, &str) =
    ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C target-feature=+simd128");

/// Names a module that was compiled by other means: Debian's compiler, say.
const GIVEN: &str = "LIVE_MODULE";

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
                    "figures do not move: `rustup target add {TARGET}` makes them live"
                )
            }
        }
    }
}

/// Compiles the module and writes it, and the trained layer, into the built book; without
/// the target the pages are told that there is none.
pub(crate) fn add(built: &Path) -> Result<Live> {
    let assets = built.join("assets");
    let write = |name: &str, bytes: &[u8]| step::write(&assets.join(name), bytes);
    let named = |name: &str, bytes: &[u8]| format!("{name}?v={}", figure::hash(bytes));
    let Some(module) = module()? else {
        write(NO_MODULE.0, NO_MODULE.1.as_bytes())?;
        return Ok(Live::NoTarget);
    };
    let module =
        fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
    write("live.wasm", &module)?;
    write("layer.safetensors", lessons::trained::FILE)?;
    let found = json!({
        "module": named("live.wasm", &module),
        "layer": named("layer.safetensors", lessons::trained::FILE),
    });
    write(NO_MODULE.0, found.to_string().as_bytes())?;
    Ok(Live::Added { n_bytes: module.len() })
}

/// The module's file, as its sources are; none on a machine that cannot compile it.
fn module() -> Result<Option<PathBuf>> {
    if let Some(given) = std::env::var_os(GIVEN) {
        return Ok(Some(given.into()));
    }
    if !has_target() {
        return Ok(None);
    }
    let mut cargo = build::cargo();
    cargo
        .args(["rustc", "--package", "live", "--lib", "--crate-type", "cdylib"])
        .args(["--profile", "live", "--target", TARGET])
        .env_remove("RUSTFLAGS")
        .env(FLAGS.0, FLAGS.1);
    Ok(Some(build::program(cargo, "live")?.program))
}

/// Whether rustc's standard library for this target is on the machine.
fn has_target() -> bool {
    let mut rustc =
        Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let said = rustc.args(["--print", "target-libdir", "--target", TARGET]).output();
    said.is_ok_and(|said| {
        let folder = String::from_utf8_lossy(&said.stdout);
        said.status.success() && Path::new(folder.trim()).is_dir()
    })
}
