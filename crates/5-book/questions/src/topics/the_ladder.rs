//! The ladder.

use anyhow::Result;
use attention::{Matrix, OnlineSoftmax};
use lessons::the_ladder::traffic::TiledHead;

use crate::facts::{Facts, facts};
use crate::question::Run;

pub const RUNS: &[(&str, Run)] = &[
    ("online-correction", correction),
    ("online-average", average),
    ("online-state", state),
    ("causal-tiles", causal_tiles),
];

/// Takes one key in, with the logarithm of a power of e for its score.
fn take_in(online: &mut OnlineSoftmax, power: f64, value: f64) {
    let exp = |numbers: &mut [f32]| numbers.iter_mut().for_each(|x| *x = x.exp());
    let score = Matrix::from_element(1, 1, (power as f32).ln());
    online.take_in(score, Matrix::from_element(1, 1, value as f32).as_view(), exp);
}

fn correction(n: &Facts) -> Result<Facts> {
    let [before, after] = n.decimals(["before", "after"])?;
    let mut online = OnlineSoftmax::new(1, 1);
    take_in(&mut online, before, 1.0);
    let l_before = online.sum[0];
    take_in(&mut online, after, 0.0);
    let l_after = online.sum[0];
    // The new key adds exactly 1 to l, since its score is the maximum, and nothing to o.
    let factor = f64::from((l_after - 1.0) / l_before);
    Ok(facts![l_before, l_after, factor, inverse = 1.0 / factor, twice = factor * factor])
}

fn average(n: &Facts) -> Result<Facts> {
    let powers = n.decimals(["first", "second"])?;
    let values = n.decimals(["first_value", "second_value"])?;
    let mut online = OnlineSoftmax::new(1, 1);
    let mut facts = Facts::default();
    for (nth, (power, value)) in powers.into_iter().zip(values).enumerate() {
        take_in(&mut online, power, value);
        let (l, o) = (online.sum[0], online.out[0]);
        let named = [("l", l), ("o", o), ("average", o / l)];
        facts = named
            .into_iter()
            .fold(facts, |facts, (name, x)| facts.with(format!("{name}_{}", nth + 1), x));
    }
    let mean = f64::midpoint(values[0], values[1]);
    Ok(facts.and(facts![mean, average = online.finish()[0]]))
}

fn state(n: &Facts) -> Result<Facts> {
    let [d_v] = n.wholes(["d_v"])?;
    let OnlineSoftmax { maximum, sum, out } = OnlineSoftmax::new(1, d_v);
    let (m, l, o) = (maximum.len(), sum.len(), out.len());
    Ok(facts![m, l, o, kept = m + l + o])
}

fn causal_tiles(n: &Facts) -> Result<Facts> {
    let [n_tokens, side] = n.wholes(["n_tokens", "side"])?;
    let tile = [n_tokens / side; 2];
    let head = TiledHead { n_tokens, d_k: 64, tile, is_causal: true, cache: 0 };
    let computed = head.computed();
    let cell =
        |row, column| if computed.contains(&[row, column]) { " ■" } else { " ·" };
    let line = |row| (0..side).map(|column| cell(row, column)).collect::<String>() + "\n";
    let tiles: String = (0..side).map(line).collect();
    let (open, all) = (computed.len(), side * side);
    Ok(facts![tiles, open, all, below_diagonal = side * (side - 1) / 2])
}
