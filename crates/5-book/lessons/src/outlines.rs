//! Lines around cells.

use figures::Mark;

/// Lines around these cells of a map, by row and column.
pub(crate) fn outlines(cells: impl IntoIterator<Item = [usize; 2]>, width: f64) -> Mark {
    const CORNERS: [[f64; 2]; 5] =
        [[-0.5, -0.5], [-0.5, 0.5], [0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]];
    let around = cells.into_iter().flat_map(|[row, column]| {
        let corner =
            move |[down, across]: [f64; 2]| [row as f64 + down, column as f64 + across];
        CORNERS.into_iter().map(corner).chain([[f64::NAN; 2]])
    });
    let [y, x]: [Vec<f64>; 2] = {
        let points: Vec<[f64; 2]> = around.collect();
        [0, 1].map(|at| points.iter().map(|point| point[at]).collect())
    };
    let lines = Mark::lines(x, y).with_gaps().line("currentColor", width);
    lines.in_legend(false).silent().unclipped()
}
