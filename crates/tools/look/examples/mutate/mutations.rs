//! How files are broken.

use serde_json::{Value, json};

/// SplitMix64: the same numbers from the same seed, on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Less than `n`, or 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Sizes at which counting goes wrong.
const SIZES: [u64; 10] = [
    0,
    1,
    255,
    1 << 16,
    (1 << 31) - 1,
    1 << 32,
    1 << 40,
    (1 << 63) - 1,
    (1 << 63) + 1,
    u64::MAX,
];

/// Some bytes changed, left out, doubled or put in, in the first `head` more often.
pub fn bytes(base: &[u8], head: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = base.to_vec();
    for _ in 0..=random.below(3) {
        let within = match random.below(4) {
            0 => bytes.len(),
            _ => head.min(bytes.len()),
        };
        let at = random.below(within);
        let n = random.below(16).min(bytes.len() - at);
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + n)),
            2 => {
                let part = bytes[at..at + n].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let size = SIZES[random.below(SIZES.len())].to_le_bytes();
                let n = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
                bytes[at..at + n].copy_from_slice(&size[..n]);
            }
            4 => {
                let text = format!("{}", SIZES[random.below(SIZES.len())]);
                bytes.splice(at..at + n, text.into_bytes());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes
}

/// A value anywhere in the JSON replaced, removed, or moved to another place.
pub fn value(base: &Value, random: &mut Random) -> Value {
    let mut changed = base.clone();
    for _ in 0..=random.below(2) {
        let other = any(base, random).clone();
        let new = match random.below(5) {
            0 => other,
            _ => strange(random),
        };
        let steps = 1 + random.below(6);
        put(&mut changed, new, steps, random);
    }
    changed
}

/// A value on the way down from this one.
fn any<'a>(value: &'a Value, random: &mut Random) -> &'a Value {
    let inner = match value {
        Value::Object(object) => object.values().nth(random.below(object.len())),
        Value::Array(values) => values.get(random.below(values.len())),
        _ => None,
    };
    match inner {
        Some(inner) if random.below(4) > 0 => any(inner, random),
        _ => value,
    }
}

fn put(value: &mut Value, new: Value, steps: usize, random: &mut Random) {
    let n = match value {
        Value::Object(object) => object.len(),
        Value::Array(values) => values.len(),
        _ => 0,
    };
    if steps == 0 || n == 0 {
        *value = new;
        return;
    }
    let i = random.below(n);
    match value {
        Value::Object(object) => {
            let Some(key) = object.keys().nth(i).cloned() else { return };
            if steps == 1 && random.below(4) == 0 {
                object.remove(&key);
            } else if let Some(inner) = object.get_mut(&key) {
                put(inner, new, steps - 1, random);
            }
        }
        Value::Array(values) => put(&mut values[i], new, steps - 1, random),
        _ => {}
    }
}

fn strange(random: &mut Random) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(-1),
        3 => json!(0.5),
        4 => json!(1e308),
        5 => json!(""),
        6 => json!("\u{202e}\u{9b}31m\u{1b}[2J"),
        7 => json!("ab".repeat(random.below(2000))),
        8 => json!([]),
        9 => json!({}),
        10 => json!(random.below(100)),
        _ => json!(SIZES[random.below(SIZES.len())]),
    }
}
