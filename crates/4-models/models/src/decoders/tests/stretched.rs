//! Rotary positions that are stretched for longer texts.

use serde_json::{Value, json};

use super::config;
use crate::decoders::Config;

/// Some of the sixteen frequencies of a wider head, by transformers' formulas in Python's
/// floats.
fn expect(mut rope: Value, expected: [f64; 5], amplitude: f64) {
    rope["rope_theta"] = json!(10000.0);
    let changes = json!({"head_dim": 32, "rope_parameters": rope});
    let config: Config = config("llama-1", changes);
    let rotary = config.rotary.unwrap();
    assert_eq!(rotary.frequencies.len(), 16);
    for (p, expected) in [0, 4, 6, 9, 15].into_iter().zip(expected) {
        let off = (rotary.frequencies[p] / expected - 1.0).abs();
        assert!(off < 1e-12, "{rope}, {p}: {} {expected}", rotary.frequencies[p]);
    }
    assert!((rotary.amplitude - amplitude).abs() < 1e-12, "{rope}: {}", rotary.amplitude);
}

#[test]
fn each_kind_is_what_transformers_computes() {
    let before = "original_max_position_embeddings";
    let yarn = json!({"rope_type": "yarn", "factor": 4.0, before: 512});
    let slow = [0.001_405_853_312_975_872_7, 4.445_698_525_097_307e-5];
    expect(
        yarn,
        [1.0, 0.067_857_142_857_142_85, 0.014682003422210332, slow[0], slow[1]],
        1.138_629_436_111_989,
    );
    let weighed = json!({
        "rope_type": "yarn", "factor": 4.0, before: 512, "beta_fast": 8, "beta_slow": 2,
        "truncate": false, "mscale": 1.0, "mscale_all_dim": 0.5,
    });
    expect(
        weighed,
        [1.0, 0.1, 0.012241315901815122, slow[0], slow[1]],
        1.0648216253695715,
    );
    let own = json!({
        "type": "yarn", "factor": 2.0, before: 256, "attention_factor": 1.5,
    });
    let fast = [1.0, 0.071_428_571_428_571_44, 0.018070158058105024];
    expect(own, [fast[0], fast[1], fast[2], 2.0 * slow[0], 2.0 * slow[1]], 1.5);
    let llama3 = json!({
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, before: 512,
    });
    expect(llama3, [1.0, 0.1, 0.018496675401442404, slow[0] / 2.0, slow[1] / 2.0], 1.0);
    let whole = [0, 4, 6, 9, 15].map(|p| 10_000f64.powf(-f64::from(p) / 16.0));
    expect(json!({"rope_type": "dynamic", "factor": 2.0}), whole, 1.0);
    let linear = json!({"rope_type": "linear", "factor": 4.0});
    expect(linear, whole.map(|frequency| frequency / 4.0), 1.0);
}
