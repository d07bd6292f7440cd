//! The two directions of a recurrent layer, and tokens for them.

use attention::Matrix;

use super::heads;

/// One direction of a recurrent layer: `h = tanh(x_t W_in + h W_hidden + b)`.
#[derive(Debug, Clone)]
pub struct Direction {
    /// From a token to a state, `[d_in, hidden]`.
    pub w_in: Matrix,
    /// From the state before, `[hidden, hidden]`.
    pub w_hidden: Matrix,
    /// The bias, `[1, hidden]`.
    pub bias: Matrix,
}

impl Direction {
    /// The width of a state.
    pub fn hidden(&self) -> usize {
        self.bias.ncols()
    }

    /// The state before anything is read.
    pub fn zeros(&self) -> Matrix {
        Matrix::zeros(1, self.hidden())
    }

    /// Token `t` of `x` added to what it remembers.
    pub fn step(&self, x: &Matrix, t: usize, h: &Matrix) -> Matrix {
        (x.rows(t, 1) * &self.w_in + h * &self.w_hidden + &self.bias).map(f64::tanh)
    }

    /// The states in the order of reading, each behind its token.
    fn read(&self, x: &Matrix, order: &[usize], start: &Matrix) -> Matrix {
        let mut states = Matrix::zeros(order.len(), self.hidden());
        let mut h = start.clone();
        for (row, &t) in order.iter().enumerate() {
            h = self.step(x, t, &h);
            states.row_mut(row).copy_from(&h);
        }
        states
    }

    /// The states of reading from the first token to the last, row t about token t.
    pub fn forwards(&self, x: &Matrix) -> Matrix {
        self.read(x, &(0..x.nrows()).collect::<Vec<_>>(), &self.zeros())
    }

    /// The states of reading from the last token to the first, in the order of reading.
    pub fn as_read(&self, x: &Matrix, start: &Matrix) -> Matrix {
        self.read(x, &(0..x.nrows()).rev().collect::<Vec<_>>(), start)
    }

    /// The same with row t about token t.
    pub fn backwards(&self, x: &Matrix) -> Matrix {
        reversed(&self.as_read(x, &self.zeros()))
    }
}

/// The rows from the last to the first.
pub fn reversed(x: &Matrix) -> Matrix {
    Matrix::from_fn(x.nrows(), x.ncols(), |i, j| x[(x.nrows() - 1 - i, j)])
}

/// Tokens, and the two directions that read them.
pub struct Input {
    /// The tokens, `[n_tokens, d_in]`.
    pub x: Matrix,
    /// Reads from the first to the last.
    pub forward: Direction,
    /// Reads from the last to the first.
    pub backward: Direction,
}

impl Input {
    /// What is asked.
    pub fn right(&self) -> Matrix {
        join(self.forward.forwards(&self.x), self.backward.backwards(&self.x))
    }

    /// Both directions with another step: from a token, `[1, d_in]`, and the state before.
    pub fn stepped(&self, step: impl Fn(&Direction, Matrix, Matrix) -> Matrix) -> Matrix {
        let n = self.x.nrows();
        let states = |of: &Direction, order: &mut dyn Iterator<Item = usize>| {
            let mut states = Matrix::zeros(n, of.hidden());
            let mut h = of.zeros();
            for t in order {
                h = step(of, self.x.rows(t, 1).into_owned(), h);
                states.row_mut(t).copy_from(&h);
            }
            states
        };
        let forward = states(&self.forward, &mut (0..n));
        join(forward, states(&self.backward, &mut (0..n).rev()))
    }

    /// The right answer of what `change` makes of both directions.
    pub fn changed(&self, change: impl Fn(&mut Direction)) -> Matrix {
        let [mut forward, mut backward] =
            [&self.forward, &self.backward].map(Clone::clone);
        change(&mut forward);
        change(&mut backward);
        Input { x: self.x.clone(), forward, backward }.right()
    }
}

/// Two directions side by side.
pub fn join(forward: Matrix, backward: Matrix) -> Matrix {
    heads::concat(&[forward, backward])
}
