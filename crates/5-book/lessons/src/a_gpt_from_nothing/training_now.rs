//! A GPT that is trained on first names, or on a reader's own words, while a reader looks on:
//! live.

mod chart;
mod run;
#[cfg(test)]
mod tests;
mod view;
mod word_list;

use std::sync::OnceLock;

use anyhow::Result;
use attention::thousands;
use figures::{Figure, lines};
use gpt::{Architecture, NAMES, Schedule};

use crate::Args;
use crate::kept::kept;
use crate::live::setting::choice;
use crate::live::{LiveFigure, LiveView, Question, Setting, Settings, Training, live};
use crate::numbers::lines_panel;
use run::Run;
use word_list::{Beginning, MOST_LETTERS};

/// Trains as its reader sets it, and writes.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("gpt", draw, QUESTIONS).trained(|set| Ok(Box::new(Run::new(set)?)));

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Leave the temperature at 1, and have it write the same name twelve times.",
        is_answered: |set, it| {
            let is_free = Beginning::of(&set.beginning).letters.len() < MOST_LETTERS;
            set.temperature == 1.0 && is_free && it.n_different == 1
        },
        answer: |set| set.top_p = 0.1,
        found: "A small top-p does it: where the likeliest letter alone has that much, no \
                other is left. Then nothing is up to chance, whatever the temperature.",
    },
    Question {
        ask: "Train to the end. Without which head does the loss on kept names rise most?",
        is_answered: |_, it| it.is_finished && !it.is_own && it.is_off_costliest,
        answer: |set| set.off = Some([0, 3]),
        found: "With seed 1, 2,000 steps and one block it is head 3: it costs more than twice as \
                much as any other, and without it the model does worse than counted triples.",
    },
    Question {
        ask: "Give it a list of your own that it learns by heart: it writes hardly anything \
              else, and guesses the words that were kept from it worse than if all letters \
              had the same chance.",
        is_answered: |_, it| {
            let is_by_heart = it.n_new <= 2 && it.kept > it.even;
            it.is_finished && it.is_own && is_by_heart
        },
        answer: |set| (set.words, set.steps) = (MONTHS.to_owned(), 400),
        found: "A dozen words are enough. Of the months it knows by heart the eleven that it \
                saw, and gives October, which was kept, next to no chance: a low loss on what \
                was learned from says nothing about the rest.",
    },
];

/// A list of twelve words, of which the tenth is kept to test with.
const MONTHS: &str = "january february march april may june july august september october \
                      november december";

/// So many words are written at each look.
const N_WRITTEN: usize = 12;

/// Of a list of words, in characters: it must fit an address.
const MOST_TYPED: usize = 3000;

/// The largest model, whose heads can be off.
const LARGER: Architecture = Architecture::LARGER;

/// How large a model is.
fn sizes() -> Setting<Architecture> {
    let sizes = [("small", Architecture::SMALL), ("larger", LARGER)];
    choice(sizes.map(|(key, architecture)| {
        let Architecture { d_model, n_blocks, .. } = architecture;
        let blocks = if n_blocks == 1 { "block" } else { "blocks" };
        let n = thousands(architecture.n_parameters());
        (key, format!("{d_model} wide, {n_blocks} {blocks}: {n}"), architecture)
    }))
}

live! {
    struct Set {
        size: Architecture = "Parameters", sizes();
        words: String = "Own words", word_list(MOST_TYPED, format!(
            "{} first names. Or ten words and more of your own.",
            thousands(NAMES.lines().count()),
        ));
        seed: usize = "Seed", count([0, 9999], 1);
        steps: usize = "Steps", count([100, 5000], Schedule::PAGE.n_steps);
        temperature: f64 = "Temperature", number([0.1, 3.0], 0.05, 1.0).at_any_time();
        top_p: f64 = "Top-p", number([0.01, 1.0], 0.01, 1.0).at_any_time();
        beginning: String = "Beginning", text(MOST_LETTERS, "ma").at_any_time();
        off: Option<[usize; 2]> = "Head off",
            head_or_none("block", [LARGER.n_blocks, LARGER.n_heads]).at_any_time();
    }

    struct Facts {
        is_finished: bool,
        /// Whether it learned from a reader's own words.
        is_own: bool,
        /// The loss on words that are kept from it, with all heads.
        kept: f64,
        /// The same without the head that is off, if one is.
        without: f64,
        /// Whether it is larger than without any other head.
        is_off_costliest: bool,
        /// The loss where all letters have the same chance.
        even: f64,
        /// How many different words it writes, of twelve.
        n_different: usize,
        /// How many of the twelve are neither learned nor kept.
        n_new: usize,
    }
}

/// The training of the first settings, to its end.
fn first() -> Result<&'static Run> {
    static FIRST: OnceLock<Run> = OnceLock::new();
    kept(&FIRST, || Run::new(&Set::first())?.finish())
}

/// Its loss on kept names after even numbers of steps, and the counts as levels.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let run = first()?;
    let end = run.n_steps as f64;
    let even = run.looks.iter().filter(|it| it.step.is_multiple_of(125));
    let even = even.map(|it| [it.step as f64, it.kept]).collect();
    let levels = run.rules.map(|(name, loss)| (name, vec![[0.0, loss], [end, loss]]));
    let each = [("the model", even)].into_iter().chain(levels);
    let each = each.map(|(name, points)| (name.to_owned(), points)).collect();
    let panel = lines_panel("loss on names that it never saw", "steps", each);
    let title = "A GPT of 4,000 parameters beats simple counts of one to three letters";
    Ok(lines(title, &[panel])?)
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    match set.moved().iter().all(|(control, _)| control.at_any_time) {
        true => first()?.shown(set),
        false => Run::new(set)?.finish()?.shown(set),
    }
}
