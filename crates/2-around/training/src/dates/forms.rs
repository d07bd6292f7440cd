//! The six ways in which a date is written.

use std::ops::Range;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year, of four digits.
    pub year: usize,
    /// The month, from 1.
    pub month: usize,
    /// The day of the month, from 1.
    pub day: usize,
}

/// What a date is made of, in the order in which it is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// YYYY.
    Year,
    /// MM.
    Month,
    /// DD.
    Day,
}

/// How a date is written.
///
/// The rule that makes the set unambiguous: **a month in digits stands in the middle**, so
/// "12/03/2031" is the twelfth of March and never the third of December; and years have four
/// digits. With digits alone, month and day have two; beside a word, a day below ten has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// "12 march 2031".
    DayWord,
    /// "march 12, 2031".
    WordDay,
    /// "mar. 12 2031".
    ShortDay,
    /// "12-mar-2031".
    DayShort,
    /// "12/03/2031".
    DayFirst,
    /// "2031.03.12".
    YearFirst,
}

/// A date as it is written, and where its parts stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateText {
    /// What stands there: letters of ASCII.
    pub text: String,
    /// The letters of the year, of the month, and of the day; neither a dot nor a comma is
    /// one of them.
    pub parts: [Range<usize>; 3],
}

const MONTHS: &str = "january february march april may june july august september \
                      october november december";

impl Date {
    /// All days of a year, in order.
    pub(crate) fn of_year(year: usize) -> impl Iterator<Item = Self> {
        let is_leap = year.is_multiple_of(4)
            && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let n_days = move |month: usize| match month {
            2 => 28 + usize::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (1..=12).flat_map(move |month| {
            (1..=n_days(month)).map(move |day| Self { year, month, day })
        })
    }

    /// "2031-03-12".
    pub fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Form {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::DayWord,
        Self::WordDay,
        Self::ShortDay,
        Self::DayShort,
        Self::DayFirst,
        Self::YearFirst,
    ];

    /// A date in this form.
    ///
    /// # Panics
    /// Unless the month is one of 1 to 12.
    pub fn write(self, date: Date) -> DateText {
        use Part::{Day, Month, Year};
        let word = MONTHS.split(' ').nth(date.month - 1).expect("a month of a year");
        let (word, short) = (word.to_owned(), word[..3].to_owned());
        let digits = |n: usize| format!("{n:02}");
        let (year, day) = (date.year.to_string(), date.day.to_string());
        let (mm, dd) = (digits(date.month), digits(date.day));
        // Each part with what stands behind it.
        let pieces = match self {
            Self::DayWord => [(Day, day, " "), (Month, word, " "), (Year, year, "")],
            Self::WordDay => [(Month, word, " "), (Day, day, ", "), (Year, year, "")],
            Self::ShortDay => [(Month, short, ". "), (Day, day, " "), (Year, year, "")],
            Self::DayShort => [(Day, day, "-"), (Month, short, "-"), (Year, year, "")],
            Self::DayFirst => [(Day, dd, "/"), (Month, mm, "/"), (Year, year, "")],
            Self::YearFirst => [(Year, year, "."), (Month, mm, "."), (Day, dd, "")],
        };
        let mut text = String::new();
        let mut parts = [0..0, 0..0, 0..0];
        for (part, letters, behind) in pieces {
            parts[part as usize] = text.len()..text.len() + letters.len();
            text += &letters;
            text += behind;
        }
        DateText { text, parts }
    }
}
