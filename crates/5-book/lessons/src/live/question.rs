//! What a live figure asks its reader, and how it knows that it is answered.

use super::settings::Settings;

/// A question that is answered by changing the figure.
#[derive(Debug)]
pub struct Question<S, F> {
    /// What is asked, in a sentence.
    pub ask: &'static str,
    /// Whether these settings, and the facts that came out of them, answer it. They do not
    /// where the controls stand first: a question that needs no move is none.
    pub is_answered: fn(&S, &F) -> bool,
    /// Moves the first settings to some that answer it, for a reader who gives up.
    pub answer: fn(&mut S),
    /// What is to be learnt from the answer, in a sentence.
    pub found: &'static str,
}

/// A question as a page has it.
#[derive(Debug, Clone)]
pub struct PageQuestion {
    /// What is asked, in a sentence.
    pub ask: &'static str,
    /// Settings that answer it, as an address has them.
    pub answer: Vec<(&'static str, String)>,
    /// What is to be learnt from the answer, in a sentence.
    pub found: &'static str,
}

impl<S: Settings, F> Question<S, F> {
    pub(super) fn on_page(&self) -> PageQuestion {
        let mut answer = S::first();
        (self.answer)(&mut answer);
        let moved = answer.moved().into_iter();
        let answer = moved.map(|(control, text)| (control.key, text)).collect();
        PageQuestion { ask: self.ask, answer, found: self.found }
    }
}
