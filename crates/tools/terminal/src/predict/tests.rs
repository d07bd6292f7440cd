//! What is true of every question, and what a person sees.

mod sittings;

use std::collections::BTreeSet;
use std::fs;

use super::answer::{Answer, Form, Given, Verdict};
use super::questions::{self, Asked, CHAPTERS, Outcome};
use super::text::{indented, wrapped};
use workshop::paths;

/// Every question with its run.
fn runs() -> impl Iterator<Item = (Asked, Outcome)> {
    questions::all().map(|asked| {
        let outcome = (asked.question.run)();
        (asked, outcome.unwrap_or_else(|error| panic!("{}: {error}", asked.question.id)))
    })
}

/// How a person may write an answer.
fn forms(answer: &Answer, options: &[String]) -> Vec<String> {
    match answer {
        Answer::Whole(n) => {
            let apart = answer.to_string();
            vec![n.to_string(), apart.clone(), apart.replace(',', " ")]
                .into_iter()
                .chain([apart.replace(',', "_"), format!("{n}x"), format!("~{apart}")])
                .collect()
        }
        Answer::Decimal(number) => {
            let percent = number.is_finite().then(|| format!("{} %", 100.0 * number));
            [answer.to_string(), number.to_string()].into_iter().chain(percent).collect()
        }
        Answer::Shape((rows, columns)) => vec![
            format!("{rows}x{columns}"),
            format!("({rows}, {columns})"),
            format!("{rows}, {columns}"),
            format!("{rows} × {columns}"),
        ],
        Answer::Choice(option) => {
            let at = options.iter().position(|other| other == option);
            let at = at.unwrap_or_else(|| panic!("{option} is not in {options:?}"));
            vec![option.clone(), option.to_uppercase(), (at + 1).to_string()]
        }
    }
}

#[test]
fn every_answer_is_accepted_in_its_forms_and_every_slip_is_refused() {
    for (Asked { question, .. }, outcome) in runs() {
        let (id, form) = (question.id, question.form);
        let options = form.options().unwrap();
        for typed in forms(&outcome.answer, &options) {
            let given = form.read(&typed, &options);
            let given = given.unwrap_or_else(|| panic!("{id}: {typed} is not read"));
            let verdict = form.judge(&given, &outcome.answer);
            assert_eq!(verdict, Verdict::Right, "{id}: {typed}");
        }
        let widest = outcome.shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(76), "{id} is wider than a terminal:\n{}", outcome.shown);
        assert!(!outcome.slips.is_empty(), "{id} has no plausible wrong answer");
        for slip in &outcome.slips {
            for typed in forms(&slip.answer, &options) {
                let given = form.read(&typed, &options);
                let given = given.unwrap_or_else(|| panic!("{id}: {typed} is not read"));
                let verdict = form.judge(&given, &outcome.answer);
                assert_eq!(verdict, Verdict::Missed, "{id}: {typed}");
            }
        }
    }
}

#[test]
fn a_run_gives_the_same_twice() {
    for ((asked, first), (_, second)) in runs().zip(runs()) {
        assert_eq!(first.answer, second.answer, "{}", asked.question.id);
        assert_eq!(first.shown, second.shown, "{}", asked.question.id);
    }
}

/// The numbers in a text: runs of digits, with commas and a point within.
fn numbers(text: &str) -> Vec<f64> {
    let parts =
        text.split(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '.' | '_'));
    let parts = parts.map(|part| part.trim_matches([',', '.']).replace([',', '_'], ""));
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn no_answer_is_in_the_text_of_its_question() {
    assert_eq!(
        numbers("8 heads, (0, 12), 263,168 or 0.5."),
        [8.0, 0.0, 12.0, 263168.0, 0.5]
    );
    for (Asked { question, .. }, outcome) in runs() {
        let (id, form) = (question.id, question.form);
        let told = format!("{}\n{}\n{}", question.title, question.text, question.hint);
        let is_told = match &outcome.answer {
            Answer::Whole(n) => numbers(&told).contains(&(*n as f64)),
            Answer::Decimal(_) => numbers(&told).iter().any(|&number| {
                let given = Given::Exactly(Answer::Decimal(number));
                form.judge(&given, &outcome.answer) == Verdict::Right
            }),
            answer @ Answer::Shape(_) => {
                let told = told.replace([' ', '×'], "x");
                forms(answer, &[])
                    .iter()
                    .any(|form| told.contains(&form.replace([' ', '×'], "x")))
            }
            // A sentence holds its tokens; what else is said must not.
            Answer::Choice(option) => {
                let told = match form {
                    Form::Token(_) => format!("{}\n{}", question.title, question.hint),
                    _ => told.clone(),
                };
                told.to_lowercase().contains(&option.to_lowercase())
            }
        };
        assert!(!is_told, "{id} tells its answer, {}:\n{told}", outcome.answer);
    }
}

#[test]
fn the_forms_that_are_given_as_examples_are_no_answers() {
    for (Asked { question, .. }, outcome) in runs() {
        let examples = question.form.forms();
        let is_among = match &outcome.answer {
            Answer::Shape(_) => examples.contains(&outcome.answer.to_string()),
            answer => numbers(examples).iter().any(|&number| {
                let number = match answer {
                    Answer::Whole(_) => Answer::Whole(number as usize),
                    _ => Answer::Decimal(number),
                };
                let given = Given::Exactly(number);
                question.form.judge(&given, answer) == Verdict::Right
            }),
        };
        assert!(!is_among, "{}: {examples}", question.id);
    }
}

#[test]
fn ids_and_titles_are_given_once() {
    let names = |of: fn(&Asked) -> &'static str| -> Vec<&str> {
        questions::all().map(|asked| of(&asked)).collect()
    };
    for names in [names(|it| it.question.id), names(|it| it.question.title)] {
        let each: BTreeSet<_> = names.iter().collect();
        assert_eq!(each.len(), names.len(), "{names:?}");
    }
}

#[test]
fn an_option_is_told_from_the_others_and_from_a_number() {
    for Asked { question, .. } in questions::all() {
        let options = question.form.options().unwrap();
        for option in &options {
            let given = question.form.read(option, &options);
            let wanted = Given::Exactly(Answer::Choice(option.clone()));
            assert_eq!(given, Some(wanted), "{}", question.id);
            assert!(numbers(option).is_empty(), "{}: {option}", question.id);
        }
    }
}

#[test]
fn every_section_is_in_the_book() {
    let folder = paths::workspace().join("chapters");
    let pages: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    for chapter in &CHAPTERS {
        let number = format!("{:02}-", chapter.number);
        let page = pages.iter().find(|(name, _)| name.starts_with(&number));
        let (_, page) = page.unwrap_or_else(|| panic!("no page {number}"));
        let heads: Vec<&str> =
            page.lines().filter(|line| line.starts_with('#')).collect();
        assert!(heads.contains(&format!("# {}", chapter.title).as_str()), "{chapter}");
        for question in chapter.questions {
            let is_head =
                |head: &&str| head.trim_start_matches('#').trim() == question.section;
            assert!(heads.iter().any(is_head), "{chapter}: no “{}”", question.section);
        }
    }
}

#[test]
fn a_chapter_without_questions_is_refused_with_those_that_have_some() {
    insta::assert_snapshot!(questions::of_chapter(8).unwrap_err(), @"no question is about chapter 9; there are some about 1, 2, 3, 4, 5, 6, 7, 10");
    assert_eq!(questions::of_chapter(10).unwrap().len(), 3);
}

/// All that can be read in a run of every question, so that a number that moves is seen.
#[test]
fn every_question_as_it_is_asked_and_answered() {
    for chapter in &CHAPTERS {
        let mut told = format!("{chapter}\n");
        for (Asked { question, .. }, outcome) in
            runs().filter(|(asked, _)| asked.chapter.number == chapter.number)
        {
            told += &format!(
                "\n{}: {}\n{}\n  ? {}\n",
                question.id,
                question.title,
                wrapped(question.text, 2),
                wrapped(question.hint, 4).trim_start()
            );
            told += &format!("{}  = {}\n", indented(&outcome.shown, 4), outcome.answer);
            for slip in &outcome.slips {
                let slip = format!("not {}: {}", slip.answer, slip.says);
                told += &format!("{}\n", wrapped(&slip, 2));
            }
            told += &format!("{}\n", wrapped(&outcome.why, 2));
        }
        insta::assert_snapshot!(format!("ch{:02}", chapter.number), told);
    }
}
