//! What the reference run says.

use lessons::the_ladder::measured::WRITING;
use lessons::the_ladder::{CASE, work};
use runs::{Machine, Pass, Row, Run};

use crate::quote::{Table, assert_quote, percent, values};

/// The reference run, and what it says of ours and of the others in one case.
struct Reference {
    run: Run,
}

impl Reference {
    fn open() -> Self {
        Self { run: runs::reference().unwrap() }
    }

    fn machine(&self) -> &Machine {
        &self.run.machine
    }

    fn row(&self, case: &str, who: &str) -> &Row {
        self.row_of(case, who, Pass::Forward)
    }

    fn row_of(&self, case: &str, who: &str, pass: Pass) -> &Row {
        let case = self.run.case(case).unwrap_or_else(|| panic!("no case {case}"));
        let is_it = |row: &&Row| row.who == who && row.pass == pass.name();
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
        best.expect("a reference run has others next to ours")
    }
}

/// Three digits that count, with a unit.
pub fn time(ms: f64) -> String {
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

/// GB/s at which memory was read: in the reference run, and in that of a model that writes,
/// on a machine of the same kind on another day.
pub fn bandwidths() -> [f64; 2] {
    let said = WRITING.split_once("memory read at ").expect("the bandwidth").1;
    let said = said.split_once(" GB/s").expect("in GB/s").0.parse().unwrap();
    [Reference::open().machine().bandwidth_gb_s, said]
}

/// Nanoseconds of a softmax for each entry of a map, as written and over slices.
fn softmax_ns() -> [f64; 2] {
    const WIDTHS: &str =
        include_str!("../../../crates/tools/bench/benches/widths/measured.txt");
    ["as written ", "the same loops over slices "].map(|name| {
        let line = WIDTHS.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        line.trim().parse().unwrap()
    })
}

/// Seconds, with two digits after the point.
fn seconds(ms: f64) -> String {
    format!("{:.2} s", ms / 1e3)
}

const RUNGS: [&str; 6] =
    ["plain", "one product", "tiles", "vector exp", "threads", "packed"];

fn of_machine(machine: &Machine) -> [(&'static str, String); 9] {
    let [_, other] = bandwidths();
    [
        ("processor", machine.processor.clone()),
        ("simd", machine.simd.clone()),
        ("versions", versions(machine)),
        ("threads", machine.threads.to_string()),
        ("peak", format!("{:.0}", machine.fma_peak_gflops)),
        ("bandwidth", format!("{:.0}", machine.bandwidth_gb_s)),
        ("bandwidth_other", format!("{other:.0}")),
        ("ridge", format!("{:.1}", machine.fma_peak_gflops / machine.bandwidth_gb_s)),
        ("ridge_other", format!("{:.1}", machine.fma_peak_gflops / other)),
    ]
}

/// What tiles gained, and the part of it that loops over slices bring without tiles. Both
/// that part and the traffic of the maps leave more than a third unexplained.
fn what_tiles_gain(
    reference: &Reference,
    map_entries: usize,
    traffic_ms: f64,
) -> [(&'static str, String); 2] {
    let gained = reference.ms(CASE, "one product") - reference.ms(CASE, "tiles");
    let [as_written, slices] = softmax_ns();
    let by_slices = (as_written - slices) * map_entries as f64 / 1e6;
    assert!(by_slices + traffic_ms < 0.6 * gained, "{by_slices} {traffic_ms} {gained}");
    [("tiles_gained", seconds(gained)), ("tiles_by_slices", seconds(by_slices))]
}

/// What the text says in words.
#[test]
fn each_rung_is_faster_as_the_text_says() {
    let reference = Reference::open();
    let (machine, packed) = (reference.machine(), reference.row(CASE, "packed"));
    let faster = |slow, fast| reference.faster(CASE, slow, fast);
    let one_product = faster("plain", "one product");
    assert!((0.85..1.18).contains(&one_product), "one product: × {one_product:.2}");
    let (large, small) =
        (faster("one product", "tiles"), reference.faster("004", "one product", "tiles"));
    assert!(large > 1.3 && small < 0.8 * large, "tiles: × {large:.2}, × {small:.2}");
    assert!(faster("vector exp", "threads") > 0.7 * machine.threads as f64);
    assert!(faster("threads", "packed") > 1.25 && packed.share_of_peak(machine) > 0.6);
}

#[test]
fn what_the_reference_run_says() {
    let reference = Reference::open();
    let (work, machine) = (work().unwrap(), reference.machine());
    let ms = |who| reference.ms(CASE, who);
    let faster = |slow, fast| reference.faster(CASE, slow, fast);
    let least = work.layer().operations as f64 / machine.fma_peak_gflops / 1e6;
    let by_memory = |bytes: usize| bytes as f64 / machine.bandwidth_gb_s / 1e6;
    let decode = |bandwidth: f64| {
        percent(work.decode("", 4).intensity() * bandwidth / machine.fma_peak_gflops)
    };
    let passes = 9 * 4 * work.map_entries();
    let exp_ns = (ms("tiles") - ms("vector exp")) * 1e6 / work.map_entries() as f64;
    // Multiply-adds a nanosecond of one thread.
    let adds = machine.fma_peak_gflops / 2.0 / machine.threads as f64;
    let (best, packed) = (reference.best_peer(CASE), reference.row(CASE, "packed"));

    let (large, small) =
        (faster("one product", "tiles"), reference.faster("004", "one product", "tiles"));
    let exp = faster("tiles", "vector exp");
    assert!(exp > 1.25 && exp_ns * adds > 0.7 * 128.0, "exp: × {exp:.2}, {exp_ns:.2} ns");
    assert!(packed.median_ms < best.median_ms);

    let times = |x: f64| format!("{x:.1}");
    let mut said = of_machine(machine).to_vec();
    said.extend([
        // Memory lets one token with a cache reach no more of the peak than this.
        ("decode_share", decode(machine.bandwidth_gb_s)),
        ("decode_share_other", decode(bandwidths()[1])),
        ("least", time(least)),
        ("plain", time(ms("plain"))),
        ("plain_times", format!("{:.0}", ms("plain") / least)),
        ("one_product", time(ms("one product"))),
        ("saved_time", time(by_memory(2 * 4 * 4096 * 512))),
        ("passes_bytes", format!("{:.1} GB", passes as f64 / 1e9)),
        ("passes_time", time(by_memory(passes))),
        ("tiles_faster", times(large)),
        ("tiles_faster_004", times(small)),
        ("exp_part", percent(1.0 - 1.0 / exp)),
        ("exp_ns", times(exp_ns)),
        ("exp_adds", format!("{:.0}", exp_ns * adds)),
        ("threads_faster", times(faster("vector exp", "threads"))),
        ("packed", time(packed.median_ms)),
        ("packed_share", percent(packed.share_of_peak(machine))),
        ("whole_climb", times(faster("plain", "packed"))),
        ("half_ulp", format!("{:.0e}", f32::EPSILON / 2.0)),
    ]);
    said.extend(what_tiles_gain(&reference, work.map_entries(), by_memory(passes)));
    assert_quote!("the_ladder_reference", values(&said));
}

/// What the text says of packing the weights anew: nothing that shows but in the smallest.
#[test]
fn packing_the_weights_anew() {
    let reference = Reference::open();
    let of = |case, who| reference.row_of(case, who, Pass::ForwardBackward).median_ms;
    for case in ["004", "1k-causal", "4k"] {
        let slower = of(case, "packed anew") / of(case, "packed");
        assert!((0.95..1.05).contains(&slower), "{case}: × {slower:.2}");
    }
    let [packed, anew] = ["packed", "packed anew"].map(|who| time(of("003", who)));
    let quoted = values(&[("packed_003", packed), ("anew_003", anew)]);
    assert_quote!("the_ladder_packed_anew", quoted);
}

#[test]
fn a_processor_of_twice_the_width() {
    let peak = runs::wide().unwrap().machine.fma_peak_gflops;
    assert_quote!("the_ladder_wide", values(&[("wide_peak", format!("{peak:.0}"))]));
}

#[test]
fn the_ladder_of_the_reference_run() {
    let reference = Reference::open();
    let mut table = Table::new(["rung", "time", "faster", "GFLOP/s", "of the peak"]);
    for (nth, who) in RUNGS.iter().enumerate() {
        let row = reference.row(CASE, who);
        let faster = match nth {
            0 => String::new(),
            _ => format!("× {:.1}", reference.faster(CASE, RUNGS[nth - 1], who)),
        };
        let (time, gflops) = (time(row.median_ms), format!("{:.0}", row.gflops));
        table.row([
            *who,
            &time,
            &faster,
            &gflops,
            &percent(row.share_of_peak(reference.machine())),
        ]);
    }
    assert_quote!("the_ladder_ladder", table.text());
}

#[test]
fn slopes_of_the_reference_run() {
    let run = Reference::open().run;
    let [time, memory] = runs::slopes(&run.growth, "packed").map(Option::unwrap);
    assert!(
        (1.7..2.3).contains(&time) && (0.7..1.2).contains(&memory),
        "{time} {memory}"
    );
}
