//! The trained layer that comes with this workspace, with each mistake: trained weights are
//! no random ones, and it is what readers have.

mod common;

use common::{apart, diagnosed, ids, mistakes, stored};
use diagnosis::{
    Intent, Mistake, Precision, Record, State, Verdict, bank, computed, diagnose, read,
};
use model_files::minilm;

/// The layer with its heads on two of its sentences, as a batch.
fn layer() -> (Record, Intent) {
    let layer = minilm().unwrap();
    let heads = layer.parameters.dims().n_heads();
    let of = |name: &str| layer.sentence(name).unwrap().input.rows(0, 7).into_owned();
    let sequences = vec![of("pilot"), of("river_banks")];
    let record = Record::of_layer(&layer.parameters.pack(), sequences);
    (Record { precision: Precision::F32, ..record }, Intent::heads(heads))
}

#[test]
fn each_mistake_is_named_in_a_trained_layer() {
    let (record, intent) = layer();
    let mut shown = 0;
    for mistake in bank().filter(|it| it.is_possible(&record, &intent)) {
        let of =
            |mistakes: &[&Mistake]| computed(&record, &intent, State::Output, mistakes);
        let (Some(wrong), Some(right)) = (of(&[mistake]), of(&[])) else { continue };
        let wrong = stored(wrong, Precision::F32);
        let apart = apart(&wrong, &right);
        let diagnosis = diagnosed(&record, &intent, wrong);
        let (verdict, names) = (diagnosis.verdict, ids(&diagnosis));
        if apart.is_some_and(|it| it < 1e-4) {
            assert_eq!(verdict, Verdict::Right, "{}: {names:?}", mistake.id);
            continue;
        }
        shown += 1;
        assert!(
            names.contains(&vec![mistake.id]),
            "{}: {verdict:?} {names:?}",
            mistake.id
        );
    }
    println!("{shown} mistakes show");
    assert!(shown > 60, "{shown}");
}

#[test]
fn two_mistakes_are_named_with_the_tensors_between() {
    let (record, intent) = layer();
    let pair = mistakes(&["softmax-over-queries", "output-not-transposed"]);
    let mut between = record.clone();
    for state in [State::Attn, State::Output] {
        let tensor = computed(&between, &intent, state, &pair).unwrap();
        between.tensors.insert(state, stored(tensor, Precision::F32));
    }
    let diagnosis = diagnose(&between, &intent).unwrap();
    assert_eq!(diagnosis.first_difference, Some(State::Attn));
    assert_eq!(diagnosis.explanations[0], pair);
    // Without them, by the output alone.
    let diagnosis = diagnosed(&record, &intent, between.output().to_vec());
    assert!(diagnosis.explanations.contains(&pair), "{diagnosis:?}");
}

#[test]
fn no_file_is_no_layer() {
    let file = tensors::TensorFile::from_bytes("empty", b"\x02\0\0\0\0\0\0\0{}".to_vec());
    let error = read(&[&file.unwrap()], &Default::default()).unwrap_err().to_string();
    assert!(error.starts_with("no layer was found"), "{error}");
}
