//! The positive control of the minimal pairs: does the model know what its pronouns stand for?
//! Where it does not, no head can be found that does it.
//!
//! A sentence is compared with itself, its pronoun replaced by one noun and by the other
//! ("because the animal was too tired", "because the street was too tired"). A pair is *told*
//! if the vector of its first sentence leans to the first noun more than that of its second
//! does. All words but the pronoun stand in both, so a bag of words could not tell. Fixed
//! beforehand: seven of seven (p = .02) is knowing; anything less is no evidence.

use ablation::odds::{Count, sign_test};
use attention::RowVector;
use fused_heads::FusedAttention;
use model_files::Sequence;

use super::{Text, minilm, texts};
use crate::quote::{assert_quote, kept_quote, values};

/// `the`, in the model's vocabulary.
const THE: usize = 1996;

/// The sentence with its pronoun replaced by "the" and one of its two nouns.
fn resolved(text: &Text, noun: usize) -> Sequence {
    let (ids, pronoun) = (&text.sequence.ids, text.asked[0]);
    let mut resolved = ids[..pronoun].to_vec();
    resolved.extend([THE, ids[text.asked[1 + noun]]]);
    resolved.extend(&ids[pronoun + 1..]);
    Sequence::new(resolved)
}

/// By how much a vector is nearer to the first of two than to the second.
fn leaning(of: &RowVector<f32>, [first, second]: [&RowVector<f32>; 2]) -> f64 {
    f64::from(of.dot(first) - of.dot(second))
}

#[test]
fn whether_the_model_tells_the_two_nouns_apart() {
    let Some(parameters) = minilm() else { return kept_quote!("minilm_pronouns") };
    let model = parameters.with_attention(|_, p| FusedAttention::new(p));
    let embed = |sequence: &Sequence| model.embed(sequence).unwrap();
    let leans: Vec<f64> = texts("pair")
        .iter()
        .map(|text| {
            let nouns = [0, 1].map(|noun| embed(&resolved(text, noun)));
            leaning(&embed(&text.sequence), nouns.each_ref())
        })
        .collect();
    let told = Count::of(leans.chunks(2).map(|pair| pair[0] > pair[1]));
    println!("{leans:.4?}");
    let quoted = [
        ("pronouns_told", told.hits().to_string()),
        ("pronouns_pairs", told.n().to_string()),
        ("pronouns_p", format!("{:.2}", sign_test(told.hits(), told.n() - told.hits()))),
    ];
    assert_quote!("minilm_pronouns", values(&quoted));
}

/// A vector that knows the noun leans to it; one that does not leans to neither.
#[test]
fn a_vector_that_knows_its_noun_leans_to_it() {
    let axis =
        |nth: usize| RowVector::<f32>::from_fn(3, |_, at| f32::from(u8::from(at == nth)));
    let nouns = [axis(0), axis(1)];
    assert!(leaning(&axis(0), nouns.each_ref()) > 0.9);
    assert!(leaning(&axis(1), nouns.each_ref()) < -0.9);
    assert_eq!(leaning(&axis(2), nouns.each_ref()), 0.0);
}
