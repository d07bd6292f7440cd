//! `W_i^Q` and `d_model` with their marks set low and high.

use crate::escaped;

/// How large a mark is beside its letter.
const MARK: f64 = 0.76;

/// A letter's width, as a share of its height, on average.
const LETTER: f64 = 0.56;

/// Letters in a run that stand on the line, below it or above it.
fn runs(plain: &str) -> Vec<(i8, String)> {
    let letters: Vec<char> = plain.chars().collect();
    let mut runs: Vec<(i8, String)> = Vec::new();
    let mut level = 0;
    for (at, &letter) in letters.iter().enumerate() {
        let follows = letters.get(at + 1).is_some_and(|next| next.is_alphanumeric());
        match letter {
            '_' if follows => level = -1,
            '^' if follows => level = 1,
            _ => {
                if !letter.is_alphanumeric() {
                    level = 0;
                }
                match runs.last_mut() {
                    Some((last, run)) if *last == level => run.push(letter),
                    _ => runs.push((level, letter.to_string())),
                }
            }
        }
    }
    runs
}

/// The text as SVG, in letters of this size.
pub(super) fn tspans(plain: &str, size: f64) -> String {
    let mut out = String::new();
    let mut above = 0.0;
    for (level, run) in runs(plain) {
        let raised = match level {
            -1 => -0.22 * size,
            1 => 0.36 * size,
            _ => 0.0,
        };
        let run = escaped(&run);
        let by = above - raised;
        above = raised;
        match (level, by == 0.0) {
            (0, true) => out += &run,
            (0, false) => out += &format!("<tspan dy=\"{}\">{run}</tspan>", short(by)),
            _ => {
                let (by, size) = (short(by), short(size * MARK));
                out += &format!("<tspan dy=\"{by}\" font-size=\"{size}\">{run}</tspan>");
            }
        }
    }
    out
}

/// Roughly how wide the text is.
pub(super) fn width(plain: &str, size: f64) -> f64 {
    let run = |(level, run): (i8, String)| {
        let size = if level == 0 { size } else { size * MARK };
        run.chars().count() as f64 * size * LETTER
    };
    runs(plain).into_iter().map(run).sum()
}

/// A number with at most one decimal, as SVG reads it.
pub(super) fn short(number: f64) -> String {
    let rounded = (number * 10.0).round() / 10.0;
    // No drawing is told from another by the sign of zero.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_end_where_their_letters_end() {
        let of = |plain| {
            let runs = runs(plain);
            runs.iter().map(|(level, run)| format!("{level}:{run}")).collect::<Vec<_>>()
        };
        assert_eq!(of("[n, d_model]"), ["0:[n, d", "-1:model", "0:]"]);
        assert_eq!(of("W_i^Q X"), ["0:W", "-1:i", "1:Q", "0: X"]);
        assert_eq!(of("Q K^T / √d_k"), ["0:Q K", "1:T", "0: / √d", "-1:k"]);
        assert_eq!(of("a _ b ^"), ["0:a _ b ^"]);
    }

    #[test]
    fn a_line_comes_back_to_its_height() {
        let svg = tspans("d_k < 2", 10.0);
        let expected = "d<tspan dy=\"2.2\" font-size=\"7.6\">k</tspan>\
                        <tspan dy=\"-2.2\"> &lt; 2</tspan>";
        assert_eq!(svg, expected);
    }
}
