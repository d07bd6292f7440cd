//! What each part of the model is for: variants with five seeds.

use ablation::odds::Count;
use lessons::sensors::measured::VARIANTS;
use lessons::sensors::{N_SEEDS, runs};
use sensors::{Architecture, Features};

use crate::quote::{assert_quote, values};

fn rmse(variant: &str) -> Vec<f64> {
    let runs = runs(variant).unwrap();
    runs.iter().map(|run| run["rmse"].as_f64().unwrap()).collect()
}

#[test]
fn what_each_part_adds() {
    let mut quoted = vec![("seeds".to_owned(), N_SEEDS.to_string())];
    for (variant, _) in VARIANTS {
        let n = if variant.starts_with("linear") { 1 } else { N_SEEDS };
        assert_eq!(runs(variant).unwrap().len(), n, "{variant}");
    }
    let median = |variant: &str, what: &str| {
        lessons::sensors::spread(&runs(variant).unwrap(), what).unwrap()[1]
    };
    for (key, variant) in [("mean", "linear, mean"), ("slope", "linear, mean and slope")]
    {
        quoted.push((format!("{key}_rmse"), format!("{:.2}", median(variant, "rmse"))));
    }
    let slope = "linear, mean and slope";
    let n_parameters = &runs(slope).unwrap()[0]["parameters"];
    quoted.push(("slope_parameters".to_owned(), n_parameters.to_string()));
    // What the text says of last windows.
    let networks = VARIANTS.iter().filter(|(variant, _)| !variant.starts_with("linear"));
    for (variant, _) in networks {
        for what in ["rmse_last", "score"] {
            assert!(median(slope, what) < median(variant, what), "{variant}, {what}");
        }
    }
    for (key, other) in
        [("none", "BiLSTM, mean"), ("ends", "BiLSTM"), ("one", "one head")]
    {
        // Seed by seed: the windows come in the same order.
        let pairs = rmse("eight heads").into_iter().zip(rmse(other));
        let less: Vec<f64> = pairs.map(|(eight, other)| eight - other).collect();
        let [low, high] = interval(&less).map(signed);
        quoted.push((format!("mean_{key}"), signed(mean(&less))));
        quoted.push((format!("interval_{key}"), format!("{low} to {high}")));
    }
    let ratio = median("eight heads", "rmse") / median("linear, last", "rmse");
    assert!(ratio <= 0.7, "{ratio}");
    assert_quote!("sensors_parts_values", values(&quoted));
    assert_eq!(Architecture::VARIANTS.len() + Features::ALL.len(), VARIANTS.len());
}

/// Steps in a round of the training, and windows in a step.
const ROUND: [usize; 2] = [128, 32];

/// What part of the windows a training saw that draws them with replacement.
#[test]
fn less_than_one_pass() {
    use attention::{Rng, SeedableRng};
    use rand::RngExt;

    let n = lessons::sensors::life::prepared().unwrap().train.at.len();
    let rounds: Vec<u64> = Architecture::VARIANTS
        .iter()
        .flat_map(|(variant, _)| runs(variant).unwrap())
        .map(|run| run["epochs"].as_u64().unwrap())
        .collect();
    assert!(rounds.iter().all(|&n| n == rounds[0]), "{rounds:?}");
    let n_drawn = rounds[0] as usize * ROUND[0] * ROUND[1];
    let (rng, mut seen) = (&mut Rng::seed_from_u64(0), vec![false; n]);
    (0..n_drawn).for_each(|_| seen[rng.random_range(0..n)] = true);
    let seen = Count::of(seen).share();
    // 1 − (1 − 1/n)^drawn
    let expected = 1.0 - (-(n_drawn as f64) / n as f64).exp();
    assert!((seen - expected).abs() < 0.01, "{seen}, {expected}");
    assert_quote!(
        "sensors_seen",
        values(&[
            ("drawn", attention::thousands(n_drawn as u64)),
            ("seen", format!("{:.0} %", 100.0 * expected)),
        ])
    );
}

fn signed(x: f64) -> String {
    format!("{x:+.2}").replace('-', "−")
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

/// Where the mean of differences like these lies, in 95 of 100 cases: Student's interval,
/// `mean ± 2.776 s / √5` for five.
fn interval(less: &[f64]) -> [f64; 2] {
    assert_eq!(less.len(), 5, "2.776 is for five");
    let middle = mean(less);
    let squares: f64 = less.iter().map(|x| (x - middle) * (x - middle)).sum();
    let reach = 2.776 * (squares / 4.0 / 5.0).sqrt();
    [middle - reach, middle + reach]
}

/// An effect that is planted lies outside the interval of nothing, and noise mostly inside:
/// what five seeds can show and what they cannot.
#[test]
fn five_seeds_show_a_planted_effect_and_no_noise() {
    use attention::{Rng, SeedableRng, random_matrix};

    let rng = &mut Rng::seed_from_u64(19);
    let shows = |effect: f64, rng: &mut Rng| {
        let drawn: attention::Matrix = random_matrix(2000, 5, 1.0, rng);
        let fires = drawn.row_iter().filter(|row| {
            let less: Vec<f64> = row.iter().map(|x| x + effect).collect();
            let [low, high] = interval(&less);
            low > 0.0 || high < 0.0
        });
        fires.count() as f64 / 2000.0
    };
    let [noise, planted, large] = [0.0, 2.0, 3.0].map(|effect| shows(effect, rng));
    assert!((0.03..0.09).contains(&noise), "{noise}");
    assert!(planted > 0.8, "{planted}");
    assert!(large > 0.95, "{large}");
}
