//! What comes trained and measured with this crate.

use tensors::TensorFile;

use crate::{Result, Trained};

/// The trained model as a safetensors file, in half precision: what `cargo run --release --
/// train` in `crates/4-models/sensors/framework` wrote.
pub const REMAINING_FILE: &[u8] = include_bytes!("../data/remaining.safetensors");

/// Every variant with several seeds, as `-- seeds` there measured them: JSON, one run per
/// line.
pub const SEEDS: &str = include_str!("../data/seeds.json");

/// What the heads of five trained models look at and are for, next to their controls, as
/// `cargo run --release -p sensors --example heads` measured it: JSON, one model per line.
pub const HEADS: &str = include_str!("../data/heads.json");

/// The trained model: source 003's architecture, on the engines of [`Fleet`](crate::Fleet)
/// with seed 0.
///
/// # Errors
/// None for the file that comes with the crate.
pub fn remaining() -> Result<Trained> {
    Trained::read(TensorFile::from_bytes("remaining.safetensors", REMAINING_FILE)?)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use serde_json::Value;

    use super::*;
    use crate::Architecture;

    /// Least, median and most of a number of these runs.
    fn spread(runs: &[&Value], key: &str) -> [f64; 3] {
        let number = |run: &&Value| run[key].as_f64().unwrap();
        let mut all: Vec<f64> = runs.iter().map(number).collect();
        all.sort_by(f64::total_cmp);
        let n = all.len();
        [all[0], attention::median(all.iter().copied()), all[n - 1]]
    }

    #[test]
    fn what_each_part_is_for() {
        let runs: Vec<Value> = serde_json::from_str(SEEDS).unwrap();
        let variants = Architecture::VARIANTS.map(|(name, _)| name);
        let mut text = String::new();
        let linear = crate::Features::ALL.map(|(name, _)| name);
        for name in linear.into_iter().chain(variants) {
            let of: Vec<&Value> =
                runs.iter().filter(|run| run["variant"] == name).collect();
            let ([a, b, c], [d, e, f]) = (spread(&of, "rmse"), spread(&of, "score"));
            let n = of.len();
            writeln!(
                text,
                "{name}, {n} runs: RMSE {a:.2} {b:.2} {c:.2}, score {d:.0} {e:.0} {f:.0}"
            )
            .unwrap();
        }
        insta::assert_snapshot!(text, @"
        linear, last, 1 runs: RMSE 20.88 20.88 20.88, score 1121 1121 1121
        linear, last and settings, 1 runs: RMSE 14.65 14.65 14.65, score 600 600 600
        linear, mean, 1 runs: RMSE 13.93 13.93 13.93, score 626 626 626
        linear, mean and slope, 1 runs: RMSE 13.60 13.60 13.60, score 492 492 492
        BiLSTM, 5 runs: RMSE 12.34 12.57 12.81, score 696 762 879
        BiLSTM, mean, 5 runs: RMSE 12.57 12.88 13.40, score 735 839 906
        one head, 5 runs: RMSE 12.51 12.92 12.98, score 781 852 871
        eight heads, 5 runs: RMSE 12.65 12.77 12.95, score 766 831 1344
        no BiLSTM, 5 runs: RMSE 12.71 12.93 13.46, score 601 706 938
        BiLSTM, mean, wide, 5 runs: RMSE 12.70 13.05 13.37, score 735 779 821
        ");
    }

    #[test]
    fn the_trained_model_is_the_source_s() {
        let trained = remaining().unwrap();
        assert_eq!(trained.architecture, Architecture::SOURCE);
        let model = trained.fused::<f64>().unwrap();
        let attention = model.attention.unwrap().function;
        let count = attention::MultiHeadAttention::parameter_count(&attention);
        assert_eq!(count.total(), 263_168);
    }
}
