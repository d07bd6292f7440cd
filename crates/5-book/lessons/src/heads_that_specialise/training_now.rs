//! The three lookups, trained while a reader looks on, and a head taken away: live.

use std::sync::OnceLock;

use ablation::Replacement;
use anyhow::Result;
use attention::{Error, Rng, SeedableRng};
use training::Schedule;
use training::lookups::Lookups;
use training::one_layer::{Look, Model, Task};

use super::learning::Learning;
use crate::live::setting::choice;
use crate::live::trained::{self, LiveTraining};
use crate::live::{LiveFigure, LiveView, Question, Setting, live};
use crate::numbers::percent;

/// Trains as its reader sets: on the sentences, the test set and the looks of all of the
/// chapter's tables, so a page shows what they hold.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("lookups", trained::draw::<LiveLookups>, QUESTIONS)
        .trained(trained::begin::<LiveLookups>);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Remove a head, so that the place is lost and nothing else.",
        is_answered: |_, it| {
            let [agent, object, place] = it.without;
            least(&it.scores) > 0.9 && agent > 0.9 && object > 0.9 && place < 0.1
        },
        answer: |set| set.removed = Some(1),
        found: "The head that attends to the place. Each of the three finds one word, \
                and no other stands in for it.",
    },
    Question {
        ask: "Train three heads with another seed, until head 0 attends to another word \
              than the agent.",
        is_answered: |_, it| {
            it.is_trained() && it.n_heads == 3 && it.word_of_head_0 != AGENT
        },
        answer: |set| set.seed = 1,
        found: "Heads begin at random, and that decides which takes which word: the \
                number of a head means nothing.",
    },
    Question {
        ask: "Train four heads, and remove one so that each word is still named right \
              more than half of the time.",
        is_answered: |set, it| {
            let is_kept = set.removed.is_some() && least(&it.without) > 0.5;
            it.is_trained() && it.n_heads == 4 && is_kept
        },
        answer: |set| (set.heads, set.removed) = (4, Some(2)),
        found: "Two heads share the object: remove either, and the other still does most \
                of the work.",
    },
];

/// The agent, among the words.
const AGENT: usize = 0;

impl Facts {
    fn is_trained(&self) -> bool {
        self.is_finished && least(&self.scores) > 0.9
    }
}

fn least(scores: &[f64; 3]) -> f64 {
    scores.iter().copied().fold(1.0, f64::min)
}

/// The most heads of a training.
const MOST_HEADS: usize = 8;

/// No head, or any.
fn removed() -> Setting<Option<usize>> {
    let head = |head: usize| (head.to_string(), format!("head {head}"), Some(head));
    let none = ("no".to_owned(), "none".to_owned(), None);
    choice([none].into_iter().chain((0..MOST_HEADS).map(head)))
}

live! {
    struct Set {
        heads: usize = "Heads", count([1, MOST_HEADS], 3);
        seed: usize = "Seed", count([0, 9999], 0);
        steps: usize = "Steps", count([100, 3000], 1000);
        rate: f64 = "Rate at first", number([0.001, 1.0], 0.001, 0.01);
        removed: Option<usize> = "Removed", removed().at_any_time();
    }

    struct Facts {
        n_heads: usize, is_finished: bool,
        /// How often each word is named rightly: agent, object and place.
        scores: [f64; 3],
        /// The same without the head that is removed, if one is.
        without: [f64; 3],
        /// The word that head 0 attends to most.
        word_of_head_0: usize,
    }
}

/// The lookups, trained.
struct LiveLookups;

/// The training of the chapter's own pictures: three heads, seed 0. It takes seconds, and
/// two figures show it.
///
/// # Errors
/// As [`training::Trainer::new`].
pub fn first() -> Result<&'static training::Training> {
    trained::first::<LiveLookups>()
}

impl LiveTraining for LiveLookups {
    type Set = Set;
    type Facts = Facts;
    type Model = Model;
    type Task = Lookups;

    fn task() -> Lookups {
        Lookups::default()
    }

    fn schedule(&Set { steps: n_steps, rate, seed, .. }: &Set) -> Schedule {
        Schedule { n_steps, rate, ..Lookups::schedule(seed as u64) }
    }

    fn begin(set: &Set, task: &Lookups, rng: &mut Rng) -> attention::Result<Model> {
        Model::random(task, set.heads, rng)
    }

    fn kept() -> &'static OnceLock<training::Training> {
        static FIRST: OnceLock<training::Training> = OnceLock::new();
        &FIRST
    }

    fn shown(
        set: &Set,
        schedule: &Schedule,
        trained: &training::Training,
        now: &Look,
    ) -> Result<LiveView<Facts>> {
        let without = |head| {
            let rng = &mut Rng::seed_from_u64(schedule.seed);
            trained.model.scores_ablated(head, &trained.test, Replacement::Mean, rng)
        };
        let without =
            set.removed.map(|head| Ok::<_, Error>((head, without(head)?))).transpose()?;
        let without = without.as_ref().map(|(head, scores)| (*head, scores.as_slice()));
        let is_new = trained.last().step < now.step;
        let looks: Vec<&Look> =
            trained.looks.iter().chain(is_new.then_some(now)).collect();
        let steps: Vec<usize> = looks.iter().map(|look| look.step).collect();
        let scores: Vec<Vec<f64>> =
            looks.iter().map(|look| look.scores.clone()).collect();
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
        let scores = |scores: &[f64]| [scores[0], scores[1], scores[2]];
        let facts = Facts {
            scores: scores(&now.scores),
            without: scores(without.map_or(now.scores.as_slice(), |(_, scores)| scores)),
            n_heads: now.rows.nrows(),
            word_of_head_0: now.focus.row(0).transpose().argmax().0,
            is_finished: now.step == schedule.n_steps,
        };
        Ok(LiveView { figure, words, facts })
    }
}

/// A head that is removed, and the scores without it.
type Without<'a> = Option<(usize, &'a [f64])>;

fn title(schedule: &Schedule, now: &Look, without: Without) -> String {
    let heads = match now.rows.nrows() {
        1 => "1 head names".to_owned(),
        n => format!("{n} heads name"),
    };
    let whole = percent(now.score());
    let what = match without {
        None => " of the words".to_owned(),
        Some((head, scores)) => {
            let left = percent(scores.iter().sum::<f64>() / scores.len() as f64);
            format!(", and {left} without head {head}")
        }
    };
    let (seed, step) = (schedule.seed, now.step);
    format!("Seed {seed}, step {step}: {heads} {whole}{what}")
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
        "Right names after {} of {} steps: {}. Of the three words, the largest mean \
         attention weight goes from {attending}.{without}",
        now.step,
        schedule.n_steps,
        each(&now.scores),
    )
}

#[cfg(test)]
mod tests;
