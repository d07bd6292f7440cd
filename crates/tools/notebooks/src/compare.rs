//! Whether a notebook still gives what it is committed to give.
//!
//! Compared are texts, letter by letter, and figures, number by number ([`near`]). Not
//! compared are times and counts. A cell with the tag `varies` is run and must succeed, but
//! may say what it likes.

use serde_json::Value;
use workshop::near;

use super::execute::text;

/// The first cell that differs, told with both sides; `None` if all agree.
pub fn difference(committed: &Value, now: &Value) -> Option<String> {
    let (committed, now) = (cells(committed), cells(now));
    for (number, (before, after)) in (1..).zip(committed.iter().zip(now)) {
        let compared =
            || if varies(after) { None } else { outputs_differ(before, after) };
        let reason = failure(after).or_else(compared);
        if let Some(reason) = reason {
            let lines = text(&after["source"]);
            let lines: String =
                lines.lines().map(|line| format!("    {line}\n")).collect();
            return Some(format!("cell {number}:\n{lines}{reason}"));
        }
    }
    (committed.len() != now.len()).then(|| "the number of cells differs".to_owned())
}

fn cells(notebook: &Value) -> &[Value] {
    notebook["cells"].as_array().map_or(&[], Vec::as_slice)
}

/// What a cell said when it failed, or said on standard error.
fn failure(cell: &Value) -> Option<String> {
    outputs(cell).into_iter().find_map(|output| match output {
        Output::Error(trace) => Some(format!("failed:\n{trace}")),
        Output::Stream(name, text) if name == "stderr" => {
            Some(format!("wrote to standard error:\n{text}"))
        }
        _ => None,
    })
}

fn varies(cell: &Value) -> bool {
    let tags = cell["metadata"]["tags"].as_array();
    tags.is_some_and(|tags| tags.iter().any(|tag| tag == "varies"))
}

fn outputs_differ(before: &Value, after: &Value) -> Option<String> {
    let (before, after) = (outputs(before), outputs(after));
    if before.len() != after.len() {
        let kinds = |outputs: &[Output]| {
            let names: Vec<String> = outputs.iter().map(Output::kind).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
        };
        return Some(format!(
            "committed are {}, now there are {}",
            kinds(&before),
            kinds(&after)
        ));
    }
    before.iter().zip(&after).find_map(|(before, after)| before.differs_from(after))
}

enum Output {
    Stream(String, String),
    Data(serde_json::Map<String, Value>),
    Error(String),
}

/// A cell's outputs, with neighbouring pieces of one stream joined.
fn outputs(cell: &Value) -> Vec<Output> {
    let mut found: Vec<Output> = Vec::new();
    for output in cell["outputs"].as_array().into_iter().flatten() {
        match output["output_type"].as_str() {
            Some("stream") => {
                let (name, more) = (text(&output["name"]), text(&output["text"]));
                match found.last_mut() {
                    Some(Output::Stream(last, so_far)) if *last == name => {
                        *so_far += &more
                    }
                    _ => found.push(Output::Stream(name, more)),
                }
            }
            Some("error") => {
                let lines = output["traceback"].as_array().into_iter().flatten();
                let lines = lines.filter_map(Value::as_str).collect::<Vec<_>>();
                found.push(Output::Error(lines.join("\n")));
            }
            _ => {
                let data = output["data"].as_object().cloned();
                found.push(Output::Data(data.unwrap_or_default()));
            }
        }
    }
    found
}

impl Output {
    fn kind(&self) -> String {
        match self {
            Self::Stream(name, _) => name.clone(),
            Self::Data(data) => {
                data.keys().map(String::as_str).collect::<Vec<_>>().join(" + ")
            }
            Self::Error(_) => "an error".to_owned(),
        }
    }

    fn differs_from(&self, now: &Self) -> Option<String> {
        match (self, now) {
            (Self::Stream(name, before), Self::Stream(other, after)) if name == other => {
                (before != after).then(|| diff(before, after))
            }
            (Self::Data(before), Self::Data(after)) if before.keys().eq(after.keys()) => {
                before
                    .iter()
                    .find_map(|(mime, before)| data_differs(mime, before, &after[mime]))
            }
            _ => Some(format!("committed is {}, now it is {}", self.kind(), now.kind())),
        }
    }
}

fn data_differs(mime: &str, before: &Value, after: &Value) -> Option<String> {
    if mime.ends_with("json") {
        let place = near::difference(before, after)?;
        return Some(format!("{mime} differs at {place}"));
    }
    let (before, after) = (text(before), text(after));
    (before != after).then(|| format!("{mime}:\n{}", diff(&before, &after)))
}

/// The lines between the first and the last that differ: `-` committed, `+` now.
fn diff(before: &str, after: &str) -> String {
    let (before, after): (Vec<_>, Vec<_>) =
        (before.lines().collect(), after.lines().collect());
    let shorter = before.len().min(after.len());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = before.iter().zip(&after).take_while(same).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let tail = tail.min(shorter - head);
    let mut text = String::new();
    if head > 0 {
        text += &format!("  {} (line {head})\n", before[head - 1]);
    }
    for line in &before[head..before.len() - tail] {
        text += &format!("- {line}\n");
    }
    for line in &after[head..after.len() - tail] {
        text += &format!("+ {line}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLOTLY: &str = "application/vnd.plotly.v1+json";

    fn notebook(outputs: Value) -> Value {
        json!({ "cells": [{
            "cell_type": "code", "metadata": {}, "source": "show()", "outputs": outputs,
        }]})
    }

    fn printed(text: &str) -> Value {
        notebook(json!([{ "output_type": "stream", "name": "stdout", "text": text }]))
    }

    fn figure(text: &str, z: f64) -> Value {
        let data =
            json!({ "text/plain": text, PLOTLY: { "data": [{ "z": [[z, 1.0]] }] } });
        notebook(json!([{ "output_type": "execute_result", "data": data }]))
    }

    #[test]
    fn the_same_is_the_same_however_it_is_cut_up() {
        let pieces = notebook(json!([
            { "output_type": "stream", "name": "stdout", "text": ["a\n"] },
            { "output_type": "stream", "name": "stdout", "text": "b\n" },
        ]));
        assert_eq!(difference(&printed("a\nb\n"), &pieces), None);
        assert_eq!(difference(&figure("x", 0.25), &figure("x", 0.25 + 1e-14)), None);
    }

    #[test]
    fn a_changed_line_is_shown_with_both_sides() {
        let found = difference(&printed("a\nb\nc\n"), &printed("a\nB\nc\n")).unwrap();
        assert_eq!(found, "cell 1:\n    show()\n  a (line 1)\n- b\n+ B\n");
    }

    #[test]
    fn planted_faults_are_found() {
        let fault = |before: &Value, after: &Value| difference(before, after).unwrap();
        let before = figure("x", 0.25);
        assert!(fault(&before, &figure("y", 0.25)).contains("text/plain:\n- x\n+ y"));
        let number = fault(&before, &figure("x", 0.26));
        assert!(number.contains("/data/0/z/0/0: 0.25, now 0.26"), "{number}");
        let text_only = notebook(
            json!([{ "output_type": "execute_result", "data": { "text/plain": "x" } }]),
        );
        assert!(fault(&before, &text_only).contains("now it is text/plain"));
        assert!(fault(&before, &notebook(json!([]))).contains("now there are nothing"));
    }

    #[test]
    fn errors_and_standard_error_fail_even_where_they_are_committed() {
        let failed = notebook(json!([{ "output_type": "error", "traceback": ["boom"] }]));
        assert!(difference(&failed, &failed).unwrap().contains("boom"));
        let noisy = notebook(
            json!([{ "output_type": "stream", "name": "stderr", "text": "warning" }]),
        );
        assert!(difference(&noisy, &noisy).unwrap().contains("standard error"));
    }

    #[test]
    fn a_cell_that_varies_must_only_succeed() {
        let tagged = |mut notebook: Value| {
            notebook["cells"][0]["metadata"] = json!({ "tags": ["varies"] });
            notebook
        };
        assert_eq!(difference(&printed("1 ms"), &tagged(printed("2 ms"))), None);
        let failed = notebook(json!([{ "output_type": "error", "traceback": ["boom"] }]));
        assert!(difference(&printed("1 ms"), &tagged(failed)).is_some());
    }
}
