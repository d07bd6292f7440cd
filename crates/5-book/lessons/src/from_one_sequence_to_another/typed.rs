//! A date that a reader types, in a form of their own: live.

use anyhow::Result;
use training::dates::{Date, Form};

use super::SEED;
use super::model::{N_HEADS, Translation, opened};
use crate::live::setting::choice;
use crate::live::{LiveFigure, LiveView, Question, Setting, Weights, live};
use crate::numbers::share;

/// Draws where the heads look while the trained model writes a date that was typed.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("typed-date", draw, QUESTIONS).drawn_from(Weights::Dates);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Write the twelfth of March 2031 in a form that it never saw, and that it \
              still gets right.",
        is_answered: |set, it| set.is_own_form() && it.is_right(),
        answer: |set| set.date = "12 mar 2031".to_owned(),
        found: "It has learned where parts stand by what stands in and beside them, and \
                some of that carries over to forms that it never saw.",
    },
    Question {
        ask: "And in one that you read without doubt, and it gets wrong.",
        is_answered: |set, it| set.is_own_form() && !it.is_right(),
        answer: |set| set.date = "12. march 2031".to_owned(),
        found: "A point behind the day, and March becomes May. It cannot even read what \
                it writes, 2031-03-12. Nothing in the training asked for a rule.",
    },
    Question {
        ask: "Go back to mar. 12 2031, and leave one head alone that still writes it \
              right.",
        is_answered: |set, it| {
            let is_alone = matches!(set.removed, Removed::AllBut(_));
            set.typed() == FIRST && is_alone && it.is_right()
        },
        answer: |set| set.removed = Removed::AllBut(1),
        found: "Head 1. It is not the one that aligns best: that is head 2, which alone \
                writes 2019-03-12. Alone, each of them gets most dates wrong: the dots \
                below show how many.",
    },
];

/// What is typed first.
const FIRST: &str = "mar. 12 2031";

/// The date of the questions.
const MEANT: Date = Date { year: 2031, month: 3, day: 12 };

/// The most characters of a line: longer than any that the model takes, which it says itself.
const MOST: usize = 30;

/// The heads that are taken away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Removed {
    Nothing,
    One(usize),
    AllBut(usize),
}

impl Removed {
    fn setting() -> Setting<Self> {
        let none = ("no".to_owned(), "none".to_owned(), Self::Nothing);
        let one =
            |head: usize| (head.to_string(), format!("head {head}"), Self::One(head));
        let but = |head: usize| {
            let name = format!("all others than head {head}");
            (format!("but-{head}"), name, Self::AllBut(head))
        };
        let heads = 0..N_HEADS;
        choice([none].into_iter().chain(heads.clone().map(one)).chain(heads.map(but)))
    }

    /// What a press on a head does, and what that sets: it is removed, then alone, then one
    /// of all.
    fn pressed(self, head: usize) -> [String; 2] {
        let [action, sets] = match self {
            Self::One(removed) if removed == head => ["leave it alone", "but-"],
            Self::AllBut(kept) if kept == head => {
                return ["press: all heads".into(), "removed=no".into()];
            }
            Self::AllBut(_) => ["leave it alone", "but-"],
            _ => ["remove it", ""],
        };
        [format!("head {head}, press: {action}"), format!("removed={sets}{head}")]
    }

    fn heads(self) -> Vec<usize> {
        let is_removed = |head: &usize| match self {
            Self::Nothing => false,
            Self::One(removed) => *head == removed,
            Self::AllBut(kept) => *head != kept,
        };
        (0..N_HEADS).filter(is_removed).collect()
    }
}

live! {
    struct Set {
        date: String = "A date", text(MOST, FIRST);
        removed: Removed = "Removed", Removed::setting();
    }

    struct Facts { written: String }
}

impl Set {
    /// What was typed; the model knows small letters.
    fn typed(&self) -> String {
        self.date.trim().to_lowercase()
    }

    /// Whether a person would read [`MEANT`], in a form that is none of the six: its year, its
    /// day, and its month as a word or, where the year comes first, in digits.
    fn is_own_form(&self) -> bool {
        let text = self.typed();
        let has = |part| text.contains(part);
        let has_month = has("mar") || text.starts_with("2031") && has("03");
        has("2031") && has("12") && has_month && !Self::is_known_form(&text)
    }

    fn is_known_form(text: &str) -> bool {
        Form::ALL.iter().any(|form| form.write(MEANT).text == text)
    }

    fn is_meant(&self) -> bool {
        self.is_own_form() || Self::is_known_form(&self.typed())
    }
}

impl Facts {
    fn is_right(&self) -> bool {
        self.written == MEANT.iso()
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let written =
        Translation::by(&opened()?.ablated(&set.removed.heads())?, &set.typed())?;
    let without = match set.removed {
        Removed::Nothing => String::new(),
        Removed::One(head) => format!(", without head {head}"),
        Removed::AllBut(head) => format!(", with head {head} alone"),
    };
    let Translation { read, text, maps } = &written;
    let title = format!("Seed {SEED}: “{read}” is written as {text}{without}");
    let most = maps.iter().enumerate().map(|(head, map)| {
        let (at, _) = map.row(2).transpose().argmax();
        let letter = read.chars().nth(at).unwrap_or(' ');
        format!("head {head} to “{letter}” ({})", share(map[(2, at)]))
    });
    let words = format!(
        "It reads “{read}” and writes {text}{without}. For the third letter that it writes, \
         most goes from {}.",
        most.collect::<Vec<_>>().join(", "),
    );
    let meant = set.is_meant().then(|| MEANT.iso());
    let presses = |head| set.removed.pressed(head);
    let figure =
        written.ribbons(title, &set.removed.heads(), presses, meant.as_deref())?;
    Ok(LiveView { figure, words, facts: Facts { written: written.text } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_date() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"It reads “mar. 12 2031” and writes 2031-03-12. For the third letter that it writes, most goes from head 0 to “3” (.944), head 1 to “3” (.882), head 2 to “2” (.765), head 3 to “3” (1.000).");
        let alone = [("date", "12/03/2031"), ("removed", "but-2")];
        insta::assert_snapshot!(LIVE.at(alone).unwrap().words, @"It reads “12/03/2031” and writes 2019-03-01, with head 2 alone. For the third letter that it writes, most goes from head 0 to “3” (.983), head 1 to “3” (.913), head 2 to “3” (.503), head 3 to “3” (.999).");
    }

    #[test]
    fn forms_that_it_never_saw() {
        let title = |date| LIVE.at([("date", date)]).unwrap().figure.title().to_owned();
        let all =
            ["12 mar 2031", "12. march 2031", "2031-03-12", "March 12 2031"].map(title);
        insta::assert_snapshot!(all.join("\n"), @"
        Seed 1: “12 mar 2031” is written as 2031-03-12
        Seed 1: “12. march 2031” is written as 2031-05-12
        Seed 1: “2031-03-12” is written as 2032-03-20
        Seed 1: “march 12 2031” is written as 2031-03-01
        ");
    }

    #[test]
    fn what_it_cannot_read_is_named() {
        let refused = |text| LIVE.at([("date", text)]).unwrap_err().to_string();
        insta::assert_snapshot!(refused("12 märz 2031"), @r#"letter 4 of the text is 'ä', counted from 0, and the model knows only these: " ,-./0123456789abcdefghijlmnoprstuvy""#);
        insta::assert_snapshot!(refused("the third of march 2031"), @"the text has 23 letters, and the model reads at most 18");
        insta::assert_snapshot!(refused(""), @"the number of letters is 0, and must be at least 1");
    }
}
