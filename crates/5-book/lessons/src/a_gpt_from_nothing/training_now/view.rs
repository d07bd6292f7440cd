//! What a page shows of a training at the settings that can be changed at any time.

use std::collections::HashSet;

use anyhow::{Context, Result};
use attention::Matrix;
use models::Sampling;

use super::run::{Look, Run};
use super::word_list::{Beginning, named};
use super::{Facts, N_WRITTEN, Set};
use crate::a_gpt_from_nothing::next::{ids, letter, order};
use crate::live::{LiveView, Training};
use crate::numbers::{share, written};

impl Training<Set, Facts> for Run {
    fn step(&mut self) -> Result<()> {
        Self::step(self)
    }

    fn progress(&self) -> [usize; 2] {
        [self.training.n_taken(), self.n_steps]
    }

    fn shown(&self, set: &Set) -> Result<LiveView<Facts>> {
        let now = Now::of(self, set)?;
        Ok(LiveView { figure: now.figure()?, words: now.words(), facts: now.facts() })
    }
}

/// A model as it is now, and what it writes.
pub(super) struct Now<'a> {
    pub(super) run: &'a Run,
    pub(super) set: &'a Set,
    /// In order; the last is of now.
    pub(super) looks: Vec<Look>,
    off: Option<Off>,
    pub(super) beginning: Beginning,
    /// The chance of each letter to come next, at the temperature.
    pub(super) chances: Vec<f64>,
    /// Whether top-p lets it be drawn.
    pub(super) is_kept: Vec<bool>,
    pub(super) words: Vec<String>,
    /// The first word, behind its start: what the maps are of.
    pub(super) tokens: Vec<String>,
    /// The map of each head, by its block and its number: of one that is off too, though
    /// nothing reads what it says.
    pub(super) maps: Vec<([usize; 2], Matrix)>,
}

/// A head that is off.
struct Off {
    name: String,
    loss: f64,
    /// Whether the loss is larger than without any other head.
    is_costliest: bool,
}

impl<'a> Now<'a> {
    fn of(run: &'a Run, set: &'a Set) -> Result<Self> {
        let whole = run.model()?;
        let model = match set.off {
            None => whole,
            Some([block, head]) => whole.without(block, head)?,
        };
        let off = set.off.map(|at @ [block, head]| {
            let name = format!("head {head} of block {block}");
            let losses = run.losses_without()?;
            let (_, loss) = losses.iter().find(|(it, _)| *it == at).context("a loss")?;
            let is_costliest = losses.iter().all(|(it, other)| *it == at || other < loss);
            anyhow::Ok(Off { name, loss: *loss, is_costliest })
        });
        let off = off.transpose()?;
        let beginning = Beginning::of(&set.beginning);
        let all = Sampling::default().temperature(set.temperature)?;
        let sampling = all.top_p(set.top_p)?;
        let word = |nth| run.write(&model, &beginning.letters, sampling, nth);
        let words: Vec<String> = (0..N_WRITTEN).map(word).collect::<Result<_>>()?;
        let logits = model.next(&ids(&beginning.letters))?;
        let kept = sampling.chances(&logits);
        let start = std::iter::once("start".to_owned());
        let blocks = model.read(&ids(&words[0]))?.maps.into_iter().enumerate();
        let maps = blocks.flat_map(|(b, heads)| {
            heads.into_iter().enumerate().map(move |(i, map)| ([b, i], map))
        });
        Ok(Self {
            looks: run.looks()?,
            chances: all.chances(&logits),
            is_kept: kept.into_iter().map(|chance| chance > 0.0).collect(),
            tokens: start.chain(words[0].chars().map(String::from)).collect(),
            maps: maps.collect(),
            run,
            set,
            off,
            beginning,
            words,
        })
    }

    pub(super) fn look(&self) -> &Look {
        &self.looks[self.looks.len() - 1]
    }

    /// The loss without the head that is off, if one is.
    pub(super) fn off(&self) -> Option<f64> {
        self.off.as_ref().map(|off| off.loss)
    }

    pub(super) fn title(&self) -> String {
        let Look { step, kept, .. } = self.look();
        let (seed, called) = (self.run.seed, self.run.list.called);
        let without = self.off.as_ref().map_or(String::new(), |off| {
            format!(", and {:.3} without {}", off.loss, off.name)
        });
        format!(
            "Seed {seed}, step {step}: a loss of {kept:.3} on {called} kept from it{without}"
        )
    }

    pub(super) fn words(&self) -> String {
        format!(
            "It learns from {}.{} {} {} {}",
            self.run.list.counted(),
            self.run.list.left_out,
            self.loss_words(),
            self.next_words(),
            self.written_words(),
        )
    }

    /// The loss now, and what counting comes to.
    fn loss_words(&self) -> String {
        let Run { n_steps, list, rules, .. } = self.run;
        let Look { step, kept, .. } = self.look();
        let rules = rules.map(|(name, loss)| format!("{name} {loss:.3}")).join(", ");
        let off = self.off.as_ref().map_or(String::new(), |off| {
            format!(" Without {} it is {:.3}.", off.name, off.loss)
        });
        format!(
            "After {step} of {n_steps} steps the loss on the kept {} is {kept:.3} (counting: \
             {rules}).{off}",
            list.called,
        )
    }

    /// What may come next.
    fn next_words(&self) -> String {
        let Self { set, beginning, .. } = self;
        let at = match &*beginning.letters {
            "" => "at the start".to_owned(),
            letters => format!("after “{letters}”"),
        };
        let left_out = match beginning.n_left_out {
            0 => String::new(),
            n => format!(" ({n} of the beginning left out, which are no letters a to z)"),
        };
        let likeliest = order(&self.chances)[0];
        format!(
            "At temperature {} and top-p {}, {} of {} letters (the end is one) may come \
             {at}{left_out}; the likeliest is {} ({}).",
            written(set.temperature, 2),
            written(set.top_p, 2),
            self.is_kept.iter().filter(|&&is_kept| is_kept).count(),
            self.is_kept.len(),
            letter(likeliest),
            share(self.chances[likeliest]),
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
        let Look { step, kept, .. } = *self.look();
        let [.., n_new] = self.run.list.split.count(&self.words);
        Facts {
            is_finished: step == self.run.n_steps,
            is_own: self.run.list.is_own,
            kept,
            without: self.off.as_ref().map_or(kept, |off| off.loss),
            is_off_costliest: self.off.as_ref().is_some_and(|off| off.is_costliest),
            even: (self.chances.len() as f64).ln(),
            n_different: self.words.iter().collect::<HashSet<_>>().len(),
            n_new,
        }
    }
}
