//! Where NaN and infinity come from: they were given, or the numbers grew too large.

use attention::{LayerParameters, Linear, Matrix, Real};

use super::inputs::Inputs;
use super::precision::is_f32;

/// What was given and is no finite number.
pub struct NotFinite {
    /// As in `2 of 30 tokens of query`.
    tokens: Vec<String>,
    in_layer: bool,
}

impl NotFinite {
    /// Looks through everything that was given.
    pub fn find<T: Real>(layer: &LayerParameters<T>, inputs: &Inputs<T>) -> Self {
        let tensors =
            [("query", &inputs.query), ("key", &inputs.key), ("value", &inputs.value)];
        let mut tokens = Vec::new();
        for (name, sequences) in tensors {
            let (found, all) =
                rows(sequences.iter(), |row| row.iter().any(|x| !x.is_finite()));
            if found > 0 {
                tokens.push(format!("{found} of {all} tokens of {name}"));
            }
        }
        Self { tokens, in_layer: !is_finite(layer) }
    }

    /// All of it by name; nothing if everything is finite.
    pub fn named(&self) -> Option<String> {
        let layer = self.in_layer.then(|| "the layer's own parameters".to_string());
        let named: Vec<String> = self.tokens.iter().cloned().chain(layer).collect();
        (!named.is_empty()).then(|| named.join(", "))
    }

    /// Why there are results that are not finite.
    pub fn why<T: Real>(&self) -> String {
        match (self.named().is_some(), self.in_layer) {
            (false, _) => format!(
                "everything that was given is finite, and on the way the numbers grew \
                 larger than {} can be ({:.1e}): an overflow",
                if is_f32::<T>() { "an f32" } else { "an f64" },
                if is_f32::<T>() { f64::from(f32::MAX) } else { f64::MAX }
            ),
            (true, true) => "parameters of the layer are not finite".into(),
            (true, false) => "their query, or a key or value that it may attend to, is \
                              not finite. The other rows are not touched"
                .into(),
        }
    }
}

/// How many rows are so, and how many there are.
pub fn rows<'a, T: Real>(
    matrices: impl Iterator<Item = &'a Matrix<T>>,
    is_so: impl Fn(&[T]) -> bool,
) -> (usize, usize) {
    let (mut found, mut all) = (0, 0);
    for row in matrices.flat_map(|matrix| matrix.row_iter()) {
        let row: Vec<T> = row.iter().copied().collect();
        found += usize::from(is_so(&row));
        all += 1;
    }
    (found, all)
}

fn is_finite<T: Real>(layer: &LayerParameters<T>) -> bool {
    let is_finite = |linear: &Linear<T>| {
        let bias = linear.bias.iter().flat_map(|bias| bias.iter());
        linear.weight.iter().chain(bias).all(|x| x.is_finite())
    };
    let of_heads =
        layer.heads().iter().flat_map(|head| [&head.w_q, &head.w_k, &head.w_v]);
    of_heads.chain([layer.w_o()]).all(is_finite)
}
