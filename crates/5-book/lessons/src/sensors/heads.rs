//! What the heads of the trained model look at in a window: live.

use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Weights};
use crate::numbers::{along, entropy, share, written};
use anyhow::{Context, Result};
use attention::RowVector;
use figures::{Lines, lines};
use sensors::{GROUPS, N_STEPS, Scale, capped};

use super::model::{N_HEADS, Window, opened, window};

/// Draws the shares of one head in a window next to the readings, which may be given a spike.
pub const LIVE: Live = Live {
    name: "engine-heads",
    questions: &[
        Question {
            ask: "Leave head 1. How many cycles must remain for it to look at all readings \
                  nearly alike, with over .99 of the entropy of even shares?",
            is_answered: |settings, view| {
                let [entropy, ..] = view.last::<3>()?;
                Ok(settings.count("head")? == 1 && entropy > 0.99)
            },
            answer: &[("remaining", "100")],
            found: "While many remain, it looks everywhere alike; as wear moves the \
                   readings, it turns to the oldest.",
        },
        Question {
            ask: "Which head gives most to a reading near the other end, 20 or later, and \
                  more than .2, when 5 cycles remain?",
            is_answered: |settings, view| {
                let shares = view.slice(0..N_STEPS)?;
                let most = shares.iter().copied().fold(0.0, f64::max);
                let is_late = shares[20..].contains(&most);
                Ok(settings.number("remaining")? == 5.0 && is_late && most > 0.2)
            },
            answer: &[("head", "2")],
            found: "Head 2, while heads 1, 3, 5 and 7 look at the first reading: together \
                    they see both ends of the window.",
        },
        Question {
            ask: "Add a spike that moves the answer by 3 cycles or more, at a reading to \
                 which this head gives less than an even share.",
            is_answered: |settings, view| {
                let at = settings.number("at")?.round() as usize;
                let [_, says, without] = view.last()?;
                let is_little = view.number(at)? < 1.0 / N_STEPS as f64;
                Ok(is_little && (says - without).abs() >= 3.0)
            },
            answer: &[("remaining", "60"), ("spike", "8"), ("at", "15")],
            found: "Attention is not its only way to the answer: the LSTM below spreads a \
                    reading over the tokens around it, and seven more heads look on.",
        },
    ],
    weights: Some(Weights::Engines),
    controls,
    draw,
    training: None,
};

fn controls() -> Vec<Control> {
    let groups = GROUPS.map(|(name, _)| (name, name));
    let number =
        |range: [f64; 2], step: f64, first: f64| Kind::Number { range, step, first };
    vec![
        Control::new("head", "Head", Kind::Count { range: [0, N_HEADS - 1], first: 1 }),
        Control::new("engine", "Engine", Kind::Count { range: [0, 99], first: 0 }),
        Control::new("remaining", "Cycles that remain", number([0.0, 120.0], 1.0, 5.0)),
        Control::new("spike", "Spike added", number([-8.0, 8.0], 0.5, 0.0)),
        Control::new("at", "At reading", number([0.0, 29.0], 1.0, 15.0)),
        Control::new("group", "In sensors of", Kind::choice(groups)),
    ]
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

fn draw(settings: &Settings) -> Result<LiveView> {
    let scale = &opened()?.trained.scale;
    let head = settings.count("head")?;
    let engine = settings.count("engine")?;
    let remaining = settings.number("remaining")?.round() as usize;
    let mut window = window(scale, engine, remaining)?;
    let without = ask(&window, head)?;
    let (at, height) =
        (settings.number("at")?.round() as usize, settings.number("spike")?);
    let spiked = settings.choice("group")?;
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
    let numbers = shown.last.iter().chain(shown.all.iter()).copied();
    let numbers = numbers.chain([bits, shown.says, without.says]).collect();
    Ok(LiveView { figure, words, numbers })
}

/// The shares, and below them the readings.
fn panels(shown: &HeadOnWindow, scale: &Scale, window: &Window) -> [Lines; 2] {
    let even = vec![1.0 / N_STEPS as f64; N_STEPS];
    let line = |name: &str, points| (name.to_owned(), points);
    let channels = GROUPS.map(|(name, of)| {
        let channel = scale.channel(&window.readings, |sensor| of.contains(&sensor));
        line(name, along(&channel))
    });
    let panel = |title: &str, lines| Lines {
        title: title.to_owned(),
        x: "reading".to_owned(),
        is_log: false,
        lines,
    };
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
