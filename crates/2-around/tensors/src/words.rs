//! What a file says, as errors show it.

/// A shape as it is written everywhere in this workspace: `(30, 256)`. Of more sizes than
/// any tensor has, only the first.
pub fn shape_text(shape: &[usize]) -> String {
    const MOST: usize = 12;
    let sizes = shape.iter().take(MOST).map(usize::to_string);
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    match shape.len().saturating_sub(MOST) {
        0 => format!("({sizes})"),
        n => format!("({sizes}, and {n} more)"),
    }
}

/// A name from a file, which may be of any length and hold what moves a terminal's cursor.
pub fn name_text(name: &str) -> String {
    const MOST: usize = 200;
    let mut text = String::new();
    for c in name.chars().take(MOST) {
        match c {
            '\'' | '"' | '\\' => text.push(c),
            c => text.extend(c.escape_debug()),
        }
    }
    match name.chars().count().saturating_sub(MOST) {
        0 => text,
        n => format!("{text}… and {n} characters more"),
    }
}

/// The first names of a list, and how many more there are.
pub fn names_text(names: &[String]) -> String {
    const MOST: usize = 12;
    let first: Vec<String> =
        names.iter().take(MOST).map(|name| name_text(name)).collect();
    match names.len() {
        0 => "none at all".to_string(),
        n if n <= MOST => first.join(", "),
        n => format!("{}, and {} more", first.join(", "), n - MOST),
    }
}
