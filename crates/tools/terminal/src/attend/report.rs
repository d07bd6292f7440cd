//! What the reader is told.

use std::path::Path;

use attention::{Attended, LayerParameters, Matrix, Real};
use pretrained::NewTensor;

use super::inputs::Inputs;

/// The sizes of the layer.
pub fn layer<T: Real>(file: &str, layer: &LayerParameters<T>) {
    let dims = layer.dims();
    println!("{file}");
    let biases =
        if layer.w_o().bias.is_some() { "with biases" } else { "without biases" };
    println!(
        "  layer             d_model {}, {} heads, d_k {}, {biases}",
        dims.d_model(),
        dims.n_heads(),
        dims.d_k()
    );
}

/// The shapes of what goes in.
pub fn inputs<T: Real>(inputs: &Inputs<T>) {
    for (name, text) in &inputs.found {
        println!("  {name:<17} {text}");
    }
}

/// One line a head: its strongest link, and over how many keys a query spreads.
pub fn heads<T: Real>(attended: &[Attended<T>]) {
    println!("\nheads (counted from 0, as queries and keys are)");
    for head in 0..attended[0].attn.len() {
        let maps: Vec<&Matrix<T>> = attended.iter().map(|one| &one.attn[head]).collect();
        let Some(Link { sequence, query, key, weight }) = strongest(&maps) else {
            println!("  {head:>3}  attends to nothing that is a number");
            continue;
        };
        let place = match maps.len() {
            1 => String::new(),
            _ => format!("sequence {sequence}, "),
        };
        println!(
            "  {head:>3}  strongest: {place}query {query} → key {key}, {weight:.3}; \
             a query spreads over {:.1} keys",
            spread(&maps)
        );
    }
}

/// What is not as it usually is, so that nobody has to find out.
pub fn remarks<T: Real>(inputs: &Inputs<T>, attended: &[Attended<T>]) {
    let tensors =
        [("query", &inputs.query), ("key", &inputs.key), ("value", &inputs.value)];
    let mut not_finite = Vec::new();
    for (name, sequences) in tensors {
        let (found, all) =
            rows(sequences.iter(), |row| row.iter().any(|x| !x.is_finite()));
        if found > 0 {
            not_finite.push(format!("{found} of {all} tokens of {name}"));
        }
    }
    if !not_finite.is_empty() {
        println!("\nnote: NaN or infinity in {}", not_finite.join(", "));
    }
    let outs = attended.iter().map(|one| &one.out);
    let (found, all) = rows(outs, |row| row.iter().any(|x| !x.is_finite()));
    if found > 0 {
        println!(
            "\nnote: NaN or infinity in {found} of {all} rows of output: their query, or a key \
             or value that it may attend to, is not finite. The other rows are not touched"
        );
    }
    let maps = attended.iter().flat_map(|one| &one.attn);
    let (found, all) = rows(maps, |row| row.iter().all(|x| *x == T::zero()));
    if found > 0 {
        println!(
            "\nnote: {found} of {all} rows of the maps are zeros: there the query may attend \
             to no key. PyTorch gives NaN"
        );
    }
}

/// What was written, and where.
pub fn written(path: &Path, tensors: &[NewTensor]) {
    println!("\nwritten to {}", path.display());
    for tensor in tensors {
        println!("  {:<17} {} {}", tensor.name(), tensor.shape_text(), tensor.dtype());
    }
}

struct Link {
    sequence: usize,
    query: usize,
    key: usize,
    weight: f64,
}

fn strongest<T: Real>(maps: &[&Matrix<T>]) -> Option<Link> {
    let mut found: Option<Link> = None;
    for (sequence, map) in maps.iter().enumerate() {
        for query in 0..map.nrows() {
            for key in 0..map.ncols() {
                let weight = map[(query, key)].to_f64();
                if weight > found.as_ref().map_or(0.0, |link| link.weight) {
                    found = Some(Link { sequence, query, key, weight });
                }
            }
        }
    }
    found
}

/// `exp(−Σ_j a_ij ln a_ij)`, averaged over queries: n keys with equal weights count n.
fn spread<T: Real>(maps: &[&Matrix<T>]) -> f64 {
    let (mut sum, mut n) = (0.0, 0);
    for row in maps.iter().flat_map(|map| map.row_iter()) {
        let weights = row.iter().map(|x| x.to_f64()).filter(|&weight| weight != 0.0);
        let terms: Vec<f64> = weights.map(|weight| -weight * weight.ln()).collect();
        let entropy: f64 = terms.iter().sum();
        if !terms.is_empty() && entropy.is_finite() {
            sum += entropy.exp();
            n += 1;
        }
    }
    sum / f64::from(n.max(1))
}

/// How many rows are so, and how many there are.
fn rows<'a, T: Real>(
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
