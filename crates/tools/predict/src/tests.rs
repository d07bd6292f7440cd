//! What is true of every question, and what a person sees.

mod played;

use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

use questions::{Answer, Form, Outcome, Posed, Prediction, Question, Topic, Verdict};

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
    posed: Posed<'static>,
    outcome: Outcome,
}

static TOPICS: LazyLock<Vec<Topic>> =
    LazyLock::new(|| questions::topics().unwrap_or_else(|fault| panic!("{fault}")));

fn run(entry: Entry<'static>, seed: u64) -> Run {
    let posed = entry.question.pose(seed).unwrap_or_else(|error| panic!("{error:#}"));
    let outcome = posed.run().unwrap_or_else(|error| panic!("{error:#}"));
    Run { entry, seed, posed, outcome }
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
- [14 · A GPT from nothing](14-a-gpt-from-nothing.md)
- [15 · From one sequence to another](15-from-one-sequence-to-another.md)
- [16 · Trained heads](16-trained-heads.md)
- [17 · Variants](17-variants.md)
- [18 · A model that writes](18-a-model-that-writes.md)
- [19 · The ladder](19-the-ladder.md)
- [20 · Many machines](20-many-machines.md)
- [21 · Sensors](21-sensors.md)
- [22 · What comes next](22-what-comes-next.md)
";

static CHAPTERS: LazyLock<Vec<Chapter>> = LazyLock::new(|| chapters::of(CONTENTS));

fn entries() -> Vec<Entry<'static>> {
    entries::all(&TOPICS, &CHAPTERS)
}

/// Every question with several seeds, and its run.
static RUNS: LazyLock<Vec<Run>> = LazyLock::new(|| {
    let each =
        entries().into_iter().flat_map(|it| (0..SEEDS).map(move |seed| (it, seed)));
    each.map(|(entry, seed)| run(entry, seed)).collect()
});

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
    for Run { entry, seed, posed, outcome } in RUNS.iter() {
        let (id, form) = (&entry.question.id, &posed.form);
        let all_are = |given: &Answer, wanted: Verdict| {
            for typed in forms(given, form.options()) {
                let given = form.read(&typed);
                let given = given.unwrap_or_else(|| panic!("{id}: {typed} is not read"));
                let verdict = form.judge(&given, &outcome.answer);
                assert_eq!(verdict, wanted, "{id} with seed {seed}: {typed}");
            }
        };
        all_are(&outcome.answer, Verdict::Right);
        outcome.slips.iter().for_each(|slip| all_are(&slip.answer, Verdict::Missed));
        let widest = outcome.shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(76), "{id} is wider than a terminal:\n{}", outcome.shown);
        assert!(!outcome.slips.is_empty(), "{id} has no plausible wrong answer");
    }
}

#[test]
fn a_run_gives_the_same_twice() {
    for first in RUNS.iter().filter(|run| run.seed == 0) {
        let (first, again) = (&first.outcome, run(first.entry, 0).outcome);
        // NaN is not NaN, and is printed the same.
        assert_eq!(first.answer.to_string(), again.answer.to_string());
        assert_eq!(first.shown, again.shown);
    }
}

#[test]
fn a_question_never_comes_twice_in_a_row_with_the_same_numbers() {
    for (first, next) in RUNS.iter().zip(&RUNS[1..]) {
        let id = &first.entry.question.id;
        let is_same = *id == next.entry.question.id;
        assert!(!is_same || first.posed.text != next.posed.text, "{id}: {}", first.seed);
    }
}

/// The numbers in a text: runs of digits, with commas and a point within.
fn numbers(text: &str) -> Vec<f64> {
    let parts =
        text.split(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '.' | '_'));
    let parts = parts.map(|part| part.trim_matches([',', '.']).replace([',', '_'], ""));
    parts.filter_map(|part| part.parse().ok()).collect()
}

/// Whether a number in a text counts as right.
fn is_among(form: &Form, text: &str, answer: &Answer) -> bool {
    let given = |&x: &f64| Prediction::Exactly(Answer::Decimal(x));
    numbers(text).iter().map(given).any(|it| form.judge(&it, answer) == Verdict::Right)
}

#[test]
fn no_answer_is_in_the_text_of_its_question() {
    assert_eq!(
        numbers("8 heads, (0, 12), 263,168 or 0.5."),
        [8.0, 0.0, 12.0, 263168.0, 0.5]
    );
    for Run { entry: Entry { question, .. }, seed, posed, outcome } in RUNS.iter() {
        let Posed { text, hint, form, .. } = posed;
        let id = format!("{} with seed {seed}", question.id);
        let told = format!("{}\n{text}\n{hint}", question.title);
        let is_told = match &outcome.answer {
            Answer::Whole(n) => numbers(&told).contains(&(*n as f64)),
            answer @ Answer::Decimal(_) => is_among(form, &told, answer),
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
    for Run { entry: Entry { question, .. }, posed, outcome, .. } in RUNS.iter() {
        let (form, examples) = (&posed.form, posed.form.forms());
        let is_among = match &outcome.answer {
            Answer::Shape(_) => examples.contains(&outcome.answer.to_string()),
            Answer::Whole(n) => numbers(examples).contains(&(*n as f64)),
            answer => is_among(form, examples, answer),
        };
        assert!(!is_among, "{}: {examples}", question.id);
    }
}

#[test]
fn ids_and_titles_are_given_once() {
    for of in [|it: &Question| it.id.clone(), |it: &Question| it.title.clone()] {
        let names: Vec<String> = entries().iter().map(|it| of(it.question)).collect();
        let each: BTreeSet<_> = names.iter().collect();
        assert_eq!(each.len(), names.len(), "{names:?}");
    }
}

#[test]
fn an_option_is_told_from_the_others_and_from_a_number() {
    for Run { entry: Entry { question, .. }, posed, .. } in RUNS.iter() {
        for option in posed.form.options() {
            let wanted = Prediction::Exactly(Answer::Text(option.clone()));
            assert_eq!(posed.form.read(option), Some(wanted), "{}", question.id);
            assert!(numbers(option).is_empty(), "{}: {option}", question.id);
        }
    }
}

#[test]
fn every_topic_is_a_chapter_with_two_questions_at_least_and_every_section_is_in_it() {
    let chapters = chapters::all().unwrap();
    assert_eq!(chapters.len(), TOPICS.len());
    for chapter in chapters {
        let topic = TOPICS.iter().find(|topic| topic.name == chapter.topic());
        let topic = topic.unwrap_or_else(|| panic!("{chapter} has no questions"));
        assert!(topic.questions.len() >= 2, "{chapter}");
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
fn a_chapter_without_questions_is_refused_with_those_that_have_some() {
    insta::assert_snapshot!(entries::of_chapter(&TOPICS, &CHAPTERS, 22).unwrap_err(), @"no question is about chapter 22; there are some about 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21");
    assert_eq!(entries::of_chapter(&TOPICS, &CHAPTERS, 16).unwrap().len(), 3);
}

/// All that can be read in a run of every question, so that a number that moves is seen.
#[test]
fn every_question_as_it_is_asked_and_answered() {
    for topic in TOPICS.iter() {
        let mut told = String::new();
        let is_about = |run: &&Run| run.entry.chapter.topic() == topic.name;
        for Run { entry, seed, posed, outcome } in RUNS.iter().filter(is_about) {
            let (question, text) = (entry.question, wrapped(&posed.text, 2));
            if *seed > 0 {
                told += &format!("\n{text}\n  = {}\n", outcome.answer);
                continue;
            }
            let hint = wrapped(&posed.hint, 4);
            let (id, title, hint) = (&question.id, &question.title, hint.trim_start());
            told += &format!("\n{id}: {title}\n{text}\n  ? {hint}\n");
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
