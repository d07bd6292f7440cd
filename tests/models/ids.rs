//! One meaning has one id: a mistake that the diagnosis knows as a recipe, and an exercise as an
//! edit, gives the same numbers under the same id.
//!
//! Every recipe of the diagnosis is computed on the inputs of the exercise `whole_layer`, and
//! compared with the numbers that are kept of its mistakes. Where both give the same on every
//! input, and something else than the right layer on one of them, they are one mistake.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::process::ExitCode;

use attention::{Attended, LayerParameters, Mask, Matrix};
use diagnosis::{
    Corner, Intent, Masks, Mistake, Precision, Record, State, Weights, bank, computed,
};
use exercises::{Numbers, Wrong, record, same_answer, thinned, whole_layer};

/// What a layer is given.
struct Input {
    parameters: LayerParameters,
    tokens: [Matrix; 3],
    mask: Mask,
}

thread_local! {
    static INPUTS: RefCell<Vec<Input>> = const { RefCell::new(Vec::new()) };
}

/// An answer that notes what it is given.
fn noted() -> ExitCode {
    whole_layer::check(|parameters, query, key, value, mask| {
        let tokens = [query.clone(), key.clone(), value.clone()];
        let input = Input { parameters: parameters.clone(), tokens, mask: mask.clone() };
        INPUTS.with_borrow_mut(|inputs| inputs.push(input));
        Attended { attn: Vec::new(), out: Matrix::zeros(0, 0) }
    })
}

impl Input {
    /// As the diagnosis knows a layer: nothing for a mask that it does not.
    fn record(&self) -> Option<(Record, Intent)> {
        let packed = self.parameters.pack();
        let [q, k, v, o] = packed.projections().map(Clone::clone);
        let mut intent = Intent::heads(self.parameters.dims().n_heads());
        let mut masks = Masks::default();
        let shape = (self.tokens[0].nrows(), self.tokens[1].nrows());
        let added = |mask: &Mask, (i, j): (usize, usize)| mask.added((i, j), shape);
        let open = |mask: &Mask| {
            Matrix::from_fn(shape.0, shape.1, |i, j| added(mask, (i, j)).is_some())
        };
        let is_open_or_blocked = |mask: &Mask| {
            let all = (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j)));
            all.into_iter().all(|at| added(mask, at).is_none_or(|added| added == 0.0))
        };
        match &self.mask {
            Mask::None => {}
            Mask::Causal => intent.causal = Some(Corner::BottomRight),
            Mask::FirstKeys(n) => {
                masks.padding = Some(vec![(0..shape.1).map(|j| j < *n).collect()]);
            }
            Mask::Allowed(_) | Mask::PerHead(_) | Mask::All(_) => {
                let heads = 0..intent.n_heads;
                if !heads.clone().all(|head| is_open_or_blocked(&self.mask.of_head(head)))
                {
                    return None;
                }
                let each = heads.map(|head| open(&self.mask.of_head(head)));
                masks.pairs = Some(each.collect());
            }
            _ => return None,
        }
        let is_finite = self.tokens.iter().flatten().all(|entry| entry.is_finite());
        is_finite.then(|| {
            let weights = Weights::new([q, k, v], Some(o));
            let inputs = self.tokens.clone().map(|tokens| vec![tokens]);
            let (tensors, precision) = (BTreeMap::new(), Precision::F64);
            (Record { weights, inputs, masks, tensors, precision }, intent)
        })
    }
}

/// The maps and the output of a layer with these mistakes.
fn parts(record: &Record, intent: &Intent, mistakes: &[&Mistake]) -> Option<Vec<Matrix>> {
    let mut parts = computed(record, intent, State::Attn, mistakes)?;
    parts.extend(computed(record, intent, State::Output, mistakes)?);
    Some(parts)
}

#[test]
fn equal_numbers_are_one_id() {
    record(noted, 0);
    let inputs = INPUTS.take();
    let exercise = catalogue::find("whole_layer").unwrap();
    let kept = Numbers::of(&exercise).unwrap();
    assert_eq!(inputs.len(), kept.cases.len());
    let layers: Vec<_> = inputs.iter().map(Input::record).collect();
    let n_layers = layers.iter().flatten().count();
    assert!(n_layers >= 5, "{n_layers} of {} inputs are layers", inputs.len());
    for (layer, case) in layers.iter().zip(&kept.cases) {
        let Some((record, intent)) = layer else { continue };
        let right = parts(record, intent, &[]).expect("a layer");
        let apart = right.iter().zip(&case.right).map(|(a, b)| (a - b).amax());
        assert!(
            same_answer(&right, &case.right, 1e-4),
            "{}: {:?}",
            case.sizes,
            apart.fold(0.0, f64::max)
        );
    }
    let recipes: Vec<_> =
        bank().map(|recipe| (recipe, numbers(recipe, &layers))).collect();
    let (mut pairs, mut faults) = (0, Vec::new());
    for wrong in &kept.wrong {
        let same = recipes.iter().filter(|(_, numbers)| is_same(numbers, wrong, &kept));
        let ids: Vec<&str> = same.map(|(recipe, _)| recipe.id).collect();
        pairs += usize::from(!ids.is_empty());
        if !ids.is_empty() && !ids.contains(&wrong.id.as_str()) {
            let name = &exercise.sheet.mistakes[wrong.mistake].name;
            faults.push(format!("{} (“{name}”) is {ids:?}", wrong.id));
        }
    }
    println!("{n_layers} layers, {pairs} mistakes that the diagnosis has too");
    assert!(pairs >= 15, "{pairs} mistakes are in both");
    assert!(faults.is_empty(), "equal numbers under two ids:\n{}", faults.join("\n"));
}

type Layer = Option<(Record, Intent)>;

/// What a recipe gives on each layer; what is right, where it is not possible.
fn numbers(recipe: &'static Mistake, layers: &[Layer]) -> Vec<Option<Vec<Matrix>>> {
    let of = |layer: &Layer| {
        let (record, intent) = layer.as_ref()?;
        let mistakes: &[&Mistake] =
            if recipe.is_possible(record, intent) { &[recipe] } else { &[] };
        parts(record, intent, mistakes)
    };
    layers.iter().map(of).collect()
}

/// Whether these are the numbers of a mistake of the exercise, wherever both give some, and
/// other than the right ones on one input.
fn is_same(numbers: &[Option<Vec<Matrix>>], wrong: &Wrong, kept: &Numbers) -> bool {
    let mut shows = false;
    for ((numbers, outcome), case) in numbers.iter().zip(&wrong.outcomes).zip(&kept.cases)
    {
        let expected = match outcome {
            Some(None) => continue,
            Some(Some(parts)) => parts.clone(),
            None => thinned(&case.right),
        };
        let Some(numbers) = numbers else { continue };
        shows |= outcome.is_some();
        if !same_answer(&thinned(numbers), &expected, 1e-6) {
            return false;
        }
    }
    shows
}
