//! Masks of every shape: from here on true means "may attend".

use attention::Matrix;
use attention::nalgebra::Scalar;
use tensors::Tensor;

use super::Files;
use crate::{Error, Intent, Masks, Record, Result};

/// What is as low as that blocks a key, whatever its score.
const LOWEST: f64 = -1e30;

/// The same in a row with an open key.
const LOW: f64 = -1e4;

/// How many sequences, heads, queries and keys there are.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    heads: usize,
    n_q: usize,
    n_kv: usize,
}

/// How many matrices a mask has, of how many rows (one is that of every query), and how often
/// they are repeated: one for each head alone is that of every sequence.
type Shape = (usize, usize, usize);

/// The entries of a mask: which are open, and what is added to scores.
struct Entries {
    open: Vec<bool>,
    added: Vec<f64>,
    words: &'static str,
}

/// Reads the masks that there are, and joins them.
pub fn read(files: &Files<'_>, record: &mut Record, intent: &mut Intent) -> Result<()> {
    let (n_q, n_kv) = record.lengths();
    let sizes = Sizes { batch: record.batch(), heads: intent.n_heads, n_q, n_kv };
    let mut masks = Masks::default();
    for name in ["key_padding_mask", "attention_mask", "attn_mask", "mask"] {
        let Some(tensor) = files.tensor(name) else { continue };
        let is_open_true = name == "attention_mask" || files.said.is_open_true;
        let entries = Entries::of(&tensor, name, is_open_true)?;
        let parts = sizes.of_shape(&tensor, name)?;
        let is_cut = tensor.shape().last().is_some_and(|&columns| columns > n_kv);
        let cut = is_cut.then(|| format!(", of which {n_kv} keys are there"));
        let (shape, words) = (tensor.shape_text(), entries.words);
        files.note(format!("{name} {shape}: {words}{}", cut.unwrap_or_default()));
        sizes.join(&mut masks, &entries, parts);
    }
    if let Some(slopes) = masks.added.as_ref().and_then(|it| sizes.slopes(it, intent)) {
        files.assume("what is added is a slope per head, times the distance");
        (intent.slopes, masks.added) = (Some(slopes), None);
    }
    record.masks = masks;
    Ok(())
}

impl Sizes {
    /// What a mask's shape says, by its name.
    fn of_shape(self, tensor: &Tensor<'_>, name: &str) -> Result<Shape> {
        let Self { batch, heads, n_q, n_kv } = self;
        let is_padding = name == "key_padding_mask";
        let is_padding_first = is_padding || name == "attention_mask";
        let is_some_of = |m: usize| m == 1 || m == batch;
        let is_of_heads = |m: usize| is_some_of(m) || m == batch * heads;
        let fits = |[k, r]: [usize; 2]| (k == 1 || k == heads) && (r == 1 || r == n_q);
        match *tensor.shape() {
            [c] if c == n_kv => Ok((1, 1, 1)),
            [m, c] if is_padding_first && m == batch && c == n_kv => Ok((m, 1, 1)),
            [r, c] if !is_padding && r == n_q && c == n_kv => Ok((1, r, 1)),
            [m, c] if is_some_of(m) && c == n_kv => Ok((m, 1, 1)),
            _ if is_padding => {
                Err(tensor.shape_error(&format!("({batch}, {n_kv})")).into())
            }
            [m, r, c] if r == n_q && c == n_kv && is_of_heads(m) => Ok((m, r, 1)),
            [m, 1, c] if is_some_of(m) && c == n_kv => Ok((m, 1, 1)),
            // A static cache has room for more keys than there are.
            [m, k, r, c] if is_some_of(m) && fits([k, r]) && c >= n_kv => {
                Ok((m * k, r, if m == 1 && k > 1 { batch } else { 1 }))
            }
            _ => {
                let all = batch * heads;
                let expected = format!(
                    "one of ({n_q}, {n_kv}), ({batch}, {n_q}, {n_kv}), ({all}, {n_q}, {n_kv}), \
                     ({batch}, 1, {n_q}, {n_kv}), ({batch}, {heads}, {n_q}, {n_kv}). A mask of \
                     padding, one row of keys a sequence, is ({batch}, {n_kv}): call it \
                     key_padding_mask if true means padding, and attention_mask if 1 means a \
                     token; what is added to scores is expanded to the scores' shape"
                );
                Err(tensor.shape_error(&expected).into())
            }
        }
    }

    /// Adds a mask to those that were read before.
    fn join(self, masks: &mut Masks, entries: &Entries, shape: Shape) {
        let Entries { open, added, .. } = entries;
        let is_added = added.iter().any(|&x| x != 0.0);
        let (count, rows, times) = shape;
        if is_added {
            let added = self.matrices(added, shape);
            masks.added = Some(self.both(masks.added.take(), added, |a, b| a + b));
        }
        if rows == 1 && times == 1 && (count == 1 || count == self.batch) {
            let columns = open.len() / count;
            let own = open.chunks(columns).map(|list| list[..self.n_kv].to_vec());
            let open = |a: &Vec<bool>, b: &Vec<bool>| {
                a.iter().zip(b).map(|(a, b)| *a && *b).collect()
            };
            masks.padding = Some(self.both(masks.padding.take(), own.collect(), open));
        } else if open.contains(&false) || !is_added {
            let own = self.matrices(open, shape);
            let open = |a: &Matrix<bool>, b: &Matrix<bool>| a.zip_map(b, |a, b| a && b);
            masks.pairs = Some(self.both(masks.pairs.take(), own, open));
        }
    }

    /// A matrix of queries and keys each.
    fn matrices<T: Copy + Scalar>(
        self,
        entries: &[T],
        (count, rows, times): Shape,
    ) -> Vec<Matrix<T>> {
        let columns = entries.len() / (count * rows);
        let of = |m: &[T]| {
            Matrix::from_fn(self.n_q, self.n_kv, |r, c| m[r.min(rows - 1) * columns + c])
        };
        let all: Vec<Matrix<T>> = entries.chunks(rows * columns).map(of).collect();
        all.iter().cycle().take(all.len() * times).cloned().collect()
    }

    /// Two masks as one, in as many parts as the one of more has.
    fn both<M>(
        self,
        earlier: Option<Vec<M>>,
        own: Vec<M>,
        both: impl Fn(&M, &M) -> M,
    ) -> Vec<M> {
        let Some(earlier) = earlier else { return own };
        let n = earlier.len().max(own.len());
        let part = |m: usize| {
            let per_sequence = if n > self.batch { self.heads } else { 1 };
            let (s, i) = (m / per_sequence, m % per_sequence);
            let [a, b] = [&earlier, &own].map(|all| &all[self.at(all.len(), s, i)]);
            both(a, b)
        };
        (0..n).map(part).collect()
    }

    /// The slopes of ALiBi, if that is all that a mask adds to open scores.
    fn slopes(self, added: &[Matrix], intent: &Intent) -> Option<Vec<f64>> {
        let first = intent.first_query((self.n_q, self.n_kv)) as f64;
        let distance = |r: usize, c: usize| (first + r as f64 - c as f64).abs();
        let slope = |i: usize| {
            let m = &added[self.at(added.len(), 0, i)];
            let places = (0..m.nrows()).flat_map(|r| (0..m.ncols()).map(move |c| (r, c)));
            let all = places.map(|(r, c)| (m[(r, c)], distance(r, c)));
            // A blocked score may have anything.
            let entries: Vec<(f64, f64)> = all.filter(|(x, _)| *x != 0.0).collect();
            let (x, far) = *entries.first()?;
            let slope = -x / far;
            let is_it =
                |&(x, far): &(f64, f64)| (x + slope * far).abs() <= 1e-6 * x.abs();
            (slope > 0.0 && entries.len() > 2 && entries.iter().all(is_it))
                .then_some(slope)
        };
        let of = |s: usize, i: usize| &added[self.at(added.len(), s, i)];
        let is_same = |s: usize| (0..self.heads).all(|i| of(s, i) == of(0, i));
        let is_free = intent.slopes.is_none() && (1..self.batch).all(is_same);
        (0..self.heads).map(slope).collect::<Option<Vec<_>>>().filter(|_| is_free)
    }

    /// Which of `count` is that of a sequence and head.
    fn at(self, count: usize, s: usize, i: usize) -> usize {
        match count {
            1 => 0,
            count if count == self.batch => s,
            _ => s * self.heads + i,
        }
    }
}

impl Entries {
    fn of(mask: &Tensor<'_>, name: &str, is_open_true: bool) -> Result<Self> {
        let words = match (name, is_open_true) {
            ("attention_mask", _) => "1 or true may attend",
            (_, true) => "true means may attend",
            _ => "true means may not attend",
        };
        let flags = |flags: Vec<bool>| {
            let added = vec![0.0; flags.len()];
            let open = flags.into_iter().map(|it| it == is_open_true).collect();
            Ok(Self { open, added, words })
        };
        if mask.is_bool() {
            return flags(mask.flags()?);
        }
        let is_float = mask.dtype().contains('F');
        let numbers = super::entries(mask)?;
        if numbers.iter().any(|x| x.is_nan() || *x == f64::INFINITY) {
            return Err(Error::NotFinite("a mask"));
        }
        let are_flags = numbers.iter().all(|&x| x == 0.0 || x == 1.0);
        let is_of_scores = is_float && ["attn_mask", "mask"].contains(&name);
        if are_flags && (!is_float || !is_of_scores && numbers.contains(&1.0)) {
            return flags(numbers.iter().map(|&x| x == 1.0).collect());
        }
        Ok(Self::of_scores(&numbers, mask))
    }

    /// Those of a mask that is added to scores.
    fn of_scores(numbers: &[f64], mask: &Tensor<'_>) -> Self {
        let columns = mask.shape().last().copied().unwrap_or(1).max(1);
        let has_open_rows =
            numbers.chunks(columns).all(|row| row.iter().any(|&x| x > LOW));
        let lowest = if mask.dtype() == "F16" { -6e4 } else { LOWEST };
        let is_open = |x: f64| x > if has_open_rows { LOW } else { lowest };
        let open: Vec<bool> = numbers.iter().map(|&x| is_open(x)).collect();
        let added: Vec<f64> =
            numbers.iter().map(|&x| if is_open(x) { x } else { 0.0 }).collect();
        let words = match (open.contains(&false), added.iter().any(|&x| x != 0.0)) {
            (true, false) => "floats: 0 may attend, and the lowest may not",
            (true, true) => "floats, added to scores; the lowest may not attend",
            _ => "floats, added to scores",
        };
        Self { open, added, words }
    }
}
