//! What others put in front of every name of a file.

use tensors::TensorFile;

/// `torch.compile` and `DataParallel`: no name of a model or a layer begins so.
const ANY: [&str; 2] = ["_orig_mod.", "module."];

/// Before a whole model: sentence-transformers, and a model of pictures and texts.
const MODELS: [&str; 2] = ["0.auto_model.", "language_model."];

/// Before a layer: PEFT, the model that it is of, a checkpoint. A whole model's own names
/// may begin so.
const LAYERS: [&str; 3] = ["base_model.", "model.", "state_dict."];

/// A file without what others have put before every name.
pub fn without_wrappers(file: TensorFile) -> TensorFile {
    match before_all(file.names().iter()) {
        Some(wrapper) => without_wrappers(file.without_prefix(wrapper)),
        None => file,
    }
}

/// What stands before all names of a model, if something does.
fn before_all<'a>(
    names: impl Iterator<Item = &'a String> + Clone,
) -> Option<&'static str> {
    names.clone().next()?;
    let is_before_all = |it: &&&str| names.clone().all(|name| name.starts_with(**it));
    ANY.iter().chain(&MODELS).find(is_before_all).copied()
}

/// A layer's prefix without what stands before it.
pub fn without(mut prefix: &str) -> &str {
    let wrappers = || ANY.iter().chain(&LAYERS);
    while let Some(rest) = wrappers().find_map(|it| prefix.strip_prefix(*it)) {
        prefix = rest;
    }
    prefix
}
