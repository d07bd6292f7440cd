//! Shapes as symbols, and as numbers where a layer's sizes are known.

use attention::Dims;

/// One side of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Tokens,
    /// The tokens of all sequences, stacked.
    AllTokens,
    Model,
    Key,
    Value,
    /// The keys of all heads.
    Keys,
    /// The values of all heads.
    Values,
}

/// Rows and columns of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape(pub(super) Size, pub(super) Size);

impl Size {
    fn symbol(self) -> &'static str {
        match self {
            Self::Tokens => "n",
            Self::AllTokens => "B·n",
            Self::Model => "d_model",
            Self::Key => "d_k",
            Self::Value => "d_v",
            Self::Keys => "h·d_k",
            Self::Values => "h·d_v",
        }
    }

    /// The number, where the layer says it.
    fn number(self, dims: Dims) -> Option<usize> {
        match self {
            Self::Tokens | Self::AllTokens => None,
            Self::Model => Some(dims.d_model()),
            Self::Key => Some(dims.d_k()),
            Self::Value => Some(dims.d_v()),
            Self::Keys => Some(dims.n_heads() * dims.d_k()),
            Self::Values => Some(dims.concat_width()),
        }
    }
}

impl Shape {
    /// `[n, d_model]`.
    pub(super) fn symbols(self) -> String {
        format!("[{}, {}]", self.0.symbol(), self.1.symbol())
    }

    /// `[n, 512]`; none if there is no number in it.
    fn numbers(self, dims: Option<Dims>) -> Option<String> {
        let dims = dims?;
        let [rows, columns] = [self.0, self.1].map(|side| side.number(dims));
        rows.or(columns)?;
        let written = |size: Size, number: Option<usize>| {
            number.map_or_else(|| size.symbol().to_owned(), |number| number.to_string())
        };
        Some(format!("[{}, {}]", written(self.0, rows), written(self.1, columns)))
    }

    /// One line, or two where there are numbers.
    pub(super) fn lines(self, dims: Option<Dims>) -> Vec<String> {
        std::iter::once(self.symbols()).chain(self.numbers(dims)).collect()
    }

    /// The lines in one.
    pub(super) fn text(self, dims: Option<Dims>) -> String {
        self.lines(dims).join(" = ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_layer() {
        let dims = Some(Dims::with_head_sizes(512, 8, 64, 32).unwrap());
        let text = |rows, columns| Shape(rows, columns).text(dims);
        assert_eq!(text(Size::Tokens, Size::Model), "[n, d_model] = [n, 512]");
        assert_eq!(text(Size::Model, Size::Key), "[d_model, d_k] = [512, 64]");
        assert_eq!(text(Size::Tokens, Size::Value), "[n, d_v] = [n, 32]");
        assert_eq!(text(Size::Values, Size::Model), "[h·d_v, d_model] = [256, 512]");
        assert_eq!(text(Size::AllTokens, Size::Keys), "[B·n, h·d_k] = [B·n, 512]");
        assert_eq!(text(Size::Tokens, Size::Tokens), "[n, n]");
        assert_eq!(Shape(Size::Tokens, Size::Value).text(None), "[n, d_v]");
    }
}
