//! An array in memory: its shape, and how far apart its entries lie.

/// How an array of three axes or fewer lies in a line of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strided {
    /// How many entries each axis has.
    pub shape: Vec<usize>,
    /// How many places in memory one step along each axis takes.
    pub strides: Vec<usize>,
}

impl Strided {
    /// The last axis is the one whose entries lie next to each other.
    pub fn row_major(shape: &[usize]) -> Self {
        let after = |axis: usize| shape[axis + 1..].iter().product();
        Self { shape: shape.to_vec(), strides: (0..shape.len()).map(after).collect() }
    }

    /// The first axis is the one whose entries lie next to each other.
    pub fn column_major(shape: &[usize]) -> Self {
        let before = |axis: usize| shape[..axis].iter().product();
        Self { shape: shape.to_vec(), strides: (0..shape.len()).map(before).collect() }
    }

    /// The same memory with two axes exchanged: no entry moves.
    pub fn transpose(&self, one: usize, other: usize) -> Self {
        let mut transposed = self.clone();
        transposed.shape.swap(one, other);
        transposed.strides.swap(one, other);
        transposed
    }

    /// Where the entry of this index lies: Σ index · stride.
    pub fn address(&self, index: &[usize]) -> usize {
        index.iter().zip(&self.strides).map(|(at, stride)| at * stride).sum()
    }

    /// Whether the entries lie as `row_major` would lay them.
    pub fn is_contiguous(&self) -> bool {
        *self == Self::row_major(&self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_those_of_pytorch() {
        let view = Strided::row_major(&[2, 2, 2]);
        assert_eq!(view.strides, [4, 2, 1]);
        let heads = view.transpose(0, 1);
        assert_eq!(
            (&heads.shape[..], &heads.strides[..]),
            (&[2, 2, 2][..], &[2, 4, 1][..])
        );
        assert!(view.is_contiguous() && !heads.is_contiguous());
        assert_eq!(Strided::row_major(&[32, 100, 8, 64]).strides, [51_200, 512, 64, 1]);
        assert_eq!(Strided::column_major(&[2, 4]).strides, [1, 2]);
    }

    #[test]
    fn every_entry_has_a_place_of_its_own() {
        for array in [Strided::row_major(&[3, 4, 5]), Strided::column_major(&[3, 4, 5])] {
            let mut seen = [0; 60];
            for index in (0..60).map(|nth| [nth / 20, nth / 5 % 4, nth % 5]) {
                seen[array.address(&index)] += 1;
            }
            assert_eq!(seen, [1; 60]);
        }
    }

    /// Head i of the transposed view has the entries of the matrix's i-th block of columns.
    #[test]
    fn a_transposed_view_takes_the_columns_of_a_head() {
        let matrix = Strided::row_major(&[2, 4]);
        let heads = Strided::row_major(&[2, 2, 2]).transpose(0, 1);
        for (head, token, column) in (0..8).map(|at| (at / 4, at / 2 % 2, at % 2)) {
            let expected = matrix.address(&[token, head * 2 + column]);
            assert_eq!(heads.address(&[head, token, column]), expected);
        }
    }
}
