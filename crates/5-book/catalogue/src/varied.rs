//! Another task from the same exercise, and an exercise without its answer.

use crate::answer::{applied, applied_in_place, on_one_line};
use crate::sheet::{UNVARIED, VARIANT};
use crate::{Answer, Elsewhere, Exercise, Fault, Form, Mistake, Result, Sheet, Variant};

impl Exercise {
    /// The exercise in a variant: another solution, another task, and the mistakes that still
    /// are some, behind the right answers to its other versions, the book's first.
    ///
    /// # Errors
    /// A variant that is not there, or that edits what is not there.
    pub fn varied(&self, id: &str) -> Result<Self> {
        let variants = &self.sheet.variants;
        let variant = variants.iter().find(|it| it.id == id);
        let variant = variant
            .ok_or_else(|| Fault::new(self.file(), 0, format!("no variant is {id:?}")))?;
        let mut varied = Self { variant: Some(id.to_owned()), ..self.clone() };
        let answer = self.answer_to(variant)?;
        let reword = |text: &str| variant.reworded(text);
        varied.solution =
            self.solution.varied(&answer, &variant.task, reword, &self.file())?;
        self.reword(variant, &mut varied.sheet)?;
        varied.sheet.right.retain_mut(|right| {
            let edited = applied_in_place(&variant.edits, &right.function);
            let is_right = !variant.without.contains(&right.id) && edited.is_ok();
            right.function = edited.unwrap_or_default();
            is_right
        });
        let mut mistakes =
            vec![other_version(variant, None, self.solution.answer().to_owned(), self)];
        for other in variants.iter().filter(|it| it.id != id) {
            let answer = self.answer_to(other)?;
            mistakes.push(other_version(variant, Some(other), answer, self));
        }
        for mistake in varied.sheet.mistakes.drain(..).collect::<Vec<_>>() {
            if !variant.without.contains(&mistake.id) {
                mistakes.extend(self.still_wrong(mistake, variant, &varied));
            }
        }
        varied.sheet.mistakes = mistakes;
        varied.sheet.variants.clear();
        varied.sheet.others.clear();
        Ok(varied)
    }

    /// The answer to a variant: the solution's, with its edits.
    fn answer_to(&self, variant: &Variant) -> Result<String> {
        applied_in_place(&variant.edits, self.solution.answer())
            .map_err(|what| fault(self, variant, what))
    }

    /// What the sheet says in a variant.
    fn reword(&self, variant: &Variant, sheet: &mut Sheet) -> Result<()> {
        let texts = all_texts(sheet);
        for (old, _) in &variant.texts {
            let is_said = texts.iter().any(|text| text.contains(old));
            if !is_said && !self.solution.text.contains(old) {
                return Err(fault(self, variant, format!("no text has {old:?}")));
            }
        }
        for text in texts {
            *text = variant.reworded(text);
        }
        if let Elsewhere::Function(text) = &mut sheet.elsewhere {
            *text += " ";
            *text += &variant.task;
        }
        let other = |text: &mut String, other: &Option<String>| {
            other.as_ref().map(|it| text.clone_from(it))
        };
        other(&mut sheet.begin, &variant.begin);
        other(&mut sheet.print, &variant.print);
        other(&mut sheet.passed, &variant.passed);
        let mut step = 0;
        sheet.hints.retain(|_| {
            step += 1;
            !variant.hints.contains(&step)
        });
        Ok(())
    }

    /// A mistake in a variant: its edits of the variant's solution; of its answer, those of
    /// the variant; or both together. Nothing where none applies, or gives the right answer.
    fn still_wrong(
        &self,
        mut mistake: Mistake,
        variant: &Variant,
        varied: &Self,
    ) -> Option<Mistake> {
        let of = mistake.of.as_deref();
        let right = Answer { line: mistake.line, form: Form::Edits(Vec::new()) };
        let right = varied.source(&right, of).ok()?;
        mistake.answers.retain_mut(|answer| {
            let is_edit = matches!(answer.form, Form::Edits(_));
            if let Some(edited) = varied.source(answer, of).ok().filter(|_| is_edit) {
                return edited != right;
            }
            let wrong = self.source(answer, of).ok();
            let edited = wrong.and_then(|it| applied(&variant.edits, &it).ok());
            let edited = edited.or_else(|| edits_in(variant, answer, &right));
            let Some(edited) = edited.filter(|it| *it != right) else { return false };
            answer.form = Form::Edits(vec![(right.clone(), edited)]);
            true
        });
        (!mistake.answers.is_empty()).then_some(mistake)
    }

    /// The exercise without its answers, as learners get it who are not to find them.
    ///
    /// # Errors
    /// None such: its own file is read again.
    pub fn handed_out(&self, seed: u64) -> Result<Self> {
        let mut out = self.clone();
        out.solution = self.solution.without_answer(&self.file())?;
        let variant = self.variant.as_ref().map(|id| format!(", variant {id}"));
        let sheet = &mut out.sheet;
        sheet.handed_out = Some(format!("seed {seed}{}", variant.unwrap_or_default()));
        sheet.minutes = Some(self.minutes());
        sheet.right.clear();
        sheet.others.clear();
        sheet.variants.clear();
        for mistake in &mut sheet.mistakes {
            mistake.answers.clear();
            mistake.of = None;
        }
        Ok(out)
    }
}

/// A mistake's edits of the variant's program, each with those of the variant in its own texts.
fn edits_in(variant: &Variant, answer: &Answer, right: &str) -> Option<String> {
    let Form::Edits(edits) = &answer.form else { return None };
    let varied = |text: &String| variant.edited(text);
    let edits: Vec<_> =
        edits.iter().map(|(old, new)| (on_one_line(&varied(old)), varied(new))).collect();
    applied(&edits, right).ok()
}

fn fault(exercise: &Exercise, variant: &Variant, what: String) -> Fault {
    Fault::new(exercise.file(), variant.line, format!("variant {}: {what}", variant.id))
}

/// A mistake that is the right answer to another version of the exercise.
fn other_version(
    variant: &Variant,
    other: Option<&Variant>,
    answer: String,
    exercise: &Exercise,
) -> Mistake {
    let (id, name, does, where_) = match other {
        None => (
            UNVARIED.to_owned(),
            "is the answer to the book’s version of this exercise",
            &variant.book,
            "in the book",
        ),
        Some(other) => (
            format!("{VARIANT}{}", other.id),
            "is the answer to another variant of this exercise",
            &other.name,
            "in another set",
        ),
    };
    Mistake {
        id,
        name: name.to_owned(),
        of: None,
        does: format!(
            "It {does}; in your version of the exercise, the answer {}.",
            variant.name
        ),
        looks_right: format!("It is the right answer {where_}."),
        read: exercise.sheet.read.clone(),
        answers: vec![Answer { line: variant.line, form: Form::Function(answer) }],
        line: variant.line,
    }
}

/// All that a sheet says to a learner.
fn all_texts(sheet: &mut Sheet) -> Vec<&mut String> {
    let mut texts = vec![&mut sheet.begin, &mut sheet.print, &mut sheet.passed];
    if let Elsewhere::Function(text) = &mut sheet.elsewhere {
        texts.push(text);
    }
    texts.extend(&mut sheet.hints);
    for mistake in &mut sheet.mistakes {
        texts.extend([&mut mistake.name, &mut mistake.does, &mut mistake.looks_right]);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapters;

    /// Every exercise that has variants, with each of them.
    fn versions() -> Vec<(Exercise, Exercise)> {
        let all = crate::all().unwrap();
        let of = |exercise: &Exercise| -> Vec<_> {
            let variants = exercise.sheet.variants.iter();
            let varied = |it: &Variant| exercise.varied(&it.id);
            let varied =
                variants.map(|it| varied(it).unwrap_or_else(|it| panic!("{it}")));
            varied.map(|varied| (exercise.clone(), varied)).collect()
        };
        all.iter().flat_map(of).collect()
    }

    #[test]
    fn a_variant_is_a_whole_exercise() {
        let versions = versions();
        let names: std::collections::BTreeSet<_> =
            versions.iter().map(|(exercise, _)| &exercise.name).collect();
        assert!(names.len() >= 20 && versions.len() >= 45, "{}", versions.len());
        for (exercise, varied) in &versions {
            let id = varied.variant.as_deref().unwrap();
            let at = format!("{} {id}", exercise.name);
            let variants = &exercise.sheet.variants;
            let variant = variants.iter().find(|it| it.id == id).unwrap();
            let given: String = varied.given().replace("\n//! ", " ");
            assert!(
                given.contains(&format!("**Your version.** {}", variant.task)),
                "{at}"
            );
            assert!(given.contains("todo!()"), "{at}");
            assert_ne!(varied.solution.answer(), exercise.solution.answer(), "{at}");
            assert_ne!(varied.fingerprint(), exercise.fingerprint(), "{at}");
            let ids: Vec<_> = varied.sheet.mistakes.iter().map(|it| &*it.id).collect();
            assert_eq!(ids[0], "unvaried", "{at}");
            for other in variants.iter().filter(|it| it.id != id) {
                assert!(ids.contains(&&*format!("variant-{}", other.id)), "{at}");
            }
            assert!(ids.len() > variants.len(), "{at}: no mistake is left");
            let n_hints = exercise.sheet.hints.len() - variant.hints.len();
            assert_eq!(varied.sheet.hints.len(), n_hints, "{at}");
        }
    }

    #[test]
    fn what_is_handed_out_is_read_again_and_has_no_answer_in_it() {
        let chapters = chapters::chapters().unwrap();
        let book = crate::all().unwrap().iter().map(|it| (it.clone(), it.clone()));
        for (exercise, version) in versions().into_iter().chain(book) {
            let out = version.handed_out(17).unwrap();
            let text = out.sheet.handed_out_text();
            let topic = &exercise.sheet.read.topic;
            let sheet = Sheet::parse(&text, &out.file(), topic, &chapters).unwrap();
            let read = Exercise { sheet, ..out.clone() };
            assert_eq!(read.sheet.handed_out_text(), text);
            assert_eq!(read.fingerprint(), out.fingerprint(), "{}", exercise.name);
            assert_eq!(read.given(), version.given());
            assert_eq!(read.sheet.handed_out, out.sheet.handed_out);
            assert_eq!(read.minutes(), version.minutes());
            assert!(!text.contains('→'), "{text}");
            let both = text + &out.solution.text;
            let own = |exercise: &Exercise| exercise.given_away(&both);
            assert_eq!(
                own(&exercise).or_else(|| own(&version)),
                None,
                "{}",
                exercise.name
            );
            let answer = version.solution.answer();
            assert!(version.given_away(answer).is_some(), "{}", exercise.name);
        }
    }

    #[test]
    fn what_a_variant_edits_has_to_be_there() {
        let exercise = crate::find("scale").unwrap();
        let refused = |change: fn(&mut Variant)| {
            let mut exercise = exercise.clone();
            change(&mut exercise.sheet.variants[0]);
            let id = exercise.sheet.variants[0].id.clone();
            exercise.varied(&id).unwrap_err().to_string()
        };
        let edit = refused(|it| it.edits[0].0 = "d_v".into());
        assert!(
            edit.contains(": variant by-d-k: the right answer has no \"d_v\""),
            "{edit}"
        );
        let text = refused(|it| it.texts[0].0 = "√d_v".into());
        assert!(text.contains(": variant by-d-k: no text has \"√d_v\""), "{text}");
        assert!(exercise.varied("none").unwrap_err().to_string().contains("\"none\""));
    }

    #[test]
    fn a_mistake_is_one_in_a_variant_by_its_edits_or_by_those_of_the_variant() {
        let varied = crate::find("scale").unwrap().varied("by-d-k").unwrap();
        let source = |id: &str| {
            let mistake = varied.sheet.mistakes.iter().find(|it| it.id == id)?;
            Some(varied.source(&mistake.answers[0], None).unwrap())
        };
        let has = |id: &str, code: &str| source(id).unwrap().contains(code);
        assert!(has("multiplied-by-root", "transpose() * d_k)"), "its edits");
        assert!(has("scaled-after-softmax", "transpose()) / d_k }"), "the variant's");
        assert!(has("not-scaled", "(q * k.transpose() )"), "both");
        assert!(has("unvaried", "/ d_k.sqrt())"), "the book's answer");
        assert_eq!(source("scaled-by-d-k"), None, "it is right now");
    }
}
