//! What each part of the model is for: variants with five seeds.

use lessons::sensors::{N_SEEDS, runs, spread};
use sensors::{Architecture, Features};
use serde_json::Value;

use crate::quote::{Table, assert_quote, values};

const NAMES: [(&str, &str); 10] = [
    ("linear, last", "linear, last reading"),
    ("linear, last and settings", "linear, last and settings"),
    ("linear, mean", "linear, mean reading"),
    ("linear, mean and slope", "linear, mean and slope"),
    ("BiLSTM", "BiLSTM, its two ends"),
    ("BiLSTM, mean", "BiLSTM, mean"),
    ("BiLSTM, mean, wide", "BiLSTM, mean, 218 wide"),
    ("one head", "BiLSTM, one head, mean"),
    ("eight heads", "BiLSTM, eight heads, mean"),
    ("no BiLSTM", "eight heads, no BiLSTM"),
];

#[test]
fn what_each_part_adds() {
    let mut table = Table::new([
        ("", -26),
        ("parameters", 10),
        ("RMSE", 6),
        ("least to most", 15),
        ("last", 7),
        ("score", 7),
    ]);
    let mut quoted = Vec::new();
    for (variant, name) in NAMES {
        let runs = runs(variant).unwrap();
        let is_linear = variant.starts_with("linear");
        assert_eq!(runs.len(), if is_linear { 1 } else { N_SEEDS }, "{variant}");
        let [least, median, most] = spread(&runs, "rmse").unwrap();
        let range = format!("{least:.2} to {most:.2}");
        let [last, score] =
            ["rmse_last", "score"].map(|key| spread(&runs, key).unwrap()[1]);
        table.row([
            name.to_owned(),
            attention::thousands(runs[0]["parameters"].as_u64().unwrap()),
            format!("{median:.2}"),
            if is_linear { String::new() } else { range },
            format!("{last:.2}"),
            format!("{score:.0}"),
        ]);
        let key = variant.replace([',', ' '], "_").replace("__", "_");
        quoted.push((format!("{key}_parameters"), runs[0]["parameters"].to_string()));
        quoted.push((format!("{key}_rmse"), format!("{median:.2}")));
        quoted.push((format!("{key}_last"), format!("{last:.2}")));
        quoted.push((format!("{key}_score"), format!("{score:.0}")));
    }
    // Seed by seed: the windows come in the same order.
    let wins = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|variant| runs(variant).unwrap());
        let rmse = |run: &Value| run["rmse"].as_f64().unwrap();
        a.iter().zip(&b).filter(|(a, b)| rmse(a) < rmse(b)).count().to_string()
    };
    quoted.push(("wins_mean".to_owned(), wins("eight heads", "BiLSTM, mean")));
    quoted.push(("wins_wide".to_owned(), wins("eight heads", "BiLSTM, mean, wide")));
    quoted.push(("wins_one".to_owned(), wins("eight heads", "one head")));
    quoted.push(("wins_ends".to_owned(), wins("eight heads", "BiLSTM")));
    let of =
        |variant: &str, nth: usize| spread(&runs(variant).unwrap(), "rmse").unwrap()[nth];
    let ratio = of("eight heads", 1) / of("linear, last", 1);
    assert!(ratio <= 0.7, "{ratio}");
    quoted.push(("ratio".to_owned(), format!("{ratio:.2}")));
    let ratio = of("eight heads", 1) / of("linear, mean", 1);
    quoted.push(("ratio_mean".to_owned(), format!("{ratio:.2}")));
    assert_quote!("sensors_parts", table.text());
    assert_quote!("sensors_parts_values", values(&quoted));
    assert_eq!(Architecture::VARIANTS.len() + Features::ALL.len(), NAMES.len());
}
