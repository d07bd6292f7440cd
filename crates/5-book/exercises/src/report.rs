//! A verdict as data, for programs: an editor, a page, a tutor.

use catalogue::{Exercise, Section};
use serde::{Deserialize, Serialize};

use crate::{Difference, Verdict};

/// A verdict as `cargo learn check --json` prints it. It never holds a right answer in code.
///
/// A field that is added leaves [`Report::VERSION`] as it is; one that changes its meaning or
/// goes away does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// [`Report::VERSION`].
    pub version: u32,
    /// The name of the exercise.
    pub exercise: String,
    /// Its place in the book, counted from 1.
    pub number: usize,
    /// Its title.
    pub title: String,
    /// `passed`, `not-written`, `mistake`, `coarse`, `square-only`, `unknown`, `no-end`, or
    /// `not-checked` where there were no numbers to compare.
    pub verdict: &'static str,
    /// The verdict in a sentence.
    pub summary: String,
    /// The mistakes that give these numbers: one, or several that these cannot tell apart.
    pub mistakes: Vec<MistakeWords>,
    /// The first entry that differs from the right answer, or what keeps it from comparison.
    pub first_difference: Option<FirstDifference>,
    /// The cases on which it is right, by their sizes.
    pub right_with: Vec<String>,
    /// What to look for, where the numbers have something in common with the right ones.
    pub look_for: Option<String>,
    /// The section to read.
    pub read: SectionWords,
    /// How many steps the hint has.
    pub n_hints: usize,
}

/// A mistake, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MistakeWords {
    /// Its name for programs, which stays.
    pub id: String,
    /// Behind `your answer`: `divides by √d_model`.
    pub name: String,
    /// What it does.
    pub does: String,
    /// Why it looks right.
    pub looks_right: String,
    /// The section that explains it.
    pub read: SectionWords,
}

/// A section of the book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SectionWords {
    /// The chapter's number.
    pub chapter: usize,
    /// The heading of the section.
    pub section: String,
    /// The chapter's page in the book.
    pub page: String,
}

/// Where an answer first differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstDifference {
    /// The sizes of the case.
    pub case: String,
    /// `entry`, `shape`, `parts` or `panic`.
    pub kind: &'static str,
    /// Which entry, in words.
    pub place: Option<String>,
    /// What the answer has there; a number that JSON does not have is a text.
    pub found: Option<serde_json::Value>,
    /// What the right answer has there.
    pub expected: Option<serde_json::Value>,
    /// All of it in a sentence.
    pub text: String,
}

/// What is said of an exercise and of its mistakes, by which a page makes a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExerciseWords {
    /// The name of the exercise.
    pub exercise: String,
    /// Its place in the book, counted from 1.
    pub number: usize,
    /// Its title.
    pub title: String,
    /// What holds once it is right.
    pub passed: String,
    /// Where to begin.
    pub begin: String,
    /// The section that explains it.
    pub read: SectionWords,
    /// The mistakes in the order of the sheet.
    pub mistakes: Vec<MistakeWords>,
    /// How many steps the hint has.
    pub n_hints: usize,
}

impl From<&Section> for SectionWords {
    fn from(section: &Section) -> Self {
        Self {
            chapter: section.number,
            section: section.heading.clone(),
            page: format!("{}.html", section.chapter),
        }
    }
}

impl From<&Exercise> for ExerciseWords {
    fn from(exercise: &Exercise) -> Self {
        let sheet = &exercise.sheet;
        let mistake = |mistake: &catalogue::Mistake| MistakeWords {
            id: mistake.id.clone(),
            name: mistake.name.clone(),
            does: mistake.does.clone(),
            looks_right: mistake.looks_right.clone(),
            read: (&mistake.read).into(),
        };
        Self {
            exercise: exercise.name.clone(),
            number: exercise.number,
            title: sheet.title.clone(),
            passed: sheet.passed.clone(),
            begin: sheet.begin.clone(),
            read: (&sheet.read).into(),
            mistakes: sheet.mistakes.iter().map(mistake).collect(),
            n_hints: sheet.hints.len(),
        }
    }
}

impl Report {
    /// The form of what is printed.
    pub const VERSION: u32 = 1;

    /// A verdict as data.
    pub fn of(words: &ExerciseWords, verdict: &Verdict) -> Self {
        let report = Self::empty(words);
        let named = |at: &usize| words.mistakes[*at].clone();
        match verdict {
            Verdict::Passed => report.verdict("passed", words.passed.clone()),
            Verdict::NotWritten => {
                let summary = format!("not written yet; begin with {}", words.begin);
                report.verdict("not-written", summary)
            }
            Verdict::Mistake { mistake, sizes, difference, .. } => Self {
                mistakes: vec![named(mistake)],
                first_difference: Some(FirstDifference::of(sizes, difference)),
                ..report
                    .verdict("mistake", format!("it {}", words.mistakes[*mistake].name))
            },
            Verdict::Coarse { may_be_right, mistakes } => Self {
                mistakes: mistakes.iter().map(named).collect(),
                ..report.verdict("coarse", coarse(*may_be_right, mistakes.len()))
            },
            Verdict::SquareOnly { square, sizes, difference } => Self {
                first_difference: Some(FirstDifference::of(sizes, difference)),
                right_with: square.lines().map(str::to_owned).collect(),
                look_for: Some(SQUARE_HIDES.into()),
                ..report.verdict(
                    "square-only",
                    "it is right only where sizes are equal".into(),
                )
            },
            Verdict::Unknown { right, sizes, difference, pattern, .. } => Self {
                first_difference: Some(FirstDifference::of(sizes, difference)),
                right_with: right.lines().map(str::to_owned).collect(),
                look_for: pattern.map(|pattern| pattern.advice().into()),
                ..report.verdict(
                    "unknown",
                    match pattern {
                        Some(pattern) => format!("it {}", pattern.summary()),
                        None => difference.summary().replace("your answer", "it"),
                    },
                )
            },
            Verdict::NoEnd { sizes, seconds } => {
                let summary = format!("it was stopped after {seconds} s, with {sizes}");
                report.verdict("no-end", summary)
            }
        }
    }

    /// A verdict that rests on no numbers: where none could be read, it is `not-checked`.
    pub fn without_numbers(
        words: &ExerciseWords,
        verdict: &'static str,
        summary: String,
    ) -> Self {
        Self::empty(words).verdict(verdict, summary)
    }

    fn empty(words: &ExerciseWords) -> Self {
        Self {
            version: Self::VERSION,
            exercise: words.exercise.clone(),
            number: words.number,
            title: words.title.clone(),
            verdict: "not-checked",
            summary: String::new(),
            mistakes: Vec::new(),
            first_difference: None,
            right_with: Vec::new(),
            look_for: None,
            read: words.read.clone(),
            n_hints: words.n_hints,
        }
    }

    fn verdict(self, verdict: &'static str, summary: String) -> Self {
        Self { verdict, summary, ..self }
    }
}

/// What to look for where an answer is right only if sizes are equal.
pub(crate) const SQUARE_HIDES: &str = "a length or a width that stands for another, or rows for \
    columns. Equal sizes hide it";

/// What can be said of numbers that several answers share.
pub(crate) fn coarse(may_be_right: bool, n_mistakes: usize) -> String {
    match (may_be_right, n_mistakes) {
        (true, 0) => {
            "it may be right: what differs, arithmetic in so few bits explains".into()
        }
        (true, _) => {
            "it may be right, or one of these: its numbers have too few digits to tell"
                .into()
        }
        (false, _) => {
            "it is one of these: its numbers have too few digits to tell which".into()
        }
    }
}

impl FirstDifference {
    fn of(sizes: &str, difference: &Difference) -> Self {
        let (kind, place, numbers) = match difference {
            Difference::Panic { at, .. } => ("panic", Some(at.clone()), None),
            Difference::Parts { .. } => ("parts", None, None),
            Difference::Shape { part, .. } => ("shape", part.clone(), None),
            Difference::Entry { place, found, expected, .. } => {
                ("entry", Some(place.clone()), Some((*found, *expected)))
            }
        };
        Self {
            case: sizes.to_owned(),
            kind,
            place,
            found: numbers.map(|(found, _)| number(found)),
            expected: numbers.map(|(_, expected)| number(expected)),
            text: difference.text(),
        }
    }
}

/// A number; one that JSON does not have is a text.
pub fn number(x: f64) -> serde_json::Value {
    serde_json::Number::from_f64(x)
        .map_or_else(|| format!("{x}").to_lowercase().into(), Into::into)
}
