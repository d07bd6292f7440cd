//! A deep stack with and without its parts: live.

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::{along, brief};
use anyhow::Result;
use figures::{Lines, lines};

use super::depth::{Place, Setting, measure};

/// Draws what a fresh stack does to tokens and gradients.
pub const LIVE: Live = Live {
    name: "deep-stack",
    questions: &[
        Question {
            ask: "Take a part away, so that all tokens become the same but for rounding.",
            is_answered: |settings, view| Ok(Ends::of(settings, view)?.apart < 1e-12),
            answer: &[("residual", "off")],
            found: "Without the residual, after a few blocks and whatever the norm: every \
                    block replaces tokens by averages.",
        },
        Question {
            ask: "Keep the residual, and make the spread of the entries grow to more \
                 than 1,000 times what it was.",
            is_answered: |settings, view| {
                Ok(settings.is_on("residual")? && Ends::of(settings, view)?.spread > 1e3)
            },
            answer: &[("norm", "none")],
            found: "Without a norm nothing holds the scale: what a block adds grows with \
                   what comes in.",
        },
        Question {
            ask: "All 24 blocks and no norm: keep the gradient below 3, let the spread \
                 grow less than 3 times, and tokens stay apart by 0.3 or more.",
            is_answered: |settings, view| {
                let is_as_asked = settings.choice("norm")? == "none"
                    && settings.number("blocks")? == 24.0;
                let Ends { gradient, spread, apart } = Ends::of(settings, view)?;
                Ok(is_as_asked && gradient.max(spread) < 3.0 && apart >= 0.3)
            },
            answer: &[("norm", "none"), ("size", "0.5")],
            found: "Begin with smaller parameters: each block then changes little, and the \
                    residual passes tokens and gradients on.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// What comes out at the end of the stack, for the questions.
struct Ends {
    /// Below the first block, as a part of that at the top.
    gradient: f64,
    /// The scale of the entries at the end, as a part of that at the beginning.
    spread: f64,
    /// The distance of tokens from their mean, as a part of their size.
    apart: f64,
}

impl Ends {
    fn of(settings: &Settings, view: &LiveView) -> Result<Self> {
        let n = settings.number("blocks")?.round() as usize + 1; // numbers of each kind
        Ok(Self {
            gradient: view.number(0)?,
            spread: view.number(2 * n - 1)? / view.number(n)?,
            apart: view.number(3 * n - 1)?,
        })
    }
}

fn controls() -> Vec<Control> {
    let places = [("before", "before"), ("after", "after"), ("none", "nowhere")];
    let sizes = [("1", "as they begin here"), ("0.5", "halved"), ("2", "doubled")];
    let blocks = Kind::Number { range: [1.0, 24.0], step: 1.0, first: 24.0 };
    vec![
        Control::new("residual", "Residual", Kind::Switch { first: true }),
        Control::new("norm", "Norm", Kind::choice(places)),
        Control::new("blocks", "Blocks", blocks),
        Control::new("size", "Parameters", Kind::choice(sizes)),
        Control::new("seed", "Seed", Kind::Count { range: [0, 99], first: 0 }),
    ]
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let place = match settings.choice("norm")? {
        "before" => Place::Before,
        "after" => Place::After,
        _ => Place::None,
    };
    let n_blocks = settings.number("blocks")?.round() as usize;
    let residual = settings.is_on("residual")?;
    let size = settings.choice("size")?.parse()?;
    let setting = Setting { residual, place, n_blocks, size };
    let depth = measure(&setting, settings.count("seed")? as u64)?;
    let panel = |title: &str, lines: &[(&str, &[f64])]| Lines {
        title: title.to_owned(),
        x: "after block".to_owned(),
        is_log: true,
        lines: lines.iter().map(|(name, it)| ((*name).to_owned(), along(*it))).collect(),
    };
    let panels = [
        panel(
            "gradient, as a part of that at the top",
            &[("gradient", &depth.gradients)],
        ),
        panel("tokens", &[("spread", &depth.scales), ("apart", &depth.apart)]),
    ];
    let figure = lines(format!("{n_blocks} fresh blocks: {}", setting.name()), &panels)?;
    let [gradient, from, to, apart_from, apart_to] = [
        depth.gradients[0],
        depth.scales[0],
        depth.scales[n_blocks],
        depth.apart[0],
        depth.apart[n_blocks],
    ];
    let words = format!(
        "Below the first block the gradient is {} times what it is at the top. The spread \
         of the entries goes from {} to {}, and the distance of tokens from their mean, as \
         a part of their size, from {} to {}.",
        brief(gradient),
        brief(from),
        brief(to),
        brief(apart_from),
        brief(apart_to)
    );
    let numbers = [depth.gradients, depth.scales, depth.apart].concat();
    Ok(LiveView { figure, words, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_with_and_without_a_residual() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Below the first block the gradient is 5.951 times what it is at the top. The spread of the entries goes from 0.986 to 7.21, and the distance of tokens from their mean, as a part of their size, from 0.838 to 0.18.");
        let without = [("residual", "off"), ("norm", "none")];
        insta::assert_snapshot!(LIVE.at(without).unwrap().words, @"Below the first block the gradient is 9e-10 times what it is at the top. The spread of the entries goes from 0.986 to 0.143, and the distance of tokens from their mean, as a part of their size, from 0.838 to 2e-16.");
    }

    #[test]
    fn every_setting_is_drawn_from_one_block_on() {
        for residual in ["on", "off"] {
            for norm in ["before", "after", "none"] {
                for blocks in ["1", "24"] {
                    let at = [("residual", residual), ("norm", norm), ("blocks", blocks)];
                    let shown = LIVE.at(at).unwrap();
                    let n: usize = blocks.parse().unwrap();
                    assert_eq!(shown.numbers.len(), 3 * (n + 1), "{at:?}");
                }
            }
        }
    }

    /// A gradient is a slope: nudge the tokens, and the output moves by so much.
    #[test]
    fn the_gradient_of_one_block_is_a_central_difference() {
        use crate::the_block::depth::{D_MODEL, N_TOKENS};
        use attention::{Mask, Matrix, Rng, SeedableRng, random_matrix};

        let setting = Setting { n_blocks: 1, ..Setting::deep(true, Place::After, 0.5) };
        let rng = &mut Rng::seed_from_u64(5);
        let x = random_matrix(N_TOKENS, D_MODEL, 1.0, rng);
        let d_out: Matrix = random_matrix(N_TOKENS, D_MODEL, 1.0, rng);
        let stack = setting.stack(rng).unwrap();
        let value = |x: Matrix| stack.forward(x, &Mask::None).unwrap().out().dot(&d_out);
        let h = 1e-5;
        let slopes = Matrix::from_fn(N_TOKENS, D_MODEL, |i, j| {
            let nudged = |by: f64| {
                let mut x = x.clone();
                x[(i, j)] += by;
                value(x)
            };
            (nudged(h) - nudged(-h)) / (2.0 * h)
        });
        let found = measure(&setting, 5).unwrap().gradients[0];
        assert!((found - slopes.norm() / d_out.norm()).abs() < 1e-7, "{found}");
    }
}
