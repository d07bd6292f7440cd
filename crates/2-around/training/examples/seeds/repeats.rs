//! Repeated tokens with two layers, and with what two layers are compared with.
//!
//! Fixed before the runs of margins and of single paths. The answer comes **through the second
//! layer's heads** if those alone bring more than half of the margin of logits with nine seeds
//! of ten or more. With a seed, heads compose **by the part of the margin of scores that is
//! largest** (neither, Q, K, both), and by the path that is missed most (queries, keys, values,
//! logits). What `carried` measures foretells both: K and keys where a head hands on which
//! token, Q and queries where it hands on a place; nine seeds of ten or more must agree.
//! Controls: fresh models, the same heads with what they write rotated at random, which must
//! bring less than half as much in each of ten draws, and the same path of the other heads of
//! the layer.

use std::fs;
use std::time::Instant;

use ablation::Replacement;
use anyhow::{Result, bail};
use attention::{Matrix, Rng, SeedableRng};
use serde_json::{Map, Value, json};
use training::repeats::{
    Architecture, Carried, CompositionScores, HeadShares, Margins, Mistakes, PathEnd,
    Predictor, Repeats, Sequences, StackAblation,
};
use training::{Schedule, Trainer, Training};

use crate::file;
use crate::run::{SEEDS, round, rounded, rows};

/// What is trained on what.
#[derive(Clone)]
struct Setting {
    name: &'static str,
    task: Repeats,
    built: Architecture,
    schedule: Schedule,
    n_seeds: usize,
}

/// Four times as large, four times as long: half of the seeds.
const N_SEEDS_LARGE: usize = 5;

/// How many times what heads write is rotated.
const N_ROTATIONS: usize = 10;

/// So many looks, for curves that tell which came first.
const N_LOOKS: usize = 60;

/// Two layers; one as large, and two that are four times larger; two layers without
/// positions, and without residuals; and the small world with two layers and with one. The
/// seed is set later.
fn settings() -> [Setting; 8] {
    let two = Architecture::TWO_LAYERS;
    let large = |name, built| Setting {
        name,
        task: Repeats::default(),
        built,
        schedule: Schedule { n_looks: N_LOOKS, ..Schedule::usual(0) },
        n_seeds: SEEDS.count(),
    };
    let four_times =
        |name, built| Setting { n_seeds: N_SEEDS_LARGE, ..large(name, built) };
    let small = |name, built| Setting {
        task: Repeats::small(),
        schedule: Schedule::small(0),
        ..large(name, built)
    };
    [
        large("two layers", two),
        large("one layer", Architecture::ONE_WIDE_LAYER),
        four_times("one layer, 32 heads", Architecture::ONE_LAYER_OF_32),
        four_times("one layer, 256 wide", Architecture::ONE_LAYER_ON_256),
        large("no positions", Architecture { positions: false, ..two }),
        large("no residual", Architecture { residual: false, ..two }),
        small("two layers, small", Architecture::SMALL),
        small("one layer, small", Architecture::SMALL.in_one_layer()),
    ]
}

/// Every setting with every seed, or one setting, beside what is kept of the others.
pub fn runs(only: Option<&str>) -> Result<Vec<Value>> {
    let settings = settings();
    let names: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
    if let Some(only) = only.filter(|only| !names.contains(only)) {
        bail!("there is no setting {only}: {names:?}");
    }
    let mut runs = Vec::new();
    for mut setting in settings {
        if only.is_some_and(|only| only != setting.name) {
            continue;
        }
        for seed in SEEDS.take(setting.n_seeds) {
            setting.schedule.seed = seed;
            let start = Instant::now();
            let Setting { name, task, built, schedule, .. } = setting.clone();
            let trained = Trainer::new(task, schedule, |task, rng| {
                Predictor::random(built, task, rng)
            })?
            .finish()?;
            let score = 100.0 * trained.last().score;
            let seconds = start.elapsed().as_secs_f64();
            println!("{name}, seed {seed}: {score:5.1} %  {seconds:.1} s");
            runs.push(kept(&setting, &trained)?);
        }
    }
    // What is kept is read last: another setting may have been measured meanwhile.
    let kept: Vec<Value> = match only {
        None => Vec::new(),
        Some(_) => serde_json::from_str(&fs::read_to_string(file("repeats", "json"))?)?,
    };
    runs.extend(
        kept.into_iter()
            .filter(|run| Some(&run["built"]) != only.map(Value::from).as_ref()),
    );
    runs.sort_by_key(|run| names.iter().position(|name| run["built"] == *name));
    Ok(runs)
}

/// What is kept of a training: its scores on the way, where its heads look, and what
/// removing them costs.
fn kept(setting: &Setting, trained: &Training<Predictor>) -> Result<Value> {
    let Setting { name, built, schedule, .. } = setting;
    let seed = schedule.seed;
    let looks = &trained.looks;
    let removed = removed(seed, trained)?;
    let most = |of: fn(&HeadShares) -> &Matrix, layer: usize| {
        let layer = layer.min(built.n_layers - 1);
        let most = looks.iter().map(|look| of(&look.shares).row(layer).max());
        rounded(&most.collect::<Vec<_>>())
    };
    let losses: Vec<f64> = looks.iter().filter_map(|look| look.loss).collect();
    let mut run = json!({
        "built": name,
        "seed": seed,
        "parameters": trained.model.n_parameters(),
        "score": round(trained.last().score),
        "before": round(looks[0].score),
        "distractors": with_distractors(setting, trained)?,
        "curve": {
            "step": looks.iter().map(|look| look.step).collect::<Vec<_>>(),
            "loss": rounded(&losses),
            "score": rounded(&looks.iter().map(|look| look.score).collect::<Vec<_>>()),
            "previous_copied": most(|shares| &shares.previous_copied, 0),
            "last_same": most(|shares| &shares.last_same, 0),
            "after_last_same": most(|shares| &shares.after_last_same, 1),
        },
        "shares_before": shares(&looks[0].shares),
        "shares": shares(&trained.last().shares),
        "removed": by_how(&removed),
        "carried": carried(setting, trained, &removed)?,
        "composed_before": null,
        "composed": null,
        "rotated": null,
        "without_path": null,
    });
    if built.n_layers == 2 {
        run["composed_before"] = composed(&trained.before, &trained.test)?;
        run["composed"] = composed(&trained.model, &trained.test)?;
        run["rotated"] = rotated(seed, trained)?;
        run["without_path"] = without_path(setting, trained)?;
    }
    Ok(run)
}

/// What the head of the first layer hands on that is needed most: which token, or where.
fn carried(
    setting: &Setting,
    trained: &Training<Predictor>,
    removed: &[(Replacement, StackAblation)],
) -> Result<Value> {
    let mean = removed.iter().find(|(how, _)| *how == Replacement::Mean);
    let (Some((_, mean)), true) = (mean, setting.built.positions) else {
        return Ok(Value::Null);
    };
    let needed = mean.ablated.row(0).transpose().argmin().0;
    let Carried { which, place } = Carried::by(&trained.model, needed, &trained.test)?;
    Ok(json!({ "head": needed, "which": round(which), "place": round(place) }))
}

/// What is wrong on sequences that begin with two tokens that never come back; and the score
/// at the same places of the same sequences without them.
fn with_distractors(setting: &Setting, trained: &Training<Predictor>) -> Result<Value> {
    let rng = &mut Rng::seed_from_u64(setting.schedule.seed);
    let task = Repeats { n_distractors: 2, ..setting.task.clone() };
    let read = task.draw(setting.schedule.n_test, rng)?;
    let Mistakes { all, distractors } = trained.model.mistakes(&read)?;
    Ok(json!({
        "score": round(trained.model.score(&read)?),
        "score_without": round(trained.model.score(&read.without_distractors())?),
        "wrong": all,
        "named": distractors,
    }))
}

/// Which paths decide, and what the weights let one expect.
fn composed(model: &Predictor, test: &Sequences) -> Result<Value> {
    let Margins { scores, logits, apart } = Margins::of(model, test)?;
    let CompositionScores { q, k, v } = CompositionScores::of(model)?;
    Ok(json!({
        "scores": rows(&scores), "logits": rows(&logits), "apart": apart as f32,
        "q": rows(&q), "k": rows(&k), "v": rows(&v),
    }))
}

/// The margins if what heads write is rotated, draw by draw: of scores from neither, Q, K and
/// both, and of logits through no head, the first layer's, the second's and both.
fn rotated(seed: u64, trained: &Training<Predictor>) -> Result<Value> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut draws = Vec::new();
    for _ in 0..N_ROTATIONS {
        let margins = Margins::rotated(&trained.model, &trained.test, rng)?;
        let (scores, logits) = (margins.by_composition(), margins.by_layer());
        draws.push(json!({
            "scores": rounded(&[scores.none, scores.q, scores.k, scores.both]),
            "logits": rounded(&[logits.none, logits.first, logits.second, logits.both]),
        }));
    }
    Ok(draws.into())
}

/// The scores without each head of the first layer where one kind of reader reads it.
fn without_path(setting: &Setting, trained: &Training<Predictor>) -> Result<Value> {
    let rng = &mut Rng::seed_from_u64(setting.schedule.seed);
    let mut scores = Map::new();
    for end in PathEnd::ALL {
        let of_head =
            |head| Ok(trained.model.score_path_ablated(head, end, &trained.test, rng)?);
        let of_end = (0..setting.built.n_heads).map(of_head);
        let of_end = of_end.collect::<Result<Vec<f64>>>()?;
        scores.insert(end.name().to_owned(), json!(rounded(&of_end)));
    }
    Ok(scores.into())
}

fn shares(shares: &HeadShares) -> Value {
    json!({
        "previous": rows(&shares.previous),
        "previous_copied": rows(&shares.previous_copied),
        "same_place": rows(&shares.same_place),
        "last_same": rows(&shares.last_same),
        "after_last_same": rows(&shares.after_last_same),
    })
}

/// The scores without each head and without random directions, by what replaces them.
fn removed(
    seed: u64,
    trained: &Training<Predictor>,
) -> Result<Vec<(Replacement, StackAblation)>> {
    let found = |how| {
        let rng = &mut Rng::seed_from_u64(seed);
        Ok((how, StackAblation::of(&trained.model, &trained.test, how, rng)?))
    };
    Replacement::ALL.into_iter().map(found).collect()
}

fn by_how(removed: &[(Replacement, StackAblation)]) -> Map<String, Value> {
    let of = |(how, found): &(Replacement, StackAblation)| {
        let scores =
            json!({ "heads": rows(&found.ablated), "random": rows(&found.controls) });
        (how.name().to_owned(), scores)
    };
    removed.iter().map(of).collect()
}
