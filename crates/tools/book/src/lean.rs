//! A module without what its page never calls.

use anyhow::Result;
use walrus::ModuleConfig;

/// The same module without the exports and sections that are there for wasm-bindgen's
/// command, and without what only they use: a third of what is fetched.
///
/// plotly brings wasm-bindgen into every module for pages; ours are called without it.
pub(crate) fn lean(module: &[u8]) -> Result<Vec<u8>> {
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
