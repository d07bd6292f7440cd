//! Two layers trained in a small world while a reader looks on: live.

mod score_and_maps;

use std::sync::OnceLock;

use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Training};
use ablation::Replacement;
use anyhow::Result;
use attention::{Error, Matrix, Rng, SeedableRng};
use training::repeats::{
    Architecture, HeadShares, Predictor, PredictorLook, Repeats, Sequences,
};
use training::{Schedule, Trainer};

use score_and_maps::ScoreAndMaps;

/// Trains the small world as its reader sets it.
pub const LIVE: Live = Live {
    name: "two-layers",
    questions: &[
        Question {
            ask: "Remove one head, so that less than half of what was right is left.",
            is_answered: |_, view| {
                let End { score, without, .. } = End::of(view)?;
                Ok(score > 0.9 && without < 0.5 * score)
            },
            answer: &[("removed", "0.1")],
            found: "The head of the first layer that looks at the token before. Without \
                   what it writes, the second layer cannot tell which token to copy.",
        },
        Question {
            ask: "Train two layers with a seed whose first layer looks elsewhere than at the \
                  token before, and which gets over 95 % right.",
            is_answered: |_, view| {
                let it = End::of(view)?;
                let is_right = it.is_finished && it.score > 0.95;
                Ok(is_right && it.n_layers == 2.0 && !it.looks_before)
            },
            answer: &[("seed", "0")],
            found: "It looks at the last same token: more than one circuit solves this, and \
                    the seed decides which is found.",
        },
        Question {
            ask: "As many heads in one layer: train four to the end. Are they as good as two \
                  and two?",
            is_answered: |_, view| {
                let it = End::of(view)?;
                let is_as_asked = [it.n_layers, it.n_heads] == [1.0, 4.0];
                Ok(it.is_finished && is_as_asked && it.score < 0.95)
            },
            answer: &[("layers", "1"), ("heads", "4")],
            found: "No. In one layer all heads look at once, and none can look where \
                   another's finding points.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: Some(begin),
};

/// What the last numbers say of a training, for the questions.
struct End {
    /// What part of what can be known is right.
    score: f64,
    /// The same without the head that is removed, if one is.
    without: f64,
    n_layers: f64,
    n_heads: f64,
    /// Whether the head that is shown of the first layer looks at the token before.
    looks_before: bool,
    is_finished: bool,
}

impl End {
    fn of(view: &LiveView) -> Result<Self> {
        let [score, without, n_layers, n_heads, before, finished] = view.last()?;
        let [looks_before, is_finished] = [before, finished].map(|flag| flag == 1.0);
        Ok(Self { score, without, n_layers, n_heads, looks_before, is_finished })
    }
}

/// With it, the first layer comes to look at the token before; with 0 it does not.
const FIRST_SEED: usize = 1;
const MOST_LAYERS: usize = 3;
const MOST_HEADS: usize = 4;

fn controls() -> Vec<Control> {
    let heads = (0..MOST_LAYERS).flat_map(|l| (0..MOST_HEADS).map(move |i| [l, i]));
    let options =
        heads.map(|[l, i]| (format!("{l}.{i}"), format!("layer {l}, head {i}")));
    let none = ("no".to_owned(), "none".to_owned());
    let removed = Kind::choice(std::iter::once(none).chain(options));
    let count = |range, first| Kind::Count { range, first };
    let on = || Kind::Switch { first: true };
    vec![
        Control::new("layers", "Layers", count([1, MOST_LAYERS], 2)),
        Control::new("heads", "Heads per layer", count([1, MOST_HEADS], 2)),
        Control::new("positions", "Positions", on()),
        Control::new("residual", "Residual", on()),
        Control::new("seed", "Seed", count([0, 9999], FIRST_SEED)),
        Control::new("steps", "Steps", count([100, 2000], 800)),
        Control::new("removed", "Removed", removed).at_any_time(),
    ]
}

/// What is trained, and how.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    built: Architecture,
    schedule: Schedule,
}

impl Plan {
    fn first() -> Self {
        Self { built: Architecture::SMALL, schedule: Schedule::small(FIRST_SEED as u64) }
    }

    fn of(settings: &Settings) -> Result<Self> {
        let built = Architecture {
            n_layers: settings.count("layers")?,
            n_heads: settings.count("heads")?,
            positions: settings.is_on("positions")?,
            residual: settings.is_on("residual")?,
            ..Architecture::SMALL
        };
        let seed = settings.count("seed")? as u64;
        let n_steps = settings.count("steps")?;
        Ok(Self { built, schedule: Schedule { n_steps, ..Schedule::small(seed) } })
    }

    fn begin(self) -> Result<Trainer<Predictor, Repeats>> {
        let Self { built, schedule } = self;
        let begin = |task: &Repeats, rng: &mut Rng| Predictor::random(built, task, rng);
        Ok(Trainer::new(Repeats::small(), schedule, begin)?)
    }
}

/// The training of the chapter's own pictures. It takes a second or two, and two figures
/// show it.
///
/// # Errors
/// As [`Trainer::new`].
pub fn first() -> Result<&'static training::Training<Predictor>> {
    static FIRST: OnceLock<training::Training<Predictor>> = OnceLock::new();
    if let Some(trained) = FIRST.get() {
        return Ok(trained);
    }
    let trained = Plan::first().begin()?.finish()?;
    Ok(FIRST.get_or_init(|| trained))
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
    let first = [(BEFORE, previous), ("the last same token", last_same)];
    let last = [("what came next", after_last_same)];
    [ShownHead::most(0, &first), ShownHead::most(previous.nrows() - 1, &last)]
}

fn removed(settings: &Settings) -> Result<Option<[usize; 2]>> {
    let chosen = settings.choice("removed")?;
    let Some((layer, head)) = chosen.split_once('.') else { return Ok(None) };
    Ok(Some([layer.parse()?, head.parse()?]))
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let (plan, removed) = (Plan::of(settings)?, removed(settings)?);
    if plan == Plan::first() {
        let first = first()?;
        return shown(&plan.schedule, first, first.last(), removed);
    }
    let schedule = plan.schedule.clone();
    let trained = plan.begin()?.finish()?;
    shown(&schedule, &trained, trained.last(), removed)
}

fn begin(settings: &Settings) -> Result<Box<dyn Training>> {
    Ok(Box::new(Plan::of(settings)?.begin()?))
}

impl Training for Trainer<Predictor, Repeats> {
    fn step(&mut self) -> Result<()> {
        Trainer::step(self)?;
        Ok(())
    }

    fn progress(&self) -> [usize; 2] {
        [self.so_far().losses.len(), self.schedule().n_steps]
    }

    fn shown(&self, settings: &Settings) -> Result<LiveView> {
        shown(self.schedule(), self.so_far(), &self.look()?, removed(settings)?)
    }
}

/// A training as it is at a look, which need not be among those that it holds.
fn shown(
    schedule: &Schedule,
    trained: &training::Training<Predictor>,
    now: &PredictorLook,
    removed: Option<[usize; 2]>,
) -> Result<LiveView> {
    let without = |at| {
        let rng = &mut Rng::seed_from_u64(schedule.seed);
        trained.model.score_ablated(at, &trained.test, Replacement::Mean, rng)
    };
    let without = removed.map(|at| Ok::<_, Error>((at, without(at)?))).transpose()?;
    let is_new = trained.last().step < now.step;
    let looks = trained.looks.iter().chain(is_new.then_some(now));
    let (steps, scores): (Vec<usize>, Vec<f64>) =
        looks.map(|look| (look.step, look.score)).unzip();

    let maps = shown_heads(now).map(|ShownHead { layer, head, looks_at, .. }| {
        (format!("layer {layer}, head {head}: {looks_at}"), now.maps[layer][head].clone())
    });
    let tokens = tokens(&trained.test);
    let together = ScoreAndMaps {
        n_steps: schedule.n_steps,
        steps: &steps,
        scores: &scores,
        tokens: &tokens,
        maps: &maps,
    };
    let figure = together.figure(title(schedule, now, without))?;
    let numbers = steps.iter().map(|&step| step as f64).chain(scores.iter().copied());
    let maps = maps.iter().flat_map(|(_, map)| map.iter().copied());
    let flag = |is: bool| f64::from(u8::from(is));
    let end = [
        now.score,
        without.map_or(now.score, |(_, score)| score),
        now.maps.len() as f64,
        now.maps[0].len() as f64,
        flag(shown_heads(now)[0].looks_at == BEFORE),
        flag(now.step == schedule.n_steps),
    ];
    Ok(LiveView {
        figure,
        words: words(schedule, now, without),
        numbers: numbers.chain(maps).chain(end).collect(),
    })
}

/// A head that is removed, and the score without it.
type Without = Option<([usize; 2], f64)>;

fn percent(score: f64) -> String {
    format!("{:.1} %", 100.0 * score)
}

fn title(schedule: &Schedule, now: &PredictorLook, without: Without) -> String {
    let (seed, step, score) = (schedule.seed, now.step, percent(now.score));
    let layers = match now.maps.len() {
        1 => "1 layer gets".to_owned(),
        n => format!("{n} layers get"),
    };
    let without = without.map_or(String::new(), |([layer, head], left)| {
        format!(", and {} without head {head} of layer {layer}", percent(left))
    });
    format!("Seed {seed}, step {step}: {layers} {score} right{without}")
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
