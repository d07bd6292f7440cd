//! Colours: a scale for shares and one colour a head.
//!
//! Both are checked against the five themes of the book and both kinds of notebook, so the
//! tests here state what they need of a page.

use crate::layout::rounded;

/// Viridis: its lightness alone tells the value, from dark (0) to light, so it reads the
/// same with colour blindness and in grey.
const VIRIDIS: [&str; 10] = [
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779",
    "#6ece58", "#b5de2b", "#fde725",
];

/// How many hues there are.
pub const N_HUES: usize = 6;

/// Six hues between white pages and black ones, apart from one another for every kind of
/// eye. Heads from the seventh on begin again: their names tell them apart.
const HEADS: [&str; N_HUES] =
    ["#0278e7", "#bf5e01", "#007878", "#d00038", "#288858", "#a048a8"];

/// The colours of a scale, each at its part from 0 to 1.
pub type Stops = Vec<(f64, &'static str)>;

/// The scale of every map, dark at 0.
pub fn shares() -> Stops {
    let last = (VIRIDIS.len() - 1) as f64;
    let stops = VIRIDIS.iter().enumerate();
    stops.map(|(at, &colour)| (rounded(at as f64 / last), colour)).collect()
}

/// From a colour for nothing to that of the first head.
pub fn from_nothing(nothing: &'static str) -> Stops {
    vec![(0.0, nothing), (1.0, head(0))]
}

/// The colour of the `nth` head.
pub fn head(nth: usize) -> &'static str {
    HEADS[nth % HEADS.len()]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::layout::NEUTRAL;

    /// Backgrounds of mdBook's themes light, rust, coal, navy and ayu.
    pub(crate) const PAGES: [&str; 5] =
        ["#ffffff", "#e1e1db", "#141617", "#161923", "#0f1419"];

    /// Red, green and blue in proportion to their light.
    fn linear(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let value = u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    /// WCAG 2's relative luminance.
    fn luminance(colour: &str) -> f64 {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
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

    /// CIE L\*a\*b\* of linear red, green and blue, under D65.
    fn lab([r, g, b]: [f64; 3]) -> [f64; 3] {
        let xyz = [
            (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
            0.2126 * r + 0.7152 * g + 0.0722 * b,
            (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
        ];
        let [x, y, z] =
            xyz.map(
                |it: f64| {
                    if it > 0.008856 { it.cbrt() } else { 7.787 * it + 16.0 / 116.0 }
                },
            );
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// What eyes without one kind of cones see of linear colours (Machado et al. 2009,
    /// severity 1): without long ones, and without medium ones; and what others see.
    const EYES: [[[f64; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.01182, 0.04294, 0.968881],
        ],
    ];

    #[test]
    fn hues_are_apart_for_every_kind_of_eye() {
        for (kind, eye) in EYES.iter().enumerate() {
            let seen = HEADS.map(|colour| {
                let rgb = linear(colour);
                lab(eye.map(|row| {
                    row.iter().zip(rgb).map(|(a, b)| a * b).sum::<f64>().max(0.0)
                }))
            });
            for (nth, a) in seen.iter().enumerate() {
                for (other, b) in seen[..nth].iter().enumerate() {
                    let apart =
                        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(
                        apart >= 20.0,
                        "{} and {}, eye {kind}: {apart:.1}",
                        HEADS[nth],
                        HEADS[other]
                    );
                }
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
