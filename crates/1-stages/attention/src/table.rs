//! How ledgers are printed.

use std::fmt;

/// A whole number with its thousands apart: `263,168`.
pub fn thousands(n: impl fmt::Display) -> String {
    let digits = n.to_string();
    let first = (digits.len() + 2) % 3 + 1;
    let mut groups = vec![&digits[..first]];
    groups.extend((first..digits.len()).step_by(3).map(|i| &digits[i..i + 3]));
    groups.join(",")
}

/// Writes rows of cells in columns: text to the left, the last column to the right, a
/// rule before the last row.
pub fn write_table(f: &mut fmt::Formatter<'_>, rows: &[Vec<String>]) -> fmt::Result {
    let n_columns = rows.first().map_or(0, Vec::len);
    let width_of = |c: usize| rows.iter().map(|row| row[c].chars().count()).max();
    let widths: Vec<usize> = (0..n_columns).map(|c| width_of(c).unwrap_or(0)).collect();
    let rule = "─".repeat(widths.iter().sum::<usize>() + 2 * n_columns.saturating_sub(1));
    for (r, row) in rows.iter().enumerate() {
        if r + 1 == rows.len() {
            writeln!(f, "{rule}")?;
        }
        let cells = row.iter().zip(&widths).enumerate().map(|(c, (cell, &width))| {
            if c + 1 == n_columns {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        writeln!(f, "{}", cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (65536, "65,536"),
            (1234567, "1,234,567"),
        ];
        for (n, text) in cases {
            assert_eq!(thousands(n), text);
        }
    }
}
