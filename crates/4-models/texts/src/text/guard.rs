//! Calls into the library of tokenizers, which panics over some files.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use serde_json::Value;

thread_local! {
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What a call gives, or what it said when it panicked, which is not printed. Where a panic
/// ends the program, as in a page, it still does.
pub(super) fn call<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match IN_CALL.get() {
            false => before(info),
            true => MESSAGE.set(info.payload_as_str().unwrap_or_default().to_owned()),
        }));
    });
    let around = IN_CALL.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(f));
    IN_CALL.set(around);
    outcome.map_err(|_| {
        format!("it makes the tokenizer's library panic: {}", MESSAGE.take())
    })
}

/// Refuses what asks the library for more memory than there is, which no call survives.
pub(super) fn check_sizes(tokenizer: &Value) -> Result<(), String> {
    const MOST: usize = 10_000;
    let mut growth = 1usize;
    for part in ["normalizer", "pre_tokenizer", "decoder"] {
        each_object(&tokenizer[part], &mut |object| {
            let text = |key: &str| object.get(key).and_then(Value::as_str);
            match text("type") {
                Some("Replace") => {
                    let n = text("content").map_or(1, |content| content.chars().count());
                    growth = growth.saturating_mul(n.max(1));
                    Ok(())
                }
                Some("Precompiled") => {
                    check_map(text("precompiled_charsmap").unwrap_or(""))
                }
                _ => Ok(()),
            }
        })?;
    }
    match growth > MOST {
        true => Err(format!("its replacements make a character into {growth}")),
        false => Ok(()),
    }
}

/// The table of a `Precompiled` normalizer begins with the number of its bytes.
fn check_map(base64: &str) -> Result<(), String> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Option<Vec<u8>> = base64.bytes().take(6).map(digit).collect();
    let Some(digits) = digits.filter(|digits| digits.len() == 6) else {
        return Err("its precompiled_charsmap is too short".into());
    };
    let bits = digits.iter().fold(0u64, |bits, &digit| bits << 6 | u64::from(digit));
    let announced = ((bits >> 4) as u32).swap_bytes() as usize;
    let there = (base64.len() / 4 * 3).saturating_sub(4);
    match announced <= there {
        true => Ok(()),
        false => Err(format!(
            "its precompiled_charsmap announces a table of {announced} bytes and has {there}"
        )),
    }
}

/// Every object in a value, itself among them.
pub(super) fn each_object(
    value: &Value,
    visit: &mut impl FnMut(&serde_json::Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    match value {
        Value::Object(object) => {
            visit(object)?;
            object.values().try_for_each(|value| each_object(value, visit))
        }
        Value::Array(values) => {
            values.iter().try_for_each(|value| each_object(value, visit))
        }
        _ => Ok(()),
    }
}
