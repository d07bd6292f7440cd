//! A reader's own text: in no known form, so nobody says where its parts stand.

use attention::{Error, Mask, Matrix, Result};

use super::task::{READ, WRITTEN, filled_up, shifted};
use super::{DateConverter, DateText, DateTexts, Dates, N_SOURCE};

impl DateTexts {
    /// One text as somebody typed it, capitals as small letters. It has no date, no form and
    /// no target, and its parts are empty.
    ///
    /// # Errors
    /// [`Error::UnknownLetter`]; [`Error::TooManyLetters`]; [`Error`] for no text.
    pub fn of_text(text: &str) -> Result<Self> {
        Error::expect_positive("the number of letters", text.len())?;
        let is_unknown =
            |(_, it): &(usize, char)| !READ.contains(it.to_ascii_lowercase());
        if let Some((position, letter)) = text.chars().enumerate().find(is_unknown) {
            return Err(Error::UnknownLetter { letter, position, known: READ });
        }
        let text = text.to_ascii_lowercase();
        if text.len() > N_SOURCE {
            return Err(Error::TooManyLetters { n_letters: text.len(), most: N_SOURCE });
        }
        Ok(Self {
            dates: Vec::new(),
            forms: Vec::new(),
            source: filled_up(&text),
            target: Vec::new(),
            masks: vec![Mask::FirstKeys(text.len())],
            written: vec![DateText { text, parts: [0..0, 0..0, 0..0] }],
        })
    }
}

impl Dates {
    /// What was written, as a text: "2031-03-12". Numbers that stand for no letter, as
    /// [`START`](Self::START), are left out.
    pub fn letters(written: &[usize]) -> String {
        written.iter().filter_map(|&id| WRITTEN.chars().nth(id)).collect()
    }
}

impl DateConverter {
    /// What it writes for one text, and where each head of the cross-attention looks as it
    /// writes each letter: a map per head, `[N_TARGET, n_letters]`, without what fills up
    /// the text.
    ///
    /// ```
    /// use attention::{Rng, SeedableRng};
    /// use training::dates::{DateArchitecture, DateConverter, DateTexts, Dates};
    ///
    /// let rng = &mut Rng::seed_from_u64(1);
    /// let model = DateConverter::random(DateArchitecture::default(), rng)?;
    /// let (written, maps) = model.write_and_look(&DateTexts::of_text("12 March 2031")?)?;
    /// assert_eq!(Dates::letters(&written).len(), 10);
    /// assert_eq!((maps.len(), maps[0].shape()), (4, (10, 13)));
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] for none or several texts; as [`encode`](Self::encode).
    pub fn write_and_look(
        &self,
        texts: &DateTexts,
    ) -> Result<(Vec<usize>, Vec<Matrix<f32>>)> {
        Error::expect_length("the list of texts", 1, texts.n_dates())?;
        let written = self.write(texts)?;
        // No letter sees what comes after it, so each row is as it was while it was written.
        let memory = self.memory(texts)?;
        let pass = self.decode(&shifted(&written), &memory, texts, None)?;
        let n_letters = texts.written[0].text.len();
        let maps = pass.blocks()[0].cross()?.attn[0].iter();
        let maps = maps.map(|map| map.columns(0, n_letters).into_owned()).collect();
        Ok((written, maps))
    }
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng};

    use super::super::{Date, DateArchitecture, Form, N_TARGET};
    use super::*;

    fn model() -> DateConverter {
        let built = DateArchitecture { d_model: 16, n_heads: 2, d_ff: 16 };
        DateConverter::random(built, &mut Rng::seed_from_u64(2)).unwrap()
    }

    #[test]
    fn a_text_that_is_a_date_is_read_as_that_date() {
        let date = Date { year: 2031, month: 9, day: 30 };
        for form in Form::ALL {
            let known = DateTexts::of([(date, form)]);
            let text = known.written[0].text.to_ascii_uppercase();
            let free = DateTexts::of_text(&text).unwrap();
            assert_eq!((&free.source, &free.masks), (&known.source, &known.masks));
            assert_eq!(free.written[0].text, known.written[0].text);
            assert_eq!(model().write(&free).unwrap(), model().write(&known).unwrap());
        }
    }

    /// Each row of the maps is as it was when that letter was the last one.
    #[test]
    fn the_maps_are_those_of_the_writing() {
        let (model, texts) = (model(), DateTexts::of_text("sep. 5 1987").unwrap());
        let (written, maps) = model.write_and_look(&texts).unwrap();
        let memory = model.memory(&texts).unwrap();
        let mut so_far = vec![Dates::START];
        for (row, &letter) in written.iter().enumerate() {
            let pass = model.decode(&so_far, &memory, &texts, None).unwrap();
            for (i, map) in maps.iter().enumerate() {
                let cross = pass.blocks()[0].cross().unwrap();
                let then = cross.attn[0][i].row(row).into_owned();
                let apart = map.row(row) - then.columns(0, 11);
                assert!(apart.amax() < 1e-6, "head {i}, letter {row}: {apart}");
                assert!((map.row(row).sum() - 1.0).abs() < 1e-5);
            }
            so_far.push(letter);
        }
        assert_eq!(maps[1].shape(), (N_TARGET, 11));
    }

    #[test]
    fn what_was_written_as_a_text() {
        let texts =
            DateTexts::of([(Date { year: 2031, month: 3, day: 12 }, Form::DayWord)]);
        assert_eq!(Dates::letters(&texts.target), "2031-03-12");
        assert_eq!(Dates::letters(&texts.given()), "2031-03-1"); // not the start
    }

    #[test]
    fn a_text_that_cannot_be_read_is_refused() {
        let refused = |text| DateTexts::of_text(text).unwrap_err();
        insta::assert_snapshot!(refused("12 märz 2031"), @r#"letter 4 of the text is 'ä', counted from 0, and the model knows only these: " ,-./0123456789abcdefghijlmnoprstuvy""#);
        insta::assert_snapshot!(refused("wednesday"), @r#"letter 0 of the text is 'w', counted from 0, and the model knows only these: " ,-./0123456789abcdefghijlmnoprstuvy""#);
        insta::assert_snapshot!(refused("the 30th of september, 2031"), @"the text has 27 letters, and the model reads at most 18");
        insta::assert_snapshot!(refused("saturday, september 30, 2031"), @"the text has 28 letters, and the model reads at most 18");
        insta::assert_snapshot!(refused(""), @"the number of letters is 0, and must be at least 1");
        let two = DateTexts::of(
            [Form::DayWord, Form::WordDay]
                .map(|form| (Date { year: 2031, month: 3, day: 12 }, form)),
        );
        let refused = model().write_and_look(&two).unwrap_err();
        insta::assert_snapshot!(refused, @"the list of texts has 2 entries, expected 1");
    }
}
