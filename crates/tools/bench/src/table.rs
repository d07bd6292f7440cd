//! How what was found is printed.

use runs::{Machine, Row};

/// `1.5 GiB`: three digits at most before the point, one after it.
pub fn bytes(n: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut size, mut unit) = (n as f64, 0);
    while size >= 1023.95 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{size:.1} {}", units[unit]) }
}

/// Where it was measured, in two lines.
pub fn machine(machine: &Machine) -> String {
    let Machine { processor, simd, threads, versions, .. } = machine;
    let threads = format!("{threads} thread{}", if *threads == 1 { "" } else { "s" });
    let versions: Vec<_> =
        versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let cycle = machine.multiply_adds_a_cycle().map_or(String::new(), |n| {
        let clock = machine.clock_ghz.unwrap_or(f64::NAN);
        format!(" ({n:.0} multiply-adds a cycle and thread, at {clock:.1} GHz)")
    });
    format!(
        "{processor}, {threads}, {simd}; {}\nFMA peak {:.0} GFLOP/s{cycle}, memory read at \
         {:.1} GB/s\n",
        versions.join(", "),
        machine.fma_peak_gflops,
        machine.bandwidth_gb_s
    )
}

/// The rows of one pass, and what must be said of them.
pub fn rows(title: &str, machine: &Machine, rows: &[Row], remarks: &[String]) -> String {
    let mut text = format!("\n{title}\n");
    if !rows.is_empty() {
        text += &grid(machine, rows);
    }
    for remark in remarks {
        text += &format!("  {}\n", remark.replace('\n', "\n    "));
    }
    text
}

fn grid(machine: &Machine, rows: &[Row]) -> String {
    let mut cells = vec![[
        "".to_string(),
        "min ms".into(),
        "median".into(),
        "GFLOP/s".into(),
        format!("of {:.0}", machine.fma_peak_gflops),
        "× peer".into(),
        "memory".into(),
        "|Δ|".into(),
    ]];
    cells.extend(rows.iter().map(|row| {
        [
            row.who.clone(),
            ms(row.min_ms),
            ms(row.median_ms),
            format!("{:.0}", row.gflops),
            format!("{:.0} %", 100.0 * row.share_of_peak(machine)),
            row.speed_relative_to_best_peer
                .map_or("–".into(), |speed| format!("{speed:.2}")),
            row.peak_bytes.map_or("–".into(), bytes),
            format!("{:.0e}", row.difference),
        ]
    }));
    let width = |c: usize| cells.iter().map(|row| row[c].chars().count()).max();
    let widths: Vec<usize> = (0..8).map(|c| width(c).unwrap_or(0)).collect();
    let line = |row: &[String; 8]| {
        let rest = (1..8).map(|c| format!("  {:>1$}", row[c], widths[c]));
        format!("  {:<1$}{2}\n", row[0], widths[0], rest.collect::<String>())
    };
    cells.iter().map(line).collect()
}

/// Milliseconds to three digits or to the microsecond.
fn ms(ms: f64) -> String {
    let digits = match ms {
        ms if ms < 10.0 => 3,
        ms if ms < 100.0 => 1,
        _ => 0,
    };
    format!("{ms:.digits$}")
}

/// What the columns mean, once a run.
pub const LEGEND: &str = "
min ms, median: of the rounds that count, in each of which everyone ran once, in turn.
GFLOP/s: from the median; the multiply-adds of the four projections and of what the mask
  leaves, the backward pass counted as two forward passes; softmax not counted.
product: all tokens by W^Q and nothing else, by the product that each side's layer calls.
of N: the share of the FMA peak: the best that was measured in this run so far, before it
  and between passes.
× peer: how many times as fast as the fastest peer, by the medians; above 1 is faster.
memory: the peak beyond input, parameters and results, as the system counts it, which is
  coarse below 1 MiB.
|Δ|: how far from f64, at most 1e-4: the largest difference of the output; with gradients,
  the largest difference as a share of each result's largest number.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn row(who: &str, side: &str, median_ms: f64) -> Row {
        Row {
            who: who.into(),
            side: side.into(),
            pass: "forward".into(),
            difference: 3.2e-7,
            min_ms: 0.9 * median_ms,
            median_ms,
            gflops: 2000.0 / median_ms,
            speed_relative_to_best_peer: Some(20.0 / median_ms),
            peak_bytes: Some(5 << 20),
        }
    }

    fn abacus(fma_peak_gflops: f64, clock_ghz: Option<f64>) -> Machine {
        Machine {
            processor: "Abacus 3".into(),
            simd: "AVX2".into(),
            threads: 1,
            fma_peak_gflops,
            clock_ghz,
            bandwidth_gb_s: 12.34,
            versions: [("rustc", "1.91.0"), ("PyTorch", "2.15.0")]
                .map(|(name, version)| (name.to_string(), version.to_string()))
                .into(),
        }
    }

    #[test]
    fn a_table_of_ours_and_of_peers() {
        let slow = Row { peak_bytes: None, ..row("plain", "ours", 123.4) };
        let rows = [slow, row("packed", "ours", 9.0), row("PyTorch sdpa", "peer", 20.0)];
        let remarks = ["burn is left out: it stopped:\nno memory".to_string()];
        insta::assert_snapshot!(super::rows("004 (32, 100, 512), 8 heads", &abacus(500.0, None), &rows, &remarks), @"

        004 (32, 100, 512), 8 heads
                        min ms  median  GFLOP/s  of 500  × peer   memory   |Δ|
          plain            111     123       16     3 %    0.16        –  3e-7
          packed         8.100   9.000      222    44 %    2.22  5.0 MiB  3e-7
          PyTorch sdpa    18.0    20.0      100    20 %    1.00  5.0 MiB  3e-7
          burn is left out: it stopped:
            no memory
        ");
    }

    #[test]
    fn without_peers_there_is_no_relative_speed() {
        let mut rows = [row("plain", "ours", 123.4)];
        runs::compare(&mut rows);
        assert!(grid(&abacus(1.0, None), &rows).contains(" – "));
    }

    #[test]
    fn sizes_have_a_unit_that_fits() {
        let sizes = [0, 1023, 1024, 5 << 20, 1 << 30, (1 << 30) - 1];
        let texts = sizes.map(bytes).join(", ");
        insta::assert_snapshot!(texts, @"0 B, 1023 B, 1.0 KiB, 5.0 MiB, 1.0 GiB, 1.0 GiB");
    }

    #[test]
    fn the_machine_is_named_with_versions() {
        let told = [None, Some(3.1)].map(|clock| machine(&abacus(99.6, clock))).concat();
        insta::assert_snapshot!(told, @"
        Abacus 3, 1 thread, AVX2; PyTorch 2.15.0, rustc 1.91.0
        FMA peak 100 GFLOP/s, memory read at 12.3 GB/s
        Abacus 3, 1 thread, AVX2; PyTorch 2.15.0, rustc 1.91.0
        FMA peak 100 GFLOP/s (16 multiply-adds a cycle and thread, at 3.1 GHz), memory read at 12.3 GB/s
        ");
    }
}
