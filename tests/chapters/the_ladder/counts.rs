//! Counts, and a softmax in blocks.

use attention::{Mask, Matrix, MultiplyAdds, Rng, SeedableRng, random_matrix, thousands};
use kernels::{Inputs, Packed, ladder};
use lessons::the_ladder::online::{POWERS, VALUES, steps};
use lessons::the_ladder::{CASE, work};

use crate::quote::{assert_quote, percent, values};
use stages::cases::layer;

/// `17.2 billion`, `134 million`.
fn in_words(n: usize) -> String {
    match n as f64 {
        n if n >= 1e9 => format!("{:.1} billion", n / 1e9),
        n => format!("{:.0} million", n / 1e6),
    }
}

fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[test]
fn operations_and_bytes_of_each_step() {
    assert_eq!(CASE, "4k");
    let work = work().unwrap();
    let single = work.decode("one token", 4);
    assert_eq!(single.operations, 8 * (2 * 4096 * 64 * 2)); // heads, two products
    let ledger = MultiplyAdds::count(work.dims, 4096, 4096).unwrap();
    let (all, pair) = (ledger.total() as usize, ledger.costs()[3].multiply_adds as usize);
    let pairs = 2 * pair;
    assert_eq!(ledger.costs()[3].name, "Q Kᵀ");
    assert_eq!(work.layer().operations, 2 * all);
    let said = [
        ("projections", in_words(all - pairs)),
        ("pairs", in_words(pairs)),
        ("exponentials", in_words(work.map_entries())),
        ("adds_an_exponential", (pairs / work.map_entries()).to_string()),
        ("one_map", megabytes(4 * work.map_entries() / 8)),
        ("projection_intensity", format!("{:.0}", work.projection().intensity())),
        ("softmax_intensity", format!("{:.2}", work.softmax().intensity())),
        ("tiles_intensity", format!("{:.0}", work.tiles().intensity())),
        ("decode_intensity", format!("{:.1}", single.intensity())),
        // Keys and values of one head.
        ("head_keys", megabytes(2 * 4 * 4096 * 64)),
        // Under a causal mask.
        ("causal_part", percent(causal_part(4096))),
    ];
    assert_quote!("the_ladder_counts", values(&said));
}

/// The part of the tiles that a causal mask leaves.
fn causal_part(n: usize) -> f64 {
    let side = (n / kernels::Tiles::KEYS) as f64;
    (side + 1.0) / (2.0 * side)
}

#[test]
fn a_softmax_in_blocks() {
    let steps = steps();
    let last = steps.last().unwrap();
    // At once: the shares are the powers over their sum.
    let sum: f32 = POWERS.iter().sum();
    let at_once: f32 = POWERS.iter().zip(VALUES).map(|(p, v)| p * v).sum::<f32>() / sum;
    assert!((last.average - f64::from(at_once)).abs() < 1e-5, "{last:?}");
    let of_four: f32 = POWERS[..4].iter().zip(VALUES).map(|(p, v)| p * v).sum();
    let of_four = of_four / POWERS[..4].iter().sum::<f32>();
    assert!((steps[1].average - f64::from(of_four)).abs() < 1e-5);
    let said = [
        ("sum_before", format!("{:.2}", steps[1].sum)),
        ("out_before", format!("{:.0}", steps[1].out)),
        ("corrected_sum", format!("{:.0}", steps[1].sum * steps[2].correction)),
        ("corrected_out", format!("{:.1}", steps[1].out * steps[2].correction)),
        ("correction", format!("{:.1}", steps[2].correction)),
        ("power_before", format!("{:.0}", steps[1].maximum.exp())),
        ("last_sum", format!("{:.0}", last.sum)),
        ("last_out", format!("{:.0}", last.out)),
        ("average", format!("{:.0}", last.average)),
        ("maximum_power", format!("{:.0}", last.maximum.exp())),
    ];
    // exp(s − L), with L = m + ln l, is the attention weight itself.
    let by_log_sum = (f64::from(POWERS[4]).ln() - last.maximum - last.sum.ln()).exp();
    assert!((by_log_sum - f64::from(POWERS[4] / sum)).abs() < 1e-6);
    assert_quote!("the_ladder_online", values(&said));
}

#[test]
fn the_backward_pass_counted() {
    let work = work().unwrap();
    let (d, n) = (512usize, 4096usize);
    let projection = n * d * d;
    let product = n * n * d; // of all heads
    let back = 8 * projection + 5 * product;
    let kept = 2 * 4 * work.dims.n_heads() * n; // a reference and a sum
    let said = [
        // Six products of pairs are counted where seven are computed.
        ("most_share", percent(6.0 / 7.0)),
        ("extra", percent(product as f64 / (back - product) as f64)),
        ("kept", format!("{} kB", kept / 1000)),
        ("maps_kept", megabytes(4 * work.map_entries())),
    ];
    assert_quote!("the_ladder_back", values(&said));
}

#[test]
fn a_tile_of_the_micro_kernel() {
    let (rows, columns, lanes, registers) = (48, 8, 16, 32);
    let (loads, sums) = (rows / lanes, rows / lanes * columns);
    // Two multiply-adds can begin in each cycle, and each is ready four cycles later.
    let (starts, latency) = (2, 4);
    let said = [
        ("rows", rows.to_string()),
        ("columns", columns.to_string()),
        ("loads", loads.to_string()),
        ("sums", sums.to_string()),
        ("reads", (loads + columns).to_string()),
        ("registers", registers.to_string()),
        ("in_flight", (starts * latency).to_string()),
    ];
    assert!(sums + loads < registers && sums >= starts * latency);
    assert_quote!("the_ladder_tile", values(&said));
}

#[test]
fn keys_that_many_queries_read_together() {
    let (n, head_size, rows) = (32_768usize, 64, 48);
    let keys_and_values = 2 * 4 * n * head_size;
    let read = |queries| {
        format!("{:.1} GB", (n.div_ceil(queries) * keys_and_values) as f64 / 1e9)
    };
    let said = [
        ("long", thousands(n)),
        ("long_keys", megabytes(keys_and_values)),
        ("groups", (Packed::QUERIES / rows).to_string()),
        ("read_alone", read(rows)),
        ("read_together", read(Packed::QUERIES)),
    ];
    assert_quote!("the_ladder_together", values(&said));
}

#[test]
fn every_rung_gives_the_same_numbers() {
    let parameters = layer(64, 4, 11);
    let definition = stages::cases::every_stage_and_batched(&parameters);
    let x = random_matrix::<f64>(150, 64, 1.0, &mut Rng::seed_from_u64(12));
    let expected = definition[0].self_attend(&x, &Mask::Causal).unwrap().out;
    let (parameters, x) = (parameters.cast::<f32>(), x.map(|x| x as f32));
    let masks = [Mask::Causal];
    for mut rung in ladder(&parameters) {
        let mut out = Matrix::zeros(150, 64);
        rung.forward(&Inputs::self_attention(1, &x, &masks), &mut out).unwrap();
        let diff = attention::max_abs_diff(&expected, &out.map(f64::from)).unwrap();
        println!("{}: {diff:.1e}", rung.name());
        assert!(diff < 1e-5, "{}: {diff:e}", rung.name());
    }
}
