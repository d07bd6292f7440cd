//! `cargo learn attend`: a reader's own layer and tensors, through the stages.

mod finite;
mod inputs;
mod masks;
mod names;
mod precision;
mod report;
mod roles;
mod stages;

use std::path::PathBuf;

use anyhow::Result;
use attention::{Attended, LayerParameters};
use clap::ValueEnum;
use model_files::{Unused, Use, beside_layer, beside_metadata, find_layer, read_layer};
use tensors::{Existing, NewTensor, Stored, TensorFile, check_output, save};

use inputs::Inputs;
use report::Report;
use roles::Role;
use stages::Stage;

/// Send your own tensors through your own PyTorch layer
///
/// WEIGHTS and INPUT are safetensors files, and may be the same one. The results are
/// written to a third: `output`, of the rank of `query`, and `attn_heads`, the map of every
/// head, (batch, heads, n_q, n_kv).
///
/// Masks have PyTorch's polarity, True = blocked. A query that may attend to nothing gets
/// zeros, and its output is the bias of W^O (PyTorch gives NaN). A token with NaN makes NaN
/// of the rows that attend to it, and of no others.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The layer, under the names of PyTorch's nn.MultiheadAttention or of BERT
    weights: PathBuf,

    /// `query` and, if they differ, `key` (else: query) and `value` (else: key), each
    /// (n, d) or (batch, n, d); `key_padding_mask`, (batch, n_kv); `attn_mask`, (n_q, n_kv)
    /// or (batch · heads, n_q, n_kv). A mask of floats is added to the scaled scores. The
    /// masks of PyTorch's larger layers (`src_key_padding_mask`, `tgt_mask`, …) are taken,
    /// by the attention that they are of: `memory_mask` for `multihead_attn.` alone; what
    /// else would change the result is refused by its name
    input: PathBuf,

    /// The number of heads, which no file stores
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    heads: usize,

    /// How to compute it: in loops, head by head, with fused projections, or all of these,
    /// and fail if they differ
    #[arg(long, value_enum, default_value_t = Stage::All)]
    stage: Stage,

    /// No query sees the future: query i attends to key j where j <= i + (n_kv - n_q).
    /// Masks in INPUT hold as well
    #[arg(long)]
    causal: bool,

    /// The precision to compute in, and to write
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    dtype: Precision,

    /// Where to write
    #[arg(long, value_name = "OUT", default_value = "attended.safetensors")]
    output: PathBuf,

    /// Which layer of WEIGHTS, where there are several: what stands before the names of
    /// its tensors, such as `encoder.layers.0.self_attn.`
    #[arg(long)]
    prefix: Option<String>,

    /// Say what WEIGHTS and INPUT hold and is not used, and why that changes nothing
    #[arg(long)]
    unused: bool,

    /// Write over OUT if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Precision {
    F32,
    F64,
}

impl Args {
    fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Keep }
    }
}

/// Reads, computes, compares, reports, and then writes: whatever fails, nothing is written.
///
/// # Errors
/// What is wrong with a file, with the tensors in it, or with the place to write to; stages
/// that differ; at the end, a standard output that did not take all that was to be said.
pub fn run(args: Args) -> Result<()> {
    let inputs = [args.weights.as_path(), &args.input];
    check_output(&args.output, args.existing(), inputs)?;
    let weights = TensorFile::open(&args.weights)?;
    let layer = read_layer(&weights, args.heads, args.prefix.as_deref())?;
    let found = find_layer(&weights, args.prefix.as_deref())?;
    let role = Role::of(&weights, &found);
    let file = TensorFile::open(&args.input)?;
    let mut unused = unused(&args, role, &weights, &file)?;
    for file in [&weights, &file] {
        let notes = beside_metadata(file, &found, layer.dims(), args.causal)?;
        let is_new = |it: &Unused| !unused.contains(it);
        let notes: Vec<_> = notes.into_iter().filter(is_new).collect();
        unused.extend(notes);
    }
    let inputs = Inputs::read(&file, layer.dims(), (role, args.causal))?;
    let mut to = Report::default();
    report::layer(&mut to, weights.name(), &layer);
    report::inputs(&mut to, &inputs);
    if args.unused {
        report::unused(&mut to, &unused);
    }
    match args.dtype {
        Precision::F64 => compute(&mut to, &args, &layer, &inputs)?,
        Precision::F32 => {
            compute(&mut to, &args, &layer.cast::<f32>(), &inputs.cast::<f32>())?
        }
    }
    Ok(to.finish()?)
}

/// What both files hold and is not used; what would change the result is refused.
fn unused(
    args: &Args,
    role: Role,
    weights: &TensorFile,
    input: &TensorFile,
) -> Result<Vec<Unused>> {
    let is_one = args.weights.canonicalize()? == args.input.canonicalize()?;
    let of_input = |name: &str| match is_one {
        true => names::in_both(name, role),
        false => names::in_weights(name, role),
    };
    let of_layer = beside_layer(weights, args.prefix.as_deref(), of_input)?;
    let of_input = names::unused(input, role, is_one)?;
    let is_used =
        |it: &Unused| is_one && names::of_input(&it.name, role) == Some(Use::Used);
    let mut unused: Vec<_> = of_layer.into_iter().filter(|it| !is_used(it)).collect();
    let is_new = |it: &Unused| unused.iter().all(|other| other.name != it.name);
    let of_input: Vec<_> =
        of_input.into_iter().filter(|it| !is_one || is_new(it)).collect();
    unused.extend(of_input);
    Ok(unused)
}

fn compute<T: Stored>(
    to: &mut Report,
    args: &Args,
    layer: &LayerParameters<T>,
    inputs: &Inputs<T>,
) -> Result<()> {
    inputs.check_sums(layer.dims().n_heads())?;
    let results = args.stage.run(layer, inputs)?;
    if args.stage == Stage::All {
        stages::compare(to, layer, inputs, &results)?;
    }
    // Of several stages that agree, the last.
    let Some((_, attended)) = results.last() else { return Ok(()) };
    report::heads(to, attended);
    report::remarks(to, layer, inputs, attended);

    let tensors = tensors(inputs, attended)?;
    save(&args.output, &tensors, args.existing())?;
    report::written(to, &args.output, &tensors);
    Ok(())
}

/// `output` and `attn_heads` as PyTorch lays them out.
fn tensors<T: Stored>(
    inputs: &Inputs<T>,
    attended: &[Attended<T>],
) -> Result<[NewTensor; 2]> {
    let (n_q, d_model) = attended[0].out.shape();
    let (n_heads, n_kv) = (attended[0].attn.len(), attended[0].attn[0].ncols());
    let batch = attended.len();
    let batched = [batch, n_q, d_model];
    let output_shape = if inputs.is_batched { &batched[..] } else { &batched[1..] };
    let outputs = attended.iter().map(|one| &one.out);
    let maps = attended.iter().flat_map(|one| &one.attn);
    Ok([
        NewTensor::new("output", output_shape, outputs)?,
        NewTensor::new("attn_heads", &[batch, n_heads, n_q, n_kv], maps)?,
    ])
}
