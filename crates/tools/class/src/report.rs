//! What is said of a class: to its teacher a table, files and the mistakes by how often they
//! were made, to each student a comment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Result;
use exercises::{MistakeWords, SectionWords};
use serde::Serialize;
use serde_json::json;
use textwrap::core::display_width;
use workshop::{paths, step};

use crate::results::{Checked, Defence};
use crate::submissions::Submission;

/// A class, checked.
#[derive(Serialize)]
pub struct Class {
    /// What it was run in, and what that leaves open.
    pub sandbox: &'static str,
    /// The students in the order in which they were found.
    pub students: Vec<Student>,
    /// The mistakes, the most frequent first.
    pub mistakes: Vec<Frequent>,
}

/// A student's verdicts.
#[derive(Serialize)]
pub struct Student {
    /// The name of the submission.
    pub student: String,
    /// By exercise.
    pub exercises: BTreeMap<String, Checked>,
    /// What was refused of it.
    pub refused: Vec<String>,
    /// Files that are no answers.
    pub no_answers: Vec<String>,
}

/// A mistake, and how many made it.
#[derive(Debug, Serialize)]
pub struct Frequent {
    /// How many students.
    pub n_students: usize,
    /// The exercise.
    pub exercise: String,
    /// Its title.
    pub title: String,
    /// What is known of it.
    #[serde(flatten)]
    pub mistake: MistakeWords,
    /// The live figure of the section that explains it, as an address in the book.
    pub figure: Option<String>,
}

/// How many mistakes a terminal lists.
const MOST: usize = 20;

/// The widest table that shows what each mistake is.
const WIDTH: usize = 120;

impl Class {
    /// Puts together what was found.
    pub fn new(
        sandbox: &'static str,
        submissions: Vec<Submission>,
        checked: Vec<BTreeMap<String, Checked>>,
    ) -> Self {
        let both = submissions.into_iter().zip(checked);
        let students = both.map(|(submission, exercises)| Student {
            student: submission.student,
            exercises,
            refused: submission.refused,
            no_answers: submission.unknown,
        });
        let students: Vec<Student> = students.collect();
        let mistakes = frequent(&students);
        Self { sandbox, students, mistakes }
    }

    /// Every answer, with its student and its exercise.
    pub fn answers(&self) -> impl Iterator<Item = (&str, &str, &Checked)> {
        self.students.iter().flat_map(|Student { student, exercises, .. }| {
            exercises.iter().map(|(name, checked)| (&**student, &**name, checked))
        })
    }

    /// The exercises that anybody answered, in the book's order, with their numbers.
    fn exercises(&self) -> Vec<(usize, &str)> {
        let all = self.answers().map(|(_, name, checked)| (checked.report.number, name));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// All that a terminal shows.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n{}", self.sandbox, self.table());
        if self.answers().any(|(_, _, checked)| checked.judged_inside) {
            text += "\nwrite_a_test is judged in the sandbox itself: a test has no numbers.\n";
        }
        text += "\nMistakes, the most frequent first\n\n";
        for it in self.mistakes.iter().take(MOST) {
            let SectionWords { chapter, section, .. } = &it.mistake.read;
            let (id, name) = (&it.mistake.id, &it.mistake.name);
            let _ = writeln!(text, "{:4} × {name}", it.n_students);
            let _ = writeln!(
                text,
                "       {} · {id} · chapter {chapter}, “{section}”",
                it.exercise
            );
            if let Some(figure) = &it.figure {
                let _ = writeln!(text, "       figure: {figure}");
            }
        }
        match self.mistakes.len() {
            0 => text += "   none that is known\n",
            n if n > MOST => text += &format!("   and {} more, in class.csv\n", n - MOST),
            _ => {}
        }
        text + &self.remarks()
    }

    /// What was refused, and what could not be compared.
    fn remarks(&self) -> String {
        let mut lines = Vec::new();
        for student in &self.students {
            let name = &student.student;
            lines.extend(student.refused.iter().map(|what| format!("{name}: {what}")));
            if student.exercises.is_empty() {
                lines.push(format!("{name}: no answer is in it"));
            }
            for (exercise, checked) in &student.exercises {
                let unknown =
                    matches!(checked.verdict, "unknown" | "square-only" | "no-end");
                let why = checked.reason.as_ref();
                let why = why.or(unknown.then_some(&checked.report.summary));
                lines.extend(why.map(|why| format!("{name}: {exercise}: {why}")));
            }
        }
        let unknown = self.students.iter().flat_map(|it| &it.no_answers);
        let names: Vec<&str> = unknown.map(String::as_str).collect();
        match &names[..] {
            [] => {}
            [one] => lines.push(format!("1 file is no answer: {one}")),
            all => {
                let (n, first) = (all.len(), &all[..all.len().min(5)]);
                let more = if n > 5 { ", …" } else { "" };
                let names = first.join(", ");
                lines.push(format!("{n} files are no answers: {names}{more}"));
            }
        }
        if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
    }

    /// A row for each student, a column for each exercise.
    fn table(&self) -> String {
        let exercises = self.exercises();
        let head = |&(number, name): &(usize, &str), wide: bool| match wide {
            true => format!("{number:02} {name}"),
            false => format!("{number:02}"),
        };
        let rows = |wide: bool| -> Vec<Vec<String>> {
            let mut first = vec![String::new()];
            first.extend(exercises.iter().map(|it| head(it, wide)));
            let students = self.students.iter().map(|student| {
                let cell =
                    |(_, name): &(usize, &str)| cell(student.exercises.get(*name), wide);
                let mut row = vec![student.student.clone()];
                row.extend(exercises.iter().map(cell));
                row
            });
            [first].into_iter().chain(students).collect()
        };
        let width = |rows: &[Vec<String>], column: usize| {
            rows.iter().map(|row| display_width(&row[column])).max().unwrap_or(0)
        };
        let total = |rows: &[Vec<String>]| -> usize {
            (0..=exercises.len()).map(|column| width(rows, column) + 2).sum()
        };
        let wide = rows(true);
        let is_wide = total(&wide) <= WIDTH;
        let rows = if is_wide { wide } else { rows(false) };
        let mut text = String::new();
        for row in &rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let blank = width(&rows, column) + 2 - display_width(cell);
                line += &format!("{cell}{}", " ".repeat(blank));
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if !is_wide {
            let names: Vec<String> = exercises.iter().map(|it| head(it, true)).collect();
            let _ = writeln!(text, "\n{}", textwrap::fill(&names.join(", "), 90));
        }
        text += "\n✓ right   ✗ wrong   ○ not written   ! could not be checked\n";
        let is_answered = |it: &Checked| it.defence.is_some_and(|it| it != Defence::Open);
        if self.answers().any(|(.., checked)| is_answered(checked)) {
            text += "✓✓ and ✓✗: right, with a right or a wrong answer to the question about it\n";
        }
        text
    }

    /// A row for each answer.
    fn csv(&self) -> String {
        let mut csv = String::from(
            "student,exercise,number,file,verdict,ids,names,first_difference,reason,defence\n",
        );
        for (student, exercise, checked) in self.answers() {
            let Checked { report, file, verdict, ids, reason, defence, .. } = checked;
            let names: Vec<&str> = report.mistakes.iter().map(|it| &*it.name).collect();
            let difference = report.first_difference.as_ref();
            let difference = difference.map(|it| format!("{}: {}", it.case, it.text));
            let (number, ids, names) =
                (report.number.to_string(), ids.join(" "), names.join("; "));
            let [difference, reason] = [&difference, reason].map(|it| it.as_deref());
            let defence = defence.map(Defence::name);
            let fields = [student, exercise, &number, file, verdict, &ids, &names];
            let rest = [difference, reason, defence].map(Option::unwrap_or_default);
            let fields = fields.into_iter().chain(rest).map(field);
            csv += &(fields.collect::<Vec<_>>().join(",") + "\n");
        }
        csv
    }

    /// Writes the files of a report that hold names.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        step::write(&folder.join("class.csv"), self.csv())?;
        step::write(
            &folder.join("class.json"),
            serde_json::to_string_pretty(&json!(self))?,
        )?;
        for student in &self.students {
            let comment = folder.join("comments").join(format!("{}.md", student.student));
            step::write(&comment, student.comment())?;
        }
        Ok(())
    }
}

impl Student {
    /// A comment to send back: each verdict, with what to read, and no solution.
    fn comment(&self) -> String {
        let mut checked: Vec<&Checked> = self.exercises.values().collect();
        checked.sort_by_key(|it| it.report.number);
        let n_passed = checked.iter().filter(|it| it.verdict == "passed").count();
        let mut text = format!(
            "# {}\n\n{n_passed} of {} answers are right.\n",
            self.student,
            checked.len()
        );
        for it in &self.refused {
            let _ = writeln!(text, "\nNot read: {it}");
        }
        for it in checked {
            let report = &it.report;
            let _ = write!(text, "\n## {:02} · {}\n\n", report.number, report.title);
            // What a student wrote cannot end the block.
            let message = it.message.replace("~~~", "~ ~ ~");
            let _ = writeln!(text, "~~~text\n{}\n~~~", message.trim_end());
            let read = report.mistakes.first().map(|mistake| &mistake.read);
            if let Some(figure) = read.and_then(figure) {
                let _ =
                    writeln!(text, "\nThe section to read has a live figure: {figure}");
            }
        }
        text
    }
}

/// A field of a table: no program takes what a student wrote for a formula.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = format!("{}{text}", if is_formula { "'" } else { "" });
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// A cell of the table, with the ids of mistakes where there is room.
fn cell(checked: Option<&Checked>, wide: bool) -> String {
    let Some(checked) = checked else { return "·".into() };
    let sign = match checked.verdict {
        "passed" => "✓",
        "not-written" => "○",
        "not-checked" => "!",
        _ => "✗",
    };
    match (&checked.ids[..], wide, checked.defence) {
        ([id, ..], true, _) => format!("{sign} {id}"),
        (_, _, Some(Defence::Right)) => format!("{sign}✓"),
        (_, _, Some(Defence::Wrong)) => format!("{sign}✗"),
        _ => sign.into(),
    }
}

/// The mistakes that were named, by how many made them.
fn frequent(students: &[Student]) -> Vec<Frequent> {
    let mut by_id: BTreeMap<(usize, &str, &str), Frequent> = BTreeMap::new();
    for (exercise, checked) in students.iter().flat_map(|it| &it.exercises) {
        // Numbers that fit several mistakes count for none.
        let [mistake] = &checked.report.mistakes[..] else { continue };
        let key = (checked.report.number, exercise.as_str(), mistake.id.as_str());
        let new = || Frequent {
            n_students: 0,
            exercise: exercise.clone(),
            title: checked.report.title.clone(),
            mistake: mistake.clone(),
            figure: figure(&mistake.read),
        };
        by_id.entry(key).or_insert_with(new).n_students += 1;
    }
    let mut all: Vec<Frequent> = by_id.into_values().collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.n_students));
    all
}

/// The first live figure of a section, as the kept figures have its id: `page.html#live-scale`.
fn figure(read: &SectionWords) -> Option<String> {
    let chapters = paths::workspace().join("chapters");
    let page = chapters.join(read.page.replace(".html", ".md"));
    let text = fs::read_to_string(page).ok()?;
    let letters =
        |it: &str| it.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let is_heading =
        |line: &&str| line.starts_with('#') && letters(line) == letters(&read.section);
    let section = text.lines().skip_while(|line| !is_heading(line)).skip(1);
    let section = section.take_while(|line| !line.starts_with('#'));
    let names =
        section.filter_map(|line| line.strip_prefix("{{#figure ")?.strip_suffix("}}"));
    let live = names.filter_map(|name| {
        let kept = chapters.join("figures").join(name).with_extension("html");
        let kept = fs::read_to_string(kept).ok()?;
        let id = kept.strip_prefix("<div class=\"live\" id=\"")?.split('"').next()?;
        Some(format!("{}#{id}", read.page))
    });
    live.into_iter().next()
}
