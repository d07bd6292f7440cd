//! Reading a sequence in order, with a memory: layers, one way or both.

mod case;
mod direction;
mod file;
mod names;
#[cfg(test)]
mod tests;

use attention::{Matrix, Real, Result, RowVector};

pub use case::Case;
pub use direction::Direction;

/// One layer: the sequence is read forward, and perhaps backward too.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer<T: Real = f64> {
    /// From the first token to the last.
    pub forward: Direction<T>,
    /// From the last to the first.
    pub backward: Option<Direction<T>>,
}

/// An LSTM as `torch.nn.LSTM` computes it, all layers one way or all both ways.
///
/// A value of this type is proof that its layers fit on one another.
///
/// ```
/// use attention::{Rng, SeedableRng, random_matrix};
/// use sensors::Lstm;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let lstm: Lstm = Lstm::random(14, 128, true, rng);
/// let window = random_matrix(30, 14, 1.0, rng);
/// let read = lstm.forward(&window, None)?;
/// assert_eq!(read.output.shape(), (30, 256)); // 128 each way
/// assert_eq!(read.h_n.row(0), read.output.row(29).columns(0, 128));
/// assert_eq!(read.h_n.row(1), read.output.row(0).columns(128, 128)); // it ends at the start
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000; two
/// directions after Schuster and Paliwal 1997. Gates, names and biases as in PyTorch.
#[derive(Debug, Clone, PartialEq)]
pub struct Lstm<T: Real = f64> {
    layers: Vec<Layer<T>>,
}

/// What an LSTM remembers: a row for each layer and direction, the forward one first.
#[derive(Debug, Clone, PartialEq)]
pub struct State<T: Real = f64> {
    /// Hidden states, `[n_layers · n_directions, hidden]`.
    pub h: Matrix<T>,
    /// Cells, `[n_layers · n_directions, hidden]`.
    pub c: Matrix<T>,
}

/// What an LSTM makes of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct LstmOutput<T: Real = f64> {
    /// The hidden state behind every token, `[n, hidden · n_directions]`: the forward
    /// direction's columns first, and **each row about the same token** in both.
    pub output: Matrix<T>,
    /// The last hidden states, `[n_layers · n_directions, hidden]`. The backward direction
    /// ends at the first token.
    pub h_n: Matrix<T>,
    /// The last cells, of the same shape.
    pub c_n: Matrix<T>,
}

impl<T: Real> Lstm<T> {
    /// An LSTM from its layers, the lowest first.
    ///
    /// # Errors
    /// [`attention::Error::ZeroSize`] without a layer; [`attention::Error::Shape`] if a layer does not
    /// take what the one below makes; [`attention::Error::Length`] if some read both ways and
    /// some do not.
    pub fn new(layers: Vec<Layer<T>>) -> Result<Self> {
        attention::Error::expect_positive(
            "the number of layers of an LSTM",
            layers.len(),
        )?;
        let lstm = Self { layers };
        let (hidden, n_directions) = (lstm.hidden(), lstm.n_directions());
        let mut d_in = lstm.d_in();
        for (l, layer) in lstm.layers.iter().enumerate() {
            let directions = layer.directions().count();
            let what = || format!("the list of directions of layer {l}");
            attention::Error::expect_length(what(), n_directions, directions)?;
            for direction in layer.directions() {
                let what = format!("the input weight of layer {l}");
                let found = direction.input.weight.shape();
                attention::Error::expect_shape(what, (d_in, 4 * hidden), found)?;
                let what = format!("the hidden weight of layer {l}");
                let found = direction.hidden.weight.shape();
                attention::Error::expect_shape(what, (hidden, 4 * hidden), found)?;
                for linear in [&direction.input, &direction.hidden] {
                    let Some(bias) = &linear.bias else { continue };
                    let what = format!("a bias of layer {l}");
                    attention::Error::expect_shape(what, (1, 4 * hidden), bias.shape())?;
                }
            }
            d_in = hidden * n_directions;
        }
        Ok(lstm)
    }

    /// One layer with the weights that PyTorch begins with: uniform in ±1 / √hidden.
    pub fn random(
        d_in: usize,
        hidden: usize,
        both_ways: bool,
        rng: &mut attention::Rng,
    ) -> Self {
        let forward = Direction::random(d_in, hidden, rng);
        let backward = both_ways.then(|| Direction::random(d_in, hidden, rng));
        Self { layers: vec![Layer { forward, backward }] }
    }

    /// The width of a token that goes in.
    pub fn d_in(&self) -> usize {
        self.layers[0].forward.input.d_in()
    }

    /// The width of a hidden state.
    pub fn hidden(&self) -> usize {
        self.layers[0].forward.hidden.d_in()
    }

    /// 2 if it reads both ways.
    pub fn n_directions(&self) -> usize {
        self.layers[0].directions().count()
    }

    /// The layers.
    pub fn layers(&self) -> &[Layer<T>] {
        &self.layers
    }

    /// How many numbers are learned in it.
    pub fn n_parameters(&self) -> usize {
        let all = self.layers.iter().flat_map(Layer::directions);
        all.map(Direction::n_parameters).sum()
    }

    /// Reads a sequence, from zeros or from a state.
    ///
    /// # Shapes
    /// `x` is `[n, d_in]`, the output `[n, hidden · n_directions]`.
    ///
    /// # Errors
    /// [`attention::Error::Shape`] if x or the state is of another; [`attention::Error::EmptySequence`].
    // ANCHOR: forward
    pub fn forward(
        &self,
        x: &Matrix<T>,
        start: Option<&State<T>>,
    ) -> Result<LstmOutput<T>> {
        let zeros = self.zeros();
        let start = start.unwrap_or(&zeros);
        self.check(x, start)?;
        let (mut end, mut tokens) = (zeros.clone(), x.clone());
        let hidden = self.hidden();
        for (l, layer) in self.layers.iter().enumerate() {
            let mut output = Matrix::zeros(tokens.nrows(), hidden * self.n_directions());
            for (d, direction) in layer.directions().enumerate() {
                let row = l * self.n_directions() + d;
                let state = (start.h.row(row).into(), start.c.row(row).into());
                let times: Vec<usize> = match d {
                    0 => (0..tokens.nrows()).collect(),
                    _ => (0..tokens.nrows()).rev().collect(), // from the last to the first
                };
                let (h, c) = direction.read(&tokens, &times, state, |t, h| {
                    output.row_mut(t).columns_mut(d * hidden, hidden).copy_from(h);
                })?;
                end.h.set_row(row, &h);
                end.c.set_row(row, &c);
            }
            tokens = output;
        }
        Ok(LstmOutput { output: tokens, h_n: end.h, c_n: end.c })
    }
    // ANCHOR_END: forward

    fn zeros(&self) -> State<T> {
        let zeros = Matrix::zeros(self.layers.len() * self.n_directions(), self.hidden());
        State { h: zeros.clone(), c: zeros }
    }

    fn check(&self, x: &Matrix<T>, start: &State<T>) -> Result<()> {
        if x.nrows() == 0 {
            let (what, shape) = ("the input of an LSTM", x.shape());
            return Err(attention::Error::EmptySequence { what, shape });
        }
        let expected = (x.nrows(), self.d_in());
        attention::Error::expect_shape("the input of an LSTM", expected, x.shape())?;
        let expected = (self.layers.len() * self.n_directions(), self.hidden());
        attention::Error::expect_shape(
            "the first hidden state",
            expected,
            start.h.shape(),
        )?;
        attention::Error::expect_shape("the first cell", expected, start.c.shape())
    }
}

impl<T: Real> Layer<T> {
    /// The forward direction, and the backward one if there is one.
    pub fn directions(&self) -> impl Iterator<Item = &Direction<T>> {
        [Some(&self.forward), self.backward.as_ref()].into_iter().flatten()
    }
}

/// A hidden state and a cell, `[hidden]` each.
type Memory<T> = (RowVector<T>, RowVector<T>);
