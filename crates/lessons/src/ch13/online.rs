//! A softmax in blocks with numbers that can be followed by hand, from `kernels`.

use attention::Matrix;
use figures::OnlineStep;
use kernels::OnlineSoftmax;

/// e to the scores: eight keys of one query.
pub const POWERS: [f32; 8] = [2.0, 4.0, 8.0, 2.0, 16.0, 4.0, 8.0, 4.0];
/// Each key's value, one number.
pub const VALUES: [f32; 8] = [10.0, 25.0, 40.0, 8.0, 16.0, 4.0, 2.0, 30.0];
/// How many keys come at a time.
pub const BLOCK: usize = 2;

/// The scores, logarithms of round numbers.
pub fn scores() -> [f32; 8] {
    POWERS.map(f32::ln)
}

/// What is kept after each block.
pub fn steps() -> Vec<OnlineStep> {
    let scores = scores();
    let exp = |numbers: &mut [f32]| numbers.iter_mut().for_each(|x| *x = x.exp());
    let mut online = OnlineSoftmax::new(1, 1);
    let mut steps = Vec::new();
    for first in (0..scores.len()).step_by(BLOCK) {
        let before = online.maximum[0];
        let n_seen = first + BLOCK;
        let block = Matrix::from_row_slice(1, BLOCK, &scores[first..n_seen]);
        let v = Matrix::from_column_slice(BLOCK, 1, &VALUES[first..n_seen]);
        online.take_in(block, v.as_view(), exp);

        let maximum = online.maximum[0];
        let count = |&s: &f32| f64::from((s - maximum).exp());
        steps.push(OnlineStep {
            n_seen,
            maximum: f64::from(maximum),
            correction: f64::from((before - maximum).exp()),
            counts: scores[..n_seen].iter().map(count).collect(),
            sum: f64::from(online.sum[0]),
            out: f64::from(online.out[0]),
            average: f64::from(online.clone().finish()[0]),
        });
    }
    steps
}
