//! Settings to try a live figure at: the first, the corners, and many between.

use attention::{Rng, SeedableRng};
use lessons::live::{Control, Kind, Live};
use rand::RngExt;

/// Keys with the texts that their controls are set to.
pub type Pairs = Vec<(&'static str, String)>;

/// So many settings, the same at every run.
pub fn of(live: &dyn Live, n: usize) -> Vec<Pairs> {
    let rng = &mut Rng::seed_from_u64(16);
    let controls = live.controls();
    let at = |corner: usize, rng: &mut Rng| {
        let text = |control: &Control| (control.key, text(control, corner, rng));
        controls.iter().map(text).collect()
    };
    // A training is long at most settings: the first ones, but for the seed.
    if live.is_trained() {
        let settings = |seed: usize| vec![("seed", seed.to_string())];
        return (0..n).map(settings).collect();
    }
    (0..n).map(|corner| at(corner, rng)).collect()
}

fn text(control: &Control, corner: usize, rng: &mut Rng) -> String {
    let number = |least: f64, most: f64, rng: &mut Rng| match corner {
        1 => least,
        2 => most,
        3 => 0f64.clamp(least, most),
        // Round, and seldom near the ends, where nothing is to be seen.
        _ => {
            let bound = |it: f64| it.clamp(-4.0, 4.0);
            let (least, most) = if corner.is_multiple_of(4) {
                (least, most)
            } else {
                (bound(least), bound(most))
            };
            let between = least + (most - least) * rng.random::<f64>();
            ((between * 100.0).round() / 100.0).clamp(least, most)
        }
    };
    let rows = |n_rows: usize, entry: &mut dyn FnMut() -> f64, n_columns: usize| {
        let mut row =
            || (0..n_columns).map(|_| entry().to_string()).collect::<Vec<_>>().join(",");
        (0..n_rows).map(|_| row()).collect::<Vec<_>>().join(";")
    };
    match &control.kind {
        _ if corner == 0 => control.first.clone(),
        Kind::Number { least, most, .. } => number(*least, *most, rng).to_string(),
        Kind::Count { least, most } => match corner {
            1 => *least,
            2 => *most,
            // As often near the first as anywhere.
            3..10 => {
                control.first.parse::<usize>().unwrap().saturating_sub(3).max(*least)
                    + rng.random_range(0..7)
            }
            _ => rng.random_range(*least..=*most),
        }
        .min(*most)
        .to_string(),
        Kind::Choice { options, .. } => {
            options[rng.random_range(0..options.len())].0.clone()
        }
        Kind::Text { .. } => beginning(&control.first, rng),
        Kind::Words { .. } => control.first.clone(),
        Kind::Switch => if rng.random() { "on" } else { "off" }.to_owned(),
        Kind::Matrix { rows: names, columns, most } => {
            rows(names.len(), &mut || number(-most, *most, rng), columns.len())
        }
        Kind::Paint { rows: names, columns } => {
            let mut cell = || match corner {
                1 | 3 => 0.0,
                2 => 1.0,
                _ => f64::from(rng.random::<bool>()),
            };
            rows(names.len(), &mut cell, columns.len())
        }
        Kind::Point { most } => {
            let mut along = || number(-most, *most, rng);
            format!("{},{}", along(), along())
        }
    }
}

/// Some of what stands there first, so that it stays something of that kind.
fn beginning(first: &str, rng: &mut Rng) -> String {
    let n = rng.random_range(1..=first.chars().count());
    first.chars().take(n).collect()
}
