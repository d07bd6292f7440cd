//! How far apart two tensors are.

use attention::Matrix;

/// How far apart two tensors are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Difference {
    /// The root of the mean of the squares.
    pub rms: f64,
    /// The same of the row where it is largest.
    pub row: f64,
    /// The largest of any entry.
    pub largest: f64,
    /// How many entries are numbers in both: NaN agrees with NaN, and says little.
    pub finite: usize,
    /// How many are NaN or infinite in one alone.
    pub n_not_finite: usize,
}

/// Whether both are as many matrices of the same shapes.
pub(crate) fn is_one_shape(a: &[Matrix], b: &[Matrix]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.shape() == b.shape())
}

/// Where shapes agree. Entries that are both NaN do not differ; where one is not finite and
/// the other is another number, the difference is infinite.
pub(crate) fn difference(a: &[Matrix], b: &[Matrix]) -> Option<Difference> {
    if !is_one_shape(a, b) {
        return None;
    }
    let (mut sum, mut n, mut row, mut largest) = (0.0, 0, 0.0_f64, 0.0_f64);
    let (mut finite, mut n_not_finite) = (0, 0);
    for (a, b) in a.iter().zip(b) {
        let mut of_rows = vec![0.0; a.nrows()];
        for (a, b) in a.column_iter().zip(b.column_iter()) {
            for ((of_row, &a), &b) in of_rows.iter_mut().zip(&a).zip(&b) {
                let entry = apart(a, b);
                *of_row += entry * entry;
                largest = largest.max(entry);
                finite += usize::from(a.is_finite() && b.is_finite());
                n_not_finite += usize::from(entry.is_infinite());
            }
        }
        sum += of_rows.iter().sum::<f64>();
        n += a.len();
        let widest = of_rows.into_iter().fold(0.0, f64::max);
        row = row.max((widest / a.ncols() as f64).sqrt());
    }
    Some(Difference { rms: (sum / n as f64).sqrt(), row, largest, finite, n_not_finite })
}

/// How far apart two numbers are.
pub(crate) fn apart(a: f64, b: f64) -> f64 {
    if a == b || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    let apart = (a - b).abs();
    if apart.is_nan() { f64::INFINITY } else { apart }
}

/// How much a tensor's rows differ from their mean: the root of the mean of the squares.
/// With one row, the same of its entries; where rows are nearly one, a thousandth of that.
pub(crate) fn spread(tensor: &[Matrix]) -> f64 {
    let rows: usize = tensor.iter().map(Matrix::nrows).sum();
    let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
    let columns = tensor[0].ncols();
    let (mut sum, mut squares) = (0.0, 0.0);
    for c in 0..columns {
        let mut entries = Vec::with_capacity(rows);
        for m in tensor.iter().filter(|m| m.ncols() == columns) {
            entries.extend(m.column(c).iter().map(|&x| finite(x)));
        }
        let mean = entries.iter().sum::<f64>() / rows as f64;
        let mean = if rows == 1 { 0.0 } else { mean };
        sum += entries.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        squares += entries.iter().map(|x| x.powi(2)).sum::<f64>();
    }
    let root = |sum: f64| (sum / (rows * columns).max(1) as f64).sqrt();
    root(sum).max(1e-3 * root(squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_near_nan_alone() {
        let row = |x: &[f64]| vec![Matrix::from_row_slice(1, x.len(), x)];
        let same = difference(&row(&[1.0, f64::NAN]), &row(&[1.0, f64::NAN])).unwrap();
        assert_eq!(same.rms, 0.0);
        let other = difference(&row(&[1.0, f64::NAN]), &row(&[1.0, 2.0])).unwrap();
        assert_eq!(other.rms, f64::INFINITY);
        assert_eq!(difference(&row(&[1.0]), &row(&[1.0, 2.0])), None);
        let blocked = difference(&row(&[f64::NEG_INFINITY]), &row(&[f64::NEG_INFINITY]));
        assert_eq!(blocked.unwrap().largest, 0.0);
    }
}
