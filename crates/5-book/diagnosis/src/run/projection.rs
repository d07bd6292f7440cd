//! What is multiplied by a weight: inputs, to q, k and v; and heads side by side, with what is
//! done behind W^O.

use std::borrow::Cow;

use attention::{Linear, Matrix};

use super::heads::divide;
use super::{Forward, select};
use crate::recipe::{Addition, Axes, Mixing, Packing, Product};
use crate::rows::{across, exchanged, together};
use crate::{NormKind, State, Weights};

impl Forward<'_> {
    /// `x W + b`, `[n, heads · width]` a sequence.
    pub(super) fn project(&self, role: usize) -> Option<Vec<Matrix>> {
        let choice = self.recipe.projections[role];
        let linear = self.linear(choice.weight as usize, self.recipe.packing)?;
        let width = self.record.weights.projections[role].d_out();
        let heads = if role == 0 { self.sizes().1 } else { self.sizes().2 };
        let times = f64::from(choice.bias);
        let project = |x: &Matrix| {
            let mut projected =
                self.affine(x, &linear, (choice.product, heads), times)?;
            if self.recipe.relu {
                projected.apply(|x| *x = x.max(0.0));
            }
            (projected.ncols() == width).then_some(projected)
        };
        together(&self.inputs(choice.input as usize)?, project)
    }

    /// `x W + b`, where W is multiplied so and has so many heads, and b is added so often;
    /// nothing where shapes do not fit.
    fn affine(
        &self,
        x: &Matrix,
        linear: &Linear,
        (product, heads): (Product, usize),
        times: f64,
    ) -> Option<Matrix> {
        let weight = match product {
            Product::Meant | Product::Twice => Cow::Borrowed(&linear.weight),
            Product::Transposed => Cow::Owned(linear.weight.transpose()),
            Product::Slices => Cow::Owned(slices(&linear.weight, heads)?),
            Product::FirstBlock => {
                let width = linear.weight.nrows() / heads;
                let rows: Vec<usize> = (0..width * heads).map(|r| r % width).collect();
                Cow::Owned(linear.weight.select_rows(&rows))
            }
            Product::None => return Some(x.clone()),
        };
        let bias = linear.bias.as_ref().filter(|_| times > 0.0).map(|bias| bias * times);
        let once = |x: &Matrix| {
            let fits = bias.as_ref().is_none_or(|bias| bias.len() == weight.ncols());
            if x.ncols() != weight.nrows() || !fits {
                return None;
            }
            let mut projected = self.product(x, &weight);
            if let Some(bias) = &bias {
                projected.row_iter_mut().for_each(|mut row| row += bias);
            }
            Some(projected)
        };
        let projected = once(x)?;
        if product == Product::Twice { once(&projected) } else { Some(projected) }
    }

    /// The inputs for queries, keys or values: a matrix a sequence.
    fn inputs(&self, role: usize) -> Option<Vec<Matrix>> {
        let inputs = &self.record.inputs[role];
        match self.recipe.axes {
            Axes::Meant => {
                Some(self.run.sequences.iter().map(|&s| inputs[s].clone()).collect())
            }
            Axes::Exchanged => {
                let all: Vec<usize> = (0..inputs[0].nrows()).collect();
                let tokens = self.run.rows.as_ref().unwrap_or(&all);
                let is_there = tokens.iter().all(|&t| t < inputs[0].nrows());
                is_there.then(|| tokens.iter().map(|&t| across(inputs, t)).collect())
            }
        }
    }

    /// W and b for q, k or v, out of a packed W where that is read in another way.
    fn linear(&self, role: usize, packing: Packing) -> Option<Linear> {
        let weights = &self.record.weights;
        if packing == Packing::Meant || packing == self.intent.packing {
            return Some(weights.projections[role].clone());
        }
        let packed = weights.packed.as_ref()?;
        let (d_k, h, h_kv) = self.sizes();
        unpacked(packed, packing, role, [h, h_kv, h_kv].map(|heads| heads * d_k), d_k)
    }

    /// `concat W^O + b^O`, and what is added.
    pub(super) fn output(&self, concat: &[Matrix]) -> Option<Vec<Matrix>> {
        let rows = self.rows_of_output();
        let is_narrow = self.is_narrow();
        let choose =
            |m: &Matrix| rows.map_or_else(|| Some(m.clone()), |rows| select(m, rows));
        let roles = match self.recipe.addition {
            Addition::Nothing | Addition::Norm | Addition::ZeroPadding => None,
            Addition::Residual | Addition::ResidualThenNorm => Some(self.inputs(0)?),
            Addition::ResidualOfValue => Some(self.inputs(2)?),
            Addition::ProjectedQuery => Some(self.read(State::Query)?.to_vec()),
        };
        let chosen = |m: &Matrix| if is_narrow { Some(m.clone()) } else { choose(m) };
        let chosen = concat.iter().map(chosen).collect::<Option<Vec<_>>>()?;
        let mut outputs = together(&chosen, |concat| self.mix(concat))?;
        for (s, output) in outputs.iter_mut().enumerate() {
            if self.recipe.relu_on_output {
                output.apply(|x| *x = x.max(0.0));
            }
            if let Some(added) = &roles {
                let added = choose(added.get(s)?)?;
                if added.shape() != output.shape() {
                    return None;
                }
                *output += added;
            }
            match self.recipe.addition {
                Addition::Norm | Addition::ResidualThenNorm => {
                    divide(output, NormKind::Layer, 1e-5, false);
                }
                Addition::ZeroPadding => self.zero_padding(output, s)?,
                _ => (),
            }
        }
        match self.recipe.axes {
            Axes::Meant => Some(outputs),
            Axes::Exchanged => Some(exchanged(&outputs)),
        }
    }

    /// The rows that are chosen, unless they are sequences.
    fn rows_of_output(&self) -> Option<&Vec<usize>> {
        self.run.rows.as_ref().filter(|_| self.recipe.axes == Axes::Meant)
    }

    /// Sets rows of padded tokens to 0.
    fn zero_padding(&self, output: &mut Matrix, s: usize) -> Option<()> {
        let rows = self.rows_of_output();
        let padding = self.record.masks.padding.as_ref()?;
        let s = if padding.len() == 1 { 0 } else { *self.run.sequences.get(s)? };
        for (at, mut row) in output.row_iter_mut().enumerate() {
            if !*padding.get(s)?.get(rows.map_or(at, |rows| rows[at]))? {
                row.fill(0.0);
            }
        }
        Some(())
    }

    fn mix(&self, concat: &Matrix) -> Option<Matrix> {
        let mixing = self.recipe.mixing;
        let Some(linear) = &self.record.weights.output else {
            return (mixing == Mixing::RIGHT).then(|| concat.clone());
        };
        let h = self.intent.n_heads;
        let times = match mixing.bias {
            Mixing::PER_HEAD => h as f64,
            times => f64::from(times),
        };
        self.affine(concat, linear, (mixing.product, h), times)
    }
}

impl Weights {
    /// Projections out of one packed W, of these widths; nothing where they do not fit.
    pub fn of_packed(
        packed: Linear,
        packing: Packing,
        widths: [usize; 3],
        d_k: usize,
        output: Option<Linear>,
    ) -> Option<Self> {
        let part = |role| unpacked(&packed, packing, role, widths, d_k);
        let projections = [part(0)?, part(1)?, part(2)?];
        Some(Self { packed: Some(packed), ..Self::new(projections, output) })
    }
}

/// The columns of a packed W that are W^Q's, W^K's or W^V's, so packed.
///
/// # Shapes
/// `packed` is `[d_in, Σ widths]`; the result is `[d_in, widths[role]]`.
fn unpacked(
    packed: &Linear,
    packing: Packing,
    role: usize,
    widths: [usize; 3],
    d_k: usize,
) -> Option<Linear> {
    if widths.iter().sum::<usize>() != packed.d_out() || d_k == 0 {
        return None;
    }
    let is_even = widths.iter().all(|&width| width == widths[0]);
    let (width, before) = (widths[role], widths[..role].iter().sum::<usize>());
    let column = |c: usize| match packing {
        Packing::Meant | Packing::Blocks => Some(before + c),
        _ if !is_even => None,
        Packing::HeadByHead => Some((c / d_k * 3 + role) * d_k + c % d_k),
        Packing::Features => Some(c * 3 + role),
        // Where the blocks of q, k and v are.
        Packing::KeyFirst => Some([2, 0, 1][role] * width + c),
        Packing::ValueFirst => Some([1, 2, 0][role] * width + c),
        Packing::ValueSecond => Some([0, 2, 1][role] * width + c),
        Packing::KeyThenQuery => Some([1, 0, 2][role] * width + c),
    };
    let columns: Vec<usize> = (0..width).map(column).collect::<Option<_>>()?;
    Some(Linear {
        weight: packed.weight.select_columns(&columns),
        bias: packed.bias.as_ref().map(|bias| bias.select_columns(&columns)),
    })
}

/// W with 0 wherever a head would read beside its own slice of the input.
fn slices(weight: &Matrix, heads: usize) -> Option<Matrix> {
    let (d_in, d_out) = weight.shape();
    if d_in % heads != 0 || d_out % heads != 0 {
        return None;
    }
    let (rows, columns) = (d_in / heads, d_out / heads);
    let is_own = |r: usize, c: usize| r / rows == c / columns;
    let entry = |r, c| if is_own(r, c) { weight[(r, c)] } else { 0.0 };
    Some(Matrix::from_fn(d_in, d_out, entry))
}
