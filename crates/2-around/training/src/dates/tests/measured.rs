//! That what ten seeds gave meets the criteria that were fixed before; the numbers themselves
//! are those of the chapter.

use serde_json::Value;

use super::*;
use crate::dates::criteria::{BY_PLACE, LEAST_LEARNED, LEAST_WHOLE, MOST_WHOLE_MOVED};
use crate::tests::runs;

/// The numbers of a list, of lists, or of one number.
fn numbers(list: &Value) -> Vec<f64> {
    match list {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

#[test]
fn many_seeds_meet_the_criteria() {
    let all = |data: &str, key: &str| -> Vec<f64> {
        let runs = runs(data);
        assert_eq!(runs.len(), 10);
        runs.iter().flat_map(|run| numbers(&run[key])).collect()
    };
    let least = |data, key| all(data, key).into_iter().fold(f64::INFINITY, f64::min);
    let most = |data, key| all(data, key).into_iter().fold(0.0, f64::max);
    let sum = |key| all(DATES, key).into_iter().sum::<f64>();
    assert!(least(DATES, "whole") >= LEAST_WHOLE);
    assert!(sum("aligned_asked_by_another") >= BY_PLACE * sum("aligned"));
    assert!(most(DATES, "whole_moved") <= MOST_WHOLE_MOVED);
    assert!(least(DATES_MOVED, "whole_moved") >= LEAST_LEARNED);
    assert!(most(DATES_MOVED, "aligned") < ALIGNED_LETTERS as f64, "no head aligns");
    assert!(least(DATES_JOINED, "whole") >= LEAST_WHOLE);
    assert!(least(DATES_SMALL, "whole") >= 0.9, "with one head too");
}
