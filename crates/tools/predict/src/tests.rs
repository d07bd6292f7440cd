//! What is true of every question, and what a person sees.

mod played;

use std::collections::BTreeSet;
use std::fs;
use std::sync::{LazyLock, OnceLock};

use questions::{Answer, Form, Outcome, Prediction, Question, Topic, Verdict};

use super::entries::{self, Entry};
use super::text::{indented, wrapped};
use workshop::chapters::{self, Chapter};
use workshop::paths;

/// With how many seeds each question is tried: one more than there are sets of numbers.
const SEEDS: u64 = 4;

/// A question with its numbers, and what came out.
struct Run {
    entry: Entry<'static>,
    seed: u64,
    text: String,
    hint: String,
    form: Form,
    outcome: Outcome,
}

static TOPICS: LazyLock<Vec<Topic>> =
    LazyLock::new(|| questions::topics().unwrap_or_else(|fault| panic!("{fault}")));

fn run(entry: Entry<'static>, seed: u64) -> Run {
    let posed = entry.question.pose(seed).unwrap_or_else(|error| panic!("{error:#}"));
    let outcome = posed.run().unwrap_or_else(|error| panic!("{error:#}"));
    Run { entry, seed, text: posed.text, hint: posed.hint, form: posed.form, outcome }
}

/// Contents for these tests, which the book's own may leave.
const CONTENTS: &str = "\
- [1 · One look is not enough](01-one-look-is-not-enough.md)
- [2 · Scores, softmax and √d_k](02-scores-softmax-scale.md)
- [3 · One head](03-one-head.md)
- [4 · A lens per head](04-a-lens-per-head.md)
- [5 · One matrix, many heads](05-one-matrix-many-heads.md)
- [6 · Counting](06-counting.md)
- [7 · Masks](07-masks.md)
- [8 · Bad numbers](08-bad-numbers.md)
- [9 · The backward pass](09-the-backward-pass.md)
- [10 · Learning](10-learning.md)
- [11 · Heads that specialise](11-heads-that-specialise.md)
- [12 · The block](12-the-block.md)
- [13 · Two layers](13-two-layers.md)
- [14 · From one sequence to another](14-from-one-sequence-to-another.md)
- [15 · Trained heads](15-trained-heads.md)
- [16 · Variants](16-variants.md)
- [17 · A model that writes](17-a-model-that-writes.md)
- [18 · The ladder](18-the-ladder.md)
- [19 · Many machines](19-many-machines.md)
- [20 · Sensors](20-sensors.md)
- [21 · What comes next](21-what-comes-next.md)
";

fn chapters() -> &'static [Chapter] {
    static CHAPTERS: OnceLock<Vec<Chapter>> = OnceLock::new();
    CHAPTERS.get_or_init(|| chapters::of(CONTENTS))
}

fn entries() -> Vec<Entry<'static>> {
    entries::all(&TOPICS, chapters())
}

/// Every question with several seeds, and its run.
fn runs() -> &'static [Run] {
    static RUNS: OnceLock<Vec<Run>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let each =
            entries().into_iter().flat_map(|it| (0..SEEDS).map(move |seed| (it, seed)));
        each.map(|(entry, seed)| run(entry, seed)).collect()
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
        Answer::Text(option) => {
            let at = options.iter().position(|other| other == option);
            let at = at.unwrap_or_else(|| panic!("{option} is not in {options:?}"));
            vec![option.clone(), option.to_uppercase(), (at + 1).to_string()]
        }
    }
}

#[test]
fn every_answer_is_accepted_in_its_forms_and_every_slip_is_refused() {
    for Run { entry, seed, form, outcome, .. } in runs() {
        let id = format!("{} with seed {seed}", entry.question.id);
        let options = form.options();
        for typed in forms(&outcome.answer, options) {
            let given = form.read(&typed);
            let given = given.unwrap_or_else(|| panic!("{id}: {typed} is not read"));
            let verdict = form.judge(&given, &outcome.answer);
            assert_eq!(verdict, Verdict::Right, "{id}: {typed}");
        }
        let widest = outcome.shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(76), "{id} is wider than a terminal:\n{}", outcome.shown);
        assert!(!outcome.slips.is_empty(), "{id} has no plausible wrong answer");
        for slip in &outcome.slips {
            for typed in forms(&slip.answer, options) {
                let given = form.read(&typed);
                let given = given.unwrap_or_else(|| panic!("{id}: {typed} is not read"));
                let verdict = form.judge(&given, &outcome.answer);
                assert_eq!(verdict, Verdict::Missed, "{id}: {typed}");
            }
        }
    }
}

#[test]
fn a_run_gives_the_same_twice() {
    for first in runs().iter().filter(|run| run.seed == 0) {
        let (first, again) = (&first.outcome, run(first.entry, 0).outcome);
        // NaN is not NaN, and is printed the same.
        assert_eq!(first.answer.to_string(), again.answer.to_string());
        assert_eq!(first.shown, again.shown);
    }
}

#[test]
fn a_question_never_comes_twice_in_a_row_with_the_same_numbers() {
    for pair in runs().windows(2) {
        let [first, next] = pair else { unreachable!("windows of 2") };
        let id = &first.entry.question.id;
        if *id == next.entry.question.id {
            assert_ne!(
                first.text, next.text,
                "{id}: seeds {} and {}",
                first.seed, next.seed
            );
        }
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
    for Run { entry: Entry { question, .. }, seed, text, hint, form, outcome } in runs() {
        let id = format!("{} with seed {seed}", question.id);
        let told = format!("{}\n{text}\n{hint}", question.title);
        let is_told = match &outcome.answer {
            Answer::Whole(n) => numbers(&told).contains(&(*n as f64)),
            Answer::Decimal(_) => numbers(&told).iter().any(|&number| {
                let given = Prediction::Exactly(Answer::Decimal(number));
                form.judge(&given, &outcome.answer) == Verdict::Right
            }),
            answer @ Answer::Shape(_) => {
                let told = told.replace([' ', '×'], "x");
                forms(answer, &[])
                    .iter()
                    .any(|form| told.contains(&form.replace([' ', '×'], "x")))
            }
            // A sentence holds its tokens; what else is said must not.
            Answer::Text(option) => {
                let told = match form {
                    Form::Token(_) => format!("{}\n{hint}", question.title),
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
    for Run { entry: Entry { question, .. }, form, outcome, .. } in runs() {
        let examples = form.forms();
        let is_among = match &outcome.answer {
            Answer::Shape(_) => examples.contains(&outcome.answer.to_string()),
            answer => numbers(examples).iter().any(|&number| {
                let number = match answer {
                    Answer::Whole(_) => Answer::Whole(number as usize),
                    _ => Answer::Decimal(number),
                };
                let given = Prediction::Exactly(number);
                form.judge(&given, answer) == Verdict::Right
            }),
        };
        assert!(!is_among, "{}: {examples}", question.id);
    }
}

#[test]
fn ids_and_titles_are_given_once() {
    let names = |of: fn(Entry<'static>) -> &'static String| -> Vec<&String> {
        entries().into_iter().map(of).collect()
    };
    for names in [names(|it| &it.question.id), names(|it| &it.question.title)] {
        let each: BTreeSet<_> = names.iter().collect();
        assert_eq!(each.len(), names.len(), "{names:?}");
    }
}

#[test]
fn an_option_is_told_from_the_others_and_from_a_number() {
    for Run { entry: Entry { question, .. }, form, .. } in runs() {
        for option in form.options() {
            let given = form.read(option);
            let wanted = Prediction::Exactly(Answer::Text(option.clone()));
            assert_eq!(given, Some(wanted), "{}", question.id);
            assert!(numbers(option).is_empty(), "{}: {option}", question.id);
        }
    }
}

#[test]
fn every_topic_is_a_chapter_and_every_section_is_in_it() {
    for topic in TOPICS.iter() {
        let chapters = chapters::all().unwrap();
        let chapter = chapters.iter().find(|it| it.topic() == topic.name);
        let chapter = chapter.unwrap_or_else(|| panic!("no chapter is {}", topic.name));
        let page = paths::workspace().join("chapters").join(&chapter.page);
        let page = fs::read_to_string(page.with_extension("md")).unwrap();
        let heads = page.lines().filter(|line| line.starts_with('#'));
        let heads: Vec<&str> =
            heads.map(|head| head.trim_start_matches('#').trim()).collect();
        for Question { section, .. } in &topic.questions {
            assert!(heads.contains(&section.as_str()), "{chapter}: no “{section}”");
        }
    }
}

#[test]
fn every_chapter_has_two_questions_at_least() {
    for chapter in chapters::all().unwrap() {
        let topic = TOPICS.iter().find(|topic| topic.name == chapter.topic());
        let n_questions = topic.map_or(0, |topic| topic.questions.len());
        assert!(n_questions >= 2, "{chapter} has {n_questions}");
    }
}

#[test]
fn a_chapter_without_questions_is_refused_with_those_that_have_some() {
    insta::assert_snapshot!(entries::of_chapter(&TOPICS, chapters(), 21).unwrap_err(), @"no question is about chapter 21; there are some about 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20");
    assert_eq!(entries::of_chapter(&TOPICS, chapters(), 15).unwrap().len(), 3);
}

/// All that can be read in a run of every question, so that a number that moves is seen.
#[test]
fn every_question_as_it_is_asked_and_answered() {
    for topic in TOPICS.iter() {
        let mut told = String::new();
        for Run { entry: Entry { question, .. }, seed, text, hint, outcome, .. } in
            runs().iter().filter(|run| run.entry.chapter.topic() == topic.name)
        {
            if *seed > 0 {
                told += &format!("\n{}\n  = {}\n", wrapped(text, 2), outcome.answer);
                continue;
            }
            told += &format!(
                "\n{}: {}\n{}\n  ? {}\n",
                question.id,
                question.title,
                wrapped(text, 2),
                wrapped(hint, 4).trim_start()
            );
            told += &format!("{}  = {}\n", indented(&outcome.shown, 4), outcome.answer);
            for slip in &outcome.slips {
                let slip = format!("not {}: {}", slip.answer, slip.says);
                told += &format!("{}\n", wrapped(&slip, 2));
            }
            told += &format!("{}\n", wrapped(&outcome.why, 2));
        }
        insta::assert_snapshot!(topic.name.replace('-', "_"), told);
    }
}
