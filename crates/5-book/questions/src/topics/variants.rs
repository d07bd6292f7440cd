//! What models of today change.

use ::variants::{Cache, Groups, Window};
use lessons::variants::window_and_cache::sees;

use super::*;

pub fn cached_numbers(n: &Facts) -> Result<Facts> {
    let [n_kv_heads, width, n_tokens] = n.wholes(["n_kv_heads", "width", "n_tokens"])?;
    let mut cache: Cache<f32> = Cache::new([n_kv_heads * width; 2]);
    let rows = Matrix::zeros(n_tokens, n_kv_heads * width);
    cache.append(&rows, &rows)?;
    Ok(facts![all = cache.keys().len() + cache.values().len()])
}

pub fn group_of_a_head(n: &Facts) -> Result<Facts> {
    let [n_heads, n_kv_heads, head] = n.wholes(["n_heads", "n_kv_heads", "head"])?;
    let groups = Groups::new(n_heads, n_kv_heads)?;
    let mut shown = String::new();
    for kv_head in 0..n_kv_heads {
        let its: Vec<usize> =
            (0..n_heads).filter(|&it| groups.kv_head(it) == kv_head).collect();
        let (first, last) = (its[0], its[its.len() - 1]);
        shown += &format!("keys and values {kv_head}: query heads {first} to {last}\n");
    }
    Ok(facts![shown, read = groups.kv_head(head), dealt = head % n_kv_heads])
}

pub fn window_with_sinks(n: &Facts) -> Result<Facts> {
    let [window, n_sinks, n] = n.wholes(["window", "n_sinks", "n"])?;
    let last = Window { n_sinks, ..Window::last(window)? };
    let seen = sees(last, n + 1).row(n).iter().filter(|&&sees| sees).count();
    Ok(facts![seen])
}
