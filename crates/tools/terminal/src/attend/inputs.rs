//! What goes into the layer, from a file.

use anyhow::{Context, Result, ensure};
use attention::{Dims, Mask, Matrix, Real, check_inputs};
use model_files::MaskSizes;
use tensors::{Tensor, TensorFile};

use super::masks;
use super::roles::Role;

/// Query, key, value and mask of every sequence.
pub struct Inputs<T: Real = f64> {
    /// One `[n_q, d_model]` a sequence.
    pub query: Vec<Matrix<T>>,
    /// One `[n_kv, key_width]` a sequence.
    pub key: Vec<Matrix<T>>,
    /// One `[n_kv, value_width]` a sequence.
    pub value: Vec<Matrix<T>>,
    /// One a sequence.
    pub masks: Vec<Mask>,
    /// Whether `query` has three dimensions.
    pub is_batched: bool,
    /// What was found, as name and description, for the report.
    pub found: Vec<(String, String)>,
}

/// So many shares of all maps are computed, and no more: a gigabyte in f64, in each stage.
const MOST_SHARES: u128 = 1 << 27;

/// Whether the maps of these sizes are no more than are computed.
fn expect_room(sizes: MaskSizes) -> Result<()> {
    let MaskSizes { batch, n_heads, n_q, n_kv, .. } = sizes;
    let all = [batch, n_heads, n_q, n_kv].into_iter();
    let n_shares = all.fold(1u128, |n, size| n.saturating_mul(size as u128));
    ensure!(
        n_shares <= MOST_SHARES,
        "{n_q} queries on {n_kv} keys in {n_heads} heads, {batch} times, have {n_shares} \
         shares, and {MOST_SHARES} at most are computed"
    );
    Ok(())
}

impl Inputs {
    /// Reads the tensors, and holds them against the layer and each other.
    pub fn read(
        file: &TensorFile,
        dims: Dims,
        (role, causal): (Role, bool),
    ) -> Result<Self> {
        let key_name = if file.contains("key") { "key" } else { "query" };
        let value_name = if file.contains("value") { "value" } else { key_name };
        let query = file.tensor("query")?;
        let key = like_query(file.tensor(key_name)?, &query)?;
        let value = like_query(file.tensor(value_name)?, &query)?;

        let mut found = vec![("query".to_string(), description(&query))];
        for (what, name, tensor) in
            [("key", key_name, &key), ("value", value_name, &value)]
        {
            let stands_in = format!("as {name} (INPUT has no {what})");
            let text = if what == name { description(tensor) } else { stands_in };
            found.push((what.to_string(), text));
        }

        let is_batched = query.shape().len() == 3;
        let n_tokens = |tensor: &Tensor<'_>| tensor.shape()[tensor.shape().len() - 2];
        let sizes = MaskSizes {
            batch: if is_batched { query.shape()[0] } else { 1 },
            n_heads: dims.n_heads(),
            n_q: n_tokens(&query),
            n_kv: n_tokens(&key),
            is_batched,
        };
        expect_room(sizes)?;
        let [query, key, value] = [query.matrices()?, key.matrices()?, value.matrices()?];
        // Without masks first: only lengths that fit give them shapes.
        check_inputs(dims, &query[0], &key[0], &value[0], &Mask::None)
            .with_context(|| does_not_fit(file, &found))?;
        let masks = masks::read(file, sizes, (role, causal), &mut found)?;
        for (s, mask) in masks.iter().enumerate() {
            mask.check(sizes.n_heads, sizes.n_q, sizes.n_kv)
                .with_context(|| format!("{}: mask of sequence {s}", file.name()))?;
        }
        Ok(Self { query, key, value, masks, is_batched, found })
    }

    /// The same in another precision. Masks are f64 in every precision.
    pub fn cast<U: Real>(self) -> Inputs<U> {
        let cast = |matrices: &[Matrix]| -> Vec<Matrix<U>> {
            matrices.iter().map(|matrix| matrix.map(U::of)).collect()
        };
        Inputs {
            query: cast(&self.query),
            key: cast(&self.key),
            value: cast(&self.value),
            masks: self.masks,
            is_batched: self.is_batched,
            found: self.found,
        }
    }
}

impl<T: Real> Inputs<T> {
    /// Refuses masks that are added to the same scores and have no sum.
    pub fn check_sums(&self, n_heads: usize) -> Result<()> {
        for (s, mask) in self.masks.iter().enumerate() {
            let lengths = (self.query[s].nrows(), self.key[s].nrows());
            masks::check_sums(mask, n_heads, lengths)
                .with_context(|| format!("the masks of sequence {s}"))?;
        }
        Ok(())
    }
}

/// `(n, d)` if the query is, else `(batch, n, d)` with the query's batch.
fn like_query<'a>(tensor: Tensor<'a>, query: &Tensor<'_>) -> Result<Tensor<'a>> {
    match (query.shape(), tensor.shape()) {
        ([_, _], [_, _]) => Ok(tensor),
        ([batch, _, _], [same, _, _]) if batch == same => Ok(tensor),
        ([_, _], _) => Err(tensor.shape_error("(n, d), as query has two dimensions"))?,
        ([batch, _, _], _) => {
            let why =
                format!("({batch}, n, d), as query has shape {}", query.shape_text());
            Err(tensor.shape_error(&why))?
        }
        _ => Err(query.shape_error("(n, d) or (batch, n, d)"))?,
    }
}

fn description(tensor: &Tensor<'_>) -> String {
    format!("{} {}", tensor.shape_text(), tensor.dtype())
}

fn does_not_fit(file: &TensorFile, found: &[(String, String)]) -> String {
    let found: Vec<String> = found.iter().map(|(a, b)| format!("{a} {b}")).collect();
    format!("{} does not fit the layer ({})", file.name(), found.join("; "))
}
