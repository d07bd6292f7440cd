//! What the reader is told.

use std::fmt::Display;
use std::io;
use std::path::Path;

use attention::{Attended, LayerParameters, Matrix, Real};
use model_files::{Unused, shown};
use tensors::NewTensor;

use super::finite::{NotFinite, rows};
use super::inputs::Inputs;
use workshop::output::print;

/// What was printed so far, and the first text that was not: the results are written
/// also where nobody reads about them.
#[derive(Default)]
pub struct Report(Option<io::Error>);

impl Report {
    /// Prints a line, unless an earlier one failed.
    pub fn line(&mut self, text: impl Display) {
        if self.0.is_none() {
            self.0 = print(format_args!("{text}\n")).err();
        }
    }

    /// Why the text is not whole, at the end of all work.
    pub fn finish(self) -> io::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// The sizes of the layer.
pub fn layer<T: Real>(to: &mut Report, file: &str, layer: &LayerParameters<T>) {
    let dims = layer.dims();
    to.line(file);
    let biases =
        if layer.w_o().bias.is_some() { "with biases" } else { "without biases" };
    to.line(format_args!(
        "  layer             d_model {}, {} heads, d_k {}, {biases}",
        dims.d_model(),
        dims.n_heads(),
        dims.d_k()
    ));
}

/// The shapes of what goes in.
pub fn inputs<T: Real>(to: &mut Report, inputs: &Inputs<T>) {
    for (name, text) in &inputs.found {
        to.line(format_args!("  {name:<17} {text}"));
    }
}

/// What the files hold and is not used.
pub fn unused(to: &mut Report, unused: &[Unused]) {
    to.line(if unused.is_empty() { "not used: nothing" } else { "not used" });
    for Unused { name, why } in unused {
        to.line(format_args!("  {:<17} {why}", shown(name)));
    }
}

/// One line a head: its strongest link, and over how many keys a query spreads.
pub fn heads<T: Real>(to: &mut Report, attended: &[Attended<T>]) {
    to.line("\nheads (counted from 0, as queries and keys are)");
    for head in 0..attended[0].attn.len() {
        let maps: Vec<&Matrix<T>> = attended.iter().map(|one| &one.attn[head]).collect();
        let Some(Link { sequence, query, key, weight }) = strongest(&maps) else {
            to.line(format_args!("  {head:>3}  attends to nothing that is a number"));
            continue;
        };
        let place = match maps.len() {
            1 => String::new(),
            _ => format!("sequence {sequence}, "),
        };
        to.line(format_args!(
            "  {head:>3}  strongest: {place}query {query} → key {key}, {weight:.3}; \
             a query spreads over {:.1} keys",
            spread(&maps)
        ));
    }
}

/// What is not as it usually is, so that nobody has to find out.
pub fn remarks<T: Real>(
    to: &mut Report,
    layer: &LayerParameters<T>,
    inputs: &Inputs<T>,
    attended: &[Attended<T>],
) {
    let found = NotFinite::find(layer, inputs);
    if let Some(named) = found.named() {
        to.line(format_args!("\nnote: NaN or infinity in {named}"));
    }
    let outs = attended.iter().map(|one| &one.out);
    let (n, all) = rows(outs, |row| row.iter().any(|x| !x.is_finite()));
    if n > 0 {
        let why = found.why::<T>();
        to.line(format_args!(
            "\nnote: NaN or infinity in {n} of {all} rows of output: {why}"
        ));
    }
    let maps = attended.iter().flat_map(|one| &one.attn);
    let (found, all) = rows(maps, |row| row.iter().all(|x| *x == T::zero()));
    if found > 0 {
        to.line(format_args!(
            "\nnote: {found} of {all} rows of the maps are zeros: there the query may attend \
             to no key. PyTorch gives NaN"
        ));
    }
}

/// What was written, and where.
pub fn written(to: &mut Report, path: &Path, tensors: &[NewTensor]) {
    to.line(format_args!("\nwritten to {}", path.display()));
    for tensor in tensors {
        let (name, shape, dtype) = (tensor.name(), tensor.shape_text(), tensor.dtype());
        to.line(format_args!("  {name:<17} {shape} {dtype}"));
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
