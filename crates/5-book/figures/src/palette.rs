//! Colours: one scale for attention weights, and one colour a head.
//!
//! Both are checked against the five themes of the book and both kinds of notebook, so the
//! tests here state what they need of a page.

/// The ends of the one scale of attention weights: from the page's ground, so faintly
/// tinted that cells of 0 are seen as cells, to the blue that stands out most there. A page
/// has both in its theme's colours, as figures.css sets them; elsewhere they are what
/// stands behind the comma. One hue alone tells the value, so it reads the same with colour
/// blindness and in grey.
const SHARES: [&str; 2] = ["var(--no-share, #f1f6fb)", "var(--share, #0550ae)"];

/// A cell of 0, where there is no entry to be seen.
pub const NOTHING: &str = SHARES[0];

/// How many hues there are.
pub const N_HUES: usize = 6;

/// Six hues between white pages and black ones, apart from one another for every kind of
/// eye. Heads from the seventh on begin again: their names tell them apart.
const HEADS: [&str; N_HUES] =
    ["#0278e7", "#bf5e01", "#007878", "#d00038", "#288858", "#a048a8"];

/// The colours of a scale, each at its part from 0 to 1.
pub type Stops = Vec<(f64, &'static str)>;

/// The scale of every map: the page's ground at 0, blue at 1.
pub fn shares() -> Stops {
    vec![(0.0, SHARES[0]), (1.0, SHARES[1])]
}

/// Its ends: no attention, and all of it.
pub(crate) fn ends_of_shares() -> [&'static str; 2] {
    SHARES
}

/// What is read on a cell of this attention weight, as the pages' `inkOn` has it.
pub(crate) fn on_share(share: f64) -> &'static str {
    match share {
        ..=0.6 => "var(--on-low-share, currentColor)",
        ..=0.76 => "#000",
        _ => "var(--on-high-share, #fff)",
    }
}

/// The scale where there is no style sheet: of `var(--name, colour)` the `colour`.
pub(crate) fn unstyled(scale: &Stops) -> Stops {
    scale.iter().map(|&(at, colour)| (at, fallback(colour))).collect()
}

fn fallback(colour: &'static str) -> &'static str {
    let named = colour.strip_prefix("var(").and_then(|it| it.strip_suffix(')'));
    named.and_then(|it| it.split_once(", ")).map_or(colour, |(_, colour)| colour)
}

/// Of numbers of both signs between the negative of an end and that end: purple below 0, blue
/// above it, and at 0 hardly anything on any page.
pub fn signs() -> Stops {
    vec![(0.0, head(5)), (0.5, "rgba(118,118,118,0.12)"), (1.0, head(0))]
}

/// From a colour for nothing to that of the first head.
pub fn from_nothing(nothing: &'static str) -> Stops {
    vec![(0.0, nothing), (1.0, head(0))]
}

/// The colour of the `nth` head.
pub fn head(nth: usize) -> &'static str {
    HEADS[nth % HEADS.len()]
}

/// The colour of what differs or is wrong.
pub fn wrong() -> &'static str {
    HEADS[1]
}

/// The colour of the `nth` head where some entries may be [`wrong`].
pub fn beside_wrong(nth: usize) -> &'static str {
    const HUES: [usize; N_HUES - 1] = [0, 2, 5, 4, 3];
    HEADS[HUES[nth % HUES.len()]]
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

    const CSS: &str = include_str!("../../../tools/assets/figures/figures.css");

    /// The blue of the style sheet on light pages, and on dark ones.
    fn blues() -> [&'static str; 2] {
        let mut found = CSS.split("--share: ").skip(1).map(|after| &after[..7]);
        [(); 2].map(|()| found.next().unwrap())
    }

    #[test]
    fn the_scale_ends_far_from_every_page_and_in_a_notebook_as_on_a_light_page() {
        let [on_light, on_dark] = blues();
        for (nth, page) in PAGES.into_iter().enumerate() {
            let blue = if nth < 2 { on_light } else { on_dark };
            let contrast = contrast(page, blue);
            assert!(contrast >= 5.5, "{blue} on {page}: {contrast:.2}");
        }
        assert_eq!(fallback(SHARES[1]), on_light);
        assert!(contrast("#ffffff", fallback(SHARES[0])) < 1.1);
    }

    #[test]
    fn no_head_has_the_colour_of_what_is_wrong_where_both_are_drawn() {
        let hues: Vec<_> = (0..N_HUES - 1).map(beside_wrong).collect();
        assert!(!hues.contains(&wrong()));
        assert!((1..hues.len()).all(|nth| !hues[..nth].contains(&hues[nth])), "{hues:?}");
    }

    #[test]
    fn a_colour_without_a_name_is_itself() {
        for colour in ["#0278e7", "rgba(118,118,118,0.12)"] {
            assert_eq!(fallback(colour), colour);
        }
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
