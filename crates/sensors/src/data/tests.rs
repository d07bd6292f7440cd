use super::*;
use crate::{LastReading, rmse};

#[test]
fn look() {
    let (readings, _) = Fleet::default().readings(0);
    let p = Prepared::of(&readings, 0).unwrap();
    let b = LastReading::fit(&p.train).unwrap();
    for w in [&p.train, &p.validation, &p.test] {
        let y: Vec<f64> = w.at.iter().map(At::target).collect();
        let s: Vec<f64> = w.at.iter().map(|a| b.predict(w, a)).collect();
        println!(
            "{} windows rmse {:.2} const {:.2}",
            y.len(),
            rmse(&s, &y),
            rmse(&vec![y.iter().sum::<f64>() / y.len() as f64; y.len()], &y)
        );
    }
}
