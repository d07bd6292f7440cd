//! What ten seeds gave, kept in files: the numbers of the book.

/// The lookups on ten seeds, as `cargo run --release -p training --example seeds --
/// lookups` measured them: JSON, one run per line.
pub const LOOKUPS: &str = include_str!("../data/lookups.json");

/// The lookups with three heads and roles of several loudnesses on twenty seeds, as
/// `-- loudness` measured them.
pub const LOUDNESS: &str = include_str!("../data/loudness.json");

/// The lookups in two codes, with one head and shares that are its own or fixed, as
/// `-- codes` measured them.
pub const CODES: &str = include_str!("../data/codes.json");

/// The windows on ten seeds, with eight heads and with one, as `cargo run --release -p
/// training --example seeds -- windows` measured them: JSON, one run per line.
pub const WINDOWS: &str = include_str!("../data/windows.json");

/// Repeated tokens with two layers and with what they are compared with, on ten seeds, as
/// `-- repeats` measured them.
pub const REPEATS: &str = include_str!("../data/repeats.json");

/// Repeated tokens on texts longer than those of the training, with four kinds of position and
/// none, on ten seeds, as `-- places` measured them.
pub const PLACES: &str = include_str!("../data/places.json");

/// The models of [`PLACES`] with rotary positions on longer texts, their positions stretched,
/// as `-- stretched` measured them.
pub const STRETCHED: &str = include_str!("../data/stretched.json");

/// The lookups with narrow heads that share keys and values, at equal numbers of weights and
/// at equal widths, on ten seeds, as `-- shared` measured them.
pub const SHARED: &str = include_str!("../data/shared.json");

/// Dates from one text to another on ten seeds, with what each control of the trained models
/// gave, as `-- dates` measured them.
pub const DATES: &str = include_str!("../data/dates.json");

/// The same, trained with the output of the cross-attention moved among the letters, as
/// `-- dates-moved` measured it.
pub const DATES_MOVED: &str = include_str!("../data/dates-moved.json");

/// Both texts joined in one, at equal parameters, as `-- dates-joined` measured it.
pub const DATES_JOINED: &str = include_str!("../data/dates-joined.json");

/// The small setting on five seeds, with four heads and with one, as `-- dates-small` measured it.
pub const DATES_SMALL: &str = include_str!("../data/dates-small.json");

/// Dates of four centuries on ten seeds, as `-- centuries` measured them.
pub const CENTURIES: &str = include_str!("../data/centuries.json");

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use attention::median;
    use serde_json::Value;

    use super::*;
    use crate::SPECIALISATIONS;

    fn runs(data: &str) -> Vec<Value> {
        serde_json::from_str(data).unwrap()
    }

    fn numbers(list: &Value) -> Vec<f64> {
        list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    fn mean(list: &[f64]) -> f64 {
        list.iter().sum::<f64>() / list.len() as f64
    }

    /// A line a setting: the spread of what `of` says of its runs.
    fn spread(runs: &[Value], of: impl Fn(&Value) -> f64) -> String {
        let setting = |run: &Value| {
            format!(
                "{} heads, rate {}, {} steps",
                run["heads"], run["rate"], run["steps"]
            )
        };
        let mut text = String::new();
        for of_setting in runs.chunk_by(|a, b| setting(a) == setting(b)) {
            let mut sorted: Vec<f64> = of_setting.iter().map(&of).collect();
            sorted.sort_by(f64::total_cmp);
            let n = sorted.len();
            let (least, most) = (sorted[0], sorted[n - 1]);
            let median = median(sorted);
            let setting = setting(&of_setting[0]);
            writeln!(text, "{setting}, {n} seeds: {least:.3} {median:.3} {most:.3}")
                .unwrap();
        }
        text
    }

    #[test]
    fn the_lookups_least_median_and_most() {
        let spread = spread(&runs(LOOKUPS), |run| mean(&numbers(&run["scores"])));
        insta::assert_snapshot!(spread, @r"
        1 heads, rate 0.01, 1000 steps, 10 seeds: 0.688 0.741 0.749
        2 heads, rate 0.01, 1000 steps, 10 seeds: 0.671 0.914 0.963
        3 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
        4 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
        6 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
        8 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
        1 heads, rate 0.01, 4000 steps, 10 seeds: 0.803 0.823 0.828
        1 heads, rate 0.003, 1000 steps, 10 seeds: 0.541 0.597 0.632
        3 heads, rate 0.003, 1000 steps, 10 seeds: 0.999 1.000 1.000
        4 heads, rate 0.003, 1000 steps, 10 seeds: 0.999 1.000 1.000
        ");
    }

    #[test]
    fn one_head_codes_who_and_not_which_role() {
        let mut usual = runs(LOOKUPS);
        usual.truncate(10);
        assert!(usual.iter().all(|run| run["heads"] == 1));
        let keys =
            ["by_identity", "by_role", "as_is", "equal", "exchanged", "other_role"];
        let line = |key: &&str| {
            let of = |run: &Value| run["sizes"][*key].as_f64().unwrap();
            format!("{key}: {}", spread(&usual, of).split(": ").last().unwrap())
        };
        insta::assert_snapshot!(keys.iter().map(line).collect::<String>(), @r"
        by_identity: 0.793 0.820 0.847
        by_role: 0.000 0.002 0.012
        as_is: 0.688 0.741 0.749
        equal: 0.310 0.318 0.337
        exchanged: 0.529 0.542 0.550
        other_role: 0.886 0.937 0.946
        ");
    }

    #[test]
    fn three_heads_are_found_by_ablation_and_by_map_alike() {
        let runs = runs(LOOKUPS);
        let agree = |n_heads: u64| {
            let of =
                runs.iter().filter(|run| run["heads"] == n_heads && run["rate"] == 0.01);
            let (mut both, mut all) = (0, 0);
            for run in of {
                let pairs = numbers(&run["removed"]["mean"]["needed"])
                    .into_iter()
                    .zip(numbers(&run["attending"]));
                pairs.for_each(|(a, b)| both += i32::from(a == b));
                all += 3;
            }
            format!("{n_heads} heads: {both} of {all}\n")
        };
        let text: String = [3, 4, 6, 8].map(agree).concat();
        insta::assert_snapshot!(text, @r"
        3 heads: 30 of 30
        4 heads: 29 of 30
        6 heads: 28 of 30
        8 heads: 23 of 30
        ");
    }

    #[test]
    fn which_specialisations_appear_in_how_many_of_ten_seeds() {
        let runs = runs(WINDOWS);
        let eight: Vec<_> = runs.iter().filter(|run| run["heads"] == 8).collect();
        assert_eq!(eight.len(), 10);
        let mut text = String::new();
        for (i, (name, _)) in SPECIALISATIONS.iter().enumerate() {
            let seeds = |key: &str| {
                let found = |run: &&&Value| !run[key][i].as_array().unwrap().is_empty();
                eight.iter().filter(found).count()
            };
            let (before, after) = (seeds("found_before"), seeds("found"));
            writeln!(text, "{name}: {before} before, {after} after").unwrap();
        }
        insta::assert_snapshot!(text, @r"
        recent: 0 before, 3 after
        transition: 1 before, 0 after
        temperature: 1 before, 9 after
        pressure: 6 before, 9 after
        spike: 7 before, 3 after
        trend: 0 before, 0 after
        early and late: 0 before, 8 after
        uniform: 0 before, 6 after
        ");
    }

    #[test]
    fn what_eight_heads_explain_of_the_windows_and_what_one() {
        let runs = runs(WINDOWS);
        let of_ten = |n_heads: u64, r: usize| {
            let of = runs.iter().filter(|run| run["heads"] == n_heads);
            median(of.map(|run| numbers(&run["scores"])[r]))
        };
        let mut text = String::new();
        let targets = crate::Task::targets(&crate::Windows::default());
        for (r, target) in targets.iter().enumerate() {
            writeln!(text, "{target}: {:.2} and {:.2}", of_ten(8, r), of_ten(1, r))
                .unwrap();
        }
        insta::assert_snapshot!(text, @r"
        recent: 0.99 and 0.98
        transition: 0.98 and 0.86
        spike: 0.99 and 0.44
        trend: 0.99 and 0.88
        level: 1.00 and 0.99
        at hottest: 0.95 and 0.57
        at peak: 0.92 and 0.89
        ");
    }
}
