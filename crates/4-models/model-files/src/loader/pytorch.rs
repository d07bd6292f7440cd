//! The names of `torch.nn.MultiheadAttention`.

use attention::Matrix;
use tensors::TensorFile;

use super::projections::{Projections, biases, linear, transposed};
use crate::{Error, Result};

/// A tensor whose name ends in one of these belongs to such a layer.
pub(super) const SIGNS: &[&str] =
    &["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"];

/// The projections of the layer with this prefix.
///
/// W^Q, W^K and W^V are stacked in `in_proj_weight`, unless keys or values are of another
/// width than queries. Their biases are stacked in either case.
pub(super) fn read(file: &TensorFile, prefix: &str) -> Result<Projections> {
    refuse_what_is_not_computed(file, prefix)?;
    let name = |name| format!("{prefix}{name}");
    let w_o = square(file, &name("out_proj.weight"))?;
    let d = w_o.nrows();
    let [w_q, w_k, w_v] = if file.contains(&name("in_proj_weight")) {
        stacked(file, &name("in_proj_weight"), d)?
    } else {
        let names = ["q_proj_weight", "k_proj_weight", "v_proj_weight"].map(name);
        separate(file, &names, d)?
    };

    let named = [(name("in_proj_bias"), 3 * d), (name("out_proj.bias"), d)];
    let biases = biases(file, named)?;
    let in_bias = |i: usize| biases.as_ref().map(|[b, _]| b[i * d..][..d].to_vec());
    Ok(Projections {
        w_q: linear(file, w_q, in_bias(0))?,
        w_k: linear(file, w_k, in_bias(1))?,
        w_v: linear(file, w_v, in_bias(2))?,
        w_o: linear(file, w_o, biases.as_ref().map(|[_, b]| b.clone()))?,
    })
}

/// `[d, d]`: the one weight of which every layer says its d.
fn square(file: &TensorFile, name: &str) -> Result<Matrix> {
    let weight = file.tensor(name)?;
    match transposed(&weight)? {
        transposed if transposed.is_square() => Ok(transposed),
        _ => Err(weight.shape_error("as many rows as columns").into()),
    }
}

/// `[3 · d, d]` in the file, `[d, 3 · d]` transposed: three blocks of columns.
fn stacked(file: &TensorFile, name: &str, d: usize) -> Result<[Matrix; 3]> {
    let weight = file.tensor(name)?;
    weight.expect_shape(&[3 * d, d])?;
    let transposed = transposed(&weight)?;
    Ok([0, 1, 2].map(|i| transposed.columns(i * d, d).into_owned()))
}

/// `[d, d]`, `[d, kdim]` and `[d, vdim]` in the file.
fn separate(file: &TensorFile, names: &[String; 3], d: usize) -> Result<[Matrix; 3]> {
    let [w_q, w_k, w_v] = names;
    let [w_q, w_k, w_v] = [file.tensor(w_q)?, file.tensor(w_k)?, file.tensor(w_v)?];
    let transposed = [transposed(&w_q)?, transposed(&w_k)?, transposed(&w_v)?];
    w_q.expect_shape(&[d, d])?;
    w_k.expect_shape(&[d, transposed[1].nrows()])?;
    w_v.expect_shape(&[d, transposed[2].nrows()])?;
    Ok(transposed)
}

fn refuse_what_is_not_computed(file: &TensorFile, prefix: &str) -> Result<()> {
    let refused = |found: String, why| {
        Err(Error::Unsupported { file: file.name().to_string(), found, why })
    };
    for name in ["bias_k", "bias_v"].map(|name| format!("{prefix}{name}")) {
        if file.contains(&name) {
            return refused(
                name,
                "made with add_bias_kv=True, this layer appends a learned key and value \
                 to every sequence, which is not computed here",
            );
        }
    }
    if file.text("add_zero_attn").is_some_and(|on| on.eq_ignore_ascii_case("true")) {
        return refused(
            "add_zero_attn".to_string(),
            "this layer appends a key and value of zeros to every sequence, which is not computed here",
        );
    }
    Ok(())
}
