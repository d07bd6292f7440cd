use super::*;
use crate::gallery::tests::are_finite;

fn at(
    sentence: &'static str,
    query: usize,
    key: usize,
    measure: usize,
) -> Result<LiveView<Facts>> {
    draw(&Set { sentence, query, key, measure })
}

/// Shares and the others' means against PyTorch's maps of the layer, in loops.
#[test]
fn shares_and_the_others_are_those_of_the_reference() {
    let layer = trained::layer().unwrap();
    for (name, _) in SENTENCES {
        let Sentence { tokens, attn, .. } = layer.sentence(name).unwrap();
        let n = tokens.len();
        for (query, key) in [(0, 0), (3, 0), (2, 5), (n - 1, 1), (4, 4)] {
            let shown = at(name, query, key, 0).unwrap();
            let of_heads = &shown.facts.heads;
            assert_eq!(of_heads.len(), N_HEADS);
            let mut best = 0.0;
            for (head, map) in attn.iter().enumerate() {
                let rows = (0..n).filter(|&other| other != query && other != key);
                let others: Vec<f64> = rows.map(|other| map[(other, key)]).collect();
                let others = others.iter().sum::<f64>() / others.len() as f64;
                let given = map[(query, key)];
                best = f64::max(best, given);
                assert!((of_heads[head][0] - given).abs() < 1e-4, "{name} {head}");
                assert!((of_heads[head][1] - others).abs() < 1e-4, "{name} {head}");
            }
            assert!((shown.facts.share - best).abs() < 1e-4);
        }
    }
}

/// The links of the chapter's table that are between single tokens: P and T are those of
/// the chapter. R has fewer layers here.
#[test]
fn the_controls_are_the_chapters() {
    use crate::trained_heads::claims::CLAIMS;
    use crate::trained_heads::verdicts::verdicts;

    let all = verdicts(&[]).unwrap();
    assert_eq!(all.len(), CLAIMS.len());
    for (claim, of_measures) in all.iter().filter(|(claim, _)| claim.queries.len() == 1) {
        let sentence = trained::layer().unwrap().sentence(claim.sentence).unwrap();
        let (rows, key) = claim.place(sentence).unwrap();
        for (measure, verdict) in of_measures.iter().enumerate() {
            let shown = at(claim.sentence, rows[0], key, measure).unwrap();
            let expected = [verdict.link.share, verdict.link.others, verdict.pairs];
            let Facts { share, others, pairs, passes, .. } = shown.facts;
            let found = [share, others, pairs];
            assert_eq!(found, expected, "{} {measure}", claim.name());
            let [p, _, t] = verdict.controls();
            assert_eq!([passes[0], passes[2]], [p, t], "{}", claim.name());
        }
    }
}

/// Every link of the shortest sentence under every measure: bars are shares, numbers are
/// finite, and the words count what the numbers hold.
#[test]
fn every_link_is_told() {
    let sentence = trained::layer().unwrap().sentence("bank_loan").unwrap();
    let n = sentence.tokens.len();
    for measure in 0..MEASURES.len() {
        for (query, key) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let view = at("bank_loan", query, key, measure).unwrap();
            assert!(are_finite(&view.facts), "{query} {key}");
            let odds = |p: f64| p / (1.0 - p);
            let stand_out = view.facts.heads.iter();
            let stand_out = stand_out.filter(|it| odds(it[0]) / odds(it[1]) >= 2.0);
            let told = match view.facts.share {
                0.0 => "nothing among words, and nor does any other token.".to_owned(),
                _ => format!("odds: {} of 12.", stand_out.count()),
            };
            assert!(view.words.contains(&told), "{told}: {}", view.words);
            assert_eq!(
                view.words.contains("passes all three"),
                view.facts.passes == [true; 3]
            );
        }
    }
}

#[test]
fn what_is_said_of_some_links() {
    let words =
        |sentence, query, key, measure| at(sentence, query, key, measure).unwrap().words;
    insta::assert_snapshot!(
        "words",
        [
            LIVE.at([]).unwrap().words,
            words("pilot", 3, 2, 0),
            words("bank_loan", 2, 5, 0),
            words("bank_loan", 2, 5, 1),
            words("bank_loan", 2, 0, 0),
            words("bank_loan", 2, 0, 1),
            words("animal_tired", 9, 2, 2),
        ]
        .join("\n")
    );
    let written = at("animal_tired", 9, 2, 2).unwrap();
    assert_eq!(written.figure.tables()[0].caption, "part of what is written, by head");
    insta::assert_snapshot!(at("river_banks", 0, 15, 0).unwrap_err(), @"token 15 is not among the 9: 0 [CLS], 1 the, 2 river, 3 banks, 4 over, 5 ##flow, 6 ##ed, 7 ., 8 [SEP]");
}

/// Such a link passes all three, and is no answer to the second question.
#[test]
fn a_token_beside_itself_is_no_pair_of_words() {
    let shown = at("animal_tired", 2, 2, 0).unwrap();
    assert!(!shown.facts.are_words);
    assert_eq!(shown.facts.passes, [true; 3]);
    let shown = at("animal_tired", 3, 2, 0).unwrap();
    assert!(shown.facts.are_words);
}
