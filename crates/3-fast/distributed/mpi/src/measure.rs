//! What the model of time needs, measured on the spot, by all ranks at once: so each has the
//! part of memory and of the links that it has in earnest.

use std::time::Instant;

use anyhow::Result;
use attention::{LayerParameters, Mask, Rng, SeedableRng, random_matrix};
use distributed::{Engine, Fast, Group, Link, Model, Positions, Speed, heads_of};
use ranks::Processes;

use crate::args::Case;

/// How often a small thing is measured; the median counts.
const TIMES: usize = 7;

/// How long a message is that shows bandwidth, in entries.
const LONG: usize = 1 << 22;

/// Tokens on which speed is measured, at most.
const TOKENS: usize = 1024;

/// The middle one of several times.
pub fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The links of a ring, all in use at once.
pub fn link(group: &mut Processes) -> Result<Link> {
    let mut seconds_of = |n: usize| -> Result<f64> {
        let (p, r) = (Group::<f32>::size(group), Group::<f32>::rank(group));
        let (send, mut room) = (vec![1f32; n], vec![0f32; n]);
        let mut all = Vec::new();
        for _ in 0..3 * TIMES {
            Group::<f32>::barrier(group)?;
            let start = Instant::now();
            group.exchange((r + 1) % p, &send, (r + p - 1) % p, &mut room)?;
            all.push(start.elapsed().as_secs_f64());
        }
        // The least disturbed: another program's turn on the processor is no link.
        slowest(group, all.into_iter().fold(f64::INFINITY, f64::min))
    };
    let latency = seconds_of(1)?;
    let long = seconds_of(LONG)?;
    let bytes = (LONG * size_of::<f32>()) as f64;
    Ok(Link { latency, bandwidth: bytes / (long - latency).max(1e-9) })
}

/// How fast a rank is when all compute, in memory that it had before.
pub fn speed(
    group: &mut Processes,
    layer: &LayerParameters<f32>,
    case: Case,
) -> Result<Speed> {
    let dims = case.dims;
    let n = case.n_tokens.min(TOKENS);
    let x = random_matrix(n, dims.d_model(), 1.0, &mut Rng::seed_from_u64(2));
    let Some(part) = heads_of(layer, 0..dims.n_heads())? else {
        anyhow::bail!("a layer without heads");
    };
    let mut engine = Fast::new(&part);
    let [k_width, v_width] = [dims.d_k(), dims.d_v()].map(|width| dims.n_heads() * width);
    let positions = Positions { queries: 0..n, keys: 0..n, lengths: (n, n) };
    let (mut products, mut attention) = (Vec::new(), Vec::new());
    let (mut memory, mut queries) = (Vec::new(), None);
    for run in 0..TIMES + 1 {
        Group::<f32>::barrier(group)?;
        let start = Instant::now();
        let q_k_v = engine.project(&x, memory)?;
        let (q, k) = (q_k_v.columns(0, k_width), q_k_v.columns(k_width, k_width));
        let v = q_k_v.columns(2 * k_width, v_width);
        let projected = start.elapsed();
        let keys = engine.keys(&[[k, v]], Vec::new())?;
        let mut asking = engine.queries(1, q, queries)?;
        Group::<f32>::barrier(group)?;
        let start = Instant::now();
        engine.see(&mut asking, &keys, &[Mask::None], &positions)?;
        if run > 0 {
            products.push(projected.as_secs_f64());
            attention.push(start.elapsed().as_secs_f64());
        }
        (memory, queries) = (q_k_v.data.into(), Some(asking));
    }
    let (n, d, width) = (n as f64, dims.d_model() as f64, (2 * k_width + v_width) as f64);
    let pairs = n * n * (k_width + v_width) as f64;
    Ok(Speed {
        products: n * d * width / slowest(group, median(products))?,
        attention: pairs / slowest(group, median(attention))?,
    })
}

/// The largest of all ranks' numbers.
pub fn slowest(group: &mut Processes, mine: f64) -> Result<f64> {
    let lengths = vec![1; Group::<f64>::size(group)];
    let all = group.all_gather(&[mine], &lengths)?;
    Ok(all.into_iter().fold(f64::MIN, f64::max))
}

/// What was measured.
pub fn words(model: &Model, size: usize) -> String {
    format!(
        "{size} processes; a link: {:.1} µs and {:.2} GB/s; a process: {:.1} and {:.1} \
         thousand million multiply-adds a second in projections and in attention",
        model.ring.latency * 1e6,
        model.ring.bandwidth / 1e9,
        model.speed.products / 1e9,
        model.speed.attention / 1e9
    )
}
