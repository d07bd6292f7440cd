//! What chapter 11 quotes: counts, a softmax in blocks, and the reference run.

use std::fmt::Write;

use attention::{
    Dims, Mask, Matrix, MultiplyAdds, Rng, SeedableRng, random_matrix, thousands,
};
use kernels::{Inputs, Packed, ladder};
use lessons::ch11::CASE;
use lessons::ch11::online::{POWERS, VALUES, steps};
use lessons::ch11::work::Work;
use record::{Machine, Pass, Row, Run};

use crate::cases::layer;

/// `name: value`, a line each.
fn lines(values: &[(&str, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

/// The case that the chapter follows: 4,096 tokens, 512 wide, 8 heads.
fn work() -> Work {
    Work { dims: Dims::new(512, 8).unwrap(), batch: 1, tokens: 4096 }
}

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
    let work = work();
    let heading = ["step", "operations", "bytes", "operations a byte"];
    let mut text = format!(
        "{:<18}  {:>12}  {:>9}  {:>17}\n",
        heading[0], heading[1], heading[2], heading[3]
    );
    for step in work.steps() {
        let billions = format!("{:.2} billion", step.operations as f64 / 1e9);
        writeln!(
            text,
            "{:<18}  {billions:>12}  {:>9}  {:>17.2}",
            step.name,
            megabytes(step.bytes),
            step.intensity()
        )
        .unwrap();
    }
    insta::assert_snapshot!("ch11_intensity", text);

    let ledger = MultiplyAdds::count(work.dims, 4096, 4096).unwrap();
    let pairs = 2 * ledger.costs()[3].multiply_adds;
    assert_eq!(ledger.costs()[3].name, "Q Kᵀ");
    assert_eq!(work.layer().operations, 2 * ledger.total());
    let small = Work { dims: Dims::new(256, 8).unwrap(), batch: 1, tokens: 30 };
    let values = [
        ("projections", in_words(ledger.total() - pairs)),
        ("pairs", in_words(pairs)),
        ("all", in_words(ledger.total())),
        ("exponentials", in_words(work.map_entries())),
        ("adds_an_exponential", (pairs / work.map_entries()).to_string()),
        ("maps", megabytes(4 * work.map_entries())),
        ("one_map", megabytes(4 * work.map_entries() / 8)),
        ("layer_intensity", format!("{:.0}", work.layer().intensity())),
        ("projection_intensity", format!("{:.0}", work.projection().intensity())),
        ("softmax_intensity", format!("{:.2}", work.softmax().intensity())),
        ("tiles_intensity", format!("{:.0}", work.tiles().intensity())),
        ("small_intensity", format!("{:.0}", small.layer().intensity())),
        ("small_bytes", thousands(small.layer().bytes)),
        ("x_bytes", megabytes(4 * 4096 * 512)),
        // W^Q, W^K and W^V side by side: x is read once and not three times.
        ("saved_reads", megabytes(2 * 4 * 4096 * 512)),
    ];
    insta::assert_snapshot!("ch11_counts", lines(&values));
}

#[test]
fn a_softmax_in_blocks() {
    let steps = steps();
    let last = steps.last().unwrap();
    // At once: the shares are the powers over their sum.
    let sum: f32 = POWERS.iter().sum();
    let at_once: f32 = POWERS.iter().zip(VALUES).map(|(p, v)| p * v).sum::<f32>() / sum;
    assert!((last.average - f64::from(at_once)).abs() < 1e-5, "{last:?}");
    let first: Vec<String> = POWERS.iter().map(|p| p.to_string()).collect();
    let values: Vec<String> = VALUES.iter().map(|v| v.to_string()).collect();
    let of_four: f32 = POWERS[..4].iter().zip(VALUES).map(|(p, v)| p * v).sum();
    let of_four = of_four / POWERS[..4].iter().sum::<f32>();
    assert!((steps[1].average - f64::from(of_four)).abs() < 1e-5);
    let values = [
        ("powers", first.join(", ")),
        ("values", values.join(", ")),
        ("sum_before", format!("{:.2}", steps[1].sum)),
        ("out_before", format!("{:.0}", steps[1].out)),
        ("average_before", format!("{:.1}", steps[1].average)),
        ("corrected_sum", format!("{:.0}", steps[1].sum * steps[2].correction)),
        ("corrected_out", format!("{:.1}", steps[1].out * steps[2].correction)),
        ("correction", format!("{:.1}", steps[2].correction)),
        ("power_before", format!("{:.0}", steps[1].maximum.exp())),
        ("last_correction", format!("{:.0}", steps[3].correction)),
        ("last_sum", format!("{:.0}", last.sum)),
        ("last_out", format!("{:.0}", last.out)),
        ("average", format!("{:.0}", last.average)),
        ("maximum_power", format!("{:.0}", last.maximum.exp())),
        ("power_sum", format!("{sum:.0}")),
        // exp(s − L), with L = m + ln l, is the share itself.
        ("log_sum", format!("{:.2}", last.maximum + last.sum.ln())),
        (
            "share",
            format!(
                "{:.4}",
                (f64::from(POWERS[4]).ln() - last.maximum - last.sum.ln()).exp()
            ),
        ),
        ("share_at_once", format!("{:.4}", POWERS[4] / sum)),
    ];
    insta::assert_snapshot!("ch11_online", lines(&values));
}

#[test]
fn tiles_that_a_causal_mask_leaves() {
    let heading = ["tokens", "tiles", "computed", "of them", "masked in part"];
    let mut text = format!(
        "{:>6}  {:>6}  {:>8}  {:>7}  {:>14}\n",
        heading[0], heading[1], heading[2], heading[3], heading[4]
    );
    for n in [128, 512, 1024, 4096, 16_384usize] {
        let side = n / kernels::Tiles::KEYS;
        let computed = side * (side + 1) / 2;
        let share = format!("{:.0} %", 100.0 * computed as f64 / (side * side) as f64);
        writeln!(
            text,
            "{:>6}  {:>6}  {:>8}  {share:>7}  {side:>14}",
            thousands(n),
            thousands(side * side),
            thousands(computed),
        )
        .unwrap();
    }
    insta::assert_snapshot!("ch11_causal", text);
}

#[test]
fn memory_beside_inputs_and_outputs() {
    let tile = kernels::Tiles::QUERIES * kernels::Tiles::KEYS * 4;
    let heading = ["tokens", "four maps", "a tile", "q, k, v and concatenation"];
    let mut text = format!(
        "{:>6}  {:>10}  {:>8}  {:>25}\n",
        heading[0], heading[1], heading[2], heading[3]
    );
    for n in [256, 1024, 4096, 16_384, 32_768usize] {
        writeln!(
            text,
            "{:>6}  {:>10}  {:>8}  {:>25}",
            thousands(n),
            megabytes(4 * 4 * n * n),
            format!("{} kB", tile / 1000),
            megabytes(4 * 4 * n * 256)
        )
        .unwrap();
    }
    insta::assert_snapshot!("ch11_memory", text);
}

#[test]
fn the_backward_pass_counted() {
    let work = work();
    let (d, n) = (512usize, 4096usize);
    let projection = n * d * d;
    let product = n * n * d; // of all heads
    let (forward, back) = (4 * projection + 2 * product, 8 * projection + 5 * product);
    let kept = 4 * work.dims.n_heads() * n;
    let values = [
        ("pair_product", in_words(product)),
        ("forward", in_words(forward)),
        ("with_maps", in_words(8 * projection + 4 * product)),
        ("back", in_words(back)),
        ("extra", format!("{:.0} %", 100.0 * product as f64 / (back - product) as f64)),
        ("kept", format!("{} kB", kept / 1000)),
        ("maps_kept", megabytes(4 * work.map_entries())),
        ("times_less", thousands(4 * work.map_entries() / kept)),
    ];
    insta::assert_snapshot!("ch11_back", lines(&values));
}

#[test]
fn a_tile_of_the_micro_kernel() {
    let (rows, columns, lanes, registers) = (48, 8, 16, 32);
    let (loads, sums) = (rows / lanes, rows / lanes * columns);
    // Two multiply-adds can begin in each cycle, and each is ready four cycles later.
    let (starts, latency) = (2, 4);
    let values = [
        ("rows", rows.to_string()),
        ("columns", columns.to_string()),
        ("loads", loads.to_string()),
        ("sums", sums.to_string()),
        ("reads", (loads + columns).to_string()),
        ("registers", registers.to_string()),
        ("in_flight", (starts * latency).to_string()),
        ("cycles", (sums / starts).to_string()),
        ("one_by_one", (2 * sums).to_string()),
    ];
    assert!(sums + loads < registers && sums >= starts * latency);
    insta::assert_snapshot!("ch11_tile", lines(&values));
}

#[test]
fn keys_that_many_queries_read_together() {
    let (n, head_size, rows) = (32_768usize, 64, 48);
    let keys_and_values = 2 * 4 * n * head_size;
    let read = |queries| {
        format!("{:.1} GB", (n.div_ceil(queries) * keys_and_values) as f64 / 1e9)
    };
    let values = [
        ("long", thousands(n)),
        ("long_keys", megabytes(keys_and_values)),
        ("groups", (Packed::QUERIES / rows).to_string()),
        ("together", Packed::QUERIES.to_string()),
        ("read_alone", read(rows)),
        ("read_together", read(Packed::QUERIES)),
    ];
    insta::assert_snapshot!("ch11_together", lines(&values));
}

#[test]
fn every_rung_gives_the_same_numbers() {
    let parameters = layer(64, 4, 11);
    let definition = crate::cases::every_stage_and_batched(&parameters);
    let x = random_matrix::<f64>(150, 64, 1.0, &mut Rng::seed_from_u64(12));
    let expected = definition[0].self_attend(&x, &Mask::Causal).unwrap().out;
    let (parameters, x) = (parameters.cast::<f32>(), x.map(|x| x as f32));
    let masks = [Mask::Causal];
    let mut names = Vec::new();
    for mut rung in ladder(&parameters) {
        let mut out = Matrix::zeros(150, 64);
        rung.forward(&Inputs::self_attention(1, &x, &masks), &mut out).unwrap();
        let diff = attention::max_abs_diff(&expected, &out.map(f64::from)).unwrap();
        println!("{}: {diff:.1e}", rung.name());
        assert!(diff < 1e-5, "{}: {diff:e}", rung.name());
        names.push(rung.name());
    }
    insta::assert_snapshot!("ch11_rungs", format!("rungs: {}", names.join(", ")));
}

/// The reference run, and what it says of ours and of the others in one case.
struct Reference {
    run: Run,
}

impl Reference {
    fn open() -> Self {
        Self { run: record::reference().unwrap() }
    }

    fn machine(&self) -> &Machine {
        &self.run.machine
    }

    fn row(&self, case: &str, who: &str) -> &Row {
        let case = self.run.case(case).unwrap_or_else(|| panic!("no case {case}"));
        let is_it = |row: &&Row| row.who == who && row.pass == Pass::Forward.name();
        let row = case.rows.iter().find(is_it);
        row.unwrap_or_else(|| panic!("no row of {who} in {}", case.name))
    }

    fn ms(&self, case: &str, who: &str) -> f64 {
        self.row(case, who).median_ms
    }

    fn faster(&self, case: &str, slow: &str, fast: &str) -> f64 {
        self.ms(case, slow) / self.ms(case, fast)
    }

    fn best_peer(&self, case: &str) -> &Row {
        let case = self.run.case(case).unwrap();
        let rows = case
            .rows
            .iter()
            .filter(|row| row.side == "peer" && row.pass == Pass::Forward.name());
        let best = rows.min_by(|a, b| a.median_ms.total_cmp(&b.median_ms));
        best.expect("a reference run has others beside ours")
    }
}

/// Three digits that count, with a unit.
fn time(ms: f64) -> String {
    match ms {
        ms if ms < 0.9995 => format!("{:.0} µs", ms * 1e3),
        ms if ms < 9.995 => format!("{ms:.2} ms"),
        ms if ms < 99.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1e3),
    }
}

/// `PyTorch 2.15.0, …`: of the others, and of the compiler.
fn versions(machine: &Machine) -> String {
    let others = machine.versions.iter().filter(|(name, _)| *name != "kernels");
    let each: Vec<String> =
        others.map(|(name, version)| format!("{name} {version}")).collect();
    each.join(", ")
}

const RUNGS: [&str; 6] =
    ["plain", "one product", "tiles", "vector exp", "threads", "packed"];

#[test]
fn what_the_reference_run_says() {
    let reference = Reference::open();
    let (work, machine) = (work(), reference.machine());
    let ms = |who| reference.ms(CASE, who);
    let faster = |slow, fast| reference.faster(CASE, slow, fast);
    let least = work.layer().operations as f64 / machine.fma_peak_gflops / 1e6;
    let by_memory = |bytes: usize| bytes as f64 / machine.bandwidth_gb_s / 1e6;
    let passes = 9 * 4 * work.map_entries();
    let exp_ns = (ms("tiles") - ms("vector exp")) * 1e6 / work.map_entries() as f64;
    // Multiply-adds a nanosecond of one thread.
    let adds = machine.fma_peak_gflops / 2.0 / machine.threads as f64;
    let (best, packed) = (reference.best_peer(CASE), reference.row(CASE, "packed"));

    // What the text says in words.
    let one_product = faster("plain", "one product");
    assert!((0.85..1.18).contains(&one_product), "one product: × {one_product:.2}");
    let (large, small) =
        (faster("one product", "tiles"), reference.faster("004", "one product", "tiles"));
    assert!(large > 1.3 && small < 0.8 * large, "tiles: × {large:.2}, × {small:.2}");
    let exp = faster("tiles", "vector exp");
    assert!(exp > 1.25 && exp_ns * adds > 0.7 * 128.0, "exp: × {exp:.2}, {exp_ns:.2} ns");
    assert!(faster("vector exp", "threads") > 0.7 * machine.threads as f64);
    assert!(faster("threads", "packed") > 1.25 && packed.share_of_peak > 0.6);
    assert!(packed.median_ms < best.median_ms);

    let times = |x: f64| format!("{x:.1}");
    let values = [
        ("processor", machine.processor.clone()),
        ("simd", machine.simd.clone()),
        ("versions", versions(machine)),
        ("threads", machine.threads.to_string()),
        ("peak", format!("{:.0}", machine.fma_peak_gflops)),
        ("bandwidth", format!("{:.0}", machine.bandwidth_gb_s)),
        ("ridge", format!("{:.0}", machine.fma_peak_gflops / machine.bandwidth_gb_s)),
        ("least", time(least)),
        ("plain", time(ms("plain"))),
        ("plain_times", format!("{:.0}", ms("plain") / least)),
        ("one_product", time(ms("one product"))),
        ("one_product_faster", format!("{one_product:.2}")),
        ("saved_time", time(by_memory(2 * 4 * 4096 * 512))),
        ("passes_bytes", format!("{:.1} GB", passes as f64 / 1e9)),
        ("passes_time", time(by_memory(passes))),
        ("small_map", format!("{} kB", 4 * 100 * 100 / 1000)),
        ("tiles", time(ms("tiles"))),
        ("tiles_faster", times(large)),
        ("tiles_faster_004", times(small)),
        ("vector_exp", time(ms("vector exp"))),
        ("vector_exp_faster", times(exp)),
        ("exp_part", format!("{:.0} %", 100.0 * (1.0 - 1.0 / exp))),
        ("exp_ns", times(exp_ns)),
        ("exp_adds", format!("{:.0}", exp_ns * adds)),
        ("threads_time", time(ms("threads"))),
        ("threads_faster", times(faster("vector exp", "threads"))),
        ("packed", time(packed.median_ms)),
        ("packed_faster", times(faster("threads", "packed"))),
        ("packed_share", format!("{:.0} %", 100.0 * packed.share_of_peak)),
        ("whole_climb", format!("{:.0}", faster("plain", "packed"))),
        ("best_peer", best.who.clone()),
        ("best_peer_time", time(best.median_ms)),
        ("half_ulp", format!("{:.0e}", f32::EPSILON / 2.0)),
    ];
    insta::assert_snapshot!("ch11_reference", lines(&values));
}

#[test]
fn the_ladder_of_the_reference_run() {
    let reference = Reference::open();
    let heading = ["rung", "time", "faster", "GFLOP/s", "of the peak"];
    let mut text = format!(
        "{:<11}  {:>7}  {:>6}  {:>7}  {:>11}\n",
        heading[0], heading[1], heading[2], heading[3], heading[4]
    );
    for (nth, who) in RUNGS.iter().enumerate() {
        let row = reference.row(CASE, who);
        let faster = match nth {
            0 => String::new(),
            _ => format!("× {:.1}", reference.faster(CASE, RUNGS[nth - 1], who)),
        };
        let share = format!("{:.0} %", 100.0 * row.share_of_peak);
        writeln!(
            text,
            "{who:<11}  {:>7}  {faster:>6}  {:>7.0}  {share:>11}",
            time(row.median_ms),
            row.gflops
        )
        .unwrap();
    }
    insta::assert_snapshot!("ch11_ladder", text);
}

#[test]
fn slopes_of_the_reference_run() {
    let run = Reference::open().run;
    let mut text =
        format!("{:<18}  {:>12}  {:>14}\n", "", "time grows as", "memory grows as");
    let power = |slope: Option<f64>| {
        slope.map_or("–".to_owned(), |slope| format!("n^{slope:.2}"))
    };
    for who in record::growers(&run.growth) {
        let [time, memory] = record::slopes(&run.growth, who).map(power);
        writeln!(text, "{who:<18}  {time:>13}  {memory:>15}").unwrap();
    }
    let [time, memory] = record::slopes(&run.growth, "packed");
    let (time, memory) = (time.unwrap(), memory.unwrap());
    assert!(
        (1.7..2.3).contains(&time) && (0.7..1.2).contains(&memory),
        "{time} {memory}"
    );
    insta::assert_snapshot!("ch11_growth", text);
}
