//! What suites of tests catch of the mistakes in the zoo, as PyTorch ran them.

use std::fs;

use serde_json::Value;
use workshop::paths;

use crate::quote::{Table, assert_quote, values};

/// Each suite as it is kept, in words, and a mistake that it does not catch.
const SUITES: [(&str, &str, Option<&str>); 5] = [
    ("four_checks", "four checks", Some("softmax-over-queries")),
    ("relations", "five relations", Some("heads-reversed")),
    ("two_lines", "two short tests", Some("not-scaled")),
    ("equal_sizes", "values, plain layer", Some("padding-left-out")),
    ("zoo", "the zoo’s own", None),
];

/// The mistakes that are so in a suite.
fn ids<'a>(suite: &'a Value, kind: &str) -> Vec<&'a str> {
    let ids = suite[kind].as_array().unwrap_or_else(|| panic!("{kind} is kept"));
    ids.iter().filter_map(Value::as_str).collect()
}

#[test]
fn what_suites_of_tests_catch() {
    let kept = paths::workspace().join("tests/data/zoo/scores.json");
    let kept: Value = serde_json::from_str(&fs::read_to_string(kept).unwrap()).unwrap();
    let headings = ["tests", "caught", "survive", "not shown", "not caught, for example"];
    let mut table = Table::new(headings);
    let mut said = Vec::new();
    for (name, words, missed) in SUITES {
        let suite = &kept["suites"][name];
        let all = ["caught", "survive", "never"].map(|kind| ids(suite, kind));
        let [caught, survive, never] = all.each_ref().map(Vec::len);
        let total = caught + survive + never;
        assert!(suite["wrong"].as_object().unwrap().is_empty(), "{name}");
        if name == "zoo" {
            assert_eq!(caught, total, "{:?} {:?}", all[1], all[2]);
            said.push(("mistakes".to_owned(), total));
            said.push(("n_tests".to_owned(), suite["tests"].as_u64().unwrap() as usize));
        }
        let missed = missed.map_or("–", |id| {
            assert!(!all[0].contains(&id), "{name} catches {id}");
            &catalogue::layer_mistake(id).unwrap().name
        });
        let counts = [caught, survive, never].map(|n| n.to_string());
        let [caught, survive, never] = counts.each_ref().map(String::as_str);
        table.row([words, caught, survive, never, missed]);
        for (kind, list) in ["caught", "survive", "never"].iter().zip(&all) {
            said.push((format!("{name}_{kind}"), list.len()));
        }
    }
    assert_quote!("zoo_scores", table.text());
    assert_quote!("zoo_values", values(&said));
}
