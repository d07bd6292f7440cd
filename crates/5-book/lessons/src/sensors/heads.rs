//! What the heads of the trained model look at in a window: live.

use crate::live::{LiveFigure, LiveView, Question, Weights, live};
use crate::numbers::{along, entropy, lines_panel, share, written};
use anyhow::{Context, Result};
use attention::RowVector;
use figures::{Lines, lines};
use sensors::{GROUPS, N_STEPS, Scale, capped};

use super::model::{N_HEADS, Window, opened, window};

/// Draws the shares of one head in a window next to the readings, which may be given a spike.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("engine-heads", draw, QUESTIONS).drawn_from(Weights::Engines);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Leave head 1. How many cycles must remain for it to look at all readings \
              nearly alike, with over .99 of the entropy of even shares?",
        is_answered: |set, it| set.head == 1 && it.entropy > 0.99,
        answer: |set| set.remaining = 100,
        found: "While many remain, it looks everywhere alike; as wear moves the \
                readings, it turns to the oldest.",
    },
    Question {
        ask: "Which head gives most to a reading near the other end, 20 or later, and \
              more than .2, when 5 cycles remain?",
        is_answered: |set, it| {
            let most = it.shares.iter().copied().fold(0.0, f64::max);
            set.remaining == 5 && it.shares[20..].contains(&most) && most > 0.2
        },
        answer: |set| set.head = 2,
        found: "Head 2, while heads 1, 3, 5 and 7 look at the first reading: together \
                they see both ends of the window.",
    },
    Question {
        ask: "Add a spike that moves the answer by 3 cycles or more, at a reading to \
              which this head gives less than an even share.",
        is_answered: |set, it| {
            let is_little = it.shares[set.at] < 1.0 / N_STEPS as f64;
            is_little && (it.says - it.without).abs() >= 3.0
        },
        answer: |set| (set.remaining, set.spike, set.at) = (60, 8.0, 15),
        found: "Attention is not its only way to the answer: the LSTM below spreads a \
                reading over the tokens around it, and seven more heads look on.",
    },
];

live! {
    struct Set {
        head: usize = "Head", count([0, N_HEADS - 1], 1);
        engine: usize = "Engine", count([0, 99], 0);
        remaining: usize = "Cycles that remain", slider([0, 120], 1, 5);
        spike: f64 = "Spike added", number([-8.0, 8.0], 0.5, 0.0);
        at: usize = "At reading", slider([0, 29], 1, 15);
        group: &'static str = "In sensors of", named(GROUPS.map(|(name, _)| (name, name)));
    }

    struct Facts {
        /// Of the last reading.
        shares: Vec<f64>,
        /// Of its shares, as a part of that of even ones.
        entropy: f64,
        /// What the model says with the spike, and without it.
        says: f64, without: f64,
    }
}

/// What a head does with a window.
struct HeadOnWindow {
    /// The remaining life that the model gives.
    says: f64,
    /// The shares of the last reading.
    last: RowVector,
    /// The shares of all thirty, on average.
    all: RowVector,
}

fn ask(window: &Window, head: usize) -> Result<HeadOnWindow> {
    let steps = opened()?.model.pass(&window.readings)?;
    let map = &steps.attended.context("the model attends")?.attn[head];
    let last = map.row(N_STEPS - 1).into_owned();
    Ok(HeadOnWindow { says: capped(steps.remaining), last, all: map.row_mean() })
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let scale = &opened()?.trained.scale;
    let &Set { head, engine, remaining, spike: height, at, group: spiked } = set;
    let mut window = window(scale, engine, remaining)?;
    let without = ask(&window, head)?;
    window.spike(scale, spiked, at, height)?;
    let asked = if height == 0.0 { None } else { Some(ask(&window, head)?) };
    let shown = asked.as_ref().unwrap_or(&without);

    let title = format!("Head {head} on a window of engine {engine}");
    let figure = lines(title, &panels(shown, scale, &window))?;

    let most = shown.last.iter().copied().fold(0.0, f64::max);
    let place = shown.last.iter().position(|&x| x == most).unwrap_or_default();
    let bits = entropy(shown.last.iter().copied()) / (N_STEPS as f64).log2();
    let mut words = format!(
        "{} cycles remain; the model says {}. Asked by the last reading, head {head} gives most, \
         {}, to reading {place}, and has {} of the entropy of even shares.",
        window.remaining,
        written(shown.says, 0),
        share(most),
        share(bits),
    );
    if asked.is_some() {
        words += &format!(
            " Without the spike the model says {}, and the head gives reading {at} {} instead of \
             {}.",
            written(without.says, 0),
            share(without.last[at]),
            share(shown.last[at]),
        );
    }
    let shares = shown.last.iter().copied().collect();
    let facts = Facts { shares, entropy: bits, says: shown.says, without: without.says };
    Ok(LiveView { figure, words, facts })
}

/// The shares, and below them the readings.
fn panels(shown: &HeadOnWindow, scale: &Scale, window: &Window) -> [Lines; 2] {
    let even = vec![1.0 / N_STEPS as f64; N_STEPS];
    let line = |name: &str, points| (name.to_owned(), points);
    let channels = GROUPS.map(|(name, of)| {
        let channel = scale.channel(&window.readings, |sensor| of.contains(&sensor));
        line(name, along(&channel))
    });
    let panel = |title: &str, lines| lines_panel(title, "reading", lines);
    let shares = vec![
        line("the last reading asks", along(&shown.last)),
        line("all ask, on average", along(&shown.all)),
        line("even", along(&even)),
    ];
    [
        panel("share", shares),
        panel("readings, signed so that wear raises them", channels.to_vec()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_without_and_with_a_spike() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"5 cycles remain; the model says 8. Asked by the last reading, head 1 gives most, .645, to reading 0, and has .325 of the entropy of even shares.");
        let spike = [("spike", "8"), ("group", "pressure")];
        insta::assert_snapshot!(LIVE.at(spike).unwrap().words, @"5 cycles remain; the model says 9. Asked by the last reading, head 1 gives most, .642, to reading 0, and has .329 of the entropy of even shares. Without the spike the model says 8, and the head gives reading 15 .001 instead of .001.");
    }

    #[test]
    fn a_window_longer_ago_than_the_engine_has_run_is_its_first() {
        let scale = &opened().unwrap().trained.scale;
        assert_eq!(window(scale, 3, 10_000).unwrap().first, 1);
    }
}
