//! Dates with one encoder block and one decoder block.
//!
//! What counts as an aligned head, and what each control must show, was fixed before it ran:
//! `training::dates::criteria`. Of the model as it is: the fresh model of the same seed; the
//! letters' parts shuffled so that none keeps its own; the maps judged by the parts of another
//! date in another form (`aligned_of_another`); the queries of another date, and the maps
//! judged by the date that is read (`aligned_asked_by_another`); what is left of the dates
//! without a head, with one alone, and without random directions; and the output of the
//! cross-attention moved among the letters. Trained: the same model with its output moved at
//! each step, kept by itself.

use std::time::Instant;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use serde_json::{Value, json};
use training::dates::{
    DateAblation, DateArchitecture, DateConverter, DateLook, DateTexts, Dates,
    JoinedConverter, MovedConverter, PartShares, Truth, criteria,
};
use training::{Schedule, Trainer, Training};

use crate::run::{of_seeds, round, rounded, rows};

/// Ten seeds of the usual setting.
pub fn runs() -> Result<Vec<Value>> {
    of_seeds(|seed| {
        let start = Instant::now();
        let built = DateArchitecture::default();
        let trained = trained(Dates::default(), Dates::schedule(seed), built)?;
        let seconds = start.elapsed().as_secs_f64();
        let whole = trained.last().whole;
        let is_met = whole >= criteria::LEAST_WHOLE && seconds <= criteria::MOST_SECONDS;
        let said = if is_met { "" } else { "  NOT AS THE CRITERIA SAY" };
        println!("dates, seed {seed}: {:5.1} %  {seconds:.1} s{said}", 100.0 * whole);
        kept(seed, &trained)
    })
}

/// Ten seeds with dates of four centuries, in which the second digit of a year must be looked
/// up. What this should change was fixed before any run: `criteria::YEARS_TO_LOOK_AT`.
pub fn century_runs() -> Result<Vec<Value>> {
    of_seeds(|seed| {
        let dates = Dates::of_years(criteria::YEARS_TO_LOOK_AT);
        let trained = trained(dates, Dates::schedule(seed), DateArchitecture::default())?;
        Ok(found(seed, trained.last()))
    })
}

/// What is kept of a training.
fn kept(seed: u64, trained: &Training<DateConverter>) -> Result<Value> {
    let Training { model, test, looks, .. } = trained;
    let planted = Truth::planted();
    let shuffled = Truth::shuffled(&mut Rng::seed_from_u64(seed));
    let others = test.of_another_form();
    let of_another = model.shares(test, &others)?;
    let asked_by_another = model.shares_asked_by(test, &others)?;
    let rng = &mut Rng::seed_from_u64(seed);
    let ablation = DateAblation::of(model, test, rng)?;
    let mut run = found(seed, trained.last());
    run["before"] = json!(round(looks[0].whole));
    run["aligned_before"] = json!(looks[0].shares.aligned(&planted));
    run["aligned_shuffled"] = json!(trained.last().shares.aligned(&shuffled));
    run["aligned_of_another"] = json!(of_another.aligned(&planted));
    run["aligned_asked_by_another"] = json!(asked_by_another.aligned(&planted));
    run["without"] = json!(rounded(&ablation.ablated));
    run["alone"] = json!(rounded(&ablation.alone));
    run["without_all"] = json!(round(ablation.all_ablated));
    run["random"] = json!(rounded(&ablation.random));
    run["random_scaled"] = json!(rounded(&ablation.scaled));
    run["scales"] = json!(rounded(&ablation.scales));
    run["needed"] = json!(ablation.needed(&ablation.random));
    run["needed_scaled"] = json!(ablation.needed(&ablation.scaled));
    keep_moved(&mut run, model, test, looks, rng)?;
    Ok(run)
}

/// The share of whole dates when the right letters are given, and when what they read is moved
/// too; and how many were whole on the way.
fn keep_moved(
    run: &mut Value,
    model: &DateConverter,
    test: &DateTexts,
    looks: &[DateLook],
    rng: &mut Rng,
) -> Result<()> {
    run["whole_given"] = json!(round(model.whole_moved(test, None)?));
    run["whole_moved"] = json!(round(model.whole_moved(test, Some(rng))?));
    run["curve"] = curve(looks);
    Ok(())
}

/// What is kept of the last look of every seed.
fn found(seed: u64, look: &DateLook) -> Value {
    json!({
        "seed": seed,
        "whole": round(look.whole),
        "aligned": look.shares.aligned(&Truth::planted()),
        "even": rows(&look.shares.even)[0],
        "shares": look.shares.of_head.iter().map(rows).collect::<Vec<_>>(),
    })
}

/// A converter of these sizes, trained to the end.
fn trained(
    task: Dates,
    schedule: Schedule,
    built: DateArchitecture,
) -> Result<Training<DateConverter>> {
    let begin = |_: &Dates, rng: &mut Rng| DateConverter::random(built, rng);
    Ok(Trainer::new(task, schedule, begin)?.finish()?)
}

/// How many dates were whole on the way.
fn curve<S>(looks: &[DateLook<S>]) -> Value {
    let (steps, wholes): (Vec<_>, Vec<_>) =
        looks.iter().map(|look| (look.step, look.whole)).unzip();
    json!({ "step": steps, "whole": rounded(&wholes) })
}

/// Ten seeds with the output of the cross-attention moved at each step: the share of whole
/// dates as it was trained, and when it writes as the other does.
pub fn moved_runs() -> Result<Vec<Value>> {
    of_seeds(|seed| {
        let trainer = Trainer::new(Dates::default(), Dates::schedule(seed), |_, rng| {
            let converter = DateConverter::random(DateArchitecture::default(), rng)?;
            let rng = Rng::seed_from_u64(seed);
            Ok(MovedConverter { converter, rng })
        })?;
        let trained = trainer.finish()?;
        let (model, rng) = (&trained.model.converter, &mut Rng::seed_from_u64(seed));
        let mut run = found(seed, trained.last());
        keep_moved(&mut run, model, &trained.test, &trained.looks, rng)?;
        Ok(run)
    })
}

/// Ten seeds with self-attention over both texts joined, at equal parameters: the control of a
/// cross-attention.
pub fn joined_runs() -> Result<Vec<Value>> {
    let both = DateArchitecture::default();
    let rng = &mut Rng::seed_from_u64(0);
    let built = JoinedConverter::as_large_as(both, rng)?;
    let of_both = DateConverter::random(both, rng)?.costs()?;
    let costs = JoinedConverter::random(built, rng)?.costs()?;
    println!("two texts, d_ff {}: {of_both:?}", both.d_ff);
    println!("joined,    d_ff {}: {costs:?}", built.d_ff);
    of_seeds(|seed| {
        let trainer = Trainer::new(Dates::default(), Dates::schedule(seed), |_, rng| {
            JoinedConverter::random(built, rng)
        })?;
        let mut run = kept_joined(seed, &trainer.finish()?);
        run["d_ff"] = json!([both.d_ff, built.d_ff]);
        run["parameters"] = json!([of_both.parameters, costs.parameters]);
        run["multiply_adds"] = json!([of_both.multiply_adds, costs.multiply_adds]);
        Ok(run)
    })
}

/// What is kept of such a training: block by block, head by head.
fn kept_joined(seed: u64, trained: &Training<JoinedConverter>) -> Value {
    let looks = &trained.looks;
    let planted = Truth::planted();
    let aligned = |look: &DateLook<Vec<PartShares>>| {
        look.shares.iter().map(|of| of.aligned(&planted)).collect::<Vec<_>>()
    };
    let of_heads = |shares: &PartShares| {
        shares.of_head.iter().map(rows).collect::<Vec<Vec<Vec<f64>>>>()
    };
    let last = trained.last();
    json!({
        "seed": seed,
        "whole": round(last.whole),
        "aligned": aligned(last),
        "aligned_before": aligned(&looks[0]),
        "even": rows(&last.shares[0].even),
        "shares": last.shares.iter().map(of_heads).collect::<Vec<_>>(),
        "curve": curve(looks),
    })
}

/// Five seeds of the small setting, on as many unseen dates as the usual one.
pub fn small_runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for (n_heads, seed) in [4, 1].into_iter().flat_map(|n| (0..5).map(move |s| (n, s))) {
        let start = Instant::now();
        let built = DateArchitecture { n_heads, ..DateArchitecture::small() };
        let schedule = Schedule { n_test: 1000, ..Dates::small_schedule(seed) };
        let trained = trained(Dates::default(), schedule, built)?;
        let seconds = start.elapsed().as_secs_f64();
        let look = trained.last();
        let whole = 100.0 * look.whole;
        println!(
            "dates small, {n_heads} heads, seed {seed}: {whole:.1} %  {seconds:.1} s"
        );
        runs.push(json!({
            "heads": n_heads,
            "seed": seed,
            "whole": round(look.whole),
            "aligned": look.shares.aligned(&Truth::planted()),
            "curve": curve(&trained.looks),
        }));
    }
    Ok(runs)
}

/// The model that comes with the crate: seed 1, the first with a head that aligns.
pub fn model() -> Result<Vec<u8>> {
    let seed = 1;
    let schedule = Dates::schedule(seed);
    let trained =
        trained(Dates::default(), schedule.clone(), DateArchitecture::default())?;
    let what = format!(
        "dates in six forms to 2031-03-12: an encoder and a decoder of one block each, \
         norms before, trained in {} steps of {} dates of 1950 to 2049 with seed {seed}; \
         on {} unseen dates {:.1} % are whole",
        schedule.n_steps,
        schedule.batch,
        schedule.n_test,
        100.0 * trained.last().whole,
    );
    println!("{what}");
    Ok(trained.model.to_safetensors(&what)?)
}
