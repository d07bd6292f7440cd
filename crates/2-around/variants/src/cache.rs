//! Keys and values of the tokens before: kept, and not computed again.
//!
//! Nothing in the formula changes. A token that comes after all others changes none of
//! their keys and values, since no token sees what comes after it. **Why.** A model that
//! writes would otherwise compute every token's keys and values again for each new one.
//! **Buys** one row of work per token instead of n. **Costs** the memory of all those rows,
//! and the time to read them. Here each new row also moves the others once, since a matrix
//! lies column by column; a cache with room for what is to come, as `cached` has it, does
//! not.
//!
//! Queries are not kept: the query of a token asks once, for that token's own output.

use attention::{Error, Matrix, Real, Result};

use crate::Window;

/// The keys and values of one sequence in one layer. A batch has one per sequence, of any
/// lengths, and needs no padding.
///
/// ```
/// use attention::Matrix;
/// use variants::{Cache, Window};
///
/// let mut cache: Cache = Cache::new([2, 2]).with_window(Window { n_sinks: 1, ..Window::last(2)? });
/// for token in 0..5 {
///     let row = Matrix::repeat(1, 2, f64::from(token));
///     cache.append(&row, &row)?;
/// }
/// // The first, which is kept, and what the last token sees: itself and the one before.
/// assert_eq!(cache.positions(), [0, 3, 4]);
/// assert_eq!(cache.keys().column(0).as_slice(), [0.0, 3.0, 4.0]);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cache<T: Real = f64> {
    keys: Matrix<T>,
    values: Matrix<T>,
    positions: Vec<i64>,
    n_seen: usize,
    window: Window,
}

impl<T: Real> Cache<T> {
    /// An empty cache for rows of these widths: `n_kv_heads · d_k` and `n_kv_heads · d_v`.
    pub fn new([key_width, value_width]: [usize; 2]) -> Self {
        Self {
            keys: Matrix::zeros(0, key_width),
            values: Matrix::zeros(0, value_width),
            positions: Vec::new(),
            n_seen: 0,
            window: Window::default(),
        }
    }

    /// The same, forgetting what no later token can see.
    pub fn with_window(self, window: Window) -> Self {
        Self { window, ..self }
    }

    /// Where the next tokens will stand.
    pub fn next_positions(&self, n_new: usize) -> Vec<i64> {
        (self.n_seen as i64..).take(n_new).collect()
    }

    /// Takes the keys and values of new tokens, and forgets what none of them can see.
    ///
    /// # Shapes
    /// `[n_new, n_kv_heads · d_k]` and `[n_new, n_kv_heads · d_v]`.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::KeyValueLengths`]; the cache is then as it was.
    // ANCHOR: append
    pub fn append(&mut self, k: &Matrix<T>, v: &Matrix<T>) -> Result<()> {
        let n_new = k.nrows();
        let expected = (n_new, self.keys.ncols());
        Error::expect_shape("the keys for the cache", expected, k.shape())?;
        if v.nrows() != n_new {
            let n_values = v.nrows();
            return Err(Error::KeyValueLengths { n_keys: n_new, n_values });
        }
        let expected = (n_new, self.values.ncols());
        Error::expect_shape("the values for the cache", expected, v.shape())?;

        let (window, first_new) = (&self.window, self.n_seen as i64);
        let is_unseen = |&row: &usize| !window.sees(first_new, self.positions[row]);
        let unseen: Vec<usize> = (0..self.positions.len()).filter(is_unseen).collect();
        replace_rows(&mut self.keys, &unseen, k);
        replace_rows(&mut self.values, &unseen, v);
        self.positions.retain(|&position| window.sees(first_new, position));
        self.positions.extend(self.next_positions(n_new));
        self.n_seen += n_new;
        Ok(())
    }
    // ANCHOR_END: append

    /// The keys, as scores need them, `[n_cached, n_kv_heads · d_k]`.
    pub fn keys(&self) -> &Matrix<T> {
        &self.keys
    }

    /// The values, `[n_cached, n_kv_heads · d_v]`.
    pub fn values(&self) -> &Matrix<T> {
        &self.values
    }

    /// Where in the text each cached token stands.
    pub fn positions(&self) -> &[i64] {
        &self.positions
    }

    /// How many tokens it has been given in all.
    pub fn n_seen(&self) -> usize {
        self.n_seen
    }

    /// The bytes of its keys and values.
    pub fn bytes(&self) -> usize {
        (self.keys.len() + self.values.len()) * size_of::<T>()
    }
}

/// Takes these rows out, in order, and puts new ones under those that stay.
fn replace_rows<T: Real>(matrix: &mut Matrix<T>, gone: &[usize], new: &Matrix<T>) {
    let mut rows = std::mem::replace(matrix, Matrix::zeros(0, 0));
    if !gone.is_empty() {
        rows = rows.remove_rows_at(gone);
    }
    let n = rows.nrows();
    *matrix = rows.resize_vertically(n + new.nrows(), T::zero());
    matrix.rows_mut(n, new.nrows()).copy_from(new);
}
