//! Sensor windows: what eight heads explain, what each is needed for, what they do.

use attention::thousands;
use lessons::heads_that_specialise;
use lessons::numbers::ends;
use serde_json::Value;
use training::{SPECIALISATIONS, Task, Windows};

use super::{lost, numbers};
use crate::quote::{Table, assert_quote, values};

/// How much R² a head's removal must cost a target, for the target to need the head.
const NEEDS: f64 = 0.1;

/// Lines of at most so many characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        match last.chars().count() + 1 + word.chars().count() {
            _ if last.is_empty() => last.push_str(word),
            n if n <= width => *last = format!("{last} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[test]
fn windows_and_their_specialisations() {
    let of = heads_that_specialise::windows(8).unwrap();
    let mut quoted: Vec<(String, String)> = Vec::new();
    let mut appear = 0;
    let mut table = Table::new([
        ("", -15),
        ("fresh", 7),
        ("trained", 9),
        ("  a head has it with", -20),
    ]);
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let seeds = |key: &str| {
            let found = |run: &&Value| !run[key][i].as_array().unwrap().is_empty();
            of.iter().filter(found).count()
        };
        let (before, after) = (seeds("found_before"), seeds("found"));
        let counts = [before.to_string(), after.to_string()];
        for (nth, line) in wrapped(criterion, 58).iter().enumerate() {
            let first =
                |cell: &str| if nth == 0 { cell.to_owned() } else { String::new() };
            let [before, after] = counts.each_ref().map(|count| first(count));
            table.row([first(name), before, after, format!("  {line}")]);
        }
        appear += usize::from(after > 0);
    }
    quoted.push(("appear".into(), appear.to_string()));
    quoted.push(("never".into(), (SPECIALISATIONS.len() - appear).to_string()));
    assert_quote!("heads_that_specialise_windows", table.text());

    assert_quote!("heads_that_specialise_targets", targets(&of).text());

    // Of the targets whose answer stands at one reading.
    let (mut agree, mut all) = (0, 0);
    let mut several = Vec::new();
    for run in &of {
        for r in [1, 2, 5, 6] {
            all += 1;
            agree +=
                usize::from(run["removed"]["mean"]["needed"][r] == run["attending"][r]);
        }
        let lost = lost(run);
        let most =
            lost.iter().map(|row| row.iter().filter(|&&lost| lost >= NEEDS).count());
        several.push(most.max().unwrap() as f64);
    }
    let [least, _, most] = ends(several);
    let schedule = Windows::schedule(0);
    quoted.extend([
        ("agree".into(), agree.to_string()),
        ("of".into(), all.to_string()),
        ("busiest_least".into(), least.to_string()),
        ("busiest_most".into(), most.to_string()),
        ("needs".into(), NEEDS.to_string()),
        ("window_steps".into(), thousands(schedule.n_steps)),
        ("window_width".into(), Windows::default().d_model().to_string()),
    ]);
    assert_quote!("heads_that_specialise_windows_values", values(&quoted));
}

/// How well eight heads and one give each target, and how many of eight it needs.
fn targets(of: &[Value]) -> Table<4> {
    let targets = Windows::default().targets().to_vec();
    let single = heads_that_specialise::windows(1).unwrap();
    let mut table =
        Table::new([("R²", -10), ("8 heads", 13), ("1 head", 13), ("needs", 8)]);
    for (r, target) in targets.iter().enumerate() {
        let r2 = |runs: &[Value]| {
            let [least, median, _] =
                ends(runs.iter().map(|run| numbers(&run["scores"])[r]));
            format!("{median:.2} ({least:.2})")
        };
        let needs =
            |run: &Value| lost(run).iter().filter(|row| row[r] >= NEEDS).count() as f64;
        let [least, _, most] = ends(of.iter().map(needs));
        let needs = format!("{least}–{most}");
        table.row([*target, &r2(of), &r2(&single), &needs]);
    }
    table
}
