//! One error for the stages and what stands around them, and no second name for an error.

use std::fs;
use std::path::Path;

use crate::lengths::sources;

/// The errors of the first two floors: what does not fit, and what a file of tensors has wrong.
const ERRORS: [&str; 2] =
    ["1-stages/attention/src/error.rs", "2-around/tensors/src/error.rs"];

/// Whether a source gives an error or a result of somebody else's another name.
fn has_alias(source: &str) -> bool {
    let words: Vec<&str> = source.split_whitespace().collect();
    words.windows(3).any(|three| {
        let is_error =
            |it: &str| matches!(it.trim_start_matches('{'), "Error" | "Result");
        let of = three[0].rsplit("::").next().unwrap_or_default();
        is_error(of) && three[1] == "as" && !three[2].starts_with('_')
    })
}

#[test]
fn no_error_has_a_second_name() {
    // As words of this file would be found too, the planted ones are put together.
    let planted = |it: &str| has_alias(&format!("use attention::{{Error {it}"));
    assert!(
        planted("as SizeError, Matrix};") && !planted("as _};") && !planted(", as_x};")
    );
    let of_std = ["workshop/src/output.rs"].map(Path::new); // `std::error::Error`, the trait
    let aliases = |path: &&Path| {
        !of_std.iter().any(|it| path.ends_with(it))
            && has_alias(&fs::read_to_string(path).expect("a source"))
    };
    let sources = sources();
    let found: Vec<&Path> =
        sources.iter().map(|it| it.as_path()).filter(aliases).collect();
    assert!(found.is_empty(), "an error has two names in {found:?}");
}

#[test]
fn the_first_two_floors_have_one_error_and_one_of_files() {
    let is_below = |path: &Path| {
        ["1-stages", "2-around"].iter().any(|floor| path.iter().any(|it| it == *floor))
    };
    let has_one = |path: &Path| {
        let source = fs::read_to_string(path).expect("a source");
        source.lines().any(|line| line.starts_with("pub enum") && line.contains("Error"))
    };
    let sources = sources();
    let found = sources.iter().filter(|path| is_below(path) && has_one(path));
    let is_known = |path: &Path| ERRORS.iter().any(|it| path.ends_with(it));
    let (known, others): (Vec<_>, Vec<_>) = found.partition(|path| is_known(path));
    assert!(others.is_empty(), "an error of its own in {others:?}");
    assert_eq!(known.len(), ERRORS.len(), "{known:?}");
}
