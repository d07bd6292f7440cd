//! Where tokens stand, as the reader or the file says, or as it is assumed.

use super::Files;
use super::settings::{FILE, OFFSET};
use crate::{Error, Intent, Positions, Record, Result};

const QUERIES: [&str; 3] = ["positions", "position_ids", "query_positions"];
const KEYS: [&str; 2] = ["key_positions", "kv_positions"];

/// Reads the positions that there are.
pub fn read(files: &Files<'_>, record: &Record, intent: &mut Intent) -> Result<()> {
    let (n_q, n_kv) = record.lengths();
    let offset = files.meant(files.said.offset, &OFFSET)?;
    let by = offset.map_or(FILE, |(_, by)| by);
    intent.offset = offset.map(|(offset, _)| offset);
    if let Some(counted) = list(files, record, &["cache_position"], n_q)? {
        let first = counted.iter().flatten().next().copied();
        let Some(first) = first.filter(|&first| are_counts(&counted, first)) else {
            return Err(Error::Positions { name: "cache_position" });
        };
        intent.offset = files.said.offset.or(Some(first as usize));
    }
    let mut queries = list(files, record, &QUERIES, n_q)?;
    let mut keys = list(files, record, &KEYS, n_kv)?;
    if queries.is_none() && n_q < n_kv {
        // Those of all tokens, of which the last ask.
        let all = list(files, record, &QUERIES, n_kv)?;
        let last = |all: &Vec<Vec<f64>>| {
            all.iter().map(|list| list[n_kv - n_q..].to_vec()).collect()
        };
        queries = all.as_ref().map(last);
        keys = keys.or(all);
    }
    if let Some(queries) = queries {
        let keys = keys.unwrap_or_else(|| of_keys(files, record, &queries));
        listed(Positions { queries, keys }, intent);
    } else if keys.is_some() {
        return Err(Error::Positions { name: "key_positions" });
    }
    let counts = intent.causal.is_some()
        || intent.rotary.is_some()
        || intent.window.is_some()
        || intent.slopes.is_some();
    let first = intent.first_query((n_q, n_kv));
    match intent.offset {
        Some(offset) if counts => {
            files.say(by, format!("the first query stands at position {offset}"));
        }
        None if counts && n_q < n_kv && intent.positions.is_none() => {
            files.assume(format!(
                "the first query stands at position {first}, and the last at the last key"
            ))
        }
        _ => (),
    }
    Ok(())
}

/// Lists of `n` positions, one for all sequences or one each; nothing where the tensor is of
/// another length, which is said of it where no other reading takes it.
fn list(
    files: &Files<'_>,
    record: &Record,
    names: &[&'static str],
    n: usize,
) -> Result<Option<Vec<Vec<f64>>>> {
    let Some((name, tensor)) = files.first(names) else { return Ok(None) };
    let batch = record.batch();
    match *tensor.shape() {
        [m] if m == n => (),
        [b, m] if m == n && (b == 1 || b == batch) => (),
        _ if names == QUERIES && tensor.shape().last() == Some(&record.lengths().1) => {
            return Ok(None);
        }
        _ => {
            let expected = format!("({n}), (1, {n}) or ({batch}, {n})");
            return Err(tensor.shape_error(&expected).into());
        }
    }
    let numbers = super::entries(&tensor)?;
    if numbers.iter().any(|x| !x.is_finite()) {
        return Err(Error::Positions { name });
    }
    files.note(format!("{name} {}: where tokens stand", tensor.shape_text()));
    Ok(Some(numbers.chunks(n).map(<[f64]>::to_vec).collect()))
}

/// Where keys stand, where only queries say it: with them in self-attention; or counted, without
/// the padding in front of them.
fn of_keys(files: &Files<'_>, record: &Record, queries: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n_q, n_kv) = record.lengths();
    if n_q == n_kv {
        return queries.to_vec();
    }
    let last = |s: usize| queries[if queries.len() == 1 { 0 } else { s }].last().copied();
    let without_padding = |(s, open): (usize, &Vec<bool>)| {
        let mut n_open = 0;
        let place = |open: &bool| {
            n_open += usize::from(*open);
            n_open.saturating_sub(1) as f64
        };
        let list: Vec<f64> = open.iter().map(place).collect();
        (list.last().copied() == last(s)).then_some(list)
    };
    let all = record.masks.padding.as_ref().map(|it| it.iter().enumerate());
    let lists = all.and_then(|all| all.map(without_padding).collect::<Option<Vec<_>>>());
    if lists.is_some() {
        files.assume("keys stand where they do without padding in front");
    }
    lists.unwrap_or_else(|| vec![(0..n_kv).map(|t| t as f64).collect()])
}

/// Whether each list counts up from this number, which is 0 or more.
fn are_counts(lists: &[Vec<f64>], first: f64) -> bool {
    let is_next = |(t, &at): (usize, &f64)| at == first + t as f64;
    first >= 0.0 && lists.iter().all(|list| list.iter().enumerate().all(is_next))
}

/// Positions that are a count are said by the first; and masks count from the key at which the
/// last query stands.
fn listed(listed: Positions, intent: &mut Intent) {
    let first = listed.queries[0][0];
    let are_counts = are_counts(&listed.queries, first) && are_counts(&listed.keys, 0.0);
    if are_counts {
        intent.offset = intent.offset.or(Some(first as usize));
    }
    if are_counts && intent.offset == Some(first as usize) {
        return;
    }
    let n = listed.queries.len().max(listed.keys.len());
    let place_of_last = |s: usize| {
        let of = |all: &[Vec<f64>]| all[if all.len() == 1 { 0 } else { s }].clone();
        let (queries, keys) = (of(&listed.queries), of(&listed.keys));
        let last = keys.iter().rposition(|at| Some(at) == queries.last())?;
        (last + 1).checked_sub(queries.len())
    };
    let mut offsets = (0..n).map(place_of_last);
    let offset = offsets.next().flatten();
    let is_same = offsets.all(|it| it == offset);
    intent.offset = intent.offset.or(offset.filter(|_| is_same));
    intent.positions = Some(listed);
}
