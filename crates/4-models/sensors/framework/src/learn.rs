//! The training: steps over random windows, and the best weights kept.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use attention::{Rng, SeedableRng};
use candle_core::backprop::GradStore;
use candle_core::{Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::RngExt;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sensors::{Architecture, At, CAP, Prepared};

use crate::evaluate::{Evaluation, inputs};
use crate::model::Net;
use crate::start;

/// How a model is trained.
pub struct Plan {
    /// Rounds, each followed by a look at the validation engines.
    pub epochs: usize,
    /// Steps in a round.
    pub steps: usize,
    /// Windows in a step.
    pub batch: usize,
    /// The rate of the first step; it falls to a hundredth, along a half wave of a cosine.
    pub rate: f64,
    /// 2 computes the halves of a batch at once: the same numbers, sooner.
    pub threads: usize,
    /// Of the weights and the order of windows.
    pub seed: u64,
}

/// Gradients longer than this are cut to it.
const LONGEST: f64 = 1.0;

/// A batch is computed in halves, whatever the number of threads: so their number changes no
/// result.
const HALVES: usize = 2;

/// Trains, and gives the weights that were best on the validation engines.
pub fn learn(
    architecture: Architecture,
    prepared: &Prepared,
    plan: &Plan,
    stopped: &AtomicBool,
) -> Result<Net> {
    let d_in = prepared.scale.sensors.len();
    let net =
        Net::new(architecture, d_in, start::weights(architecture, d_in, plan.seed)?)?;
    let vars: Vec<Var> = net.named().into_iter().map(|(_, var)| var).collect();
    let config = ParamsAdamW { lr: plan.rate, weight_decay: 0.0, ..Default::default() };
    let mut optimiser = AdamW::new(vars.clone(), config)?;
    let rng = &mut Rng::seed_from_u64(!plan.seed);
    let pools = pools()?;
    let (began, all) = (Instant::now(), (plan.epochs * plan.steps) as f64);
    let mut best: Option<(f64, Vec<Tensor>)> = None;
    'training: for epoch in 0..plan.epochs {
        let mut loss = 0.0;
        for step in 0..plan.steps {
            if stopped.load(Ordering::Relaxed) {
                println!("stopped in round {}", epoch + 1);
                break 'training;
            }
            let done = (epoch * plan.steps + step) as f64 / all;
            let part = 0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
            optimiser.set_learning_rate(plan.rate * part);
            let batch = drawn(&prepared.train.at, plan.batch, rng);
            let (of_batch, gradients) =
                gradients(&net, &vars, prepared, &batch, plan, &pools)?;
            ensure!(of_batch.is_finite(), "the loss is {of_batch}: try a lower --rate");
            optimiser.step(&gradients)?;
            loss += of_batch / plan.steps as f64;
            show(epoch, step, plan, began);
        }
        let judged = Evaluation::of(&net, &prepared.validation, 7)?;
        let is_best = best.as_ref().is_none_or(|(rmse, _)| judged.rmse < *rmse);
        if is_best {
            let copies = vars.iter().map(|var| var.copy());
            best = Some((judged.rmse, copies.collect::<candle_core::Result<_>>()?));
        }
        println!(
            "round {:>2} of {}: RMSE {:5.2} in training, {:5.2} on validation{}, {:.0} s",
            epoch + 1,
            plan.epochs,
            CAP * loss.sqrt(),
            judged.rmse,
            if is_best { " (best)" } else { "" },
            began.elapsed().as_secs_f64(),
        );
    }
    let (_, weights) = best.context("stopped before the first round was over")?;
    for (var, weight) in vars.iter().zip(weights) {
        var.set(&weight)?;
    }
    Ok(net)
}

/// Random windows, any more than once.
fn drawn(all: &[At], n: usize, rng: &mut Rng) -> Vec<At> {
    let place = |rng: &mut Rng| (rng.random::<f64>() * all.len() as f64) as usize;
    (0..n).map(|_| all[place(rng).min(all.len() - 1)]).collect()
}

/// One thread for each half, with a pool of its own: candle's products ask the pool that
/// they run in, and small products are slower on several threads.
fn pools() -> Result<Vec<ThreadPool>> {
    let pool = |_| Ok(ThreadPoolBuilder::new().num_threads(1).build()?);
    (0..HALVES).map(pool).collect()
}

/// The mean squared error of a batch, and its gradients.
fn gradients(
    net: &Net,
    vars: &[Var],
    prepared: &Prepared,
    batch: &[At],
    plan: &Plan,
    pools: &[ThreadPool],
) -> Result<(f64, GradStore)> {
    let half = |part: &[At]| -> Result<(f64, GradStore)> {
        let windows = inputs(&prepared.train, part, net.d_in())?;
        let targets: Vec<f32> =
            part.iter().map(|at| (at.target() / CAP) as f32).collect();
        let targets = Tensor::new(targets, windows.device())?;
        let errors = (net.forward(&windows)?.part - targets)?;
        let loss = (errors.sqr()?.sum_all()? / batch.len() as f64)?;
        Ok((f64::from(loss.to_scalar::<f32>()?), loss.backward()?))
    };
    let parts = batch.chunks(batch.len().div_ceil(HALVES)).zip(pools);
    let halves: Vec<Result<(f64, GradStore)>> = if plan.threads < 2 {
        parts.map(|(part, pool)| pool.install(|| half(part))).collect()
    } else {
        std::thread::scope(|scope| {
            let run = |(part, pool): (_, &'_ ThreadPool)| pool.install(|| half(part));
            let started: Vec<_> =
                parts.map(|both| scope.spawn(move || run(both))).collect();
            let ended = started.into_iter().map(|thread| thread.join());
            ended.map(|it| it.map_err(|_| anyhow::anyhow!("a thread failed"))?).collect()
        })
    };
    let mut halves = halves.into_iter();
    let (mut loss, mut all) = halves.next().context("an empty batch")??;
    for half in halves {
        let (more, gradients) = half?;
        loss += more;
        for var in vars {
            let (Some(a), Some(b)) = (all.get(var), gradients.get(var)) else { continue };
            let sum = (a + b)?;
            all.insert(var, sum);
        }
    }
    cut(&mut all, vars)?;
    Ok((loss, all))
}

/// Gradients of at most a length.
fn cut(gradients: &mut GradStore, vars: &[Var]) -> Result<()> {
    let mut squares = 0.0;
    for gradient in vars.iter().filter_map(|var| gradients.get(var)) {
        squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
    }
    let length = squares.sqrt();
    if length > LONGEST {
        for var in vars {
            let shorter = match gradients.get(var) {
                Some(gradient) => (gradient * (LONGEST / length))?,
                None => continue,
            };
            gradients.insert(var, shorter);
        }
    }
    Ok(())
}

/// How far it is, on a terminal.
fn show(epoch: usize, step: usize, plan: &Plan, began: Instant) {
    let mut out = std::io::stdout();
    if !out.is_terminal() {
        return;
    }
    let (done, all) = (epoch * plan.steps + step + 1, plan.epochs * plan.steps);
    let left = began.elapsed().as_secs_f64() * (all - done) as f64 / done as f64;
    print!("\r  step {done} of {all}, about {left:.0} s left   \r");
    let _ = out.flush();
}
