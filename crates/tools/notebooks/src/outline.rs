//! What the type engine reads of a crate: every declaration, no function's body.
//!
//! The type of a variable follows from the signatures of the functions that made it. Their
//! bodies are most of a crate, and parsing those of `figures` alone is a quarter of the
//! time to a notebook's first figure. So the sources are copied without them, into
//! `.learn/evcxr/outlines`, each file again when it has changed.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use workshop::step;

/// Copies the Rust files of a folder, and of those in it, as outlines.
///
/// # Errors
/// A file that cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let entries = fs::read_dir(from).with_context(|| from.display().to_string())?;
    for entry in entries {
        let entry = entry?;
        let (source, outline) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &outline)?;
        } else if source.extension().is_some_and(|ending| ending == "rs") {
            copy_file(&source, &outline)?;
        }
    }
    Ok(())
}

/// The outline has its source's time of change, by which it is known to be its outline.
fn copy_file(source: &Path, outline: &Path) -> Result<()> {
    let changed = fs::metadata(source)?.modified()?;
    let is_made = |file: fs::Metadata| file.modified().is_ok_and(|made| made == changed);
    if fs::metadata(outline).is_ok_and(is_made) {
        return Ok(());
    }
    let text = fs::read_to_string(source)?;
    // What is no Rust yet, while somebody edits it, the type engine may see as it is.
    step::write(outline, of(&text).unwrap_or(text))?;
    File::options().write(true).open(outline)?.set_modified(changed)?;
    Ok(())
}

/// A file's text without the bodies of its functions.
fn of(text: &str) -> Result<String> {
    let tokens: TokenStream = text.parse().map_err(|error| anyhow!("{error}"))?;
    Ok(without_bodies(tokens).to_string())
}

fn without_bodies(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let (mut is_const, mut in_signature) = (false, false);
    let mut outline = Vec::new();
    while let Some(token) = tokens.next() {
        outline.push(match token {
            TokenTree::Ident(word) if word == "const" && !in_signature => {
                is_const = true;
                word.into()
            }
            TokenTree::Ident(word) if word == "fn" => {
                // Without a name it is the type of a function.
                in_signature |= matches!(tokens.peek(), Some(TokenTree::Ident(_)));
                word.into()
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                // A length in a type may be what a constant function returns.
                let is_body = in_signature && !is_const;
                (is_const, in_signature) = (false, false);
                let kept = if is_body { TokenStream::new() } else { group.stream() };
                Group::new(Delimiter::Brace, without_bodies(kept)).into()
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => {
                (is_const, in_signature) = (false, false);
                mark.into()
            }
            other => other,
        });
    }
    outline.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(text: &str, outline: &str) {
        let outline: TokenStream = outline.parse().unwrap();
        assert_eq!(of(text).unwrap(), outline.to_string());
    }

    #[test]
    fn bodies_go_and_all_that_a_type_needs_stays() {
        same("pub fn f(x: [f64; 2]) -> f64 { x[0] }", "pub fn f(x: [f64; 2]) -> f64 {}");
        same(
            "impl A { const N: usize = 2; fn f() { g(); } }",
            "impl A { const N: usize = 2; fn f() {} }",
        );
        same(
            "trait T { fn a(&self); fn b(&self) { 1; } }",
            "trait T { fn a(&self); fn b(&self) {} }",
        );
        same(
            "mod m { pub fn f<const N: usize>() { 1; } }",
            "mod m { pub fn f<const N: usize>() {} }",
        );
        for kept in [
            "const fn width() -> usize { 2 + 2 }",
            "struct S { f: fn(f64) -> f64, g: f64 }",
            "const C: S = S { f: sin, g: { 1.0 } };",
            "macro_rules! m { ($n:ident) => { fn $n() { 1; } } }",
            "enum E { A { x: f64 }, B }",
        ] {
            same(kept, kept);
        }
    }

    #[test]
    fn an_outline_is_made_again_when_its_source_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("src"), folder.path().join("outline"));
        let (source, outline) = (from.join("a/mod.rs"), to.join("a/mod.rs"));
        step::write(&source, "fn f() { 1 }").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&outline).unwrap(), of("fn f() {}").unwrap());
        fs::write(&source, "fn g() -> f64 { 1.0 }").unwrap();
        let later = fs::metadata(&outline).unwrap().modified().unwrap()
            + std::time::Duration::from_secs(1);
        File::options().write(true).open(&source).unwrap().set_modified(later).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(
            fs::read_to_string(&outline).unwrap(),
            of("fn g() -> f64 {}").unwrap()
        );
    }
}
