//! What each part of the model is for: variants with five seeds.

use lessons::ch19::{N_SEEDS, runs, spread};
use sensors::Architecture;

use crate::quote::{Table, assert_quote, values};

const NAMES: [(&str, &str); 8] = [
    ("linear, last", "linear, last reading"),
    ("linear, mean", "linear, mean reading"),
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
        ("score", 6),
        ("least to most", 15),
    ]);
    let mut quoted = Vec::new();
    for (variant, name) in NAMES {
        let runs = runs(variant).unwrap();
        let is_linear = variant.starts_with("linear");
        assert_eq!(runs.len(), if is_linear { 1 } else { N_SEEDS }, "{variant}");
        let [least, median, most] = spread(&runs, "rmse").unwrap();
        let [lowest, score, highest] = spread(&runs, "score").unwrap();
        let range = |text: String| if is_linear { String::new() } else { text };
        table.row([
            name.to_owned(),
            attention::thousands(runs[0]["parameters"].as_u64().unwrap()),
            format!("{median:.2}"),
            range(format!("{least:.2} to {most:.2}")),
            format!("{score:.0}"),
            range(format!("{lowest:.0} to {highest:.0}")),
        ]);
        let key = variant.replace([',', ' '], "_").replace("__", "_");
        quoted.push((format!("{key}_rmse"), format!("{median:.2}")));
        quoted.push((format!("{key}_score"), format!("{score:.0}")));
    }
    let of =
        |variant: &str, nth: usize| spread(&runs(variant).unwrap(), "rmse").unwrap()[nth];
    let ratio = of("eight heads", 1) / of("linear, last", 1);
    assert!(ratio <= 0.7, "{ratio}");
    quoted.push(("ratio".to_owned(), format!("{ratio:.2}")));
    let ratio = of("eight heads", 1) / of("linear, mean", 1);
    quoted.push(("ratio_mean".to_owned(), format!("{ratio:.2}")));
    assert_quote!("ch19_parts", table.text());
    assert_quote!("ch19_parts_values", values(&quoted));
    assert_eq!(Architecture::VARIANTS.len() + 2, NAMES.len());
}
