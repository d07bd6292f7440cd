//! What is measured of heads that work together finds circuits that were written by hand,
//! tells the two kinds apart, and finds nothing in models that have learned nothing.

use attention::Mask;
use fused_heads::FusedAttention;

use super::planted::Planted;
use super::*;
use crate::repeats::paths::{Part, Paths, Start};

fn planted(planted: Planted) -> (Predictor, Sequences) {
    let task = Repeats::default();
    let model = Predictor::planted(planted, &task, &mut rng()).unwrap();
    (model, task.draw(40, &mut rng()).unwrap())
}

fn fresh(seed: u64) -> Predictor {
    let rng = &mut Rng::seed_from_u64(seed);
    Predictor::random(Architecture::TWO_LAYERS, &Repeats::default(), rng).unwrap()
}

/// Logits and the scores of each block in f64, layer after layer, without any path.
fn in_f64(model: &Predictor, read: &Sequences) -> (Matrix, Vec<Vec<Matrix>>) {
    let row = |id: usize| model.embedding.tokens.row(id).map(f64::from);
    let mut x =
        Matrix::from_rows(&read.ids.iter().map(|&id| row(id)).collect::<Vec<_>>());
    if let Some(table) = model.embedding.positions.table() {
        for (t, mut token) in x.row_iter_mut().enumerate() {
            token += table.row(t).map(f64::from);
        }
    }
    let mut scores = Vec::new();
    for block in &model.stack.blocks {
        let parameters = block.attention.function.parameters().unpack().cast();
        let layer = FusedAttention::new(&parameters);
        let mut pass = layer.pass(&x, &x, &x, &Mask::Causal).unwrap();
        scores.push(pass.scores.remove(0));
        x = if block.attention.residual { x + pass.out } else { pass.out };
    }
    (model.unembedding.cast::<f64>().forward(&x).unwrap(), scores)
}

#[test]
fn all_paths_together_are_the_logits_and_the_scores() {
    for built in [
        Architecture::TWO_LAYERS,
        Architecture { n_layers: 3, n_heads: 2, ..Architecture::TWO_LAYERS },
        Architecture { residual: false, ..Architecture::TWO_LAYERS },
        Architecture { positions: false, ..Architecture::TWO_LAYERS },
    ] {
        let model = few_steps(built).model;
        let read = Repeats::default().draw(1, &mut rng()).unwrap();
        let (logits, scores) = in_f64(&model, &read);
        let in_f32 = model.logits(&read).unwrap().map(f64::from);
        assert!(max_abs_diff(&in_f32, &logits).unwrap() < 1e-3);
        let paths = Paths::of(&model, &read.ids).unwrap();
        let mut sum = Matrix::from_rows(&vec![paths.logits_bias(); read.n_tokens]);
        paths.parts.last().unwrap().iter().for_each(|part| sum += paths.logits(part));
        let apart = max_abs_diff(&sum, &logits).unwrap();
        println!("{built:?}: logits {apart:.1e}");
        assert!(apart < 1e-12, "{built:?}: {apart:e}");
        for (l, scores) in scores.iter().enumerate().skip(1) {
            for (i, whole) in scores.iter().enumerate() {
                let mut sum = whole.map(|_| 0.0);
                for a in &paths.parts[l] {
                    for b in &paths.parts[l] {
                        sum += paths.scores([l, i], a, b);
                    }
                }
                let apart = max_abs_diff(&sum, whole).unwrap();
                assert!(apart < 1e-12, "{built:?}, scores of {l}.{i}: {apart:e}");
            }
        }
    }
}

#[test]
fn a_path_that_is_left_out_is_missed() {
    let model = few_steps(Architecture::TWO_LAYERS).model;
    let read = Repeats::default().draw(1, &mut rng()).unwrap();
    let paths = Paths::of(&model, &read.ids).unwrap();
    let last = &paths.parts[2];
    assert_eq!(last.len(), (3 + 3 * 4) + 4 * (3 + 3 * 4));
    // What enters the first layer has no bias yet.
    let is_nothing = |part: &&Part| {
        part.start == Start::Bias && part.heads.first().is_some_and(|[l, _]| *l == 0)
    };
    let least = last.iter().filter(|part| !is_nothing(part));
    let least = least.map(|part| paths.logits(part).amax()).fold(f64::MAX, f64::min);
    assert!(least > 1e-6, "{least:e}");
}

#[test]
fn planted_circuits_are_always_right() {
    for kind in [Planted::Note, Planted::Pointer] {
        let (model, read) = planted(kind);
        assert_eq!(model.score(&read).unwrap(), 1.0, "{kind:?}");
    }
}

#[test]
fn a_note_is_k_composition_a_pointer_q_composition_and_noise_neither() {
    let of = |(model, read): &(Predictor, Sequences)| {
        let margins = Margins::of(model, read).unwrap();
        (margins.by_composition(), margins.logits)
    };
    let (note, logits) = of(&planted(Planted::Note));
    println!("{note:?}");
    assert!(note.k > 10.0 * note.q.abs().max(note.none.abs()).max(note.both.abs()));
    // What it says came through the second head alone, and not through both values.
    assert!(logits[(0, 1)] > 1.0 && logits[(1, 1)].abs() < 1e-9, "{logits}");
    let (pointer, _) = of(&planted(Planted::Pointer));
    println!("{pointer:?}");
    let most = pointer.k.abs().max(pointer.none.abs()).max(pointer.both.abs());
    assert!(pointer.q > 10.0 * most);
    let read = Repeats::default().draw(40, &mut rng()).unwrap();
    for seed in 0..5 {
        let (noise, _) = of(&(fresh(seed), read.clone()));
        println!("{noise:?}");
        let most = noise.k.abs().max(noise.q.abs()).max(noise.both.abs());
        assert!(most < 0.2, "seed {seed}: {noise:?}");
    }
    insta::assert_snapshot!(
        Margins::of(&few_steps(Architecture::ONE_WIDE_LAYER).model, &read).unwrap_err(),
        @"the list of layers has 1 entries, expected 2"
    );
}

#[test]
fn composition_scores_see_which_input_reads_a_head() {
    let of = |kind| CompositionScores::of(&planted(kind).0).unwrap();
    let (note, pointer) = (of(Planted::Note), of(Planted::Pointer));
    assert!(note.k[(0, 0)] > 0.1 && note.q[(0, 0)] < 1e-9 && note.v[(0, 0)] < 1e-9);
    assert!(pointer.q[(0, 0)] > 0.1 && pointer.k[(0, 0)] < 1e-9);
    // Noise has much of all three, so a score means something beside that alone.
    let noise = CompositionScores::of(&fresh(1)).unwrap();
    let all = [&noise.q, &noise.k, &noise.v];
    assert!(all.iter().all(|scores| (0.05..0.25).contains(&scores.mean())), "{noise:?}");
}

#[test]
fn which_and_where_are_told_apart_in_planted_circuits() {
    for (kind, is_note) in [(Planted::Note, true), (Planted::Pointer, false)] {
        let (model, read) = planted(kind);
        let Carried { which, place } = Carried::by(&model, 0, &read).unwrap();
        let (kept, lost) = if is_note { (which, place) } else { (place, which) };
        assert!(kept > 0.99 && lost < 0.5, "{kind:?}: {which} {place}");
    }
    // The head that writes nothing hands on neither.
    let (model, read) = planted(Planted::Note);
    let Carried { which, place } = Carried::by(&model, 1, &read).unwrap();
    assert_eq!([which, place], [1.0, 1.0]);
}

/// The control, random directions that take as much of a layer's output, costs less than the
/// head that has all the work, and as much as heads that have none.
#[test]
fn ablation_misses_the_planted_heads_and_no_other() {
    let (model, read) = planted(Planted::Note);
    for how in Replacement::ALL {
        let found = StackAblation::of(&model, &read, how, &mut rng()).unwrap();
        for l in [0, 1] {
            assert!(found.ablated[(l, 0)] < 0.5, "{}: {found:?}", how.name());
            assert_eq!(found.ablated[(l, 1)], 1.0, "{}", how.name());
            let least = found.controls.row(l).min();
            assert!(least > found.ablated[(l, 0)] + 0.3, "{}: {found:?}", how.name());
        }
    }
    let fresh =
        StackAblation::of(&fresh(0), &read, Replacement::Mean, &mut rng()).unwrap();
    for l in [0, 1] {
        let [heads, draws] = [&fresh.ablated, &fresh.controls].map(|it| it.row(l).min());
        assert!((heads - draws).abs() < 0.03, "layer {l}: {fresh:?}");
    }
}

#[test]
fn heads_of_fresh_models_look_nowhere() {
    let read = Repeats::default().draw(40, &mut rng()).unwrap();
    for seed in 0..5 {
        let HeadShares { previous, last_same, after_last_same, .. } =
            HeadShares::of(&fresh(seed).pass(&read).unwrap(), &read);
        let most = previous.max().max(last_same.max()).max(after_last_same.max());
        assert!(most < 0.15, "seed {seed}: {most}");
    }
}

#[test]
fn shares_are_where_planted_heads_look() {
    let (model, read) = planted(Planted::Note);
    let shares = HeadShares::of(&model.pass(&read).unwrap(), &read);
    assert!(shares.previous[(0, 0)] > 0.999 && shares.previous_copied[(0, 0)] > 0.999);
    assert!(shares.previous_copied[(0, 1)] < 0.4, "{}", shares.previous_copied);
    let (model, read) = planted(Planted::Pointer);
    let shares = HeadShares::of(&model.pass(&read).unwrap(), &read);
    assert!(shares.last_same[(0, 0)] > 0.4 && shares.previous_copied[(0, 0)] < 0.2);
}

/// The rule that one layer can come near to: of the tokens so far, what stood last the longest
/// ago.
fn longest_unseen(read: &Sequences) -> Vec<usize> {
    let n = read.n_tokens;
    let at = |row: usize| {
        let seen = &read.ids[row / n * n..=row];
        let last = |id: usize| seen.iter().rposition(|&other| other == id);
        *seen.iter().min_by_key(|&&id| last(id)).unwrap()
    };
    (0..read.ids.len()).map(at).collect()
}

/// That rule, an oracle, and noise.
#[test]
fn mistakes_of_the_longest_unseen_name_distractors_and_those_of_noise_do_not() {
    let task = Repeats { n_distractors: 2, ..Repeats::default() };
    let read = task.draw(100, &mut rng()).unwrap();
    let of_rule = read.mistakes(&longest_unseen(&read));
    assert!(of_rule.all > 500 && of_rule.distractors == of_rule.all, "{of_rule:?}");
    assert_eq!(read.mistakes(&read.next), Mistakes { all: 0, distractors: 0 });
    let noise: Vec<usize> = (0..read.ids.len()).map(|row| (row * 7919) % 32).collect();
    let of_noise = read.mistakes(&noise);
    let part = of_noise.distractors as f64 / of_noise.all as f64;
    assert!((0.02..0.12).contains(&part), "{of_noise:?}"); // 2 of 32
    // Without distractors the rule is right, at the same places.
    let same = read.without_distractors();
    assert_eq!(same.known().collect::<Vec<_>>(), read.known().collect::<Vec<_>>());
    assert_eq!(same.score(&longest_unseen(&same)), 1.0);
}

#[test]
fn a_path_that_is_cut_is_missed_where_it_was_planted_and_nowhere_else() {
    for (kind, end) in
        [(Planted::Note, PathEnd::Keys), (Planted::Pointer, PathEnd::Queries)]
    {
        let (model, read) = planted(kind);
        for cut in PathEnd::ALL {
            let score = |head| model.score_path_ablated(head, cut, &read, &mut rng());
            let without = score(0).unwrap();
            println!("{kind:?} without {}: {without:.3}", cut.name());
            assert_eq!(cut == end, without < 0.5, "{kind:?}, {}", cut.name());
            assert!(cut == end || without == 1.0, "{kind:?}, {}", cut.name());
            // The head that writes nothing is missed by no reader.
            assert_eq!(score(1).unwrap(), 1.0, "{kind:?}, {}", cut.name());
        }
    }
    let one = few_steps(Architecture::ONE_WIDE_LAYER).model;
    let read = Repeats::default().draw(2, &mut rng()).unwrap();
    insta::assert_snapshot!(
        one.score_path_ablated(0, PathEnd::Keys, &read, &mut rng()).unwrap_err(),
        @"the list of layers has 1 entries, expected 2"
    );
    insta::assert_snapshot!(
        fresh(0).score_path_ablated(4, PathEnd::Keys, &read, &mut rng()).unwrap_err(),
        @"there are 4 heads, 0 to 3: head 4 does not exist"
    );
}

#[test]
fn a_head_without_which_a_model_knows_as_little_is_missed_on_no_path() {
    let read = Repeats::default().draw(100, &mut rng()).unwrap();
    for seed in 0..3 {
        let model = fresh(seed);
        let whole = model.score(&read).unwrap();
        for end in PathEnd::ALL {
            let score = model.score_path_ablated(0, end, &read, &mut rng()).unwrap();
            assert!((score - whole).abs() < 0.03, "{seed}, {}: {score}", end.name());
        }
    }
}

#[test]
fn what_heads_write_into_other_directions_decides_nothing() {
    for kind in [Planted::Note, Planted::Pointer] {
        let (model, read) = planted(kind);
        let margins = Margins::of(&model, &read).unwrap();
        assert!(margins.apart < 1e-4, "{kind:?}: {:e}", margins.apart);
        let composed = |margins: &Margins| match kind {
            Planted::Note => margins.by_composition().k,
            Planted::Pointer => margins.by_composition().q,
        };
        for seed in 0..5 {
            let rng = &mut Rng::seed_from_u64(seed);
            let rotated = Margins::rotated(&model, &read, rng).unwrap();
            let [of_scores, of_logits] = [
                composed(&rotated) / composed(&margins),
                rotated.by_layer().second / margins.by_layer().second,
            ];
            println!("{kind:?}, rotated: {of_scores:.3} {of_logits:.3}");
            assert!(of_scores.abs() < 0.2 && of_logits.abs() < 0.2, "{kind:?}");
        }
    }
}

#[test]
fn rotations_by_nothing_leave_every_path_as_it_is() {
    let model = few_steps(Architecture::TWO_LAYERS).model;
    let read = Repeats::default().draw(1, &mut rng()).unwrap();
    let paths = Paths::of(&model, &read.ids).unwrap();
    let rotations = vec![vec![Matrix::identity(64, 64); 4]; 2];
    assert_eq!(paths.rotated(&rotations).unwrap(), paths);
    insta::assert_snapshot!(
        paths.rotated(&rotations[..1]).unwrap_err(),
        @"the list of rotations has 1 entries, expected 2"
    );
}

#[test]
fn parts_of_a_margin_are_of_the_layers_that_they_came_through() {
    let model = few_steps(Architecture::TWO_LAYERS).model;
    let read = Repeats::default().draw(5, &mut rng()).unwrap();
    let margins = Margins::of(&model, &read).unwrap();
    let Attribution { none, first, second, both } = margins.by_layer();
    let sum = none + first + second + both;
    assert!((sum - margins.logits.sum()).abs() < 1e-12);
    assert!(margins.apart < 1e-4, "{:e}", margins.apart);
    let rotated = Margins::rotated(&model, &read, &mut rng()).unwrap();
    assert!(rotated.apart > 0.1 && (rotated.by_layer().none - none).abs() < 1e-12);
}
