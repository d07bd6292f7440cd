use super::*;
use crate::gallery::tests::are_finite;
use crate::live::Live;

/// Short enough to repeat.
const SHORT: [(&str, &str); 2] = [("steps", "100"), ("seed", "7")];

fn short<'a>(more: &[(&'a str, &'a str)]) -> LiveView<Facts> {
    LIVE.at([&SHORT[..], more].concat()).unwrap()
}

#[test]
fn step_by_step_it_comes_to_what_is_drawn() {
    let mut training = LIVE.begin(&SHORT).unwrap();
    training.advance(33).unwrap();
    let early = training.shown(&SHORT).unwrap();
    assert!(early.figure.title().starts_with("Seed 7, step 33: a loss of "));
    training.advance(1000).unwrap();
    assert_eq!(training.progress(), [100, 100]);
    let drawn = Live::draw(&LIVE, &SHORT).unwrap();
    assert_eq!(training.shown(&SHORT).unwrap(), drawn);
    // Only what can be changed at any time counts now.
    let without = training.shown(&[("size", "larger"), ("off", "0.1")]).unwrap();
    assert_eq!(without.facts["kept"], drawn.facts["kept"]);
    assert_ne!(without.facts["without"], drawn.facts["without"]);
    assert!(without.figure.title().ends_with(" without head 1 of block 0"));
}

/// It has learned more than how often letters follow two others, by the margin of the book, and
/// the losses of a look and of the facts are those of the crate.
#[test]
fn the_first_settings_come_below_triples() {
    let run = first().unwrap();
    let [.., (_, triples)] = run.rules;
    let shown = LIVE.at([]).unwrap();
    assert!(shown.facts.kept < triples - 0.01, "{} {triples}", shown.facts.kept);
    assert!(shown.facts.is_finished && !shown.facts.is_own);
    let model = run.model().unwrap();
    assert_eq!(model.loss(&run.list.split.test).unwrap(), shown.facts.kept);
    assert_eq!(shown.facts.without, shown.facts.kept);
    assert!(run.looks.windows(2).all(|pair| pair[0].step < pair[1].step));
}

/// What is found at the end of the second question.
#[test]
fn head_3_costs_more_than_twice_as_much_as_any_other() {
    let run = first().unwrap();
    let [.., (_, triples)] = run.rules;
    let whole = LIVE.at([]).unwrap().facts.kept;
    let losses = run.losses_without().unwrap();
    assert!(losses[3].1 > triples, "{losses:?} {triples}");
    for (off, (at, loss)) in ["0.0", "0.1", "0.2", "0.3"].into_iter().zip(losses) {
        let facts = LIVE.at([("off", off)]).unwrap().facts;
        assert_eq!(facts.without, *loss);
        let is_costliest = *at == [0, 3];
        assert_eq!(facts.is_off_costliest, is_costliest, "{losses:?}");
        assert!(is_costliest || 2.0 * (loss - whole) < losses[3].1 - whole, "{losses:?}");
    }
}

/// What is drawn does not hang on what is drawn before it: a lower temperature, a smaller top-p
/// and another beginning change what is written, and nothing that was learned.
#[test]
fn what_is_written_follows_the_settings() {
    let [whole, cold, alone] =
        [[("top_p", "1")], [("temperature", "0.1")], [("top_p", "0.01")]]
            .map(|it| short(&it));
    assert!(whole.facts.n_different > cold.facts.n_different);
    assert_eq!(alone.facts.n_different, 1);
    assert_eq!(whole.facts.kept, alone.facts.kept);
    assert!(alone.words.contains(", 1 of 27 letters"), "{}", alone.words);
    let begun = short(&[("beginning", "Zoë-1 ")]).words;
    for part in ["after “zo” (3 of the beginning left out", "It writes: zo"] {
        assert!(begun.contains(part), "{begun}");
    }
}

#[test]
fn the_corners_are_drawn() {
    for corner in [
        [("temperature", "0.1"), ("top_p", "0.01"), ("beginning", "")],
        [("temperature", "3"), ("top_p", "1"), ("beginning", "abcdefghijklmno")],
        [("temperature", "3"), ("top_p", "0.01"), ("beginning", "123")],
    ] {
        assert!(are_finite(&short(&corner).facts), "{corner:?}");
    }
    let own = [("words", MONTHS), ("size", "larger"), ("off", "1.3")];
    let shown = short(&own);
    assert!(are_finite(&shown.facts) && shown.facts.is_own);
    assert!(shown.words.starts_with("It learns from 11 words, and 1 other is kept"));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |pair| LIVE.at(SHORT.into_iter().chain([pair])).unwrap_err();
    insta::assert_snapshot!(refused(("off", "1.0")), @"there is one block, number 0: block 1 does not exist");
    insta::assert_snapshot!(refused(("words", &"a ".repeat(1501))), @"Own words: more than 3,000 characters");
}
