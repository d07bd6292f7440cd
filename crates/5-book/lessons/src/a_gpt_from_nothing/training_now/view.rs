//! What a page shows of a training at the settings that can be changed at any time.

use std::collections::HashSet;

use anyhow::{Context, Result};
use gpt::Model;

use super::chart::{Look, Progress, ShownMap};
use super::next_letter::NextLetter;
use super::run::Run;
use super::word_list::{Beginning, named};
use super::{Facts, N_WRITTEN, Set};
use crate::a_gpt_from_nothing::next::{ids, letter};
use crate::live::LiveView;
use crate::numbers::{share, written};

/// The figure, its words and its facts.
pub(super) fn of(run: &Run, set: &Set) -> Result<LiveView<Facts>> {
    let (look, whole) = (run.look()?, run.model()?);
    let off = set.off.map(|at| Off::of(run, &whole, at)).transpose()?;
    let model = off.as_ref().map_or(&whole, |off| &off.model);
    let beginning = Beginning::of(&set.beginning);
    let next = |logits: &[f64]| NextLetter::of(logits, set.temperature, set.top_p);
    let word = |nth| run.write(model, &beginning.letters, next, nth);
    let words: Vec<String> = (0..N_WRITTEN).map(word).collect::<Result<_>>()?;
    let next = next(model.next(&ids(&beginning.letters))?.as_slice())?;
    let maps = maps(model, &words[0], set.off)?;
    let now = Now { run, set, look, off, beginning, next, words };
    Ok(LiveView { figure: now.figure(&maps)?, words: now.words(), facts: now.facts() })
}

/// A head that is off.
struct Off {
    at: [usize; 2],
    /// The model without it.
    model: Model,
    loss: f64,
    /// Whether the loss is larger than without any other head.
    is_costliest: bool,
}

impl Off {
    fn of(run: &Run, whole: &Model, at @ [block, head]: [usize; 2]) -> Result<Self> {
        let model = whole.without(block, head)?;
        let losses = run.losses_without()?;
        let loss = losses.iter().find(|(it, _)| *it == at).context("a head's loss")?.1;
        let is_costliest = losses.iter().all(|&(it, other)| it == at || other < loss);
        Ok(Self { at, model, loss, is_costliest })
    }

    fn name(&self) -> String {
        let [block, head] = self.at;
        format!("head {head} of block {block}")
    }
}

/// The maps of all heads on a word: of one that is off too, though nothing reads what it says.
fn maps(model: &Model, word: &str, off: Option<[usize; 2]>) -> Result<Vec<ShownMap>> {
    let blocks = model.read(&ids(word))?.maps.into_iter().enumerate();
    let maps = blocks.flat_map(|(b, heads)| {
        let one = move |(i, map)| {
            let (name, is_off) = (format!("block {b}, head {i}"), off == Some([b, i]));
            ShownMap { name, map, is_off }
        };
        heads.into_iter().enumerate().map(one)
    });
    Ok(maps.collect())
}

/// A model as it is now, and what it writes.
struct Now<'a> {
    run: &'a Run,
    set: &'a Set,
    look: Look,
    off: Option<Off>,
    beginning: Beginning,
    next: NextLetter,
    words: Vec<String>,
}

impl Now<'_> {
    fn figure(&self, maps: &[ShownMap]) -> Result<figures::Figure> {
        let is_new = |last: &&Look| last.step < self.look.step;
        let new = self.run.looks.last().filter(is_new).map(|_| &self.look);
        let looks: Vec<&Look> = self.run.looks.iter().chain(new).collect();
        let read = self.words[0].chars().map(String::from);
        let tokens: Vec<String> = [START.to_owned()].into_iter().chain(read).collect();
        let progress = Progress {
            n_steps: self.run.n_steps,
            looks: &looks,
            rules: &self.run.rules,
            called: self.run.list.called,
            beginning: &self.beginning.letters,
            next: &self.next,
            letters: &(0..self.next.chances.len()).map(letter).collect::<Vec<_>>(),
            tokens: &tokens,
            maps,
        };
        Ok(progress.figure(self.title())?)
    }

    fn title(&self) -> String {
        let Look { step, kept, .. } = self.look;
        let (seed, called) = (self.run.seed, self.run.list.called);
        let without = self.off.as_ref().map_or(String::new(), |off| {
            format!(", and {:.3} without {}", off.loss, off.name())
        });
        format!(
            "Seed {seed}, step {step}: a loss of {kept:.3} on {called} kept from it{without}"
        )
    }

    fn words(&self) -> String {
        let run = self.run;
        let Look { step, kept, .. } = self.look;
        let rules = run.rules.iter().map(|(name, loss)| format!("{name} {loss:.3}"));
        let rules = rules.collect::<Vec<_>>().join(", ");
        let off = self.off.as_ref().map_or(String::new(), |off| {
            format!(" Without {} it is {:.3}.", off.name(), off.loss)
        });
        format!(
            "It learns from {}.{} After {step} of {} steps the loss on the kept {} is \
             {kept:.3} (counting: {rules}).{off} {} {}",
            run.list.counted(),
            run.list.left_out,
            run.n_steps,
            run.list.called,
            self.next_words(),
            self.written_words(),
        )
    }

    /// What may come next.
    fn next_words(&self) -> String {
        let Self { set, next, beginning, .. } = self;
        let at = match beginning.letters.as_str() {
            "" => "at the start".to_owned(),
            letters => format!("after “{letters}”"),
        };
        let left_out = match beginning.n_left_out {
            0 => String::new(),
            n => format!(" ({n} of the beginning left out, which are no letters a to z)"),
        };
        let likeliest = next.likeliest();
        format!(
            "At temperature {} and top-p {}, {} of {} letters (the end is one) may come \
             {at}{left_out}; the likeliest is {} ({}).",
            written(set.temperature, 2),
            written(set.top_p, 2),
            next.n_kept(),
            next.chances.len(),
            letter(likeliest),
            share(next.chances[likeliest]),
        )
    }

    /// What it writes, and how much of it is new.
    fn written_words(&self) -> String {
        let [learned, kept, new] = self.run.list.split.count(&self.words);
        let called = self.run.list.called;
        let words: Vec<&str> = self.words.iter().map(|word| named(word)).collect();
        format!(
            "It writes: {}. Of these {called}, it learned from {learned} and never saw {kept}; \
             {new} are new.",
            words.join(", "),
        )
    }

    fn facts(&self) -> Facts {
        let Look { step, kept, .. } = self.look;
        let [.., n_new] = self.run.list.split.count(&self.words);
        Facts {
            is_finished: step == self.run.n_steps,
            is_own: self.run.list.is_own,
            kept,
            without: self.off.as_ref().map_or(kept, |off| off.loss),
            is_off_costliest: self.off.as_ref().is_some_and(|off| off.is_costliest),
            even: (self.next.chances.len() as f64).ln(),
            n_different: self.words.iter().collect::<HashSet<_>>().len(),
            n_new,
        }
    }
}

/// What stands before the first letter.
const START: &str = "start";
