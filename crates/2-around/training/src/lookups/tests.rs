use super::*;
use crate::one_layer::train;
use crate::tests::ON;

fn sentences(n: usize) -> Vec<Sentence> {
    let rng = &mut Rng::seed_from_u64(1);
    (0..n).map(|_| Lookups::sentence(rng)).collect()
}

#[test]
fn a_sentence_has_every_role_and_nobody_twice() {
    for sentence in sentences(200) {
        let mut roles = sentence.roles;
        roles.sort_unstable();
        assert_eq!(roles, SENTENCE);
        let mut identities = sentence.identities.to_vec();
        identities.sort_unstable();
        identities.dedup();
        assert_eq!(identities.len(), N_TOKENS);
        assert!(identities.iter().all(|&who| who < Lookups::N_IDENTITIES));
    }
}

/// If the order said something, a head could look at a place and need no role.
#[test]
fn every_role_stands_everywhere_and_everyone_has_it() {
    let sentences = sentences(4000);
    for role in VERB..FILLER {
        let (mut places, mut identities) = ([0; N_TOKENS], [0; Lookups::N_IDENTITIES]);
        for sentence in &sentences {
            places[sentence.place_of(role)] += 1;
            identities[sentence.who(role)] += 1;
        }
        assert!(places.iter().all(|n| (301..500).contains(n)), "{role}: {places:?}");
        assert!(
            identities.iter().all(|n| (20..130).contains(n)),
            "{role}: {identities:?}"
        );
    }
}

/// What the layer is asked with says nothing of the answers, and the plain average of
/// all tokens says who is there and not in which role.
#[test]
fn only_attention_can_tell_the_roles_apart() {
    let task = Lookups::default();
    let one = sentences(1).remove(0);
    let mut other = one.clone();
    other.identities.swap(one.place_of(1), one.place_of(2));
    let [a, b] = [one, other].map(|sentence| task.examples(&[sentence]).unwrap());
    assert_ne!(a.answers, b.answers);
    assert_eq!(a.asking, b.asking);
    let mean = |examples: &Examples| examples.tokens.tokens().row_mean();
    assert!((mean(&a) - mean(&b)).amax() < 1e-6);
}

#[test]
fn a_token_is_who_plus_role_and_the_verb_asks() {
    let task = Lookups::default();
    let sentences = sentences(2);
    let examples = task.examples(&sentences).unwrap();
    let of =
        |who: usize, role: usize| task.identities[role].row(who) + task.roles.row(role);
    let second = &sentences[1];
    for t in 0..N_TOKENS {
        let expected = of(second.identities[t], second.roles[t]);
        assert_eq!(examples.tokens.sequence(1).row(t), expected);
    }
    assert_eq!(examples.asking.sequence(1).row(0), of(second.who(VERB), VERB));
    let Answers::Classes { of_targets, .. } = &examples.answers else {
        panic!("identities are classes");
    };
    for (target, planted) in examples.planted.iter().enumerate() {
        let role = target + 1;
        assert_eq!(of_targets[target][1], second.who(role));
        assert_eq!(planted[(1, second.place_of(role))], 1.0);
        assert_eq!(planted.row(1).sum(), 1.0);
    }
}

#[test]
fn no_sentences_are_refused() {
    let refused = Lookups::default().examples(&[]).unwrap_err();
    insta::assert_snapshot!(refused, @"the number of sentences is 0, and must be at least 1");
}

/// Where identity and role are added, a single head tells who is who by the sizes of its
/// shares: made equal, they leave a guess among three. Where tokens are bound, little is lost.
#[test]
fn equal_shares_cost_what_sizes_code_and_nothing_where_tokens_are_bound() {
    let sizes = |code| {
        let task = Lookups::coded(code, Lookups::LOUDNESS, 0);
        let schedule = Schedule { n_steps: 400, n_looks: 1, ..Lookups::schedule(0) };
        let trained = train(&task, 1, &schedule, ON).unwrap();
        let pairs = PairAnswers::equal(&trained.model, &trained.test).unwrap();
        (Sizes::of(&trained.model, &trained.test).unwrap(), pairs)
    };
    let [(added, coin), (bound, stay)] = [sizes(Code::Added), sizes(Code::Bound)];
    assert!(added.as_is > 0.45 && added.equal < 0.38, "{added:?}");
    assert!(bound.equal > bound.as_is - 0.1, "{bound:?}");
    assert!(added.exchanged > 0.3 && bound.exchanged < 0.05, "{added:?} {bound:?}");
    // And the same for two words alone: a coin, or answers that stay.
    for (right, other) in coin.right.iter().zip(coin.other.iter()) {
        assert!((0.8..1.25).contains(&(right / other)), "{coin:?}");
    }
    for (right, other) in stay.right.iter().zip(stay.other.iter()) {
        assert!(*right > bound.as_is - 0.1 && *other < 0.05, "{stay:?}");
    }
}
