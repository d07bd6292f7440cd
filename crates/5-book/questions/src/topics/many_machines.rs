//! Many machines.

use super::*;

pub fn bias_on_every_rank(n: &Facts) -> Result<Facts> {
    let ([ranks], [bias]) = (n.wholes(["ranks"])?, n.decimals(["bias"])?);
    let w_o = Linear::new(Matrix::zeros(1, 1), Some(RowVector::from_element(1, bias)))?;
    let right = w_o.forward(&Matrix::zeros(1, 1))?;
    let mut sum = Matrix::zeros(1, 1);
    for _ in 0..ranks {
        sum += w_o.forward(&Matrix::zeros(1, 1))?;
    }
    Ok(facts![off = (sum - right)[0]])
}

/// A ring all-reduce, counted: what each rank sends, and whether all have the sum.
pub fn all_reduce_in_a_ring(n: &Facts) -> Result<Facts> {
    let [ranks, n] = n.wholes(["ranks", "n"])?;
    let mut held: Vec<Vec<f64>> =
        (0..ranks).map(|rank| vec![rank as f64; ranks]).collect();
    let mut sent = 0;
    for step in 0..2 * (ranks - 1) {
        let before = held.clone();
        for (rank, held) in held.iter_mut().enumerate() {
            let from = (rank + ranks - 1) % ranks;
            let at = (from + 2 * ranks - step) % ranks;
            match step < ranks - 1 {
                true => held[at] += before[from][at],
                false => held[at] = before[from][at],
            }
        }
        sent += n / ranks;
    }
    let total = (0..ranks).map(|rank| rank as f64).sum::<f64>();
    anyhow::ensure!(held.iter().flatten().all(|&sum| sum == total), "no all-reduce");
    Ok(facts![sent])
}
