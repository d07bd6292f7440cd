//! Colours: a scale for shares and one colour a head.
//!
//! Both are checked against the five themes of the book and both kinds of notebook, so the
//! tests here state what they need of a page.

use serde_json::{Value, json};

use crate::layout::rounded;

/// Viridis: its lightness alone tells the value, from dark (0) to light, so it reads the
/// same with colour blindness and in grey.
const VIRIDIS: [&str; 10] = [
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779",
    "#6ece58", "#b5de2b", "#fde725",
];

/// Sixteen hues of one lightness, between white pages and black ones; heads that follow
/// one another are nearly opposite. No reader tells all sixteen apart: names do that.
const HEADS: [&str; 16] = [
    "#0278e7", "#bf5e01", "#018697", "#cf3665", "#038b64", "#ab48b9", "#6d8103",
    "#5f62e2", "#a46e01", "#017eaa", "#d03a2a", "#028880", "#c13c92", "#018e01",
    "#8b55d5", "#8b7700",
];

/// The scale of every map, dark at 0.
pub(crate) fn shares() -> Value {
    let last = (VIRIDIS.len() - 1) as f64;
    let stops = VIRIDIS.iter().enumerate();
    stops.map(|(at, colour)| json!([rounded(at as f64 / last), colour])).collect()
}

/// From a colour for nothing to that of the first head.
pub(crate) fn from_nothing(nothing: &str) -> Value {
    json!([[0.0, nothing], [1.0, head(0)]])
}

/// The colour of the `nth` head.
pub(crate) fn head(nth: usize) -> &'static str {
    HEADS[nth % HEADS.len()]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::layout::NEUTRAL;

    /// Backgrounds of mdBook's themes light, rust, coal, navy and ayu.
    pub(crate) const PAGES: [&str; 5] =
        ["#ffffff", "#e1e1db", "#141617", "#161923", "#0f1419"];

    /// WCAG 2's relative luminance.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    pub(crate) fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn the_scale_grows_lighter_at_every_stop() {
        assert!(VIRIDIS.windows(2).all(|pair| luminance(pair[0]) < luminance(pair[1])));
    }

    #[test]
    fn lines_stand_out_on_every_page() {
        for page in PAGES {
            for colour in HEADS {
                let contrast = contrast(page, colour);
                assert!(contrast >= 3.0, "{colour} on {page}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn neutral_text_reads_on_white_and_on_a_dark_notebook() {
        for page in ["#ffffff", "#111111"] {
            let contrast = contrast(page, NEUTRAL);
            assert!(contrast >= 4.0, "{page}: {contrast:.2}");
        }
    }
}
