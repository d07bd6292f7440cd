//! Numbers as the Line writes them: short enough to stand in a cell.

/// To one decimal: `2`, `0.7`, `−∞`.
pub(in crate::diagram) fn entry(number: f64) -> String {
    if number.is_infinite() {
        return if number < 0.0 { "−∞" } else { "∞" }.to_owned();
    }
    let rounded = (number * 10.0).round() / 10.0 + 0.0;
    rounded.to_string().replace('-', "−")
}

/// To two: `.67`, `1`, `0`.
pub(super) fn share(share: f64) -> String {
    let rounded = (share * 100.0).round() / 100.0 + 0.0;
    let digits = rounded.to_string();
    match digits.strip_prefix("0.") {
        Some(after) => format!(".{after}"),
        None => digits,
    }
}

/// `(0.7, 0.2)`.
pub(super) fn vector(numbers: &[f64], write: fn(f64) -> String) -> String {
    let entries: Vec<String> = numbers.iter().map(|&number| write(number)).collect();
    format!("({})", entries.join(", "))
}

/// `0, 1.4, 0`.
pub(super) fn list(numbers: &[f64], write: fn(f64) -> String) -> String {
    let entries: Vec<String> = numbers.iter().map(|&number| write(number)).collect();
    entries.join(", ")
}
