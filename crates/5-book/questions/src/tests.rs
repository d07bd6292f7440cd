//! What is true of every question, and what is refused in a file.

use std::collections::BTreeSet;

use catalogue::Fault;

use crate::facts::{Facts, facts};
use crate::question::{Explanation, Question, Run};
use crate::{sheet, topics};

/// What does not fit: a name in a text that nothing has, a number or a fact that no text and
/// no run uses, and an `if` that never holds.
fn misfits(question: &Question) -> Vec<Fault> {
    let mut found = Vec::new();
    let before = [&question.text, &question.hint, &question.form];
    let said: Vec<_> = question.whys.iter().chain(&question.slips).collect();
    let after = said.iter().flat_map(|said| [&said.what, &said.says]);
    let after: Vec<_> = after.chain([&question.shown, &question.answer]).collect();
    let names = before.iter().chain(&after).flat_map(|text| text.names());
    let used: BTreeSet<&str> = names.flat_map(|(name, ..)| name.split(' ')).collect();
    for numbers in &question.sets {
        let facts = match (question.run)(numbers) {
            Ok(facts) => facts,
            Err(error) => return vec![question.text.fault(format!("its run: {error}"))],
        };
        let known = numbers.clone().and(facts.clone());
        let of_numbers = before.iter().map(|text| text.filled(numbers));
        let filled = of_numbers.chain(after.iter().map(|text| text.filled(&known)));
        found.extend(filled.filter_map(Result::err));
        let is_read =
            |name: &str| (question.run)(&numbers.clone().without(name)).is_err();
        let numbers = numbers.names().filter(|name| !is_read(name));
        let unused = numbers.chain(facts.names()).filter(|name| !used.contains(name));
        found
            .extend(unused.map(|it| question.text.fault(format!("nothing uses {it:?}"))));
    }
    let ran = (0..question.sets.len()).map(|at| question.pose(at as u64)?.run());
    let answers: Vec<String> = ran.flatten().map(|it| it.answer.to_string()).collect();
    let is_never = |said: &&&Explanation| {
        !(said.only_if.is_empty() || answers.contains(&said.only_if))
    };
    let never = said.iter().filter(is_never);
    found.extend(never.map(|it| it.says.fault(format!("never {:?}", it.only_if))));
    found
}

#[test]
fn every_name_is_known_and_every_number_and_fact_is_used() {
    let topics = topics().unwrap_or_else(|fault| panic!("{fault}"));
    let questions = topics.iter().flat_map(|topic| &topic.questions);
    let found: Vec<String> =
        questions.flat_map(misfits).map(|fault| fault.to_string()).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

const SHEET: &str = "\
# Halves

## A half {#half}
What is half of {n},
and of {n:>3}?

| n |
| --- |
| 6 |
| 8 |

Read: Halves
Form: whole
Answer: {half}
Hint: Less than {n}.

    {n} / 2 = {half}

Why: Two of
them.
Why if 4: Two fours.
Slip {2 * half}: That is all.
Slip 1 if 4: That is one of {n / 2 * 4 - 4:,}, or {half - 4.5:>5.1}.
";

fn half(n: &Facts) -> anyhow::Result<Facts> {
    let [n] = n.wholes(["n"])?;
    Ok(facts![half = n / 2])
}

const RUNS: &[(&str, Run)] = &[("half", half)];

#[test]
fn a_question_is_a_text_numbers_and_slips() {
    let questions = sheet::parse("halves.md", SHEET, RUNS).unwrap();
    let told: Vec<String> = (0..3)
        .map(|seed| {
            let posed = questions[0].pose(seed).unwrap();
            let outcome = posed.run().unwrap();
            let slips =
                outcome.slips.iter().map(|it| format!("{}: {}", it.answer, it.says));
            let slips = slips.collect::<Vec<_>>().join(" ");
            format!("{} {} {} {slips}", posed.text, outcome.shown, outcome.why)
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    What is half of 6, and of   6? 6 / 2 = 3 Two of them. 6: That is all.
    What is half of 8, and of   8? 8 / 2 = 4 Two fours. 8: That is all. 1: That is one of 12, or  -0.5.
    What is half of 6, and of   6? 6 / 2 = 3 Two of them. 6: That is all.
    ");
    assert!(misfits(&questions[0]).is_empty());
}

#[test]
fn what_is_misspelt_is_named_with_its_line() {
    let of = |old: &str, new: &str| {
        assert!(SHEET.contains(old), "{old}");
        let text: &'static str = SHEET.replacen(old, new, 1).leak();
        match sheet::parse("halves.md", text, RUNS) {
            Err(fault) => fault.to_string(),
            Ok(questions) => misfits(&questions[0]).remove(0).to_string(),
        }
    };
    let faults = [
        of("Less than {n}", "Less than {m}"),
        of("/ 2 = {half}", "/ 2 = {hlaf}"),
        of("{n:>3}", "{n:x}"),
        of("{#half}", "{#hlaf}"),
        of("Hint:", "Hnit:"),
        of("| 8 |", "| 8 | 9 |"),
        of("Why if 4", "Why if 5"),
        of(
            "| n |\n| --- |\n| 6 |\n| 8 |",
            "| n | m |\n| --- | --- |\n| 6 | 1 |\n| 8 | 1 |",
        ),
    ];
    insta::assert_snapshot!(faults.join("\n"), @r#"
    halves.md:15: nothing is called "m"
    halves.md:17: nothing is called "hlaf"
    halves.md:3: n is not written as "x"
    halves.md:3: no run for "hlaf"
    halves.md:3: no `Hint:`
    halves.md:10: 2 cells for 1 names
    halves.md:21: never "5"
    halves.md:3: nothing uses "m"
    "#);
    let two: &[(&str, Run)] = &[("half", half), ("third", half)];
    let fault = sheet::parse("halves.md", SHEET, two).unwrap_err();
    assert_eq!(fault.to_string(), "halves.md: no question is called \"third\"");
}
