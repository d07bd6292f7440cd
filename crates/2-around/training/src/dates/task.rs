//! Dates to train with, and others to test with.

use std::ops::RangeInclusive;

use attention::{Error, Mask, Result, Rng};
use rand::RngExt;

use super::{Date, DateText, Form};
use crate::{Batches, Schedule};

/// The letters of what is read: the longest is "september 30, 2031".
pub const N_SOURCE: usize = 18;

/// The letters of what is written: "2031-03-12".
pub const N_TARGET: usize = 10;

/// The letters that can be read. Behind them comes what fills up a shorter text.
pub(super) const READ: &str = " ,-./0123456789abcdefghijlmnoprstuvy";

/// The letters that can be written. Behind them comes what stands before the first.
pub(super) const WRITTEN: &str = "-0123456789";

/// One date of so many is kept for the test.
const KEPT_ONE_OF: usize = 10;

/// The calendar, cut in two: dates to train with, and dates that only the test has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dates {
    /// What training draws from.
    pub trained: Vec<Date>,
    /// What the test draws from: every tenth day.
    pub unseen: Vec<Date>,
}

/// Dates in random forms.
#[derive(Debug, Clone, PartialEq)]
pub struct DateTexts {
    /// Which dates.
    pub dates: Vec<Date>,
    /// In which form each stands.
    pub forms: Vec<Form>,
    /// How each is written, and where its parts are.
    pub written: Vec<DateText>,
    /// What is read, filled up at the end, `[n_dates · N_SOURCE]`.
    pub source: Vec<usize>,
    /// What is to be written, `[n_dates · N_TARGET]`.
    pub target: Vec<usize>,
    /// A mask for each date, without what fills it up.
    pub masks: Vec<Mask>,
}

impl Dates {
    /// The number of different letters that are read, with what fills up.
    pub const N_READ: usize = READ.len() + 1;

    /// The number of different letters that are written.
    pub const N_WRITTEN: usize = WRITTEN.len();

    /// What the decoder is given before the first letter.
    pub const START: usize = WRITTEN.len();

    /// The days of these years, each of four digits.
    pub fn of_years(years: RangeInclusive<usize>) -> Self {
        let all = years.flat_map(Date::of_year).enumerate();
        let (unseen, trained): (Vec<_>, Vec<_>) =
            all.partition(|(day, _)| day % KEPT_ONE_OF == KEPT_ONE_OF - 1);
        let dates = |of: Vec<(usize, Date)>| of.into_iter().map(|(_, date)| date);
        Self { trained: dates(trained).collect(), unseen: dates(unseen).collect() }
    }

    /// What the task takes: 1,500 steps of 64 dates.
    pub fn schedule(seed: u64) -> Schedule {
        Schedule { batch: 64, n_test: 1000, n_looks: 5, ..Schedule::usual(seed) }
    }

    /// What [`DateArchitecture::small`](super::DateArchitecture::small) takes: 400 steps of 32
    /// dates, 2.4 seconds of one core. Of those tried, on 1,000 unseen dates of one or two
    /// seeds: 300 steps leave 96 % whole, 400 steps 99 %, 800 steps all of them in twice the
    /// time; 600 steps of 64 all in three times, and 600 of 32 at half the rate 99 %.
    pub fn small_schedule(seed: u64) -> Schedule {
        Schedule { n_steps: 400, rate: 0.01, n_looks: 8, ..Schedule::usual(seed) }
    }

    fn draw(from: &[Date], n_dates: usize, rng: &mut Rng) -> Result<DateTexts> {
        Error::expect_positive("the number of dates", n_dates)?;
        Error::expect_positive("the number of dates to draw from", from.len())?;
        let mut draw = || {
            let date = from[rng.random_range(0..from.len())];
            (date, Form::ALL[rng.random_range(0..Form::ALL.len())])
        };
        Ok(DateTexts::of((0..n_dates).map(|_| draw())))
    }
}

impl Default for Dates {
    /// The days of 1950 to 2049.
    fn default() -> Self {
        Self::of_years(1950..=2049)
    }
}

impl Batches for Dates {
    type Examples = DateTexts;

    fn batch(&self, n_examples: usize, rng: &mut Rng) -> Result<DateTexts> {
        Self::draw(&self.trained, n_examples, rng)
    }

    fn test(&self, n_examples: usize, rng: &mut Rng) -> Result<DateTexts> {
        Self::draw(&self.unseen, n_examples, rng)
    }
}

impl DateTexts {
    /// These dates in these forms.
    pub(crate) fn of(dates: impl IntoIterator<Item = (Date, Form)>) -> Self {
        let (dates, forms): (Vec<_>, Vec<_>) = dates.into_iter().unzip();
        let written: Vec<DateText> =
            dates.iter().zip(&forms).map(|(&date, form)| form.write(date)).collect();
        let source =
            written.iter().flat_map(|written| filled_up(&written.text)).collect();
        let target =
            dates.iter().flat_map(|date| ids(WRITTEN, &date.iso()).collect::<Vec<_>>());
        let target = target.collect();
        let masks = written.iter().map(|written| Mask::FirstKeys(written.text.len()));
        let masks = masks.collect();
        Self { dates, forms, written, source, target, masks }
    }

    /// The number of dates, or of texts.
    pub fn n_dates(&self) -> usize {
        self.written.len()
    }

    /// What the decoder is given: at each letter the one before, `[n_dates · N_TARGET]`.
    pub fn given(&self) -> Vec<usize> {
        shifted(&self.target)
    }

    /// The share of dates that are written without a mistake.
    ///
    /// # Shapes
    /// `said` is `[n_dates · N_TARGET]`.
    pub fn whole(&self, said: &[usize]) -> f64 {
        let both = said.chunks(N_TARGET).zip(self.target.chunks(N_TARGET));
        let n_whole = both.filter(|(said, target)| said == target).count();
        n_whole as f64 / self.n_dates().max(1) as f64
    }

    /// For each date, the next one that stands in another form: itself if all stand in one.
    pub fn of_another_form(&self) -> Vec<usize> {
        let n = self.n_dates();
        let other = |s: usize| {
            let mut after = (1..n).map(|step| (s + step) % n);
            after.find(|&other| self.forms[other] != self.forms[s]).unwrap_or(s)
        };
        (0..n).map(other).collect()
    }
}

/// What stands before each letter, of dates of [`N_TARGET`] letters each.
pub(super) fn shifted(letters: &[usize]) -> Vec<usize> {
    let before = |of: &[usize]| {
        let before = of[..N_TARGET - 1].to_vec();
        std::iter::once(Dates::START).chain(before).collect::<Vec<_>>()
    };
    letters.chunks(N_TARGET).flat_map(before).collect()
}

/// The numbers of what is read, filled up at its end, `[N_SOURCE]`.
pub(super) fn filled_up(text: &str) -> Vec<usize> {
    ids(READ, text).chain(std::iter::repeat(READ.len())).take(N_SOURCE).collect()
}

/// The numbers of letters. All that a [`Form`] writes is in the alphabet, which a test holds.
fn ids<'a>(alphabet: &'a str, text: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.chars().filter_map(|letter| alphabet.find(letter))
}
