//! What the model of time needs, measured on the spot, by all ranks at once: so each has the
//! part of memory and of the links that it has in earnest.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use attention::{LayerParameters, Mask, Rng, SeedableRng, random_matrix};
use ranks::Processes;
use spread::{Engine, Fast, Group, Link, Model, Speed, heads_of};

use crate::args::Case;

/// How often a small thing is measured; the median counts.
const TIMES: usize = 7;

/// How long a message is that shows bandwidth, in entries.
const LONG: usize = 1 << 20;

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
            group.exchange((r + 1) % p, &send, (r + p - 1) % p, &mut room, |_| ())?;
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

/// How fast a rank is when all compute.
pub fn speed(
    group: &mut Processes,
    layer: &LayerParameters<f32>,
    case: Case,
    mask: &Mask,
) -> Result<Speed> {
    let dims = case.dims;
    let n = case.n_tokens.min(TOKENS);
    let x = random_matrix(n, dims.d_model(), 1.0, &mut Rng::seed_from_u64(2));
    let Some(part) = heads_of(layer, 0..dims.n_heads())? else {
        anyhow::bail!("a layer without heads");
    };
    let mut engine = Fast::new(&part);
    let (mut products, mut attention) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        Group::<f32>::barrier(group)?;
        let start = Instant::now();
        let [q, k, v] = engine.project(&x)?;
        black_box(engine.mix(&v)?);
        products.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        black_box(engine.piece(&q, k.as_view(), v.as_view(), mask)?);
        attention.push(start.elapsed().as_secs_f64());
    }
    let (n, d, concat) = (n as f64, dims.d_model() as f64, dims.concat_width() as f64);
    let pairs = if *mask == Mask::None { n * n } else { n * (n + 1.0) / 2.0 };
    Ok(Speed {
        products: 4.0 * n * d * concat / slowest(group, median(products))?,
        attention: 2.0 * pairs * concat / slowest(group, median(attention))?,
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
        model.link.latency * 1e6,
        model.link.bandwidth / 1e9,
        model.speed.products / 1e9,
        model.speed.attention / 1e9
    )
}
