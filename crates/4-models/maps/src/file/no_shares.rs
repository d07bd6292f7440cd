//! What numbers look like that are no shares: scores, or weights that something changed behind
//! the softmax.

use attention::Matrix;

/// What is counted of the rows that are not empty.
#[derive(Debug, Default)]
struct Rows {
    /// The sum of each.
    sums: Vec<f64>,
    /// The same without its signs.
    sizes: Vec<f64>,
    /// 1 − p, if what is negative is a share and all else a share divided by that.
    left_in: Vec<f64>,
    n_entries: usize,
    n_negative: usize,
    /// Zeros with other entries on both sides: no mask makes them.
    n_holes: usize,
}

impl Rows {
    fn of(maps: &[Vec<Matrix>]) -> Self {
        let mut rows = Self::default();
        for row in maps.iter().flatten().flat_map(Matrix::row_iter) {
            let row: Vec<f64> = row.iter().copied().collect();
            let is_some = |share: &f64| *share != 0.0;
            let Some(first) = row.iter().position(is_some) else { continue };
            let last = row.iter().rposition(is_some).unwrap_or(first);
            let sum = |of: fn(&f64) -> bool| row.iter().filter(|it| of(it)).sum::<f64>();
            let [above, below] = [sum(|share| *share > 0.0), sum(|share| *share < 0.0)];
            rows.sums.push(above + below);
            rows.sizes.push(above - below);
            rows.left_in.push((1.0 + below) / above);
            rows.n_entries += row.len();
            rows.n_negative += row.iter().filter(|share| **share < 0.0).count();
            rows.n_holes += row[first..last].iter().filter(|it| **it == 0.0).count();
        }
        rows
    }
}

/// What such maps, some of whose numbers are no shares, look like.
pub(super) fn looks(maps: &[Vec<Matrix>], tolerance: f64) -> String {
    let rows = Rows::of(maps);
    let Rows { n_entries, n_negative, n_holes, .. } = rows;
    let mean = rows.sums.iter().sum::<f64>() / rows.sums.len() as f64;
    let left_in = same(&rows.left_in, tolerance).filter(|it| (0.0..1.0).contains(it));
    let [size, sum] = [&rows.sizes, &rows.sums].map(|rows| same(rows, tolerance));
    match (size, left_in, sum) {
        (Some(size), ..) if n_negative > 0 => format!(
            "without their signs all rows sum to {size:.4}, so a softmax made these; a minus \
             may mark what dropout left out, as in FlashAttention's S_dmask"
        ),
        (_, Some(left_in), _) if n_negative > 0 => format!(
            "without their signs, and what is above 0 times {left_in:.4}, all rows sum to 1: a \
             softmax made these, and a minus may mark what dropout left out"
        ),
        (.., Some(sum)) if n_negative > 0 => format!(
            "all rows sum to {sum:.4}, so these are made of a softmax's shares, as a \
             difference of two is, and are no shares themselves"
        ),
        _ if n_negative > 0 => "these look like scores before the softmax".to_owned(),
        _ if n_holes > 0 && AROUND_1.contains(&mean) => format!(
            "{n_holes} of {n_entries} are 0 between others, none is below 0, and rows sum to \
             {mean:.2} on average. Dropout does this: it makes some shares 0 and divides the \
             others by 1 − p; `model.eval()` switches it off"
        ),
        _ => format!(
            "none of {n_entries} is below 0, and rows sum to {mean:.2} on average: they are \
             not divided by their sum, or were multiplied behind that"
        ),
    }
}

/// Where the average row of weights with dropout is: 1 is what it is for many rows.
const AROUND_1: std::ops::Range<f64> = 0.5..2.0;

/// What numbers all are, if they are one number.
fn same(numbers: &[f64], tolerance: f64) -> Option<f64> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let is_near = |number: &f64| (number - mean).abs() <= tolerance * mean.abs();
    (numbers.len() > 1 && numbers.iter().all(is_near)).then_some(mean)
}
