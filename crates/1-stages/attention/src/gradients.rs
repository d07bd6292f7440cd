//! What a backward pass gives, by whichever stage.

use crate::{
    Dims, Error, LayerParameters, Linear, Matrix, PackedParameters, Real, Result,
};

/// The gradients of a layer's parameters and inputs, each of the shape of what it is the
/// gradient of.
///
/// Gradients of a batch are sums over its sequences where sequences share something: the
/// parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients<T: Real = f64> {
    /// Of W^Q, `[d_model, h · d_k]`, and its bias.
    pub d_w_q: Linear<T>,
    /// Of W^K, `[key_width, h · d_k]`, and its bias. In exact arithmetic the bias's is
    /// zero: it adds `q_i · b` to every score of query i, and softmax does not see what
    /// is added to a whole row.
    pub d_w_k: Linear<T>,
    /// Of W^V, `[value_width, h · d_v]`, and its bias.
    pub d_w_v: Linear<T>,
    /// Of W^O, `[h · d_v, d_model]`, and its bias.
    pub d_w_o: Linear<T>,
    /// Of the tokens.
    pub d_inputs: InputGradients<T>,
}

/// The gradients of the tokens that went in.
///
/// The pass says which: one that was made for self-attention gives the sum, and one that
/// was made of query, key and value gives three, also where they held the same numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum InputGradients<T: Real = f64> {
    /// Query, key and value were one input: all three paths add up,
    /// `d_x = d_query + d_key + d_value`.
    SelfAttention {
        /// `[n_sequences · n_tokens, d_model]`.
        d_x: Matrix<T>,
    },
    /// Query, key and value by themselves.
    CrossAttention {
        /// `[n_sequences · n_q, d_model]`.
        d_query: Matrix<T>,
        /// `[n_sequences · n_kv, key_width]`.
        d_key: Matrix<T>,
        /// `[n_sequences · n_kv, value_width]`.
        d_value: Matrix<T>,
    },
}

impl<T: Real> Default for Gradients<T> {
    /// No gradients yet, all of no size, for a backward pass to write over.
    fn default() -> Self {
        let none = || Matrix::zeros(0, 0);
        let [d_w_q, d_w_k, d_w_v, d_w_o] =
            std::array::from_fn(|_| Linear { weight: none(), bias: None });
        let d_inputs = InputGradients::SelfAttention { d_x: none() };
        Self { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs }
    }
}

impl<T: Real> Gradients<T> {
    /// The gradients of the four projections, in the order W^Q, W^K, W^V, W^O.
    pub fn projections(&self) -> [&Linear<T>; 4] {
        [&self.d_w_q, &self.d_w_k, &self.d_w_v, &self.d_w_o]
    }

    /// The gradients of query, key and value.
    ///
    /// # Shapes
    /// As in [`InputGradients::CrossAttention`].
    ///
    /// # Errors
    /// [`Error::OneInput`] if the pass was one of self-attention.
    pub fn d_query_key_value(&self) -> Result<[&Matrix<T>; 3]> {
        match &self.d_inputs {
            InputGradients::SelfAttention { .. } => Err(Error::OneInput),
            InputGradients::CrossAttention { d_query, d_key, d_value } => {
                Ok([d_query, d_key, d_value])
            }
        }
    }

    /// The gradient of tokens that were query, key and value at once: all three paths add
    /// up, `d_x = d_query + d_key + d_value`.
    ///
    /// # Shapes
    /// The result is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the three differ in shape, and so cannot have been one input.
    pub fn d_x(&self) -> Result<Matrix<T>> {
        let [d_query, d_key, d_value] = match &self.d_inputs {
            InputGradients::SelfAttention { d_x } => return Ok(d_x.clone()),
            InputGradients::CrossAttention { d_query, d_key, d_value } => {
                [d_query, d_key, d_value]
            }
        };
        Error::expect_shape("d_key", d_query.shape(), d_key.shape())?;
        Error::expect_shape("d_value", d_query.shape(), d_value.shape())?;
        let mut d_x = d_query + d_key;
        d_x += d_value;
        Ok(d_x)
    }

    /// The same numbers head by head, for a layer of these sizes: packing moves parameters
    /// and changes none, so **the gradient of the packed parameters is the packing of the
    /// heads' gradients**, and this cuts it up as [`PackedParameters::unpack`] cuts up the
    /// parameters.
    ///
    /// # Errors
    /// [`Error::Shape`] if the gradients are those of another layer.
    pub fn per_head(&self, dims: Dims) -> Result<LayerParameters<T>> {
        let projections = self.projections().map(Linear::clone);
        Ok(PackedParameters::new(dims, projections)?.unpack())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_one_input_has_a_sum_and_no_parts() {
        let [a, b] = [1.0, 2.0].map(|x| Matrix::from_element(2, 3, x));
        let one = InputGradients::SelfAttention { d_x: a.clone() };
        let one: Gradients = Gradients { d_inputs: one, ..Gradients::default() };
        assert_eq!(one.d_x().unwrap(), a);
        insta::assert_snapshot!(one.d_query_key_value().unwrap_err(), @"query, key and value were one input: there is the sum of their gradients, and not each of them");

        let of = |d_key| InputGradients::CrossAttention {
            d_query: a.clone(),
            d_key,
            d_value: b.clone(),
        };
        let three = Gradients { d_inputs: of(a.clone()), ..Gradients::default() };
        assert_eq!(three.d_x().unwrap(), Matrix::from_element(2, 3, 4.0));
        assert_eq!(three.d_query_key_value(), Ok([&a, &a, &b]));
        let long =
            Gradients { d_inputs: of(Matrix::zeros(5, 3)), ..Gradients::default() };
        insta::assert_snapshot!(long.d_x().unwrap_err(), @"d_key has shape (5, 3), expected (2, 3)");
    }
}
