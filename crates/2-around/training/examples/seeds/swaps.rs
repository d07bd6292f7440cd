//! Two heads on three lookups: does a head that reads two words code them by sizes?

use anyhow::{Result, bail};
use attention::Matrix;
use serde_json::{Value, json};
use training::{Answers, Lookups, PAIRS, Training};

use crate::run::{SEEDS, rounded, rows, trained};

/// The ten runs of two heads once more, and what becomes of the answers where one head's
/// shares of two words are exchanged, or made equal, and nothing else.
pub fn runs() -> Result<Vec<Value>> {
    let of = |seed| {
        let schedule = Lookups::schedule(seed);
        let trained = trained("swaps", &Lookups::default(), 2, &schedule)?;
        let changed = [
            ("as_is", changed(&trained, |_, _, _| {})?),
            ("exchanged", changed(&trained, |row, a, b| row.swap(a, b))?),
            (
                "equal",
                changed(&trained, |row, a, b| {
                    let mean = (row[a] + row[b]) / 2.0;
                    (row[a], row[b]) = (mean, mean);
                })?,
            ),
        ];
        let mut run = json!({
            "seed": seed,
            "scores": rounded(&trained.last().scores),
            "focus": rows(&trained.last().focus),
        });
        for (name, [right, other]) in changed {
            println!("{name}: right {right:.2} other {other:.2}");
            run[name] = json!({"right": rows(&right), "other": rows(&other)});
        }
        Ok(run)
    };
    SEEDS.map(of).collect()
}

/// For each head and pair of words: the share of the answers for those two that are right, and
/// the share that names the other word, `[2, 3]`, where this head's row is changed.
fn changed(
    trained: &Training,
    change: impl Fn(&mut [f64], usize, usize),
) -> Result<[Matrix; 2]> {
    let (model, test) = (&trained.model, &trained.test);
    let Answers::Classes { of_targets: right, n_classes } = &test.answers else {
        bail!("the lookups have classes");
    };
    let place = |r: usize, s: usize| test.planted[r].row(s).transpose().argmax().0;
    let of_heads = model.say(test)?.rows;
    let mut found = [(); 2].map(|()| Matrix::zeros(of_heads.len(), PAIRS.len()));
    for head in 0..of_heads.len() {
        for (nth, (a, b)) in PAIRS.into_iter().enumerate() {
            let mut rows = of_heads.clone();
            let n = rows[head].nrows();
            for s in 0..n {
                let mut row: Vec<f64> = rows[head].row(s).iter().copied().collect();
                change(&mut row, place(a, s), place(b, s));
                rows[head].row_mut(s).copy_from_slice(&row);
            }
            let answers = model.say_attending(test, &rows)?;
            for (asked, other) in [(a, b), (b, a)] {
                for (s, row) in answers.row_iter().enumerate() {
                    let block = row.columns(asked * n_classes, *n_classes).into_owned();
                    let named = (0..*n_classes)
                        .fold(0, |m, c| if block[c] > block[m] { c } else { m });
                    for (found, r) in found.iter_mut().zip([asked, other]) {
                        let is = f64::from(u8::from(named == right[r][s]));
                        found[(head, nth)] += is / (2 * n) as f64;
                    }
                }
            }
        }
    }
    Ok(found)
}
