//! `cargo learn train names`: a whole GPT from nothing, on first names.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use attention::{Rng, SeedableRng, thousands};
use gpt::{Architecture, Model, NAMES, Rung, Schedule, Split, Training, gpt2};
use workshop::paths;
use workshop::progress;

/// So many names are written: some to be shown, all to be counted.
const N_WRITTEN: usize = 200;
const N_SHOWN: usize = 20;

/// Trains, compares with letters that are counted, and writes names.
pub(super) fn trained(
    seed: u64,
    n_steps: usize,
    save: Option<&Path>,
    stop: &AtomicBool,
) -> Result<String> {
    ensure!(n_steps > 0, "the number of steps is 0, and must be at least 1");
    let split = Split::of(NAMES.lines());
    let rng = &mut Rng::seed_from_u64(seed);
    // In f64: the names that it writes are the same on every machine.
    let sizes = Architecture::SMALL;
    let mut training = Training::new(Rung::BATCH, sizes, Schedule::small(n_steps), rng)?;
    let bar = progress::steps(n_steps);
    while let Some(loss) = training.step(&split.learned, rng)? {
        bar.set_position(training.n_taken() as u64);
        bar.set_message(format!("loss {loss:.3}"));
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    bar.finish_and_clear();
    let n_taken = training.n_taken();
    let parameters = training.parameters();
    let model = Model::new(sizes, parameters)?;
    let loss = model.loss(&split.test)?;
    ensure!(loss.is_finite(), "the training diverged after {n_taken} steps");

    let written = (0..N_WRITTEN).map(|_| model.write(0.8, rng));
    let written = written.collect::<attention::Result<Vec<_>>>()?;
    let mut text = format!(
        "One block of 4 heads, {} parameters; seed {seed}; {n_taken} steps, each on 8 of {} names\n\n",
        thousands(parameters.len()),
        thousands(split.learned.len()),
    );
    text += &report(&split, loss, &written)?;
    if let Some(folder) = save {
        gpt2::write(folder, sizes, parameters)?;
        let folder = paths::shown(folder);
        writeln!(
            text,
            "\nSaved in {folder}: a name goes on with\n\n  \
             cargo learn write --model {folder} --tokens 12 \"<end>mar\"\n\nand its heads \
             are seen with\n\n  cargo learn look --model {folder} \"<end>marie\""
        )?;
    }
    Ok(text)
}

/// The loss beside those of counts, and what was written.
fn report(split: &Split, loss: f64, written: &[String]) -> Result<String> {
    let mut text = format!(
        "The loss on {} names that it never saw, beside letters that are only counted:\n\n",
        split.test.len()
    );
    let counted =
        ["each letter by itself", "after the letter before", "after the two before"];
    for (n_before, name) in counted.into_iter().enumerate() {
        let loss = split.counted_loss(n_before);
        writeln!(text, "  {name:<24} {loss:.3}")?;
    }
    writeln!(
        text,
        "  {:<24} {loss:.3}\n\nNames that it writes, at temperature 0.8:\n",
        "the model"
    )?;
    for names in written[..N_SHOWN].chunks(5) {
        let names: String = names.iter().map(|name| format!("  {name:<16}")).collect();
        writeln!(text, "{}", names.trim_end())?;
    }
    let [learned, kept, new] = split.count(written);
    writeln!(
        text,
        "\nOf these {N_WRITTEN}, it learned from {learned} and never saw {kept}; {new} are in no \
         list."
    )?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_is_reported_and_saved() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let report = trained(1, 20, Some(folder.path()), &stop).unwrap();
        for part in
            ["4,000 parameters; seed 1; 20 steps", "2.336", "the model", "Of these 200, "]
        {
            assert!(report.contains(part), "{part} is missing from\n{report}");
        }
        assert!(report.lines().all(|line| line.chars().count() <= 100), "{report}");
        for file in ["config.json", "model.safetensors", "tokenizer.json"] {
            assert!(folder.path().join(file).is_file(), "{file}");
        }
        let refused = trained(1, 0, None, &stop).unwrap_err();
        insta::assert_snapshot!(refused, @"the number of steps is 0, and must be at least 1");
    }
}
