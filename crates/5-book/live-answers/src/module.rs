//! What a page can call.

use wasm_minimal_protocol::{initiate_protocol, wasm_func};

use crate::Error;

initiate_protocol!();

/// What an exercise hands out in one form: its name, its kept numbers, the form, and the
/// function's name.
#[wasm_func]
pub fn inputs(
    name: &[u8],
    numbers: &[u8],
    form: &[u8],
    function: &[u8],
) -> Result<Vec<u8>, Error> {
    crate::given(text(name)?, numbers, text(form)?, text(function)?)
}

/// The head of the function that is asked for: the exercise, the library, its name.
#[wasm_func]
pub fn signature(name: &[u8], library: &[u8], function: &[u8]) -> Result<Vec<u8>, Error> {
    let signature = crate::signature(text(name)?, text(library)?, text(function)?)?;
    Ok(signature.into_bytes())
}

/// The verdict on a text or a file, as JSON: the exercise, its kept numbers, what is said of it,
/// the bytes, and the name of the file.
#[wasm_func]
pub fn verdict(
    name: &[u8],
    numbers: &[u8],
    words: &[u8],
    given: &[u8],
    file: &[u8],
) -> Result<Vec<u8>, Error> {
    let verdict =
        crate::verdict(text(name)?, numbers, words, given.to_vec(), text(file)?)?;
    Ok(verdict.to_string().into_bytes())
}

fn text(bytes: &[u8]) -> Result<&str, Error> {
    Ok(std::str::from_utf8(bytes)?)
}
