//! The trained layer that comes with this workspace, with each mistake: trained weights are
//! no random ones, and it is what readers have.

use attention::Matrix;
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
    (Record::of_layer(&layer.parameters.pack(), sequences), Intent::heads(heads))
}

fn stored(mut tensor: Vec<Matrix>) -> Vec<Matrix> {
    tensor.iter_mut().for_each(|m| m.apply(|x| *x = f64::from(*x as f32)));
    tensor
}

#[test]
fn each_mistake_is_named_in_a_trained_layer() {
    let (mut record, intent) = layer();
    record.precision = Precision::F32;
    let mut shown = 0;
    for mistake in bank().filter(|it| it.is_possible(&record, &intent)) {
        let of =
            |mistakes: &[&Mistake]| computed(&record, &intent, State::Output, mistakes);
        let (Some(wrong), Some(right)) = (of(&[mistake]), of(&[])) else { continue };
        let wrong = stored(wrong);
        let apart: f64 = wrong.iter().zip(&right).map(|(a, b)| (a - b).norm()).sum();
        let mut record = record.clone();
        record.tensors.insert(State::Output, wrong);
        let diagnosis = diagnose(&record, &intent).unwrap();
        let sets = &diagnosis.explanations;
        let names: Vec<Vec<&str>> =
            sets.iter().map(|set| set.iter().map(|it| it.id).collect()).collect();
        if apart < 1e-4 {
            assert_eq!(diagnosis.verdict, Verdict::Right, "{}: {names:?}", mistake.id);
            continue;
        }
        shown += 1;
        let is_named = sets.iter().any(|set| set[..] == [mistake]);
        assert!(is_named, "{}: {:?} {names:?}", mistake.id, diagnosis.verdict);
    }
    println!("{shown} mistakes show");
    assert!(shown > 60, "{shown}");
}

#[test]
fn two_mistakes_are_named_with_the_tensors_between() {
    let (mut record, intent) = layer();
    record.precision = Precision::F32;
    let pair = ["softmax-over-queries", "output-not-transposed"];
    let pair = pair.map(|id| diagnosis::mistake(id).unwrap());
    let mut between = record.clone();
    for state in [State::Attn, State::Output] {
        let tensor = stored(computed(&between, &intent, state, &pair).unwrap());
        between.tensors.insert(state, tensor);
    }
    let diagnosis = diagnose(&between, &intent).unwrap();
    assert_eq!(diagnosis.first_difference, Some(State::Attn));
    assert_eq!(diagnosis.explanations[0], pair);
    // Without them, by the output alone.
    record.tensors.insert(State::Output, between.tensors[&State::Output].clone());
    let diagnosis = diagnose(&record, &intent).unwrap();
    assert!(diagnosis.explanations.iter().any(|set| set[..] == pair), "{diagnosis:?}");
}

#[test]
fn no_file_is_no_layer() {
    let file =
        model_files::TensorFile::from_bytes("empty", b"\x02\0\0\0\0\0\0\0{}".to_vec());
    let error = read(&[&file.unwrap()], &Default::default()).unwrap_err().to_string();
    assert!(error.starts_with("no layer was found"), "{error}");
}
