//! Figures in text: for a terminal, a repository's web page, a page without scripts.

use attention::Matrix;

use crate::Table;

/// How wide a sketch may be, in columns.
const WIDTH: usize = 90;

const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Maps side by side, as many as fit; rows are labelled in the first map of each band.
///
/// `most` is the share that is drawn as a full block.
pub fn maps(named: &[(String, &Matrix)], row_labels: &[String], most: f64) -> String {
    let label_width = longest(row_labels);
    let n_columns = named.first().map_or(0, |(_, map)| map.ncols());
    // Two characters make a square; a long sentence has room for one.
    let cell = if n_columns <= 12 { 2 } else { 1 };
    let map_width = (n_columns * cell).max(longest_name(named));
    let a_band = ((WIDTH - label_width.min(WIDTH)) / (map_width + 3)).max(1);

    let bands = named.chunks(a_band).map(|band| {
        let heading = band.iter().map(|(name, _)| format!("  {name:<map_width$} "));
        let mut lines =
            vec![format!("{:label_width$}{}", "", heading.collect::<String>())];
        for (row, label) in row_labels.iter().enumerate() {
            let cells = band.iter().map(|(_, map)| {
                let line: String = (0..n_columns)
                    .flat_map(|column| [shade(map[(row, column)], most)].repeat(cell))
                    .collect();
                format!(" │{line:<map_width$}│")
            });
            lines.push(format!("{label:>label_width$}{}", cells.collect::<String>()));
        }
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    });
    bands.collect::<Vec<_>>().join("\n\n")
}

/// A bar of at most `width` characters, drawn to an eighth of one.
pub fn bar(value: f64, most: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value / most * width as f64 * 8.0).round().max(0.0) as usize;
    let eighths = eighths.min(8 * width);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Values as a row of small columns, one character each, or the largest of several where
/// there are more than fit.
pub fn columns(values: &[f64], most: f64) -> String {
    const HEIGHTS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let together = values.len().div_ceil(WIDTH - 10).max(1);
    let column = |values: &[f64]| {
        let largest = values.iter().copied().fold(0.0, f64::max);
        let step = (largest / most * 8.0).ceil().clamp(0.0, 8.0);
        HEIGHTS[step as usize]
    };
    values.chunks(together).map(column).collect()
}

/// A table as text: row heads to the left, cells to the right.
pub fn table(table: &Table) -> String {
    let lines: Vec<&Vec<String>> =
        std::iter::once(&table.columns).chain(&table.rows).collect();
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max();
    let widths: Vec<usize> =
        (0..table.columns.len()).map(|at| width(at).unwrap_or(0)).collect();
    let line = |cells: &&Vec<String>| {
        let cells = cells.iter().zip(&widths).enumerate();
        let cells = cells.map(|(at, (cell, &width))| match at {
            0 => format!("{cell:<width$}"),
            _ => format!("  {cell:>width$}"),
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Tables under one another.
pub fn tables(tables: &[Table]) -> String {
    tables.iter().map(table).collect::<Vec<_>>().join("\n\n")
}

/// The same, each under its caption.
pub fn captioned(tables: &[Table]) -> String {
    let one = |it: &Table| format!("{}\n{}", it.caption, table(it));
    tables.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// The block whose darkness is nearest to `share / most`.
fn shade(share: f64, most: f64) -> char {
    let steps = (SHADES.len() - 1) as f64;
    let step = (share / most * steps).round().clamp(0.0, steps);
    SHADES[step as usize]
}

/// The number of characters of the longest text.
pub fn longest(texts: &[String]) -> usize {
    texts.iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

fn longest_name(named: &[(String, &Matrix)]) -> usize {
    named.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_are_the_nearest_of_five() {
        let line: String =
            (0..=8).map(|eighth| shade(f64::from(eighth) / 8.0, 1.0)).collect();
        assert_eq!(line, " ░░▒▒▓▓██");
        assert_eq!(shade(0.3, 0.3), '█');
        assert_eq!(shade(1.0, 0.3), '█');
    }

    #[test]
    fn bars_and_columns_keep_to_their_room() {
        assert_eq!(bar(0.5, 1.0, 3), "█▌");
        assert_eq!(bar(2.0, 1.0, 3), "███");
        assert_eq!(columns(&[0.0, 0.01, 0.5, 1.0], 1.0), "·▁▄█");
        assert_eq!(columns(&[0.2; 384], 1.0).chars().count(), 77);
    }

    #[test]
    fn no_line_is_wider_than_the_sketch() {
        let map = Matrix::from_element(2, 16, 1.0);
        let named = vec![("head 0".to_owned(), &map); 16];
        let sketch = maps(&named, &["[CLS]".to_owned(), "it".to_owned()], 1.0);
        assert!(sketch.lines().all(|line| line.chars().count() <= WIDTH), "{sketch}");
        assert_eq!(sketch.matches("head 0").count(), 16);
    }
}
