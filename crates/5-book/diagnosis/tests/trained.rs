//! The trained layer that comes with this workspace, with each mistake: trained weights are
//! no random ones, and it is what readers have.

mod common;

use common::{Layer, apart, ids, stored};
use diagnosis::{Intent, Precision, Record, State, Verdict, read};
use model_files::minilm;

/// The layer with its heads on two of its sentences, as a batch.
fn layer() -> Layer {
    let layer = minilm().unwrap();
    let heads = layer.parameters.dims().n_heads();
    let of = |name: &str| layer.sentence(name).unwrap().input.rows(0, 7).into_owned();
    let sequences = vec![of("pilot"), of("river_banks")];
    let record = Record::of_layer(&layer.parameters.pack(), sequences);
    let record = Record { precision: Precision::F32, ..record };
    Layer { record, intent: Intent::heads(heads) }
}

#[test]
fn each_mistake_is_named_in_a_trained_layer() {
    let layer = layer();
    let right = layer.output(&[]).unwrap();
    let mut shown = 0;
    for mistake in layer.possible() {
        let Some(wrong) = layer.output(&[mistake]) else { continue };
        let wrong = stored(wrong, Precision::F32);
        let apart = apart(&wrong, &right);
        let diagnosis = layer.diagnosed(wrong);
        let (verdict, names) = (diagnosis.verdict, ids(&diagnosis));
        if apart.is_some_and(|it| it < 1e-4) {
            assert_eq!(verdict, Verdict::Right, "{}: {names:?}", mistake.id);
            continue;
        }
        shown += 1;
        let is_named = names.contains(&vec![mistake.id]);
        assert!(is_named, "{}: {verdict:?} {names:?}", mistake.id);
    }
    println!("{shown} mistakes show");
    assert!(shown > 60, "{shown}");
}

#[test]
fn two_mistakes_are_named_with_the_tensors_between() {
    let pair = ["softmax-over-queries", "output-not-transposed"];
    let mut between = layer();
    between.add(State::Attn, &pair);
    between.add(State::Output, &pair);
    let diagnosis = between.diagnosis();
    assert_eq!(diagnosis.first_difference, Some(State::Attn));
    assert_eq!(ids(&diagnosis)[0], pair);
    // Without them, by the output alone.
    let diagnosis = layer().diagnosed(between.record.output().to_vec());
    assert!(ids(&diagnosis).contains(&pair.to_vec()), "{diagnosis:?}");
}

#[test]
fn no_file_is_no_layer() {
    let file = tensors::TensorFile::from_bytes("empty", b"\x02\0\0\0\0\0\0\0{}".to_vec());
    let error = read(&[&file.unwrap()], &Default::default()).unwrap_err().to_string();
    assert!(error.starts_with("no layer was found"), "{error}");
}
