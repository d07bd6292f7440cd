//! A date that a reader types, in a form of their own: live.

use anyhow::Result;
use training::dates::{Date, Form};

use super::SEED;
use super::model::{N_HEADS, Written, opened};
use crate::live::{Control, Kind, Live, LiveView, Question, Settings, Weights};
use crate::numbers::share;

/// Draws where the heads look while the trained model writes a date that was typed.
pub const LIVE: Live = Live {
    name: "typed-date",
    questions: &[
        Question {
            ask: "Write the twelfth of March 2031 in a form that it never saw, and that it \
                  still gets right.",
            is_answered: |settings, view| {
                Ok(is_meant(settings)? && is_own(settings)? && is_right(view)?)
            },
            answer: &[("date", "12 mar 2031")],
            found: "It has learned where parts stand by what stands in and beside them, and \
                    some of that carries over to forms that it never saw.",
        },
        Question {
            ask: "And in one that you read without doubt, and it gets wrong.",
            is_answered: |settings, view| {
                Ok(is_meant(settings)? && is_own(settings)? && !is_right(view)?)
            },
            answer: &[("date", "12. march 2031")],
            found: "A point behind the day, and March becomes May. It cannot even read what it \
                    writes, 2031-03-12. Nothing in the training asked for a rule.",
        },
        Question {
            ask: "Go back to mar. 12 2031, and leave one head alone that still writes it right.",
            is_answered: |settings, view| {
                let is_alone = settings.choice("removed")?.starts_with("but-");
                let is_first = typed(settings)? == FIRST;
                Ok(is_first && is_alone && is_right(view)?)
            },
            answer: &[("removed", "but-1")],
            found: "Head 1. It is not the one that aligns best: that is head 2, which alone \
                    writes 2019-03-12. Most dates each of them gets wrong alone: the table \
                    below counts them.",
        },
    ],
    weights: Some(Weights::Dates),
    controls,
    draw,
    training: None,
};

/// What is typed first.
const FIRST: &str = "mar. 12 2031";

/// The date of the questions.
const MEANT: Date = Date { year: 2031, month: 3, day: 12 };

/// The most characters of a line: longer than any that the model takes, which it says itself.
const MOST: usize = 30;

fn controls() -> Vec<Control> {
    let one = (0..N_HEADS).map(|head| (head.to_string(), format!("head {head}")));
    let but = (0..N_HEADS)
        .map(|head| (format!("but-{head}"), format!("all others than head {head}")));
    let none = [("no".to_owned(), "none".to_owned())];
    let removed = Kind::choice(none.into_iter().chain(one).chain(but));
    vec![
        Control::new("date", "A date", Kind::Text { most: MOST, first: FIRST }),
        Control::new("removed", "Removed", removed),
    ]
}

/// What was typed; the model knows small letters.
fn typed(settings: &Settings) -> Result<String> {
    Ok(settings.text("date")?.trim().to_lowercase())
}

/// Whether a person would read [`MEANT`]: its year, its day, and its month as a word or,
/// where the year comes first, in digits.
fn is_meant(settings: &Settings) -> Result<bool> {
    let text = typed(settings)?;
    let has = |part| text.contains(part);
    let has_month = has("mar") || text.starts_with("2031") && has("03");
    Ok(has("2031") && has("12") && has_month)
}

/// Whether none of the six forms writes it so.
fn is_own(settings: &Settings) -> Result<bool> {
    let text = typed(settings)?;
    Ok(Form::ALL.iter().all(|form| form.write(MEANT).text != text))
}

fn is_right(view: &LiveView) -> Result<bool> {
    let written = view.last::<1>()?[0];
    Ok(written == digits(&MEANT.iso()))
}

/// The digits of a text as a number.
fn digits(text: &str) -> f64 {
    let digits = text.chars().filter_map(|letter| letter.to_digit(10));
    digits.fold(0.0, |number, digit| 10.0 * number + f64::from(digit))
}

/// The heads that are taken away.
fn removed(settings: &Settings) -> Result<Vec<usize>> {
    let chosen = settings.choice("removed")?;
    let kept = chosen.strip_prefix("but-").and_then(|head| head.parse::<usize>().ok());
    let one = chosen.parse::<usize>().ok();
    Ok((0..N_HEADS)
        .filter(|&head| match (kept, one) {
            (Some(kept), _) => head != kept,
            (None, one) => one == Some(head),
        })
        .collect())
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let removed = removed(settings)?;
    let written = Written::by(&opened()?.ablated(&removed)?, &typed(settings)?)?;
    let without = match removed[..] {
        [] => String::new(),
        [head] => format!(", without head {head}"),
        _ => format!(", with head {} alone", kept(&removed)),
    };
    let Written { read, text, maps } = &written;
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
    let numbers = maps.iter().flat_map(|map| map.iter().copied());
    let numbers = numbers.chain([digits(text)]).collect();
    Ok(LiveView { figure: written.figure(title)?, words, numbers })
}

/// The head that is left.
fn kept(removed: &[usize]) -> usize {
    (0..N_HEADS).find(|head| !removed.contains(head)).unwrap_or(N_HEADS)
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
