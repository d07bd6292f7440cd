//! A record from a file: which tensor is which, by name and shape.
//!
//! What no name and no shape says is assumed, and every assumption is in
//! [`Reading::assumed`]; what is read, and who says how, is in [`Reading::given`].

mod kinds;
mod known;
mod masks;
mod positions;
mod settings;
mod tensors;
mod weights;

use std::cell::RefCell;
use std::collections::BTreeSet;

use ::tensors::{Tensor, TensorFile};

use crate::compare::{difference, spread};
use crate::digits::Digits;
use crate::recipe::Packing;
use crate::{Corner, Error, Intent, Pairing, Precision, Record, Result, State, computed};
use kinds::Kinds;
use settings::{
    BASE, CAP, CAUSAL, FILE, HEADS, KV_HEADS, Meant, Notes, ROTARY, SCALE, YOU,
    heads_in_words,
};
use tensors::{Layout, names_of};

/// So many entries are read, and no more: a gigabyte in f64.
const MOST_ENTRIES: u128 = 1 << 27;

/// So many scores are computed at a time, and no more: hundreds of layers are.
const MOST_SCORES: u128 = 1 << 25;

/// A layer as its reader describes it, where the file does not, or differs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// h.
    pub heads: Option<usize>,
    /// Heads of keys and values, if they are fewer.
    pub kv_heads: Option<usize>,
    /// A causal mask.
    pub is_causal: bool,
    /// Rotary positions.
    pub rotary: Option<Pairing>,
    /// Their base.
    pub base: Option<f64>,
    /// What scores are multiplied by.
    pub scale: Option<f64>,
    /// The bound of scores.
    pub cap: Option<f64>,
    /// How many keys a query sees, the one where it stands among them.
    pub window: Option<usize>,
    /// Scores lose by distance, by the slopes of the paper.
    pub is_alibi: bool,
    /// Where the first query stands, where keys are counted from 0.
    pub offset: Option<usize>,
    /// What stands before the names of the layer's tensors.
    pub prefix: Option<String>,
    /// Names that a tensor should have, each with the name that it has.
    pub names: Vec<(String, String)>,
    /// Tokens come before sequences: (n, batch, d).
    pub is_sequence_first: bool,
    /// Weights are stored `[in, out]`.
    pub is_in_out: bool,
    /// True in a mask means "may attend".
    pub is_open_true: bool,
    /// In which precision it was computed, if coarser than its numbers show.
    pub computed: Option<Precision>,
}

/// A record, what was meant, and how both were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The layer and its numbers.
    pub record: Record,
    /// What was meant.
    pub intent: Intent,
    /// What the files and the reader say: what was meant, and then each tensor that was read,
    /// its name, its shape in parentheses, and as what.
    pub given: Vec<String>,
    /// What nothing says, one line for each.
    pub assumed: Vec<String>,
}

/// The files of one layer: parameters, inputs and results may stand in several.
pub(crate) struct Files<'a> {
    files: &'a [&'a TensorFile],
    said: &'a Overrides,
    /// The tensors that were read.
    used: RefCell<BTreeSet<String>>,
    /// How they were.
    notes: RefCell<Notes>,
    /// How inputs and outputs lie.
    layout: Layout,
}

/// A record from files, of which the first that has a tensor gives it.
///
/// # Errors
/// [`Error`] for what is missing, and for shapes that no reading fits, with those that were
/// tried.
pub fn read(files: &[&TensorFile], said: &Overrides) -> Result<Reading> {
    let (used, notes) = Default::default();
    let mut files = Files { files, said, used, notes, layout: Layout::BatchFirst };
    files.expect_tensors(&files.names_without_prefix())?;
    let found = weights::read(&files)?;
    let (prefix, others) = (found.prefix.clone(), found.others.clone());
    let kinds = Kinds::read(&files, &prefix, found.width())?;
    files.layout = Layout::of(&files)?;
    let inputs = tensors::inputs(&files)?;
    let heads = heads(&files, &kinds)?;
    if heads == Some(0) {
        return Err(Error::NoHeads);
    }
    let mut intent = intent(&files, heads, found.packing)?;
    let mut weights = found.split(&intent)?;
    kinds.add_to(&mut weights);
    kinds.intend(&files, &mut intent)?;
    let mut record = Record::new(weights, inputs);
    if heads.is_some() {
        record.check_layer(&intent)?;
    }
    expect_scores(&record, &intent)?;
    if heads.is_none() {
        [intent.n_heads, intent.n_kv_heads] = tried_heads(&files, &record, &intent)?;
        let heads = heads_in_words(intent.n_heads, intent.n_kv_heads);
        files.assume(format!("{heads}, since with no other number the output fits"));
        intent.slopes = intent.slopes.map(|_| Intent::paper_slopes(intent.n_heads));
    }
    masks::read(&files, &mut record, &mut intent)?;
    positions::read(&files, &record, &mut intent)?;
    assume_signs(&files);
    tensors::read(&files, &mut record, &intent)?;
    files.expect_all_known(&prefix, &others, (&record, &intent))?;
    record.precision = precision(&files, &record)?;
    assume_digits(&files, &record);
    let notes = files.notes.take();
    Ok(Reading { record, intent, given: notes.given(), assumed: notes.assumed })
}

impl Files<'_> {
    /// The tensor of this name, or of the name that was said to be its name here.
    pub fn tensor(&self, name: &str) -> Option<Tensor<'_>> {
        let own = self.said.names.iter().find(|(wanted, _)| wanted == name);
        let name = own.map_or(name, |(_, own)| own.as_str());
        self.own(name)
    }

    /// The tensor that has this name in a file.
    pub fn own(&self, name: &str) -> Option<Tensor<'_>> {
        let tensor = self.peek(name)?;
        self.used.borrow_mut().insert(name.to_string());
        Some(tensor)
    }

    /// The same, and it is not counted as read.
    fn peek(&self, name: &str) -> Option<Tensor<'_>> {
        self.files.iter().find_map(|file| file.get(name))
    }

    /// Whether tensors of these names have no more entries than are read.
    fn expect_tensors(&self, names: &[String]) -> Result<()> {
        let entries = names.iter().filter_map(|name| Some(self.peek(name)?.n_entries()));
        match entries.fold(0, u128::saturating_add) {
            n if n > MOST_ENTRIES => Err(Error::Entries { n, most: MOST_ENTRIES }),
            _ => Ok(()),
        }
    }

    /// The first of these names that there is.
    pub fn first<'n>(&self, names: &[&'n str]) -> Option<(&'n str, Tensor<'_>)> {
        names.iter().find_map(|name| Some((*name, self.tensor(name)?)))
    }

    pub fn all_names(&self) -> Vec<String> {
        self.files.iter().flat_map(|file| file.names()).collect()
    }

    /// The names that no layer of a model has: of inputs, masks and results.
    fn names_without_prefix(&self) -> Vec<String> {
        let own = self.said.names.iter().map(|(_, own)| own.clone());
        let all = self.all_names().into_iter();
        all.filter(|name| !name.contains('.')).chain(own).collect()
    }
}

/// Whether the scores of a layer are no more than are computed.
fn expect_scores(record: &Record, intent: &Intent) -> Result<()> {
    let (heads, batch) = (intent.n_heads, record.batch());
    let (n_q, n_kv) = record.lengths();
    let sizes = [batch, heads, n_q, n_kv].into_iter();
    match sizes.fold(1u128, |n, size| n.saturating_mul(size as u128)) {
        n if n > MOST_SCORES => {
            Err(Error::Scores { n_q, n_kv, heads, batch, n, most: MOST_SCORES })
        }
        _ => Ok(()),
    }
}

/// The entries of a tensor of floats or of integers.
fn entries(tensor: &Tensor<'_>) -> Result<Vec<f64>> {
    Ok(match tensor.dtype().contains('F') {
        true => tensor.numbers()?,
        false => tensor.integers()?.into_iter().map(|x| x as f64).collect(),
    })
}

/// h, as was said, or as the file or a tensor with an axis of heads says.
fn heads(files: &Files<'_>, kinds: &Kinds) -> Result<Option<usize>> {
    if let Some((heads, by)) = files.meant(files.said.heads, &HEADS)? {
        files.say(by, heads_in_words(heads, heads));
        return Ok(Some(heads));
    }
    let first = |state| files.first(names_of(state));
    let maps = first(State::Attn).or_else(|| first(State::Scores));
    let of_maps = maps.and_then(|(name, tensor)| match *tensor.shape() {
        [_, heads, _, _] => Some((heads, name.to_string())),
        _ => None,
    });
    let Some((heads, name)) = of_maps.or(kinds.heads.clone()) else { return Ok(None) };
    files.say(FILE, format!("{} in {name}", heads_in_words(heads, heads)));
    Ok(Some(heads))
}

/// The number of heads with which the output is the right one, where no one says it.
fn tried_heads(
    files: &Files<'_>,
    record: &Record,
    intent: &Intent,
) -> Result<[usize; 2]> {
    let [width, kv_width] = [0, 1].map(|role| record.weights.projections[role].d_out());
    // What is tried is not told.
    let notes = files.notes.take();
    let mut fitting = Vec::new();
    for heads in (1..=width).filter(|h| width.is_multiple_of(*h)) {
        let kv_heads = kv_width * heads / width;
        let is_whole = kv_heads > 0 && kv_heads * width == kv_width * heads;
        if !is_whole || !heads.is_multiple_of(kv_heads) {
            continue;
        }
        let slopes = intent.slopes.as_ref().map(|_| Intent::paper_slopes(heads));
        let mut intent =
            Intent { n_heads: heads, n_kv_heads: kv_heads, slopes, ..intent.clone() };
        if expect_scores(record, &intent).is_err() {
            continue;
        }
        let mut record = record.clone();
        masks::read(files, &mut record, &mut intent)?;
        positions::read(files, &record, &mut intent)?;
        tensors::read(files, &mut record, &intent)?;
        let right = computed(&record, &intent, State::Output, &[]);
        let given = record.output();
        let apart = right.and_then(|right| difference(given, &right));
        if apart.is_some_and(|it| it.rms < 0.05 * spread(given)) {
            fitting.push([heads, kv_heads]);
        }
    }
    files.notes.replace(notes);
    match fitting[..] {
        [one] => Ok(one),
        _ => Err(Error::UnknownHeads { width }),
    }
}

/// What was meant, as was said, or as the file says; without heads, of one.
fn intent(files: &Files<'_>, heads: Option<usize>, packing: Packing) -> Result<Intent> {
    let said = files.said;
    let n_heads = heads.unwrap_or(1);
    let n_kv_heads = files.meant(said.kv_heads, &KV_HEADS)?;
    let of_keys = |n| match n == n_heads {
        true => "as many heads of keys".to_string(),
        false => format!("{} of keys", heads_in_words(n, n)),
    };
    let n_kv_heads = match (heads, n_kv_heads) {
        (None, None) => n_heads,
        _ => files.choice(n_kv_heads, n_heads, of_keys),
    };
    let causal = files.meant(said.is_causal.then_some(true), &CAUSAL)?;
    let words = |is| if is { "a causal mask" } else { "no causal mask" };
    let is_causal = files.choice(causal, false, words);
    let rotary = files.meant(said.rotary.map(Some), &ROTARY)?;
    let rotary = files.choice(rotary, None, |pairing| match pairing {
        None => "no rotary positions",
        Some(Pairing::Halves) => "rotary positions in halves",
        Some(Pairing::Pairs) => "rotary positions in pairs",
    });
    let base = files.real(said.base, &BASE)?;
    let rotary = rotary.map(|pairing| {
        (pairing, files.choice(base, 10_000.0, |base| format!("rotary base {base}")))
    });
    // What need not be there.
    let optional = |choice: Meant<f64>, name: &str, without: &str| {
        let choice = choice.map(|(number, by)| (Some(number), by));
        files.choice(choice, None, |number| match number {
            None => without.to_string(),
            Some(number) => format!("{name} {number}"),
        })
    };
    let scale = optional(files.real(said.scale, &SCALE)?, "scale", "scale 1/√d_k");
    let cap = optional(files.real(said.cap, &CAP)?, "cap", "no cap");
    if let Some(computed) = said.computed {
        files.say(YOU, format!("computed in {}", computed.name()));
    }
    Ok(Intent {
        n_heads,
        n_kv_heads,
        causal: is_causal.then_some(Corner::BottomRight),
        rotary,
        scale,
        cap,
        packing,
        computed: said.computed,
        ..Intent::heads(n_heads)
    })
}

/// What true means in a mask, where nobody says it.
fn assume_signs(files: &Files<'_>) {
    let names = ["key_padding_mask", "attn_mask", "mask"];
    let is_flags =
        |name: &&&str| files.tensor(name).is_some_and(|mask| !mask.dtype().contains('F'));
    match files.said.is_open_true {
        true => files.say(YOU, "true in a mask means \"may attend\"".to_string()),
        false => names.iter().filter(is_flags).for_each(|name| {
            files.assume(format!("true in {name} means \"may not attend\""));
        }),
    }
}

/// The kind of the output's numbers; those of a coarser kind that were written as floats of
/// 32 bits are of the coarser one.
fn precision(files: &Files<'_>, record: &Record) -> Result<Precision> {
    let (_, output) = files.first(names_of(State::Output)).ok_or(Error::NoOutput)?;
    let stored = match output.dtype().as_str() {
        "F64" => Precision::F64,
        "F16" => Precision::F16,
        "BF16" => Precision::BF16,
        _ => Precision::F32,
    };
    let numbers = || record.output().iter().flat_map(|m| m.iter().copied());
    let is_coarser = |it: &Precision| numbers().all(|x| it.holds(x));
    let coarser = [Precision::BF16, Precision::F16, Precision::F32];
    let finer = match stored {
        Precision::F64 => &coarser[..],
        Precision::F32 => &coarser[..2],
        _ => &[],
    };
    let found = finer.iter().copied().find(is_coarser).filter(|_| numbers().count() > 8);
    if let Some(found) = found {
        files.assume(format!("the output's numbers are those of {}", found.name()));
    }
    Ok(found.unwrap_or(stored))
}

/// Which numbers may have been rounded when they were printed.
fn assume_digits(files: &Files<'_>, record: &Record) {
    if let Some(digits) = Digits::of(record.output(), record.precision) {
        files.assume(format!("the output was rounded to {}", digits.words()));
    }
    if record.has_few_digits() {
        files.assume(
            "what the code read has few digits here, and may have been rounded when it was \
             printed",
        );
    }
}
