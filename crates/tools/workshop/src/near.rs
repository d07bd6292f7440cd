//! Whether numbers that were kept are those that come out now.
//!
//! They may differ in the tenth digit, since processors add in different orders; the order
//! in which JSON names its keys is no difference.

use serde_json::Value;

/// How far numbers may lie apart, relative to the larger or to one.
const TOLERANCE: f64 = 1e-9;

/// Where two JSON values part, as a path with both values; `None` if they agree.
pub fn difference(before: &Value, now: &Value) -> Option<String> {
    let below = |step: String, inner: String| format!("/{step}{inner}");
    match (before, now) {
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64()?, other.as_f64()?);
            let scale = one.abs().max(other.abs()).max(1.0);
            ((one - other).abs() > TOLERANCE * scale)
                .then(|| format!(": {one}, now {other}"))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(i, (one, other))| {
                Some(below(i.to_string(), difference(one, other)?))
            })
        }
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            one.iter().find_map(|(key, one)| {
                let other = other.get(key).unwrap_or(&Value::Null);
                Some(below(key.clone(), difference(one, other)?))
            })
        }
        _ if before == now => None,
        _ => Some(format!(": {before}, now {now}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn last_digits_and_the_order_of_keys_do_not_count() {
        let one = json!({ "a": [1.0, 2e9], "b": "c" });
        let other = json!({ "b": "c", "a": [1.0 + 1e-12, 2e9 + 1e-3] });
        assert_eq!(difference(&one, &other), None);
    }

    #[test]
    fn the_first_place_that_differs_is_named() {
        let one = json!({ "a": [1.0, { "b": 2 }] });
        for (other, said) in [
            (json!({ "a": [1.0, { "b": 3 }] }), "/a/1/b: 2, now 3"),
            (json!({ "a": [1.0, { "c": 2 }] }), "/a/1/b: 2, now null"),
            (json!({ "a": [1.0] }), "/a: [1.0,{\"b\":2}], now [1.0]"),
            (json!({ "a": null }), "/a: [1.0,{\"b\":2}], now null"),
        ] {
            assert_eq!(difference(&one, &other).as_deref(), Some(said));
        }
    }
}
