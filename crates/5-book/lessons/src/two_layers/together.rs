//! Two layers trained in a small world while a reader looks on: live.

mod score_and_maps;

use std::sync::OnceLock;

use crate::live::trained::{self, LiveTraining};
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::percent;
use ablation::Replacement;
use anyhow::Result;
use attention::{Error, Matrix, Rng, SeedableRng};
use training::Schedule;
use training::repeats::{
    Architecture, HeadShares, Predictor, PredictorLook, Repeats, Sequences,
};

use score_and_maps::ScoreAndMaps;

/// Trains the small world as its reader sets it.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("two-layers", trained::draw::<Repeating>, QUESTIONS)
        .trained(trained::begin::<Repeating>);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Remove one head, so that less than half of what was right is left.",
        is_answered: |_, it| it.score > 0.9 && it.without < 0.5 * it.score,
        answer: |set| set.removed = Some([0, 1]),
        found: "The head of the first layer that looks at the token before. Without what \
                it writes, the second layer cannot tell which token to copy.",
    },
    Question {
        ask: "Train two layers with a seed whose first layer looks elsewhere than at the \
              token before, and which gets over 95 % right.",
        is_answered: |_, it| {
            let is_right = it.is_finished && it.score > 0.95;
            is_right && it.n_layers == 2 && !it.looks_before
        },
        answer: |set| set.seed = 0,
        found: "It looks at the token's previous occurrence: more than one circuit \
                solves this, and the seed decides which is found.",
    },
    Question {
        ask: "As many heads in one layer: train four to the end. Are they as good as two \
              and two?",
        is_answered: |_, it| {
            let is_as_asked = [it.n_layers, it.n_heads] == [1, 4];
            it.is_finished && is_as_asked && it.score < 0.95
        },
        answer: |set| (set.layers, set.heads) = (1, 4),
        found: "No. In one layer all heads look at once, and none can look where \
                another's finding points.",
    },
];

/// With it, the first layer comes to look at the token before; with 0 it does not.
const FIRST_SEED: usize = 1;
const MOST_LAYERS: usize = 3;
const MOST_HEADS: usize = 4;

live! {
    struct Set {
        layers: usize = "Layers", count([1, MOST_LAYERS], 2);
        heads: usize = "Heads per layer", count([1, MOST_HEADS], 2);
        positions: bool = "Positions", switch(true);
        residual: bool = "Residual", switch(true);
        seed: usize = "Seed", count([0, 9999], FIRST_SEED);
        steps: usize = "Steps", count([100, 2000], 800);
        removed: Option<[usize; 2]> = "Removed",
            head_or_none("layer", [MOST_LAYERS, MOST_HEADS]).at_any_time();
    }

    struct Facts {
        n_layers: usize, n_heads: usize, is_finished: bool,
        /// What part of what can be known is right.
        score: f64,
        /// The same without the head that is removed, if one is.
        without: f64,
        /// Whether the head that is shown of the first layer looks at the token before.
        looks_before: bool,
    }
}

/// The small world, trained.
struct Repeating;

/// The training of the chapter's own pictures. It takes a second or two, and two figures
/// show it.
///
/// # Errors
/// As [`training::Trainer::new`].
pub fn first() -> Result<&'static training::Training<Predictor>> {
    trained::first::<Repeating>()
}

/// What the tokens of the first test sequence are called: a letter each.
pub fn tokens(test: &Sequences) -> Vec<String> {
    let letter = |&id: &usize| char::from(b'a' + id as u8).to_string();
    test.ids[..test.n_tokens].iter().map(letter).collect()
}

/// A head with what it is shown for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownHead {
    /// Its layer.
    pub layer: usize,
    /// Its number in it.
    pub head: usize,
    /// What kind of token it gives most to: `the token before`.
    pub looks_at: &'static str,
    /// The mean share that it gives to that.
    pub share: f64,
}

impl ShownHead {
    /// The head of a layer that gives most to any of these kinds of tokens.
    fn most(layer: usize, kinds: &[(&'static str, &Matrix)]) -> Self {
        let heads = |(looks_at, shares): &(&'static str, &Matrix)| {
            let (head, share) = shares.row(layer).transpose().argmax();
            Self { layer, head, looks_at: *looks_at, share }
        };
        let larger = |a: Self, b: Self| if b.share > a.share { b } else { a };
        let none = Self { layer, head: 0, looks_at: "", share: f64::NEG_INFINITY };
        kinds.iter().map(heads).fold(none, larger)
    }
}

const BEFORE: &str = "the token before";

/// The head of the first layer that gives most to the token before or to the last same one,
/// and the head of the last layer that gives most to the token after the last same one.
pub fn shown_heads(look: &PredictorLook) -> [ShownHead; 2] {
    let HeadShares { previous, last_same, after_last_same, .. } = &look.shares;
    let first = [(BEFORE, previous), ("the previous occurrence", last_same)];
    let last = [("what came next", after_last_same)];
    [ShownHead::most(0, &first), ShownHead::most(previous.nrows() - 1, &last)]
}

impl LiveTraining for Repeating {
    type Set = Set;
    type Facts = Facts;
    type Model = Predictor;
    type Task = Repeats;

    fn task() -> Repeats {
        Repeats::small()
    }

    fn schedule(set: &Set) -> Schedule {
        Schedule { n_steps: set.steps, ..Schedule::small(set.seed as u64) }
    }

    fn begin(set: &Set, task: &Repeats, rng: &mut Rng) -> attention::Result<Predictor> {
        let &Set { layers: n_layers, heads: n_heads, positions, residual, .. } = set;
        let small = Architecture::SMALL;
        let built = Architecture { n_layers, n_heads, positions, residual, ..small };
        Predictor::random(built, task, rng)
    }

    fn kept() -> &'static OnceLock<training::Training<Predictor>> {
        static FIRST: OnceLock<training::Training<Predictor>> = OnceLock::new();
        &FIRST
    }

    fn shown(
        set: &Set,
        schedule: &Schedule,
        trained: &training::Training<Predictor>,
        now: &PredictorLook,
    ) -> Result<LiveView<Facts>> {
        let without = |at| {
            let rng = &mut Rng::seed_from_u64(schedule.seed);
            trained.model.score_ablated(at, &trained.test, Replacement::Mean, rng)
        };
        let without =
            set.removed.map(|at| Ok::<_, Error>((at, without(at)?))).transpose()?;
        let is_new = trained.last().step < now.step;
        let looks = trained.looks.iter().chain(is_new.then_some(now));
        let (steps, scores): (Vec<usize>, Vec<f64>) =
            looks.map(|look| (look.step, look.score)).unzip();

        let maps: Vec<Vec<(String, Matrix)>> =
            now.maps.iter().enumerate().map(|it| named(it, &shown_heads(now))).collect();
        let tokens = tokens(&trained.test);
        let together = ScoreAndMaps {
            n_steps: schedule.n_steps,
            steps: &steps,
            scores: &scores,
            tokens: &tokens,
            maps: &maps,
            without,
        };
        let figure = together.figure(title(schedule, now, without))?;
        let facts = Facts {
            score: now.score,
            without: without.map_or(now.score, |(_, score)| score),
            n_layers: now.maps.len(),
            n_heads: now.maps[0].len(),
            looks_before: shown_heads(now)[0].looks_at == BEFORE,
            is_finished: now.step == schedule.n_steps,
        };
        let words = words(schedule, now, without);
        Ok(LiveView { figure, words, facts })
    }
}

/// The maps of a layer, those of heads that are looked for with what they look at.
fn named(
    (layer, maps): (usize, &Vec<Matrix>),
    shown: &[ShownHead],
) -> Vec<(String, Matrix)> {
    let name = |head: usize| {
        let found = shown.iter().find(|it| [it.layer, it.head] == [layer, head]);
        let looks_at = found.map_or(String::new(), |it| format!(": {}", it.looks_at));
        format!("layer {layer}, head {head}{looks_at}")
    };
    maps.iter().enumerate().map(|(head, map)| (name(head), map.clone())).collect()
}

/// A head that is removed, and the score without it.
type Without = Option<([usize; 2], f64)>;

fn title(schedule: &Schedule, now: &PredictorLook, without: Without) -> String {
    let (seed, step, score) = (schedule.seed, now.step, percent(now.score));
    let layers = match now.maps.len() {
        1 => "1 layer gets".to_owned(),
        n => format!("{n} layers get"),
    };
    let what = match without {
        None => format!("{layers} {score} right"),
        // In one line.
        Some(([layer, head], left)) => {
            let left = percent(left);
            format!("{score} right, and {left} without head {head} of layer {layer}")
        }
    };
    format!("Seed {seed}, step {step}: {what}")
}

fn words(schedule: &Schedule, now: &PredictorLook, without: Without) -> String {
    let shares = shown_heads(now).map(|ShownHead { layer, head, looks_at, share }| {
        format!("head {head} of layer {layer} gives {share:.2} to {looks_at}")
    });
    let without = without.map_or(String::new(), |([layer, head], left)| {
        format!(" With head {head} of layer {layer} at its mean: {}.", percent(left))
    });
    format!(
        "After {} of {} steps {} of what can be known is right. On average, {}.{without}",
        now.step,
        schedule.n_steps,
        percent(now.score),
        shares.join(", and "),
    )
}
