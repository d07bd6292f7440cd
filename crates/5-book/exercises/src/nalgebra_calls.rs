//! The nalgebra calls that answers are written with, each with what it gives. The page
//! `chapters/nalgebra.md` shows these functions.

use crate::Matrix;

// ANCHOR: making
#[test]
fn making_a_matrix() {
    let x = Matrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(x.shape(), (2, 3)); // (x.nrows(), x.ncols())
    assert_eq!(x[(1, 0)], 4.0); // row 1, column 0

    // Entry by entry, from its row and its column.
    let y = Matrix::from_fn(2, 3, |i, j| (3 * i + j + 1) as f64);
    assert_eq!(x, y);

    // The same numbers column by column, as nalgebra holds them.
    let y = Matrix::from_vec(2, 3, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(x, y);

    let mut z = Matrix::zeros(2, 3); // and Matrix::identity(3, 3)
    z[(1, 0)] = 4.0;
    assert_eq!(z.sum(), 4.0);
}
// ANCHOR_END: making

// ANCHOR: parts
#[test]
fn parts_of_a_matrix() {
    let x = Matrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);

    // Views: they look into x and copy nothing.
    let row = x.row(1); // 4 5 6
    let columns = x.columns(1, 2); // from column 1 on, 2 of them
    let rows = x.rows(0, 1); // from row 0 on, 1 of them
    let block = x.view((0, 1), (2, 2)); // from (0, 1) on, 2 rows and 2 columns
    assert_eq!((row[0], columns.shape(), rows.shape()), (4.0, (2, 2), (1, 3)));
    assert_eq!(block, columns);

    // A matrix of its own, where one is asked for.
    let copy: Matrix = columns.into_owned();
    assert_eq!(copy, Matrix::from_row_slice(2, 2, &[2.0, 3.0, 5.0, 6.0]));
    let numbers: Vec<f64> = row.iter().copied().collect();
    assert_eq!(numbers, [4.0, 5.0, 6.0]);

    // `x.row(1)` has one row by its type, and what is made of it too. `x.rows(1, 1)` has one
    // row by chance, so what is made of it is a `Matrix`, and can be assigned to one.
    let w = Matrix::identity(3, 3);
    let mut h: Matrix = Matrix::zeros(1, 3);
    assert_eq!(h.sum(), 0.0);
    h = x.rows(1, 1) * &w; // with `x.row(1) * &w` it does not compile
    assert_eq!(h, x.rows(1, 1));
}
// ANCHOR_END: parts

// ANCHOR: writing
#[test]
fn writing_into_a_matrix() {
    let mut x = Matrix::zeros(2, 4);

    // A block at its place: shapes must be equal.
    x.columns_mut(2, 2).copy_from(&Matrix::from_element(2, 2, 1.0));
    x.row_mut(0).fill(3.0);
    assert_eq!(
        x,
        Matrix::from_row_slice(2, 4, &[3.0, 3.0, 3.0, 3.0, 0.0, 0.0, 1.0, 1.0])
    );

    // Row by row, and each number of a row.
    for mut row in x.row_iter_mut() {
        let largest = row.max();
        row.apply(|number| *number -= largest);
        row.add_scalar_mut(1.0);
    }
    assert_eq!(x.row(1).sum(), 2.0); // 0 0 1 1: its largest number was 1

    // Two of one shape, number by number.
    let y = x.clone();
    x.zip_apply(&y, |number, other| *number += 10.0 * other);
    assert_eq!(x[(1, 3)], 11.0);
}
// ANCHOR_END: writing

// ANCHOR: computing
#[test]
fn computing_with_matrices() {
    let q = Matrix::from_row_slice(2, 3, &[1.0, 0.0, 2.0, 0.0, 1.0, 1.0]);
    let k = Matrix::from_row_slice(2, 3, &[1.0, 1.0, 1.0, 2.0, 0.0, 0.0]);

    // Borrowed with &, q is still there afterwards. Without, it is used up.
    let products = &q * k.transpose(); // [2, 3] · [3, 2]
    assert_eq!(products, Matrix::from_row_slice(2, 2, &[3.0, 2.0, 2.0, 0.0]));
    let halved = &products / 2.0;
    let doubled = products * 2.0; // from here on there are no products
    assert_eq!(doubled, &halved * 4.0);

    // Sums and differences take two of one shape; so does this product, entry by entry.
    assert_eq!(q.component_mul(&k).sum(), 3.0); // 1·1 + 2·1, and the rest is 0
    assert_eq!((&q + &k)[(0, 0)], 2.0);

    // A function of every number, and one of two.
    assert_eq!(q.map(f64::exp)[(0, 1)], 1.0);
    assert_eq!(q.zip_map(&k, f64::max)[(1, 0)], 2.0);
}
// ANCHOR_END: computing

// ANCHOR: sums
#[test]
fn sums_and_largest_numbers() {
    let x = Matrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);

    // Of one row, and of all of them.
    assert_eq!((x.row(0).sum(), x.row(0).max()), (6.0, 3.0));
    let largest: Vec<f64> = x.row_iter().map(|row| row.max()).collect();
    assert_eq!(largest, [3.0, 6.0]);

    // `row_sum` adds the rows up: one number a column. Its like for rows is `column_sum`.
    assert_eq!(x.row_sum().as_slice(), [5.0, 7.0, 9.0]);
    assert_eq!(x.column_sum().as_slice(), [6.0, 15.0]);

    // Two rows, number by number, added up; and a row with itself.
    assert_eq!(x.row(0).dot(&x.row(1)), 32.0);
    assert_eq!(x.row(0).norm_squared(), 14.0); // 1 + 4 + 9, and norm() is its root

    // Mean and variance, which is the mean of the squared distances: it divides by n, and
    // many libraries by n − 1.
    assert_eq!(x.row(1).mean(), 5.0);
    assert!((x.row(1).variance() - 2.0 / 3.0).abs() < 1e-12);

    // Where the largest is. It asks for a column, and a row becomes one by its transpose.
    assert_eq!(x.row(0).transpose().imax(), 2);
}
// ANCHOR_END: sums
