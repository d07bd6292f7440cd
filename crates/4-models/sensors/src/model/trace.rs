//! The shapes of one pass, from sensors to a remaining life.

use attention::{Matrix, ShapeStep, ShapeTrace};
use fused_heads::FusedAttention;

use super::{Remaining, Tokens};
use crate::{Error, Result};

/// What each direction of an LSTM does.
const HEADINGS: [&str; 2] =
    ["Forward, from reading 0 to 29:", "Backward, from reading 29 to 0:"];

impl Remaining<FusedAttention> {
    /// The shapes of one pass of a window, from the matrices that it makes.
    ///
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::NoAttention`] and [`Error::NoLstm`] for a
    /// model that has none.
    ///
    /// # Source
    /// Source 003, of which this is the way from the sensors to the heads and on.
    pub fn trace(&self, window: &Matrix) -> Result<ShapeTrace> {
        let steps = self.forward(window)?;
        let Tokens::Lstm(lstm) = &self.tokens else { return Err(Error::NoLstm) };
        let sublayer = self.attention.as_ref().ok_or(Error::NoAttention)?;
        let attended = steps.attended.as_ref().ok_or(Error::NoAttention)?;
        let (x, h) = (&steps.x, (1, lstm.hidden())); // a row per token

        let mut trace = ShapeTrace::default();
        let directions = lstm.layers().iter().flat_map(|layer| layer.directions());
        for (direction, heading) in directions.zip(HEADINGS) {
            let [input, hidden] =
                [&direction.input, &direction.hidden].map(|it| it.weight.shape());
            let gates = (1, hidden.1);
            let reading = vec![
                ShapeStep::product(
                    "R · W_ih",
                    [window.shape(), input],
                    (x.nrows(), input.1),
                ),
                ShapeStep::product("h · W_hh, reading by reading", [h, hidden], gates),
                ShapeStep::piece("[i | f | g | o] → c, h", gates, h),
            ];
            trace = trace.part(heading, reading);
        }
        let half = (x.nrows(), lstm.hidden());
        let joined = ShapeStep::joined(
            "X = [forward | backward]",
            lstm.n_directions(),
            half,
            x.shape(),
        );
        let end = vec![
            ShapeStep::same("X + output", attended.sum.shape()),
            ShapeStep::same("norm", attended.norm.shape()),
            ShapeStep::piece(
                "mean over readings",
                attended.norm.shape(),
                steps.pooled.shape(),
            ),
            ShapeStep::product(
                "remaining = 125 · (mean · w)",
                [steps.pooled.shape(), self.head.weight.shape()],
                (1, self.head.d_out()),
            ),
        ];
        let trace = trace.part("Side by side:", vec![joined]);
        let trace = trace.followed_by(sublayer.function.trace(x)?);
        Ok(trace.part("And on:", end))
    }
}
