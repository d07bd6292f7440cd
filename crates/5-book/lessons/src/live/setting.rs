//! A setting of each kind: its control, and how an address writes its value.

use anyhow::{Context, Result, bail, ensure};
use attention::{Matrix, thousands};

use super::control::{Control, Kind};
use super::texts::{matrix_from, matrix_text, number_from};

/// From the label of a control and a text.
type Read<T> = Box<dyn Fn(&str, &str) -> Result<T>>;

/// What a control can be set to, as values of a type.
pub struct Setting<T> {
    kind: Kind,
    first: T,
    is_played: bool,
    at_any_time: bool,
    read: Read<T>,
    write: Box<dyn Fn(&T) -> String>,
}

impl<T> Setting<T> {
    fn new(
        kind: Kind,
        first: T,
        read: impl Fn(&str, &str) -> Result<T> + 'static,
        write: impl Fn(&T) -> String + 'static,
    ) -> Self {
        let (read, write) = (Box::new(read), Box::new(write));
        Self { kind, first, is_played: false, at_any_time: false, read, write }
    }

    /// The same, of a figure that is trained: changed without training anew.
    pub(crate) fn at_any_time(self) -> Self {
        Self { at_any_time: true, ..self }
    }

    /// The same, that a page can play.
    pub(crate) fn played(self) -> Self {
        Self { is_played: true, ..self }
    }

    /// Where it stands first.
    pub(crate) fn first(self) -> T {
        self.first
    }

    /// The control of this key and label.
    pub(crate) fn control(self, key: &'static str, label: &'static str) -> Control {
        let first = self.write(&self.first);
        let Self { kind, is_played, at_any_time, .. } = self;
        Control { key, label, kind, first, is_played, at_any_time }
    }

    /// What a text sets it to, under this label.
    pub(crate) fn read(&self, label: &str, text: &str) -> Result<T> {
        (self.read)(label, text)
    }

    /// A value as an address writes it.
    pub(crate) fn write(&self, value: &T) -> String {
        (self.write)(value)
    }
}

/// A number from a range, on a slider that goes in steps and in a field.
pub(crate) fn number([least, most]: [f64; 2], step: f64, first: f64) -> Setting<f64> {
    let read = move |label: &str, text: &str| number_from(label, text, [least, most]);
    Setting::new(Kind::Number { least, most, step }, first, read, f64::to_string)
}

/// A whole number on such a slider.
pub(crate) fn slider(
    [least, most]: [usize; 2],
    step: usize,
    first: usize,
) -> Setting<usize> {
    let [from, to, step] = [least, most, step].map(|it| it as f64);
    let read = move |label: &str, text: &str| {
        Ok(number_from(label, text, [from, to])?.round() as usize)
    };
    Setting::new(
        Kind::Number { least: from, most: to, step },
        first,
        read,
        usize::to_string,
    )
}

/// A whole number from a range.
pub(crate) fn count([least, most]: [usize; 2], first: usize) -> Setting<usize> {
    let read = move |label: &str, text: &str| {
        let count = text.trim().parse().ok().filter(|it| (least..=most).contains(it));
        count.with_context(|| {
            format!("{label} is “{text}”, expected a whole number from {least} to {most}")
        })
    };
    Setting::new(Kind::Count { least, most }, first, read, usize::to_string)
}

/// One of several: what an address calls each, what stands next to it, and what it is. The
/// first is chosen first.
pub(crate) fn choice<T: Clone + PartialEq + 'static>(
    options: impl IntoIterator<Item = (impl Into<String>, impl Into<String>, T)>,
) -> Setting<T> {
    let options = options.into_iter();
    let (names, values): (Vec<_>, Vec<T>) =
        options.map(|(text, name, value)| ((text.into(), name.into()), value)).unzip();
    let first = values[0].clone();
    let (texts, known) = (names.clone(), values.clone());
    let read =
        move |label: &str, text: &str| Ok(values[place_of(label, text, &texts)?].clone());
    let texts = names.clone();
    let write = move |value: &T| {
        let place = known.iter().position(|it| it == value);
        place.map_or_else(String::new, |place| texts[place].0.clone())
    };
    Setting::new(Kind::Choice { options: names }, first, read, write)
}

/// No head, or one of so many in each of so many layers; a layer is called `layer`.
pub(crate) fn head_or_none(
    layer: &str,
    [n_layers, n_heads]: [usize; 2],
) -> Setting<Option<[usize; 2]>> {
    let heads = (0..n_layers).flat_map(|l| (0..n_heads).map(move |i| [l, i]));
    let heads = heads.map(|at @ [l, i]| {
        (format!("{l}.{i}"), format!("{layer} {l}, head {i}"), Some(at))
    });
    choice(std::iter::once(("no".to_owned(), "none".to_owned(), None)).chain(heads))
}

/// Where a text stands among the options.
fn place_of(label: &str, text: &str, options: &[(String, String)]) -> Result<usize> {
    let place = options.iter().position(|(known, _)| known == text);
    place.with_context(|| {
        let known: Vec<&str> = options.iter().map(|(known, _)| known.as_str()).collect();
        format!("{label} is “{text}”, expected one of {}", known.join(", "))
    })
}

/// One of several that are only texts: what an address calls each, and what stands next to it.
pub(crate) fn named<const N: usize>(
    options: [(&'static str, &'static str); N],
) -> Setting<&'static str> {
    choice(options.map(|(text, name)| (text, name, text)))
}

/// A size from 2 to the power of `least` to 2 to the power of `most`.
pub(crate) fn power_of_two([least, most]: [u32; 2], first: u32) -> Setting<usize> {
    let sizes = (least..=most).map(|exponent| 1usize << exponent);
    let sizes = choice(sizes.map(|size| (size.to_string(), thousands(size), size)));
    Setting { first: 1 << first, ..sizes }
}

/// On or off.
pub(crate) fn switch(first: bool) -> Setting<bool> {
    let read = |label: &str, text: &str| match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => bail!("{label} is “{text}”, expected on or off"),
    };
    let write = |on: &bool| if *on { "on" } else { "off" }.to_owned();
    Setting::new(Kind::Switch, first, read, write)
}

/// A line of text of at most so many characters.
pub(crate) fn text(most: usize, first: &str) -> Setting<String> {
    let read = move |label: &str, text: &str| {
        let found = text.chars().count();
        ensure!(found <= most, "{label} has {found} characters, expected at most {most}");
        Ok(text.to_owned())
    };
    Setting::new(Kind::Text { most }, first.to_owned(), read, String::clone)
}

/// Words that are typed or pasted, of at most so many characters; `placeholder` stands in
/// their place while there are none.
pub(crate) fn word_list(most: usize, placeholder: impl Into<String>) -> Setting<String> {
    let read = move |label: &str, text: &str| {
        let is_short = text.chars().count() <= most;
        ensure!(is_short, "{label}: more than {} characters", thousands(most));
        Ok(text.to_owned())
    };
    let kind = Kind::Words { most, placeholder: placeholder.into() };
    Setting::new(kind, String::new(), read, String::clone)
}

fn owned(names: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    names.into_iter().map(|name| name.to_string()).collect()
}

/// A matrix whose entries are typed, between `-most` and `most`.
pub(crate) fn matrix(
    rows: impl IntoIterator<Item = impl ToString>,
    columns: impl IntoIterator<Item = impl ToString>,
    most: f64,
    first: Matrix,
) -> Setting<Matrix> {
    let names = [owned(rows), owned(columns)];
    let [rows, columns] = names.clone();
    let read =
        move |label: &str, text: &str| matrix_from(label, text, &names, [-most, most]);
    Setting::new(Kind::Matrix { rows, columns, most }, first, read, matrix_text)
}

/// A table of cells that are on (1) or off (0), painted by hand.
pub(crate) fn paint(
    rows: impl IntoIterator<Item = impl ToString>,
    columns: impl IntoIterator<Item = impl ToString>,
    first: Matrix,
) -> Setting<Matrix> {
    let names = [owned(rows), owned(columns)];
    let [rows, columns] = names.clone();
    let read = move |label: &str, text: &str| {
        let cells = matrix_from(label, text, &names, [0.0, 1.0])?;
        ensure!(
            cells.iter().all(|&it| it == 0.0 || it == 1.0),
            "{label}: a cell is 1 or 0"
        );
        Ok(cells)
    };
    Setting::new(Kind::Paint { rows, columns }, first, read, matrix_text)
}

/// A point of a plane, to be dragged, between `-most` and `most` along both axes.
pub(crate) fn point(most: f64, first: [f64; 2]) -> Setting<[f64; 2]> {
    let read = move |label: &str, text: &str| {
        let names = [owned([""]), owned(["x", "y"])];
        let point = matrix_from(label, text, &names, [-most, most])?;
        Ok([point[0], point[1]])
    };
    Setting::new(Kind::Point { most }, first, read, |[x, y]| format!("{x},{y}"))
}
