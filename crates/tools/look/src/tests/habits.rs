//! A file of texts, measured.

use ::texts::Long;
use maps::habits::Habit;

use super::command;
use crate::habits;

/// What heads do over lines is told, sorted, and taken away; what cannot be is refused first.
#[test]
fn a_file_of_texts_is_measured() {
    let folder = crate::tests::with_tokenizer("bert-1");
    let texts = folder.path().join("texts.txt");
    std::fs::write(&texts, "a b a b\n\nb a a\n").unwrap();
    let measured = habits::measure(folder.path(), &texts, Long::Refuse).unwrap();
    assert_eq!(measured.texts.n_texts, 2);
    let table = measured.table(Some(Habit::Previous));
    assert!(table.starts_with("2 texts in "), "{table}");
    let of_row =
        |row: &str| row.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap();
    let shares: Vec<f64> = table.lines().skip(6).map(of_row).collect();
    assert_eq!(shares.len(), measured.texts.heads.concat().len());
    assert!(shares.is_sorted_by(|a, b| a >= b), "{table}");
    let json = folder.path().join("out.json");
    let (model, texts) = (folder.path().to_str().unwrap(), texts.to_str().unwrap());
    let refused =
        command(&["habits", texts, "--model", model, "--save", json.to_str().unwrap()]);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("of many texts there are numbers"), "{refused}");
}
