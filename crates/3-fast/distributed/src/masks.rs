//! A mask as one rank sees it: of its heads, or of some queries and some keys.

use std::ops::Range;

use attention::{Mask, Matrix};

use crate::{Error, Result};

/// The mask of some heads of a layer.
///
/// # Shapes
/// `mask` passed [`Mask::check`] for the whole layer; `heads` are among its heads.
pub(crate) fn of_heads(mask: &Mask, heads: Range<usize>) -> Mask {
    match mask {
        Mask::PerHead(masks) => Mask::PerHead(masks[heads].to_vec()),
        Mask::All(masks) => {
            Mask::All(masks.iter().map(|mask| of_heads(mask, heads.clone())).collect())
        }
        Mask::None | Mask::Causal | Mask::CausalTopLeft => mask.clone(),
        Mask::FirstKeys(_) | Mask::Keys(_) => mask.clone(),
        Mask::Allowed(_) | Mask::Additive(_) => mask.clone(),
    }
}

/// Refuses what cannot be cut by tokens.
pub(crate) fn refuse_additive(mask: &Mask) -> Result<()> {
    match mask {
        Mask::Additive(_) => Err(Error::AdditiveMask),
        Mask::All(masks) | Mask::PerHead(masks) => {
            masks.iter().try_for_each(refuse_additive)
        }
        Mask::None | Mask::Causal | Mask::CausalTopLeft => Ok(()),
        Mask::FirstKeys(_) | Mask::Keys(_) | Mask::Allowed(_) => Ok(()),
    }
}

/// What some queries see of some keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VisibleKeys {
    /// The queries that see any of the keys; the others see none.
    pub(crate) queries: Range<usize>,
    /// What these queries see.
    pub(crate) mask: Mask,
}

/// What `queries` see of `keys`, both ranges of one sequence's tokens, or nothing.
///
/// **Positions are those of the whole sequence.** A rank whose tokens are 12 to 15 asks for
/// `12..16`: counted from its own first token, they would be the sequence's first, and a
/// causal mask would hide from them all that they should see.
pub(crate) fn seen(
    mask: &Mask,
    queries: Range<usize>,
    keys: Range<usize>,
) -> Option<VisibleKeys> {
    let first =
        if is_causal(mask) { queries.start.max(keys.start) } else { queries.start };
    let queries = first..queries.end;
    if queries.is_empty() || keys.is_empty() {
        return None;
    }
    let mask = local(mask, &queries, &keys)?;
    Some(VisibleKeys { queries, mask })
}

/// Whether no query sees a key behind it, whatever else the mask says.
fn is_causal(mask: &Mask) -> bool {
    match mask {
        Mask::Causal | Mask::CausalTopLeft => true,
        Mask::All(masks) => masks.iter().any(is_causal),
        Mask::None | Mask::FirstKeys(_) | Mask::Keys(_) => false,
        Mask::Allowed(_) | Mask::Additive(_) | Mask::PerHead(_) => false,
    }
}

/// The mask for these queries and keys, or `None` if it blocks them all.
fn local(mask: &Mask, queries: &Range<usize>, keys: &Range<usize>) -> Option<Mask> {
    match mask {
        // A sequence attends to itself: both alignments are one.
        Mask::Causal | Mask::CausalTopLeft => match (queries.start, keys.start) {
            _ if keys.start >= queries.end => None,
            (first, _) if keys.end <= first + 1 => Some(Mask::None),
            (first, key) if first == key => Some(Mask::CausalTopLeft),
            _ => {
                Some(Mask::Allowed(Matrix::from_fn(queries.len(), keys.len(), |i, j| {
                    keys.start + j <= queries.start + i
                })))
            }
        },
        Mask::FirstKeys(n_open) if *n_open <= keys.start => None,
        Mask::FirstKeys(n_open) if *n_open >= keys.end => Some(Mask::None),
        Mask::FirstKeys(n_open) => Some(Mask::FirstKeys(n_open - keys.start)),
        Mask::Keys(open) => {
            let open = &open[keys.clone()];
            open.contains(&true).then(|| match open.contains(&false) {
                true => Mask::Keys(open.to_vec()),
                false => Mask::None,
            })
        }
        Mask::Allowed(allowed) => {
            let part = allowed
                .view((queries.start, keys.start), (queries.len(), keys.len()))
                .into_owned();
            part.iter().any(|&open| open).then_some(Mask::Allowed(part))
        }
        Mask::All(masks) => {
            let each = masks.iter().map(|mask| local(mask, queries, keys));
            let mut each: Vec<Mask> = each.collect::<Option<_>>()?;
            each.retain(|mask| *mask != Mask::None);
            Some(if each.is_empty() { Mask::None } else { Mask::All(each) })
        }
        Mask::PerHead(masks) => {
            let each = masks.iter().map(|mask| local(mask, queries, keys));
            let each: Vec<Option<Mask>> = each.collect();
            let nothing = Mask::FirstKeys(0);
            each.iter().any(Option::is_some).then(|| {
                let each = each.into_iter().map(|it| it.unwrap_or(nothing.clone()));
                Mask::PerHead(each.collect())
            })
        }
        Mask::None => Some(Mask::None),
        // Refused before.
        Mask::Additive(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of a mask says of every query and key what the whole says.
    #[test]
    fn parts_say_what_the_whole_says() {
        let n = 12;
        let scattered = Matrix::from_fn(n, n, |i, j| (3 * i + 5 * j) % 7 < 4);
        let padding = Mask::Keys((0..n).map(|j| j % 5 != 1).collect());
        let masks = [
            Mask::None,
            Mask::Causal,
            Mask::CausalTopLeft,
            Mask::FirstKeys(7),
            Mask::FirstKeys(0),
            padding.clone(),
            Mask::Allowed(scattered.clone()),
            Mask::All(vec![Mask::Causal, Mask::FirstKeys(7)]),
            Mask::All(vec![padding, Mask::Causal, Mask::Allowed(scattered)]),
            Mask::PerHead(vec![Mask::Causal, Mask::FirstKeys(5)]),
        ];
        let ranges = [0..12, 0..3, 3..7, 4..6, 6..9, 9..12, 5..5];
        for mask in &masks {
            for (queries, keys) in
                ranges.iter().flat_map(|q| ranges.iter().map(move |k| (q, k)))
            {
                check(mask, queries, keys, n);
            }
        }
    }

    fn check(mask: &Mask, queries: &Range<usize>, keys: &Range<usize>, n: usize) {
        let part = seen(mask, queries.clone(), keys.clone());
        for head in 0..2 {
            let whole = mask.of_head(head);
            for (i, j) in queries.clone().flat_map(|i| keys.clone().map(move |j| (i, j)))
            {
                let expected = whole.added((i, j), (n, n)).is_some();
                let found = part.as_ref().is_some_and(|part| {
                    let lengths = (part.queries.len(), keys.len());
                    part.queries.contains(&i) && {
                        let place = (i - part.queries.start, j - keys.start);
                        part.mask.of_head(head).added(place, lengths).is_some()
                    }
                });
                assert_eq!(
                    found, expected,
                    "{mask:?}: {i}, {j} of {queries:?}, {keys:?}"
                );
            }
        }
    }
}
