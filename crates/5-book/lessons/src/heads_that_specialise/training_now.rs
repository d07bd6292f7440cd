//! The three lookups, trained while a reader looks on, and a head taken away: live.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use ablation::Replacement;
use anyhow::Result;
use attention::{Error, Rng, SeedableRng};
use training::lookups::Lookups;
use training::one_layer::{Look, Model, Task, train};
use training::{Schedule, Trainer};

use super::learning::Learning;
use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Training};

/// Trains as its reader sets: on the sentences, the test set and the looks of all of the
/// chapter's tables, so a page shows what they hold.
pub const LIVE: Live = Live {
    name: "lookups",
    questions: &[
        Question {
            ask: "Remove a head, so that the place is lost and nothing else.",
            is_answered: |_, view| {
                let End { scores, without: [agent, object, place], .. } = End::of(view)?;
                Ok(least(&scores) > 0.9 && agent > 0.9 && object > 0.9 && place < 0.1)
            },
            answer: &[("removed", "1")],
            found: "The head that attends to the place. Each of the three finds one \
                   word, and no other stands in for it.",
        },
        Question {
            ask: "Train three heads with another seed, until head 0 attends to another word \
                  than the agent.",
            is_answered: |_, view| {
                let End { scores, n_heads, word_of_head_0, is_finished, .. } =
                    End::of(view)?;
                let is_trained = is_finished && least(&scores) > 0.9;
                Ok(is_trained && n_heads == 3.0 && word_of_head_0 != AGENT)
            },
            answer: &[("seed", "1")],
            found: "Heads begin at random, and that decides which takes which word: the \
                    number of a head means nothing.",
        },
        Question {
            ask: "Train four heads, and remove one so that each word is still named \
                 right more than half of the time.",
            is_answered: |_, view| {
                let it = End::of(view)?;
                let is_trained = it.is_finished && least(&it.scores) > 0.9;
                let is_kept = it.is_removed && least(&it.without) > 0.5;
                Ok(is_trained && it.n_heads == 4.0 && is_kept)
            },
            answer: &[("heads", "4"), ("removed", "2")],
            found: "Two heads share the object: remove either, and the other still does \
                   most of the work.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: Some(begin),
};

/// What the last numbers say of a training, for the questions.
struct End {
    /// How often each word is named rightly: agent, object and place.
    scores: [f64; 3],
    /// The same without the head that is removed, if one is.
    without: [f64; 3],
    is_removed: bool,
    n_heads: f64,
    /// The word that head 0 attends to most.
    word_of_head_0: f64,
    is_finished: bool,
}

const AGENT: f64 = 0.0;

impl End {
    fn of(view: &LiveView) -> Result<Self> {
        let [a, b, c, d, e, f, removed, n_heads, word_of_head_0, finished] =
            view.last()?;
        Ok(Self {
            scores: [a, b, c],
            without: [d, e, f],
            is_removed: removed == 1.0,
            n_heads,
            word_of_head_0,
            is_finished: finished == 1.0,
        })
    }
}

fn least(scores: &[f64; 3]) -> f64 {
    scores.iter().copied().fold(1.0, f64::min)
}

/// The most heads of a training.
const MOST_HEADS: usize = 8;

fn controls() -> Vec<Control> {
    let head = |head: usize| (head.to_string(), format!("head {head}"));
    let none = ("no".to_owned(), "none".to_owned());
    let removed = Kind::choice([none].into_iter().chain((0..MOST_HEADS).map(head)));
    let rate = Kind::Number { range: [0.001, 1.0], step: 0.001, first: 0.01 };
    vec![
        Control::new("heads", "Heads", Kind::Count { range: [1, MOST_HEADS], first: 3 }),
        Control::new("seed", "Seed", Kind::Count { range: [0, 9999], first: 0 }),
        Control::new("steps", "Steps", Kind::Count { range: [100, 3000], first: 1000 }),
        Control::new("rate", "Rate at first", rate),
        Control::new("removed", "Removed", removed).at_any_time(),
    ]
}

/// What is trained, and how.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    n_heads: usize,
    schedule: Schedule,
}

impl Plan {
    fn first() -> Self {
        Self { n_heads: 3, schedule: Lookups::schedule(0) }
    }

    fn of(settings: &Settings) -> Result<Self> {
        let (n_heads, seed) = (settings.count("heads")?, settings.count("seed")? as u64);
        let (n_steps, rate) = (settings.count("steps")?, settings.number("rate")?);
        Ok(Self {
            n_heads,
            schedule: Schedule { n_steps, rate, ..Lookups::schedule(seed) },
        })
    }

    fn to_the_end(&self) -> Result<training::Training> {
        let Self { n_heads, schedule } = self;
        let on_step = |_| ControlFlow::Continue(());
        Ok(train(&Lookups::default(), *n_heads, schedule, on_step)?)
    }
}

fn removed(settings: &Settings) -> Result<Option<usize>> {
    Ok(settings.choice("removed")?.parse().ok())
}

/// The training of the chapter's own pictures: three heads, seed 0. It takes seconds, and
/// two figures show it.
///
/// # Errors
/// As [`train`].
pub fn first() -> Result<&'static training::Training> {
    static FIRST: OnceLock<training::Training> = OnceLock::new();
    if let Some(trained) = FIRST.get() {
        return Ok(trained);
    }
    let trained = Plan::first().to_the_end()?;
    Ok(FIRST.get_or_init(|| trained))
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let (plan, removed) = (Plan::of(settings)?, removed(settings)?);
    if plan == Plan::first() {
        let first = first()?;
        return shown(&plan.schedule, first, first.last(), removed);
    }
    let trained = plan.to_the_end()?;
    shown(&plan.schedule, &trained, trained.last(), removed)
}

fn begin(settings: &Settings) -> Result<Box<dyn Training>> {
    let Plan { n_heads, schedule } = Plan::of(settings)?;
    let begin = |task: &_, rng: &mut Rng| Model::random(task, n_heads, rng);
    Ok(Box::new(Trainer::new(Lookups::default(), schedule, begin)?))
}

impl Training for Trainer<Model, Lookups> {
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
    trained: &training::Training,
    now: &Look,
    removed: Option<usize>,
) -> Result<LiveView> {
    let without = |head| {
        let rng = &mut Rng::seed_from_u64(schedule.seed);
        trained.model.scores_ablated(head, &trained.test, Replacement::Mean, rng)
    };
    let without =
        removed.map(|head| Ok::<_, Error>((head, without(head)?))).transpose()?;
    let without = without.as_ref().map(|(head, scores)| (*head, scores.as_slice()));
    let is_new = trained.last().step < now.step;
    let looks: Vec<&Look> = trained.looks.iter().chain(is_new.then_some(now)).collect();
    let steps: Vec<usize> = looks.iter().map(|look| look.step).collect();
    let scores: Vec<Vec<f64>> = looks.iter().map(|look| look.scores.clone()).collect();
    let targets = Lookups::default().targets().iter().map(|it| (*it).to_owned());
    let targets: Vec<String> = targets.collect();
    let learned = Learning {
        n_steps: schedule.n_steps,
        steps: &steps,
        targets: &targets,
        scores: &scores,
        rows: &now.rows,
        tokens: &trained.test.names,
        without,
    };
    let figure = learned.figure(title(schedule, now, without))?;
    let words = words(schedule, now, without);
    let lists = steps.iter().map(|&step| step as f64).chain(scores.concat());
    let maps = now.focus.iter().chain(&now.rows).copied();
    let left = without.map_or(now.scores.as_slice(), |(_, scores)| scores);
    let (word_of_head_0, _) = now.focus.row(0).transpose().argmax();
    let end = [
        f64::from(u8::from(without.is_some())),
        now.rows.nrows() as f64,
        word_of_head_0 as f64,
        f64::from(u8::from(now.step == schedule.n_steps)),
    ];
    let end = now.scores.iter().chain(left).copied().chain(end);
    Ok(LiveView { figure, words, numbers: lists.chain(maps).chain(end).collect() })
}

/// A head that is removed, and the scores without it.
type Without<'a> = Option<(usize, &'a [f64])>;

fn percent(score: f64) -> String {
    format!("{:.1} %", 100.0 * score)
}

fn title(schedule: &Schedule, now: &Look, without: Without) -> String {
    let heads = match now.rows.nrows() {
        1 => "1 head names".to_owned(),
        n => format!("{n} heads name"),
    };
    let whole = percent(now.score());
    let without = without.map_or(String::new(), |(head, scores)| {
        let left = percent(scores.iter().sum::<f64>() / scores.len() as f64);
        format!(", and {left} without head {head}")
    });
    let (seed, step) = (schedule.seed, now.step);
    format!("Seed {seed}, step {step}: {heads} {whole} of the words{without}")
}

fn words(schedule: &Schedule, now: &Look, without: Without) -> String {
    let lookups = Lookups::default();
    let targets = lookups.targets();
    let each = |scores: &[f64]| {
        let each = targets.iter().zip(scores);
        let each = each.map(|(target, &score)| format!("{target} {}", percent(score)));
        each.collect::<Vec<_>>().join(", ")
    };
    let attending = now.focus.row_iter().enumerate().map(|(head, row)| {
        let (target, share) = row.transpose().argmax();
        format!("head {head} to the {} ({share:.2})", targets[target])
    });
    let attending = attending.collect::<Vec<_>>().join(", ");
    let without = without.map_or(String::new(), |(head, scores)| {
        format!(" With head {head} at its mean: {}.", each(scores))
    });
    format!(
        "Right names after {} of {} steps: {}. Of the three words, the largest mean share \
         goes from {attending}.{without}",
        now.step,
        schedule.n_steps,
        each(&now.scores),
    )
}

#[cfg(test)]
mod tests;
