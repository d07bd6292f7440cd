//! A question, posed with the numbers of a seed, and run.

use anyhow::{Context, Result, bail};
use catalogue::Fault;

use crate::facts::{Facts, value};
use crate::template::Template;
use crate::{Answer, Form, parts};

/// Makes the thing that a question is about, from its numbers, and says what came out.
pub(crate) type Run = fn(&Facts) -> Result<Facts>;

/// A question, before anything is computed.
#[derive(Debug)]
pub struct Question {
    /// Under which its answers are kept. It never changes, and no other question gets it.
    pub id: String,
    /// A few words for lists.
    pub title: String,
    /// The heading in its chapter under which the answer is explained.
    pub section: String,
    pub(crate) text: Template,
    pub(crate) hint: Template,
    pub(crate) form: Template,
    pub(crate) answer: Template,
    pub(crate) shown: Template,
    pub(crate) whys: Vec<Explanation>,
    pub(crate) slips: Vec<Explanation>,
    pub(crate) sets: Vec<Facts>,
    pub(crate) run: Run,
}

/// A sentence of a slip or of why it is so.
#[derive(Debug)]
pub(crate) struct Explanation {
    /// Of a slip: an answer.
    pub what: Template,
    /// The answer with which alone it is said; empty where it always is.
    pub only_if: String,
    pub says: Template,
}

/// A question with its numbers, before anything is computed.
#[derive(Debug)]
pub struct Posed<'a> {
    question: &'a Question,
    numbers: &'a Facts,
    /// What is asked.
    pub text: String,
    /// A step on the way.
    pub hint: String,
    /// What kind of answer there is.
    pub form: Form,
}

/// What came out of a run.
#[derive(Debug)]
pub struct Outcome {
    /// What there is to be seen: a ledger, a line of a trace, a row of a map.
    pub shown: String,
    /// The answer that was read off it.
    pub answer: Answer,
    /// Why it is so, in a sentence or two.
    pub why: String,
    /// Answers to something else that one may have in mind.
    pub slips: Vec<Slip>,
}

/// A wrong answer that makes sense, computed as the right one is.
#[derive(Debug)]
pub struct Slip {
    /// What is given.
    pub answer: Answer,
    /// Of what it would be the answer.
    pub says: String,
}

impl Question {
    /// How many sets of numbers it has: from this seed on they come again.
    pub fn n_sets(&self) -> u64 {
        self.sets.len() as u64
    }

    /// The question with the numbers of this seed: those of seed 0 are asked first.
    ///
    /// # Errors
    /// A file of questions with a name that is not there; a test finds it first.
    pub fn pose(&self, seed: u64) -> Result<Posed<'_>> {
        let numbers = &self.sets[(seed % self.sets.len() as u64) as usize];
        let (text, hint) = (self.text.filled(numbers)?, self.hint.filled(numbers)?);
        let form = form(&self.form.filled(numbers)?);
        let form = form.with_context(|| self.form.fault("no form of an answer"))?;
        Ok(Posed { question: self, numbers, text, hint, form })
    }
}

/// `whole`, `number within 0.1`, `shape`, `one of this | that`, `token of A sentence.`
pub(crate) fn form(text: &str) -> Result<Form> {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match (kind, rest.split_once(' ')) {
        ("whole", None) => Form::Whole,
        ("shape", None) => Form::Shape,
        ("number", Some(("within", within))) => Form::Decimal { within: within.parse()? },
        ("one", Some(("of", options))) => {
            Form::Choice(options.split('|').map(|it| it.trim().to_owned()).collect())
        }
        ("token", Some(("of", sentence))) => {
            let tokens = &parts::sentence(sentence)?.tokens;
            let is_first = |at: &usize| !tokens[..*at].contains(&tokens[*at]);
            let options = (0..tokens.len()).filter(is_first);
            Form::Token(options.map(|at| tokens[at].clone()).collect())
        }
        _ => bail!("{text:?}"),
    })
}

impl Posed<'_> {
    /// Makes the thing and looks.
    ///
    /// # Errors
    /// As [`Question::pose`]; what is made from parts of this program does not fail.
    pub fn run(&self) -> Result<Outcome> {
        let question = self.question;
        let facts = self.numbers.clone().and((question.run)(self.numbers)?);
        let answer = self.answer(&question.answer, &facts)?;
        let said = answer.to_string();
        let only = question.whys.iter().find(|why| why.only_if == said);
        let why = only.or(question.whys.iter().find(|why| why.only_if.is_empty()));
        let why = why.ok_or_else(|| question.answer.fault("no `Why:`"))?;
        let is_option = !self.form.options().is_empty();
        let mut slips: Vec<Slip> = Vec::new();
        let is_said = |it: &&Explanation| it.only_if.is_empty() || it.only_if == said;
        for slip in question.slips.iter().filter(is_said) {
            let given = self.answer(&slip.what, &facts)?;
            // Whichever option is right, the others are slips, and each is said once.
            let is_said = given == answer || slips.iter().any(|it| it.answer == given);
            if !(is_option && is_said) {
                slips.push(Slip { answer: given, says: slip.says.filled(&facts)? });
            }
        }
        let (shown, why) = (question.shown.filled(&facts)?, why.says.filled(&facts)?);
        Ok(Outcome { shown, answer, why, slips })
    }

    fn answer(&self, what: &Template, facts: &Facts) -> Result<Answer, Fault> {
        let told = what.filled(facts)?;
        let is_option = !self.form.options().is_empty();
        let found = if is_option { told.as_str().into() } else { value(&told) };
        let taken = self.form.takes(&found);
        taken.ok_or_else(|| what.fault(format!("{told} is no such answer")))
    }
}
