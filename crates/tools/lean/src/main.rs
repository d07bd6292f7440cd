//! A module for a page without what the page never calls: `lean FILE` writes it to standard
//! output.
//!
//! plotly brings wasm-bindgen into every module for pages; ours are called without it. What
//! is there for wasm-bindgen's own command is a third of what would be fetched.
//!
//! It is a program of its own so that only those compile it who have a module to put into
//! the book: the book is the first thing that a reader waits for.

use std::io::{self, Write};
use std::{env, fs};

use anyhow::{Context, Result};
use walrus::ModuleConfig;

fn main() -> Result<()> {
    let file = env::args_os().nth(1).context("which module? lean FILE")?;
    let module = fs::read(&file)
        .with_context(|| format!("cannot read {}", file.to_string_lossy()))?;
    io::stdout().write_all(&lean(&module)?).context("cannot write the module")
}

/// The same module without the exports and sections that are there for wasm-bindgen's
/// command, and without what only they use.
fn lean(module: &[u8]) -> Result<Vec<u8>> {
    let mut config = ModuleConfig::new();
    config.generate_producers_section(false).generate_name_section(false);
    let mut module = config.parse(module)?;
    let is_for_bindgen = |name: &str| name.starts_with("__");
    let exports = module.exports.iter().filter(|export| is_for_bindgen(&export.name));
    for export in exports.map(|export| export.id()).collect::<Vec<_>>() {
        module.exports.delete(export);
    }
    for section in module.customs.iter().map(|(id, _)| id).collect::<Vec<_>>() {
        module.customs.delete(section);
    }
    walrus::passes::gc::run(&mut module);
    Ok(module.emit_wasm())
}
