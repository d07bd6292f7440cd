//! The ladder.

use lessons::the_ladder::traffic::TiledHead;

use super::*;

/// Takes one key in, with the logarithm of a power of e for its score.
fn take_in(online: &mut OnlineSoftmax, power: f64, value: f64) {
    let exp = |numbers: &mut [f32]| numbers.iter_mut().for_each(|x| *x = x.exp());
    let score = Matrix::from_element(1, 1, (power as f32).ln());
    online.take_in(score, Matrix::from_element(1, 1, value as f32).as_view(), exp);
}

pub fn online_correction(n: &Facts) -> Result<Facts> {
    let [before, after] = n.decimals(["before", "after"])?;
    let mut online = OnlineSoftmax::new(1, 1);
    take_in(&mut online, before, 1.0);
    let l_before = online.sum[0];
    take_in(&mut online, after, 0.0);
    let l_after = online.sum[0];
    // The new key adds exactly 1 to l, since its score is the maximum, and nothing to o.
    let factor = f64::from((l_after - 1.0) / l_before);
    Ok(facts![l_before, l_after, factor])
}

pub fn online_average(n: &Facts) -> Result<Facts> {
    let [first, second] = n.decimals(["first", "second"])?;
    let [value, other] = n.decimals(["first_value", "second_value"])?;
    let mut online = OnlineSoftmax::new(1, 1);
    take_in(&mut online, first, value);
    let (l_1, o_1) = (online.sum[0], online.out[0]);
    take_in(&mut online, second, other);
    let (l_2, o_2) = (online.sum[0], online.out[0]);
    Ok(facts![l_1, o_1, l_2, o_2, average = online.finish()[0]])
}

pub fn online_state(n: &Facts) -> Result<Facts> {
    let [d_v] = n.wholes(["d_v"])?;
    let OnlineSoftmax { maximum, sum, out } = OnlineSoftmax::new(1, d_v);
    Ok(facts![m = maximum.len(), l = sum.len(), o = out.len()])
}

pub fn causal_tiles(n: &Facts) -> Result<Facts> {
    let [n_tokens, side] = n.wholes(["n_tokens", "side"])?;
    let tile = [n_tokens / side; 2];
    let head = TiledHead { n_tokens, d_k: 64, tile, is_causal: true, cache: 0 };
    let computed = head.computed();
    let cell =
        |row, column| if computed.contains(&[row, column]) { " ■" } else { " ·" };
    let line = |row| (0..side).map(|column| cell(row, column)).collect::<String>() + "\n";
    let tiles: String = (0..side).map(line).collect();
    Ok(facts![tiles, open = computed.len()])
}
