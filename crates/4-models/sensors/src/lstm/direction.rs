//! One direction of one layer: four gates and a cell.

use attention::{Linear, Matrix, Real, Result, Rng, RowVector, random_matrix};

use super::Memory;

/// The weights of one direction, the four gates side by side: input, forget, cell, output.
///
/// ```text
/// [i | f | g | o] = x_t W_ih + b_ih + h W_hh + b_hh
/// c ← σ(f) ⊙ c + σ(i) ⊙ tanh(g)
/// h ← σ(o) ⊙ tanh(c)
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Direction<T: Real = f64> {
    /// W_ih and b_ih, `[d_in, 4 · hidden]`.
    pub input: Linear<T>,
    /// W_hh and b_hh, `[hidden, 4 · hidden]`.
    pub hidden: Linear<T>,
}

impl<T: Real> Direction<T> {
    /// A direction from its weights.
    ///
    /// # Errors
    /// [`attention::Error::Shape`] if they are not `[d_in, 4 · hidden]` and `[hidden, 4 · hidden]`.
    pub fn new(input: Linear<T>, hidden: Linear<T>) -> Result<Self> {
        let width = hidden.d_in();
        let found = hidden.weight.shape();
        attention::Error::expect_shape("the hidden weight", (width, 4 * width), found)?;
        let found = input.weight.shape();
        attention::Error::expect_shape(
            "the input weight",
            (input.d_in(), 4 * width),
            found,
        )?;
        Ok(Self { input, hidden })
    }

    /// Uniform weights in ±1 / √hidden, the biases too.
    pub(super) fn random(d_in: usize, hidden: usize, rng: &mut Rng) -> Self {
        let mut linear = |d_in: usize| {
            let std_dev = 1.0 / (3.0 * hidden as f64).sqrt();
            let weight = random_matrix(d_in, 4 * hidden, std_dev, rng);
            let bias = random_matrix(1, 4 * hidden, std_dev, rng).row(0).into_owned();
            Linear { weight, bias: Some(bias) }
        };
        Self { input: linear(d_in), hidden: linear(hidden) }
    }

    /// How many numbers are learned in it.
    pub fn n_parameters(&self) -> usize {
        let linears = [&self.input, &self.hidden].into_iter();
        linears.flat_map(Linear::entries).map(<[T]>::len).sum()
    }

    /// Reads the tokens at these times, in this order, and calls `behind` with the hidden
    /// state behind each; what it remembers at the end.
    // ANCHOR: read
    pub(super) fn read(
        &self,
        x: &Matrix<T>,
        times: &[usize],
        (mut h, mut c): Memory<T>,
        mut behind: impl FnMut(usize, &RowVector<T>),
    ) -> Result<Memory<T>> {
        let from_x = self.input.forward(x)?; // [n, 4 · hidden], all tokens at once
        for &t in times {
            let from_h = self.hidden_forward(&h); // [4 · hidden]
            let gates = from_x.row(t) + from_h;
            (h, c) = step(&gates, &c);
            behind(t, &h);
        }
        Ok((h, c))
    }
    // ANCHOR_END: read

    /// `h W_hh + b_hh`: each column of W_hh lies in one piece.
    fn hidden_forward(&self, h: &RowVector<T>) -> RowVector<T> {
        let column = h.transpose();
        let mut gates = self.hidden.weight.tr_mul(&column).transpose();
        if let Some(bias) = &self.hidden.bias {
            gates += bias;
        }
        gates
    }
}

/// One token further: what is forgotten, what is added, and how much of it shows.
// ANCHOR: step
fn step<T: Real>(gates: &RowVector<T>, c: &RowVector<T>) -> Memory<T> {
    let width = c.len();
    let gate = |g: usize| gates.columns(g * width, width);
    let (input, forget) = (gate(0).map(sigmoid), gate(1).map(sigmoid));
    let (candidate, output) = (gate(2).map(T::tanh), gate(3).map(sigmoid));
    let c = forget.component_mul(c) + input.component_mul(&candidate);
    let h = output.component_mul(&c.map(T::tanh));
    (h, c)
}

fn sigmoid<T: Real>(x: T) -> T {
    T::one() / (T::one() + (-x).exp())
}
// ANCHOR_END: step
