//! What models of today change.

use anyhow::Result;
use attention::Matrix;
use lessons::variants::window_and_cache::sees;
use variants::{Cache, Groups, Window};

use crate::facts::{Facts, facts};
use crate::question::Run;

pub const RUNS: &[(&str, Run)] = &[
    ("cached-numbers", cached),
    ("group-of-a-head", group),
    ("window-with-sinks", window_keys),
];

fn cached(n: &Facts) -> Result<Facts> {
    let [n_heads, n_kv_heads, width] = n.wholes(["n_heads", "n_kv_heads", "width"])?;
    let [n_tokens] = n.wholes(["n_tokens"])?;
    let of_heads = |heads: usize| -> Result<usize> {
        let mut cache: Cache<f32> = Cache::new([heads * width; 2]);
        let rows = Matrix::zeros(n_tokens, heads * width);
        cache.append(&rows, &rows)?;
        Ok(cache.keys().len() + cache.values().len())
    };
    let all = of_heads(n_kv_heads)?;
    Ok(facts![
        all,
        row = n_kv_heads * width,
        keys = all / 2,
        unshared = of_heads(n_heads)?,
        with_queries = all / 2 * 3,
    ])
}

fn group(n: &Facts) -> Result<Facts> {
    let [n_heads, n_kv_heads, head] = n.wholes(["n_heads", "n_kv_heads", "head"])?;
    let groups = Groups::new(n_heads, n_kv_heads)?;
    let mut shown = String::new();
    for kv_head in 0..n_kv_heads {
        let its: Vec<usize> =
            (0..n_heads).filter(|&it| groups.kv_head(it) == kv_head).collect();
        let (first, last) = (its[0], its[its.len() - 1]);
        shown += &format!("keys and values {kv_head}: query heads {first} to {last}\n");
    }
    Ok(facts![
        shown,
        read = groups.kv_head(head),
        dealt = head % n_kv_heads,
        by_groups = head / n_kv_heads,
    ])
}

fn window_keys(n: &Facts) -> Result<Facts> {
    let [window, n_sinks, n] = n.wholes(["window", "n_sinks", "n"])?;
    let last = Window { n_sinks, ..Window::last(window)? };
    let seen = sees(last, n + 1).row(n).iter().filter(|&&sees| sees).count();
    Ok(facts![
        seen,
        last_sink = n_sinks - 1,
        first = n + 1 - window,
        without_itself = seen + 1,
        all = n + 1,
    ])
}
