//! The texts of a page: one, two beside each other, or as many of a batch as it can hold.

use anyhow::{Result, ensure};
use model_files::MOST_SHOWN;

use crate::view::View;

/// So many shares a page holds at most: 16 layers of 16 heads on 200 tokens, or as many texts
/// as have no more together.
const MOST_SHARES: usize = 16 * 16 * MOST_SHOWN * MOST_SHOWN;

/// What a page shows.
pub struct Texts {
    /// Texts of which a reader chooses one, each with its number in the batch.
    pub(super) all: Vec<(usize, View)>,
    /// Where in `all` the text is that is shown first.
    pub(super) first: usize,
    /// How many the batch has.
    n_texts: usize,
    pub beside: Option<View>,
}

impl Texts {
    /// One text, and what stands beside it.
    pub fn one(view: View, beside: Option<View>) -> Self {
        Self { all: vec![(0, view)], first: 0, n_texts: 1, beside }
    }

    /// The `nth` text of a batch, and of the others those that a page can hold too.
    pub fn of_batch(texts: Vec<View>, nth: usize, has_page: bool) -> Self {
        let n_texts = texts.len();
        let mut left = MOST_SHARES.saturating_sub(n_shares(&texts[nth]));
        let is_kept = |(at, view): &(usize, View)| {
            let n = n_shares(view);
            let fits = has_page && longest(view) <= MOST_SHOWN && n <= left;
            if fits && *at != nth {
                left -= n;
            }
            fits || *at == nth
        };
        let all: Vec<_> = texts.into_iter().enumerate().filter(is_kept).collect();
        let first = all.iter().position(|(at, _)| *at == nth).unwrap_or(0);
        Self { all, first, n_texts, beside: None }
    }

    /// Whether two texts side by side are short enough for a page.
    pub(super) fn check(&self) -> Result<()> {
        let Some(beside) = &self.beside else { return Ok(()) };
        let n = longest(self.chosen()).max(longest(beside));
        ensure!(
            n <= MOST_SHOWN,
            "two texts are drawn whole, and of up to {MOST_SHOWN} tokens: one has {n}"
        );
        Ok(())
    }

    /// All texts, with what they are called: by their number in a batch, by their models where
    /// these differ, and else by what they say.
    pub(super) fn named(&self) -> impl Iterator<Item = (String, &View)> {
        let is_batch = self.n_texts > 1;
        let is_of_two_models =
            self.beside.as_ref().is_some_and(|it| it.sentence == self.chosen().sentence);
        let name = move |at: usize, of: &View| match (is_batch, is_of_two_models) {
            (true, _) => format!("{at}: {}", of.sentence),
            (false, true) => of.model.clone(),
            (false, false) => of.sentence.clone(),
        };
        let all = self.all.iter().map(|(at, view)| (*at, view));
        let all = all.chain(self.beside.iter().map(|view| (0, view)));
        all.map(move |(at, view)| (name(at, view), view))
    }

    /// Which text of a batch the words of the page are about.
    pub(super) fn which(&self) -> String {
        match self.n_texts {
            1 => String::new(),
            n => format!(", text {} of {n}", self.all[self.first].0),
        }
    }

    /// The text that is shown first.
    pub fn chosen(&self) -> &View {
        &self.all[self.first].1
    }

    /// What a page of this batch says of the texts that it does not hold.
    pub fn left_out(&self) -> String {
        let n = self.all.len();
        if n < 2 || n == self.n_texts {
            return String::new();
        }
        format!(
            "the page has {n} of {} texts: {MOST_SHARES} shares in all, on up to \
             {MOST_SHOWN} tokens\n",
            self.n_texts
        )
    }
}

fn longest(view: &View) -> usize {
    view.text.pieces.len().max(view.text.asking().0.len())
}

fn n_shares(view: &View) -> usize {
    view.text.heads().map(|(_, map)| map.len()).sum()
}
