//! What the tutor says, about every exercise and every mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use catalogue::{Elsewhere, Exercise};
use checks::State;
use exercises::{
    Matrix, Numbers, Outcome as Call, Precision, Report, Verdict, Wrong, any, number,
};
use serde_json::{Value, json};

use crate::next::{Standing, next};
use crate::notes::Note;
use crate::protocol::Outcome;
use crate::tutor::Tutor;
use crate::what_if::what_if;

fn tutor() -> (tempfile::TempDir, Tutor) {
    let folder = tempfile::tempdir().unwrap();
    let tutor = Tutor::new(Some(folder.path().join("tutor.json")));
    (folder, tutor)
}

fn called(tutor: &Tutor, tool: &str, arguments: Value) -> Value {
    match tutor.call(tool, &arguments) {
        Outcome::Value(value) => value,
        other => panic!("{tool} {arguments}: {other:?}"),
    }
}

/// Adds all texts of a reply, each once.
fn collect(reply: &Value, texts: &mut BTreeSet<String>) {
    match reply {
        Value::String(text) => _ = texts.insert(text.clone()),
        Value::Array(all) => all.iter().for_each(|it| collect(it, texts)),
        Value::Object(fields) => fields.values().for_each(|it| collect(it, texts)),
        _ => {}
    }
}

/// The numbers of each mistake that are kept.
fn kept(exercise: &Exercise) -> Option<Numbers> {
    any(&exercise.name).map(|_| Numbers::of(exercise).unwrap())
}

/// What `check` says of the numbers of a mistake.
fn report(exercise: &Exercise, kept: &Numbers, wrong: &Wrong) -> Report {
    let calls = wrong.outcomes(&kept.cases);
    let any = any(&exercise.name).unwrap();
    Report::of(&exercise.into(), &any.verdict_on(kept, calls, Precision::FULL))
}

/// What `check` says of an exercise: of every mistake by its numbers, and where there are none.
fn reports(exercise: &Exercise) -> Vec<Report> {
    let words = exercise.into();
    let (sizes, seconds) = ("3 keys".to_owned(), 5);
    let plain = [Verdict::Passed, Verdict::NotWritten, Verdict::NoEnd { sizes, seconds }];
    let mut reports: Vec<_> = plain.iter().map(|it| Report::of(&words, it)).collect();
    let Some(kept) = kept(exercise) else { return reports };
    reports.extend(kept.wrong.iter().map(|wrong| report(exercise, &kept, wrong)));
    // And of numbers that are no mistake's.
    let mut unknown = kept.wrong[0].clone();
    let halves = |parts: &mut Vec<Matrix>| parts.iter_mut().for_each(|it| *it *= 0.5);
    unknown.outcomes.iter_mut().flatten().flatten().for_each(halves);
    reports.push(report(exercise, &kept, &unknown));
    reports
}

/// All that the tutor can say of an exercise.
fn all_replies(tutor: &Tutor, exercise: &Exercise) -> Vec<Value> {
    let (name, sheet) = (&exercise.name, &exercise.sheet);
    let mut replies: Vec<Value> =
        reports(exercise).into_iter().map(|report| json!(report)).collect();
    for left in (0..sheet.hints.len()).rev() {
        let hint = called(tutor, "hint", json!({"exercise": name}));
        assert_eq!(hint["n_left"], left, "{name}");
        assert!(hint["hint"].is_string(), "{name}");
        replies.push(hint);
    }
    let hint = called(tutor, "hint", json!({"exercise": exercise.number}));
    assert!(hint["hint"].is_null() && hint["n_left"] == 0, "{name}: {hint}");
    let changes = sheet.mistakes.iter().map(|mistake| mistake.id.as_str());
    for change in changes.chain(["divides by the root"]) {
        if !sheet.mistakes.is_empty() {
            replies.push(what_if(exercise, change).unwrap());
        }
    }
    replies
}

#[test]
fn no_reply_about_any_exercise_or_mistake_holds_an_answer() {
    let exercises = catalogue::all().unwrap();
    let (_folder, tutor) = tutor();
    let (mut n_replies, mut said) = (0, BTreeSet::new());
    for exercise in exercises {
        let mut replies = all_replies(&tutor, exercise);
        // Each mistake as the last verdict, which `next` speaks of.
        for mistake in &exercise.sheet.mistakes {
            let mistakes = vec![mistake.id.clone()];
            let note = Note { verdict: "mistake".into(), mistakes, n_hints: 0 };
            let notes = BTreeMap::from([(exercise.name.clone(), note)]);
            let mut states = vec![State::Checked(true); exercises.len()];
            states[exercise.number - 1] = State::Checked(false);
            let standing = Standing { states, notes, missed: Vec::new() };
            replies.push(next(exercises, &standing).unwrap());
        }
        n_replies += replies.len();
        replies.iter().for_each(|reply| collect(reply, &mut said));
    }
    // What `diagnose` says of a layer.
    for layer in catalogue::layer_mistakes() {
        said.extend([&layer.name, &layer.does, &layer.looks_right].map(String::clone));
    }
    println!("{n_replies} replies about {} exercises", exercises.len());
    assert!(n_replies > 4_000, "{n_replies}");
    let said = said.into_iter().collect::<Vec<_>>().join(" ¶ ");
    let fault = |exercise: &Exercise| {
        let answer = exercise.solution.answer();
        assert!(exercise.given_away(answer).is_some(), "{}: the answer", exercise.name);
        Some(format!("of {}: {}", exercise.name, exercise.given_away(&said)?))
    };
    let faults: Vec<_> = exercises.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_a_mistake_does_is_what_the_check_says_of_it() {
    let (_folder, tutor) = tutor();
    let mut n = 0;
    for exercise in catalogue::all().unwrap() {
        let name = &exercise.name;
        let verdicts = Numbers::path(name).with_extension("txt");
        let verdicts = fs::read_to_string(verdicts).unwrap_or_default();
        for mistake in &exercise.sheet.mistakes {
            let reply = what_if(exercise, &mistake.id).unwrap();
            assert_eq!(reply["mistake"]["id"], mistake.id.as_str());
            let first = &reply["first_difference"];
            let text = first["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
            let text =
                text.replace("it gives", "yours is").replace("It gives", "Yours is");
            let is_kept = verdicts.contains(&text) || first["kind"] == "panic";
            assert!(is_kept, "{name}, {}: {text}", mistake.id);
            n += 1;
        }
    }
    assert!(n > 500, "{n}");
    let asked = json!({"exercise": "scale", "change": "root of d_model"});
    let found = called(&tutor, "what_if", asked);
    assert_eq!(found["candidates"][0]["id"], "scaled-by-d-model", "{found}");
}

/// What a program would print that makes this mistake.
fn printed(exercise: &Exercise, kept: &Numbers, wrong: &Wrong) -> String {
    let is_list = any(&exercise.name).unwrap().is_list();
    let row = |row: Vec<f64>| row.into_iter().map(number).collect::<Value>();
    let matrix = |it: &Matrix| {
        it.row_iter().map(|it| row(it.iter().copied().collect())).collect::<Value>()
    };
    let line = |(call, case): (Call<Vec<Matrix>>, &exercises::CaseNumbers)| match call {
        Call::Value(parts) if parts.len() == 1 && case.right.len() == 1 && !is_list => {
            json!({"outputs": matrix(&parts[0])}).to_string()
        }
        Call::Value(parts) => {
            json!({"outputs": parts.iter().map(matrix).collect::<Value>()}).to_string()
        }
        Call::Panicked(_) => json!({"error": "it fails"}).to_string(),
    };
    let lines = wrong.outcomes(&kept.cases).into_iter().zip(&kept.cases).map(line);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn of_a_hundred_wrong_answers_the_server_names_the_mistake() {
    let (_folder, tutor) = tutor();
    let exercises = catalogue::all().unwrap();
    let all = exercises.iter().filter_map(|it| Some((it, kept(it)?)));
    let all: Vec<_> = all.collect();
    let mut wrong: Vec<_> = all
        .iter()
        .flat_map(|(exercise, kept)| {
            kept.wrong.iter().map(move |it| (*exercise, kept, it))
        })
        .collect();
    // Drawn, and always the same.
    wrong.sort_by_key(|(exercise, _, wrong)| {
        catalogue::digest(&format!("1 {} {} {}", exercise.name, wrong.id, wrong.answer))
    });
    let (mut n_named, mut chance) = (0, 0.0);
    for (exercise, kept, wrong) in wrong.into_iter().take(100) {
        let outputs = printed(exercise, kept, wrong);
        let asked = json!({"exercise": exercise.name, "outputs": outputs});
        let report = match exercise.sheet.elsewhere {
            Elsewhere::Function(_) => called(&tutor, "check", asked),
            Elsewhere::RustAlone(_) => json!(report(exercise, kept, wrong)),
        };
        let is_named = report["mistakes"][0]["id"] == wrong.id.as_str();
        if !is_named {
            println!("{}, {}: {}", exercise.name, wrong.id, report["summary"]);
        }
        n_named += usize::from(is_named);
        chance += 1.0 / exercise.sheet.mistakes.len() as f64;
    }
    println!("named: {n_named} of 100; by chance, with pass and fail alone: {chance:.1}");
    assert!(n_named >= 95 && chance < 20.0, "{n_named}, {chance}");
}

#[test]
fn the_hint_begins_anew_when_the_verdict_changes() {
    let (_folder, tutor) = tutor();
    let step = |again: bool| {
        called(&tutor, "hint", json!({"exercise": "scale", "again": again}))["step"]
            .clone()
    };
    let exercise = catalogue::find("scale").unwrap();
    let kept = kept(&exercise).unwrap();
    let check = |wrong: usize| {
        let outputs = printed(&exercise, &kept, &kept.wrong[wrong]);
        called(&tutor, "check", json!({"exercise": "scale", "outputs": outputs}))
    };
    assert_eq!([step(false), step(false), step(true)], [1, 2, 2]);
    assert_eq!(check(0)["mistakes"][0]["id"], "not-scaled");
    assert_eq!([step(true), step(false)], [1, 2]);
    check(0);
    assert_eq!(step(false), 3, "the same verdict");
    check(1);
    assert_eq!(step(false), 1);
}

#[test]
fn what_comes_next_has_a_reason() {
    let exercises = catalogue::all().unwrap();
    let place = |name: &str| exercises.iter().position(|it| it.name == name).unwrap();
    let mut states = vec![State::Given; exercises.len()];
    states[0] = State::Checked(true);
    states[place("scale")] = State::Checked(false);
    let mistakes = vec!["scaled-by-d-model".to_owned()];
    let note = Note { verdict: "mistake".into(), mistakes, n_hints: 0 };
    let notes = BTreeMap::from([("scale".to_owned(), note)]);
    let missed = vec!["causal-open".to_owned()];
    let reply = next(exercises, &Standing { states, notes, missed }).unwrap();
    let said =
        |at: usize, name: &str| reply["next"][at][name].as_str().unwrap_or_default();
    assert_eq!(said(0, "exercise"), "scale", "{reply}");
    assert_eq!(said(0, "reason"), "The last answer divides by √d_model.");
    assert_eq!(reply["next"][1]["read"]["section"], "Causal");
    assert_eq!(said(1, "reason"), "Of its questions, 1 came out other than predicted.");
    assert_eq!(said(2, "exercise"), exercises[1].name);
    assert!(said(2, "reason").contains("first in the book's order"), "{reply}");
    assert_eq!(reply["next"].as_array().unwrap().len(), 3);
}

#[test]
fn the_files_for_assistants_are_short_and_name_each_tool() {
    let read = |path: &str| fs::read_to_string(workshop::paths::workspace().join(path));
    let for_readers = read("crates/tools/checks/assistant.md").unwrap();
    let for_contributors = read(".github/AGENTS.md").unwrap();
    assert!(for_readers.lines().count() <= 60 && for_contributors.lines().count() <= 30);
    for tool in crate::tutor::list().as_array().unwrap() {
        let row = format!("| `{}` |", tool["name"].as_str().unwrap());
        assert!(for_readers.contains(&row), "{row}");
    }
}
