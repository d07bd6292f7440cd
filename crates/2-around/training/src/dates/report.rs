//! What was learned of the dates, in text.

use std::fmt;

use attention::{Result, Rng, SeedableRng, median};

use super::criteria::{ALIGNED_LETTERS, TIMES_EVEN};
use super::{
    DateAblation, DateConverter, DateTexts, Dates, Form, N_TARGET, PartShares, Truth,
};
use crate::Training;

/// A training's losses and scores, where its heads look, what is left without each, and a
/// date in each form; it prints as text.
#[derive(Debug, Clone)]
pub struct DateReport<'a> {
    /// The training.
    pub trained: &'a Training<DateConverter>,
    /// What is left without each head.
    pub ablation: DateAblation,
    /// An unseen date in each form: as it is read, as it is written, and as it should be.
    pub written: Vec<[String; 3]>,
}

impl<'a> DateReport<'a> {
    /// Removes each head of a training, and random directions drawn with this seed.
    ///
    /// # Errors
    /// As [`DateAblation::of`].
    pub fn of(trained: &'a Training<DateConverter>, seed: u64) -> Result<Self> {
        let (model, test) = (&trained.model, &trained.test);
        let ablation = DateAblation::of(model, test, &mut Rng::seed_from_u64(seed))?;
        let first = |form: &Form| test.forms.iter().position(|other| other == form);
        let rows = Form::ALL.iter().filter_map(first);
        let some = DateTexts::of(rows.map(|row| (test.dates[row], test.forms[row])));
        let written = match some.n_dates() {
            0 => Vec::new(),
            _ => model.write(&some)?,
        };
        let written = some.written.iter().zip(&some.dates).zip(written.chunks(N_TARGET));
        let written = written.map(|((read, date), written)| {
            [read.text.clone(), Dates::letters(written), date.iso()]
        });
        Ok(Self { trained, ablation, written: written.collect() })
    }
}

impl fmt::Display for DateReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trained, ablation, written } = self;
        writeln!(f, "Of {} dates that it was not trained on:", trained.test.n_dates())?;
        for look in &trained.looks {
            let loss = look.loss.map(|loss| format!(", loss {loss:.3}"));
            let (step, whole) = (look.step, 100.0 * look.whole);
            let loss = loss.unwrap_or_default();
            writeln!(f, "  after {step:>4} steps {whole:5.1} % are whole{loss}")?;
        }
        write_shares(f, &trained.last().shares)?;
        write_ablation(f, ablation)?;
        writeln!(f, "\nAn unseen date in each form:")?;
        for [read, written, iso] in written {
            let wrong = if written == iso { "" } else { "  wrong: it is " };
            let iso = if written == iso { "" } else { iso };
            writeln!(f, "  {read:<18} → {written}{wrong}{iso}")?;
        }
        Ok(())
    }
}

fn write_shares(f: &mut fmt::Formatter<'_>, shares: &PartShares) -> fmt::Result {
    writeln!(
        f,
        "\nMean share of a head's attention on the part that each letter is made from; for a \
         dash\nboth parts beside it. * is more than {TIMES_EVEN} times even, and a head aligns \
         with {ALIGNED_LETTERS} letters:"
    )?;
    let planted = Truth::planted();
    let (mut names, mut columns) = (String::new(), Vec::new());
    for (letter, parts) in planted.0.iter().enumerate() {
        for &part in parts {
            let dash = if parts.len() > 1 { "-" } else { "" };
            names +=
                &format!("{:>6}", format!("{dash}{}", ["Y", "M", "D"][part as usize]));
            columns.push((letter, part as usize));
        }
    }
    writeln!(f, "  {:7}{names}", "")?;
    let aligned = shares.aligned(&planted);
    for (i, (of_head, aligned)) in shares.of_head.iter().zip(aligned).enumerate() {
        let cells = columns.iter().map(|&at| {
            let is_more = of_head[at] > TIMES_EVEN * shares.even[at];
            format!("{:>5.2}{}", of_head[at], if is_more { "*" } else { " " })
        });
        let cells: String = cells.collect();
        writeln!(f, "  head {i:<2}{cells}  {aligned} of {N_TARGET}")?;
    }
    let cells = columns.iter().map(|&at| format!("{:>5.2} ", shares.even[at]));
    writeln!(f, "  {:7}{}", "even", cells.collect::<String>())
}

fn write_ablation(f: &mut fmt::Formatter<'_>, ablation: &DateAblation) -> fmt::Result {
    writeln!(f, "\nShare of dates that stay whole without a head, and with it alone:")?;
    let percent = |share: f64| format!("{:5.1} %", 100.0 * share);
    for (i, (without, alone)) in ablation.ablated.iter().zip(&ablation.alone).enumerate()
    {
        writeln!(f, "  head {i}  {}  {}", percent(*without), percent(*alone))?;
    }
    let both = [
        ("random", &ablation.random),
        ("random, scaled to take as much as a head", &ablation.scaled),
    ];
    for (name, draws) in both {
        let worst = draws.iter().copied().fold(f64::INFINITY, f64::min);
        let (median, worst) = (percent(median(draws.clone())), percent(worst));
        writeln!(f, "  {name}: {median}, in the worst of {} draws {worst}", draws.len())?;
    }
    writeln!(
        f,
        "Random is the control: as many directions of the concatenation as a head has, taken \
         at\nrandom. Without any head {} stay whole.",
        percent(ablation.all_ablated).trim_start()
    )
}
