//! The tokens that may come next, and which one is drawn: live.

use crate::live::setting::choice;
use crate::live::{LiveFigure, LiveView, Question, Setting, live};
use crate::numbers::{share, written};
use anyhow::{Context, Result};
use attention::{Matrix, Rng, SeedableRng, softmax_rows};
use figures::{
    Axis, Chart, Figure, Grouping, Mark, NARROW, NEUTRAL, Panel, Place, Table, escaped,
    palette, rounded,
};
use models::decoders::study::Next;
use rand::RngExt;

use super::findings;

/// Draws the shares of the most likely tokens as bands over all temperatures, and at the one
/// that a reader drags to, where tokens fall that are drawn.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("next-token", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Drag the temperature. At which is “far” drawn about nine times of ten?",
        is_answered: |set, it| {
            let apart = (it.most - 0.9).abs();
            set.prompt == 0 && (apart < 0.015 || it.n_first == 18 && apart < 0.04)
        },
        answer: |set| set.temperature = 0.55,
        found: "At about 0.55. A temperature of 1/2 squares all probabilities before \
                they are divided by their sum.",
    },
    Question {
        ask: "Which text leaves the model undecided even at 0.1?",
        is_answered: |set, it| set.temperature <= 0.1 && it.most < 0.9,
        answer: |set| (set.prompt, set.temperature) = (2, 0.1),
        found: "The beginning of a story, where much may follow: nearly equal \
                probabilities need a very low temperature to come apart.",
    },
    Question {
        ask: "And which has a token that keeps more than 0.85 even at 1.5?",
        is_answered: |set, it| set.temperature >= 1.5 && it.most > 0.85,
        answer: |set| (set.prompt, set.temperature) = (1, 1.5),
        found: "The text that has said the name once already: what can be copied is \
                hardly a guess.",
    },
];

/// So many tokens have a band, and so many a row of the table.
const BANDS: usize = 6;
const SHOWN: usize = 10;
/// So many are drawn.
const DRAWN: usize = 20;

/// The texts. The figure says so if there are no findings.
fn prompts() -> Setting<usize> {
    let prompts = findings().map_or(&[][..], |found| &found.next).iter();
    let prompts = prompts.map(|next| format!("{} …", next.prompt)).collect::<Vec<_>>();
    let prompts = if prompts.is_empty() { vec![String::new()] } else { prompts };
    let option = |(nth, name): (usize, String)| (nth.to_string(), name, nth);
    choice(prompts.into_iter().enumerate().map(option))
}

live! {
    struct Set {
        prompt: usize = "Text", prompts();
        temperature: f64 = "Temperature", number([0.1, 3.0], 0.05, 1.0).played();
        seed: usize = "Seed", count([0, 99], 1);
    }

    struct Facts {
        /// The probability of the most likely token.
        most: f64,
        /// How often it is drawn.
        n_first: usize,
    }
}

/// softmax(logits / temperature), of the tokens that are kept.
pub fn probabilities(next: &Next, temperature: f64) -> Vec<f64> {
    let row = Matrix::from_row_slice(1, next.logits.len(), &next.logits);
    softmax_rows(row / temperature).iter().copied().collect()
}

/// All that the slider can be set to.
fn temperatures() -> impl Iterator<Item = f64> {
    (2..=60).map(|step| f64::from(step) / 20.0)
}

/// The numbers from 0 to 1 that a seed draws.
fn lots(seed: usize) -> Vec<f64> {
    let mut rng = Rng::seed_from_u64(seed as u64);
    (0..DRAWN).map(|_| rng.random()).collect()
}

/// The token whose share of 0 to 1 a number lies in; rounding can leave a rest.
fn drawn(shares: &[f64], mut left: f64) -> usize {
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(0)
}

fn draw(&Set { prompt, temperature, seed }: &Set) -> Result<LiveView<Facts>> {
    let next = findings()?.next.get(prompt).context("no such text")?;
    let shares = probabilities(next, temperature);
    let lots = lots(seed);
    let drawn: Vec<usize> = lots.iter().map(|&lot| drawn(&shares, lot)).collect();
    let picture = Picture { next, temperature, seed, shares: &shares };
    let figure = picture.figure(&lots, &drawn)?;

    let times = |id: usize| drawn.iter().filter(|&&it| it == id).count();
    let counted = (0..shares.len()).filter(|&id| times(id) > 0);
    let counted: Vec<String> =
        counted.map(|id| format!("{} {}", shown(&next.pieces[id]), times(id))).collect();
    let words = format!(
        "At temperature {}, {} has {}, and {} others share the rest. {DRAWN} draws with seed \
         {seed}: {}.",
        written(temperature, 2),
        shown(&next.pieces[0]),
        share(shares[0]),
        next.pieces.len() - 1,
        counted.join(", ")
    );
    let facts = Facts { most: shares[0], n_first: times(0) };
    Ok(LiveView { figure, words, facts })
}

/// The tokens that may come after a text, at a temperature.
struct Picture<'a> {
    next: &'a Next,
    temperature: f64,
    seed: usize,
    shares: &'a [f64],
}

impl Picture<'_> {
    /// The bands over all temperatures, which are dragged, and beside them those of one,
    /// where each number that is drawn lies in the band of its token.
    fn figure(&self, lots: &[f64], drawn: &[usize]) -> Result<Figure> {
        let temperature = written(self.temperature, 2);
        let names: Vec<String> =
            self.next.pieces[..SHOWN].iter().map(|it| shown(it)).collect();
        let column = [format!("temperature {temperature}")];
        let cell = |token: usize, _| share(self.shares[token]);
        Ok(Chart::new(format!("{} …: what may come next", self.next.prompt))
            .grouped(Grouping::Stacked)
            .bar_gap(0.0)
            .by_width(|width| panels(width, &temperature))
            .marks(self.bands())
            .marks(self.at_one())
            .marks([self.dots(lots, drawn)])
            .tables([Table::grid("Probabilities", "", &names, &column, cell)])
            .says(format!(
                "The shares of the {BANDS} most likely tokens and of the others as bands \
                 over temperatures from 0.1 to 3. At {temperature}, {} has {}.",
                names[0],
                share(self.shares[0]),
            ))
            .figure()?)
    }

    /// The bands over all temperatures, and a rule where the temperature is.
    fn bands(&self) -> Vec<Mark> {
        let at = temperatures().map(|at| banded(&probabilities(self.next, at)));
        let at: Vec<[f64; BANDS + 1]> = at.collect();
        let sets: Vec<String> =
            temperatures().map(|at| format!("temperature={at}")).collect();
        let band = |nth: usize| {
            let heights = at.iter().map(|shares| rounded(shares[nth]));
            let band = Mark::bars(heights).sets(sets.clone());
            band.coloured(colour(nth)).opacity(0.7).silent()
        };
        let here = (self.temperature - 0.1) / 0.05;
        let rule = Mark::lines([here; 2], [0.0, 1.0]).line("currentColor", 2.0);
        let knob = Mark::points([here], [0.5]).sized(18).coloured("currentColor");
        let rule = [rule, knob].map(|it| it.silent().unclipped());
        (0..=BANDS).map(band).chain(rule).collect()
    }

    /// The same at one temperature, each with its name beside it.
    fn at_one(&self) -> Vec<Mark> {
        let parts = banded(self.shares);
        let each = parts.into_iter().zip(apart(&parts)).enumerate();
        let each = each.flat_map(|(nth, (part, height))| {
            let name = match nth {
                BANDS => format!("{} others", self.next.pieces.len() - BANDS),
                _ => escaped(&shown(&self.next.pieces[nth])),
            };
            let name = format!("{name} {}", share(part));
            let bar = Mark::bars([rounded(part)]).coloured(colour(nth)).opacity(0.7);
            let bar = bar.hover([name.clone()]).picks(self.again());
            let square = Mark::points([0.56], [rounded(height)]).marked("square", 8);
            let square = square.coloured(colour(nth)).opacity(0.9);
            let name = square.written([name], "middle right").text_size(13);
            [bar, name.silent().unclipped()].map(|mark| mark.on(1))
        });
        each.collect()
    }

    fn dots(&self, lots: &[f64], drawn: &[usize]) -> Mark {
        let across = (0..DRAWN).map(|nth| 0.9 * (nth as f64 + 0.5) / DRAWN as f64 - 0.45);
        let told = drawn.iter().map(|&id| escaped(&shown(&self.next.pieces[id])));
        Mark::points(across.map(rounded), lots.iter().map(|&lot| rounded(lot)))
            .marked("circle", 8)
            .coloured("currentColor")
            .hover(told)
            .picks(self.again())
            .on(1)
    }

    /// Another seed.
    fn again(&self) -> String {
        format!("seed={}", (self.seed + 1) % 100)
    }
}

/// Of a line of text, as a part of the bands.
const LINE: f64 = 0.075;

/// Where the name of each band stands: at its middle, and a line away from the others.
fn apart(parts: &[f64; BANDS + 1]) -> [f64; BANDS + 1] {
    let (mut below, mut free) = (0.0, 0.0);
    let mut heights = parts.map(|part| {
        let height = f64::max(below + part / 2.0, free);
        (below, free) = (below + part, height + LINE);
        height
    });
    let mut free = 1.0 - LINE / 2.0;
    for height in heights.iter_mut().rev() {
        *height = height.min(free);
        free = *height - LINE;
    }
    heights
}

/// The shares that have bands, and the rest.
fn banded(shares: &[f64]) -> [f64; BANDS + 1] {
    let rest = shares[BANDS..].iter().sum();
    std::array::from_fn(|nth| if nth < BANDS { shares[nth] } else { rest })
}

fn colour(band: usize) -> &'static str {
    if band < BANDS { palette::head(band) } else { NEUTRAL }
}

fn panels(width: f64, temperature: &str) -> (Vec<Panel>, Place) {
    let (n_columns, height, wide) =
        if width <= NARROW { (1, 220.0, [300.0; 2]) } else { (2, 290.0, [420.0, 265.0]) };
    let named = [0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
    let places = named.map(|at| (at - 0.1) / 0.05);
    let x = Axis::bare([-0.5, 58.5]).at(places, named.map(|at| at.to_string()));
    let shares = Axis::numbers(1.0).numbered_at([0.0, 0.5, 1.0]);
    let (across, up) = (Axis::hidden([-0.5, 1.35]), Axis::hidden([0.0, 1.0]));
    let draws = format!("{DRAWN} draws at {temperature}: click for others");
    let mut panels = vec![
        Panel::new(
            "share of each token: drag along",
            x.titled("temperature"),
            shares,
            height,
        ),
        Panel::new(draws, across, up, height),
    ];
    panels.iter_mut().zip(wide).for_each(|(panel, wide)| panel.width = Some(wide));
    let (left, below, left_once) = (34.0, 36.0, true);
    (panels, Place { width, n_columns, left, left_once, below, ..Place::default() })
}

/// A token as it is told: its space before it is left out, and a line's end has a name.
fn shown(piece: &str) -> String {
    match piece.trim() {
        "" => "⏎".to_owned(),
        piece => format!("“{piece}”"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Choice;

    #[test]
    fn what_is_said_at_first_and_when_it_is_cold() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"At temperature 1, “far” has .630, and 49 others share the rest. 20 draws with seed 1: “far” 13, “close” 3, “fast” 1, “quick” 1, “wide” 1, “...” 1.");
        let cold = [("prompt", "2"), ("temperature", "0.1")];
        insta::assert_snapshot!(LIVE.at(cold).unwrap().words, @"At temperature 0.1, “small” has .783, and 49 others share the rest. 20 draws with seed 1: “small” 16, “town” 1, “woman” 1, “young” 2.");
    }

    /// What lies in a token's band is what the model would draw.
    #[test]
    fn draws_are_those_of_the_model() {
        let next = &findings().unwrap().next[0];
        for (seed, temperature) in [(1, 1.0), (7, 0.35), (50, 3.0)] {
            let mut choice = Choice::sampled(temperature, seed as u64).unwrap();
            let shares = probabilities(next, temperature);
            for lot in lots(seed) {
                assert_eq!(Some(drawn(&shares, lot)), choice.of(&next.logits));
            }
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        for next in &findings().unwrap().next {
            for temperature in [0.5, 1.0, 2.0] {
                let expected = probabilities(next, temperature);
                assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let mut choice = Choice::sampled(temperature, 1).unwrap();
                let mut found = vec![0.0; expected.len()];
                for _ in 0..4000 {
                    found[choice.of(&next.logits).unwrap()] += 1.0 / 4000.0;
                }
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 0.04, "{found} {expected}");
                }
            }
        }
    }
}
