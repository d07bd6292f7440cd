//! What is computed to write letter by letter, with and without the two caches.

use attention::{MultiplyAdds, thousands};
use training::dates::{DateArchitecture, N_SOURCE, N_TARGET};

use crate::quote::{Table, assert_quote, values};

/// Rows that go through W^K, and the multiply-adds of an attention, to write all letters.
struct Work {
    rows: usize,
    multiply_adds: u64,
}

/// Both attentions of a decoder's block while it writes; a step asks with so many queries,
/// projects so many keys and values, and attends to so many.
fn work(steps: impl Iterator<Item = [usize; 3]>) -> Work {
    let built = DateArchitecture::default();
    let dims = attention::Dims::new(built.d_model, built.n_heads).unwrap();
    let mut work = Work { rows: 0, multiply_adds: 0 };
    for [n_q, n_projected, n_kv] in steps {
        work.rows += n_projected;
        for cost in MultiplyAdds::count(dims, n_q, n_kv).unwrap().costs() {
            let is_projected = ["key W^K", "value W^V"].contains(&cost.name);
            // A product's cost is in proportion to its rows.
            let of = cost.multiply_adds;
            work.multiply_adds +=
                if is_projected { of / n_kv as u64 * n_projected as u64 } else { of };
        }
    }
    work
}

#[test]
fn writing_with_and_without_caches() {
    let letters = || 1..=N_TARGET;
    let own = work(letters().map(|t| [t, t, t]));
    let own_cached = work(letters().map(|t| [1, 1, t]));
    let cross = work(letters().map(|t| [t, N_SOURCE, N_SOURCE]));
    let memory_anew = work(letters().map(|_| [1, N_SOURCE, N_SOURCE]));
    let cross_cached =
        work(letters().map(|t| [1, if t == 1 { N_SOURCE } else { 0 }, N_SOURCE]));
    let mut table = Table::new(["to write ten letters", "rows of keys", "multiply-adds"]);
    let lines = [
        ("own attention, a whole pass at every letter", &own),
        ("own attention, cached", &own_cached),
        ("cross-attention, a whole pass at every letter", &cross),
        ("cross-attention, the memory's keys anew", &memory_anew),
        ("cross-attention, cached", &cross_cached),
    ];
    for (name, work) in lines {
        table.row([name, &work.rows.to_string(), &thousands(work.multiply_adds)]);
    }
    assert_quote!("dates_caches", table.text());
    let times = |all: &Work, cached: &Work| {
        format!("{:.1}", all.multiply_adds as f64 / cached.multiply_adds as f64)
    };
    let quoted = [
        ("times_own", times(&own, &own_cached)),
        ("times_cross", times(&cross, &cross_cached)),
        ("times_memory", times(&memory_anew, &cross_cached)),
    ];
    assert_quote!("dates_caches_values", values(&quoted));
}
