//! An exercise: its two files, and its place among all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::answer::{code, tokens};
use crate::chapters::{self, root};
use crate::fault::{Result, read};
use crate::{Answer, Fault, Form, Sheet, Solution};

/// An exercise, as its two files say it.
#[derive(Debug, Clone)]
pub struct Exercise {
    /// The name of its files: `scale`.
    pub name: String,
    /// Its place among all, counted from 1.
    pub number: usize,
    /// The id of the variant that it is, where it is one.
    pub variant: Option<String>,
    /// What `NAME.md` says.
    pub sheet: Sheet,
    /// What `NAME.rs` says.
    pub solution: Solution,
}

/// The folder of the files.
pub fn folder() -> PathBuf {
    root().join("crates/5-book/exercises/set")
}

/// Every exercise, in the book's order: read once.
///
/// # Errors
/// A file that cannot be read, or says what is not understood.
pub fn all() -> Result<&'static [Exercise]> {
    static ALL: OnceLock<Vec<Exercise>> = OnceLock::new();
    if let Some(all) = ALL.get() {
        return Ok(all);
    }
    let all = read_all()?;
    Ok(ALL.get_or_init(|| all))
}

fn read_all() -> Result<Vec<Exercise>> {
    let chapters = chapters::chapters()?;
    let names = chapters::names(&chapters)?;
    let mut exercises = Vec::new();
    for ((name, topic), number) in names.into_iter().zip(1..) {
        exercises.push(Exercise::read(&folder(), name, number, &topic, &chapters)?);
    }
    Ok(exercises)
}

/// The exercise of this name.
///
/// # Errors
/// None such, or a file that cannot be read.
pub fn find(name: &str) -> Result<Exercise> {
    find_in(&folder(), name)
}

/// The exercise of this name in another set: its two files are in this folder.
///
/// # Errors
/// None such, or a file that cannot be read.
pub fn find_in(folder: &Path, name: &str) -> Result<Exercise> {
    let chapters = chapters::chapters()?;
    let names = chapters::names(&chapters)?;
    let place = names.iter().position(|(it, _)| it == name);
    let place =
        place.ok_or_else(|| Fault::new(name, 0, "no chapter has this exercise"))?;
    let (name, topic) = names[place].clone();
    Exercise::read(folder, name, place + 1, &topic, &chapters)
}

impl Exercise {
    fn read(
        folder: &Path,
        name: String,
        number: usize,
        topic: &str,
        chapters: &[chapters::Chapter],
    ) -> Result<Self> {
        let [sheet, solution] = ["md", "rs"].map(|end| format!("set/{name}.{end}"));
        let at = |file: &str| folder.join(file.trim_start_matches("set/"));
        Ok(Self {
            sheet: Sheet::parse(&read(&at(&sheet))?, &sheet, topic, chapters)?,
            solution: Solution::read(&at(&solution), &solution)?,
            name,
            number,
            variant: None,
        })
    }

    /// The sheet as a fault names it: `set/scale.md`.
    pub fn file(&self) -> String {
        format!("set/{}.md", self.name)
    }

    /// What a reader starts from: the solution with the answer taken out.
    pub fn given(&self) -> String {
        self.solution.given(self.number, &self.sheet.title, &self.sheet.read)
    }

    /// The program of an answer, on one line. Its edits are of the solution, or of another right
    /// answer, by its id.
    ///
    /// # Errors
    /// An edit that applies nowhere, or in a place that another has changed.
    pub fn source(&self, answer: &Answer, of: Option<&str>) -> Result<String> {
        let file = self.file();
        let with = |function: &str| self.solution.with_answer(function);
        let original = match self.sheet.function(of, &file, answer.line)? {
            Some(function) => with(function),
            None => self.solution.text.clone(),
        };
        answer.source(&original, with, &file)
    }

    /// The programs of every answer, each on one line and with its line in the sheet (0 for the
    /// solution): the solution, the other right answers, those that make mistakes, and those
    /// that get another verdict.
    ///
    /// # Errors
    /// An edit that applies nowhere.
    pub fn sources(&self) -> Result<Vec<(usize, String)>> {
        let sheet = &self.sheet;
        let mut answers = vec![(Answer { line: 0, form: Form::Edits(Vec::new()) }, None)];
        answers.extend(sheet.right.iter().map(|right| {
            let form = Form::Function(right.function.clone());
            (Answer { line: right.line, form }, None)
        }));
        let mistakes = sheet.mistakes.iter().map(|it| (&it.of, &it.answers));
        let others = sheet.others.iter().map(|it| (&it.of, &it.answers));
        for (of, of_heading) in mistakes.chain(others) {
            answers.extend(of_heading.iter().cloned().map(|it| (it, of.as_deref())));
        }
        let source = |(answer, of): &(Answer, Option<&str>)| {
            Ok((answer.line, self.source(answer, *of)?))
        };
        answers.iter().map(source).collect()
    }

    /// What the numbers that are kept are made from: where it has changed, they are refused.
    /// The words of a sheet are no part of it.
    pub fn fingerprint(&self) -> u64 {
        let sheet = &self.sheet;
        let forms = |answers: &[Answer]| {
            answers.iter().map(|answer| answer.form.clone()).collect::<Vec<_>>()
        };
        let mistakes =
            sheet.mistakes.iter().map(|it| (&it.id, &it.of, forms(&it.answers)));
        let right = sheet.right.iter().map(|it| (&it.id, &it.function));
        let parts = (mistakes.collect::<Vec<_>>(), right.collect::<Vec<_>>());
        digest(&format!("{}{parts:?}", self.solution.text))
    }

    /// What a text gives away: eight tokens in a row of a right answer, a word among them, that
    /// the given file lacks.
    pub fn given_away(&self, text: &str) -> Option<String> {
        let answer = self.answer_runs();
        runs(text).into_iter().find(|run| answer.contains(run))
    }

    /// Those runs of tokens; none of an exercise that was handed out without its solution.
    pub fn answer_runs(&self) -> BTreeSet<String> {
        let others = self.sheet.right.iter().map(|right| right.function.as_str());
        let right = others.chain([self.solution.answer()]).map(code);
        let given = runs(&self.given());
        let has_word = |run: &String| run.contains(char::is_alphabetic);
        let of_answers = right.flat_map(|right| runs(&right));
        of_answers.filter(|run| has_word(run) && !given.contains(run)).collect()
    }

    /// About how many minutes it takes: by what is to be written, with time to read and think.
    pub fn minutes(&self) -> usize {
        if let Some(minutes) = self.sheet.minutes {
            return minutes;
        }
        let lines = self.solution.answer().lines().map(str::trim);
        let to_write =
            lines.filter(|line| line.len() > 1 && !line.starts_with("//")).count();
        // One minute for every line behind the signature, and four for what is asked.
        4 + to_write.saturating_sub(1)
    }
}

/// Each eight tokens in a row of a text.
pub fn runs(text: &str) -> Vec<String> {
    tokens(text).windows(8).map(|run| run.join(" ")).collect()
}

/// A text in which exercises are named, with their numbers: exercise `scale` is exercise 4.
pub fn with_numbers(text: &str, exercises: &[Exercise]) -> String {
    exercises.iter().fold(text.to_owned(), |text, exercise| {
        // At the beginning of a sentence, too.
        let name = format!("xercise `{}`", exercise.name);
        text.replace(&name, &format!("xercise {}", exercise.number))
    })
}

/// A number for a text, the same on every machine: FNV-1a.
pub fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The exercises of these numbers or names; all of them without one.
///
/// # Errors
/// One that is not there, or a sheet that cannot be read.
pub fn chosen(names: &[String]) -> Result<Vec<Exercise>> {
    match names {
        [] => Ok(all()?.to_vec()),
        names => names.iter().map(|name| asked(name)).collect(),
    }
}

/// The exercise of this number or name: `4`, `04` or `scale`.
///
/// # Errors
/// None such, with those that there are; or a file that cannot be read.
pub fn asked(asked: &str) -> Result<Exercise> {
    let all = all()?;
    let is_asked =
        |it: &&Exercise| it.name == asked || asked.parse::<usize>() == Ok(it.number);
    if let Some(found) = all.iter().find(is_asked) {
        return Ok(found.clone());
    }
    let line =
        |it: &Exercise| format!("  {:02}  {:<24} {}", it.number, it.name, it.sheet.title);
    let list: Vec<String> = all.iter().map(line).collect();
    let what = format!("there is no exercise {asked:?}; there are\n{}", list.join("\n"));
    Err(Fault::new("", 0, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exercise_is_found_by_number_and_by_name() {
        for it in ["4", "04", "scale"] {
            assert_eq!(asked(it).unwrap().name, "scale", "{it}");
        }
        for it in ["0", "99", "", "04_scale"] {
            let refused = asked(it).unwrap_err().to_string();
            assert!(refused.contains("  04  scale "), "{refused}");
        }
    }

    #[test]
    fn exercises_that_a_text_names_get_their_numbers() {
        let text =
            "Exercise `scale`, as exercise `softmax`, and as exercise `none` of these";
        let numbered = with_numbers(text, all().unwrap());
        assert_eq!(
            numbered,
            "Exercise 4, as exercise 3, and as exercise `none` of these"
        );
    }

    #[test]
    fn every_exercise_as_given_asks_for_what_its_solution_answers() {
        for exercise in all().unwrap() {
            let given = exercise.given();
            assert!(given.contains("// TODO: ") && given.contains("todo!()"), "{given}");
            assert!(!given.contains("ANCHOR"), "{given}");
            assert!((5..90).contains(&exercise.minutes()), "{}", exercise.name);
        }
    }

    #[test]
    fn no_message_and_no_hint_gives_the_answer_away() {
        let mut faults = Vec::new();
        for exercise in all().unwrap() {
            let sheet = &exercise.sheet;
            let said = [&sheet.begin, &sheet.print, &sheet.passed];
            let of_mistakes = sheet.mistakes.iter().flat_map(|it| {
                let spans = it.answers.iter().filter_map(Answer::span).map(str::to_owned);
                spans.chain([it.name.clone(), it.does.clone(), it.looks_right.clone()])
            });
            for text in sheet.hints.iter().chain(said).cloned().chain(of_mistakes) {
                let run = exercise.given_away(&text);
                faults.extend(run.map(|run| format!("{}: {run}", exercise.name)));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        let planted = "write row.apply(|score| *score = (*score - largest).exp())";
        assert!(find("softmax").unwrap().given_away(planted).is_some());
    }
}
