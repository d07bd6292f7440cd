//! The cells of a map by how dark they are.

use attention::Matrix;

/// How many shades there are beside white.
pub(super) const SHADES: usize = 24;

/// The darkest, and the white of the page, in red, green and blue.
const DARK: [f64; 3] = [8.0, 48.0, 107.0];
const PAPER: f64 = 255.0;

/// The colour of a shade: 0 is white.
pub(super) fn colour(shade: usize) -> String {
    let part = shade as f64 / SHADES as f64;
    let [red, green, blue] =
        DARK.map(|dark| (PAPER + part * (dark - PAPER)).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// For each shade from 1 on its cells, as a column and a row; a share of `most` is darkest.
pub(super) fn cells(map: &Matrix<f32>, most: f32) -> Vec<Vec<[usize; 2]>> {
    let mut shades = vec![Vec::new(); SHADES];
    for row in 0..map.nrows() {
        for column in 0..map.ncols() {
            let part = map[(row, column)] / most.max(f32::MIN_POSITIVE);
            let shade = (part * SHADES as f32).round() as usize;
            if let Some(nth) = shade.min(SHADES).checked_sub(1) {
                shades[nth].push([column, row]);
            }
        }
    }
    shades
}

/// The largest share of each block of tokens, where there are more than `most` of them.
pub(super) fn pooled(map: &Matrix<f32>, most: usize) -> Matrix<f32> {
    let [rows, columns] = [map.nrows(), map.ncols()].map(|n| n.div_ceil(most).max(1));
    let shape = [map.nrows().div_ceil(rows), map.ncols().div_ceil(columns)];
    Matrix::from_fn(shape[0], shape[1], |i, j| {
        let is = i * rows..((i + 1) * rows).min(map.nrows());
        let js = j * columns..((j + 1) * columns).min(map.ncols());
        map.view_range(is, js).iter().copied().fold(0.0, f32::max)
    })
}
