use super::*;
use crate::testing::assert_diagram;

/// Matrices whose entries say where they stand; nothing here is attention.
fn example<T>(use_line: impl FnOnce(&Line) -> T) -> T {
    let numbered = |rows, columns, from: f64| {
        Matrix::from_fn(rows, columns, |i, j| from + (i * columns + j) as f64 / 10.0)
    };
    let head = |from: f64| LineHead {
        q: numbered(3, 2, from),
        k: numbered(3, 2, from + 1.0),
        v: numbered(3, 2, from + 2.0),
        products: numbered(3, 3, from + 3.0),
        scores: numbered(3, 3, from + 4.0),
        masked: Matrix::from_fn(
            3,
            3,
            |i, j| if j > i { f64::NEG_INFINITY } else { from },
        ),
        exps: numbered(3, 3, 0.1),
        attn: numbered(3, 3, 0.05),
        out: numbered(3, 2, from + 5.0),
    };
    let (x, w_o, out) = (numbered(3, 4, 1.0), numbered(4, 4, 0.0), numbered(3, 4, 2.0));
    use_line(&Line {
        words: ["river", "banks", "overflowed"],
        x: &x,
        heads: [head(10.0), head(20.0)],
        w_o: &w_o,
        out: &out,
    })
}

#[test]
fn diagram() {
    assert_diagram!(example(|it| line("All of it", it, LineStep::Add, 2).unwrap()));
}

/// Both drawings write the same at every step, and each step draws something new.
#[test]
fn every_step_is_drawn_for_both_widths() {
    let mut before = String::new();
    for step in LineStep::ALL {
        for word in 0..LINE_WORDS {
            let figure = example(|it| line("A step", it, step, word).unwrap());
            let drawings = figure.drawings().unwrap();
            let texts = drawings.map(|svg| {
                let mut texts = crate::testing::texts(svg);
                texts.sort();
                texts
            });
            assert_eq!(texts[0], texts[1], "{step:?}, word {word}");
            assert_ne!(before, drawings[0], "{step:?}, word {word}");
            before = drawings[0].to_owned();
        }
    }
}

/// A key names one thing, and what a thing comes from was drawn a step before it.
#[test]
fn every_key_names_one_thing_and_comes_from_a_step_before() {
    let values = |svg: &str, attribute: &str| -> Vec<String> {
        let mark = format!("data-{attribute}=\"");
        let pieces = svg.split(&mark).skip(1);
        pieces.map(|it| it.split('"').next().unwrap().to_owned()).collect()
    };
    let drawn = LineStep::ALL.map(|step| {
        let figure = example(|it| line("A step", it, step, 0).unwrap());
        figure.drawings().unwrap()[0].to_owned()
    });
    for pair in drawn.windows(2) {
        let [before, now] = [0, 1].map(|nth| values(&pair[nth], "key"));
        let mut once = now.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), now.len());
        let origins = pair[1].split("data-key=\"").skip(1).filter_map(|it| {
            let (key, rest) = it.split_once('"')?;
            let from = rest.split('>').next()?.split_once("data-from=\"")?.1;
            Some((key.to_owned(), from.split('"').next()?.to_owned()))
        });
        for (key, from) in origins {
            let is_new = !before.contains(&key);
            assert!(!is_new || before.contains(&from), "{key} comes from {from}");
        }
    }
}

#[test]
fn what_has_no_room_is_refused() {
    let refused = example(|it| line("Four words", it, LineStep::Add, 3).unwrap_err());
    assert!(refused.to_string().contains("the word"), "{refused}");
    let narrow = Matrix::zeros(3, 3);
    let refused = example(|it| {
        line("Narrow", &Line { out: &narrow, ..it.clone() }, LineStep::Add, 0)
    });
    assert!(refused.unwrap_err().to_string().contains("the output"));
}

#[test]
fn a_strip_lights_what_it_names() {
    let lit = [Station::Scores, Station::Mask];
    let figure = line_strip(&lit, Way::Forwards);
    insta::assert_snapshot!(
        figure.sketch(),
        @"words → Q K V → [scores] → [mask] → softmax → mix → concat → W^O → out"
    );
    assert_eq!(figure.title(), "This chapter is about scores, mask");
    let [wide, narrow] = figure.drawings().unwrap();
    assert_eq!(wide.matches("font-weight").count(), 2);
    assert_eq!(crate::testing::texts(wide), crate::testing::texts(narrow));
    assert!(wide.len() < 7000, "{} bytes", wide.len());
    let back = line_strip(&Station::ALL.map(|it| it.1), Way::Backwards);
    assert_eq!(back.title(), "This chapter goes backwards through all of it");
}

#[test]
fn stations_stand_in_the_order_of_the_table() {
    for (nth, (name, station, _)) in Station::ALL.into_iter().enumerate() {
        assert_eq!(station as usize, nth);
        assert_eq!(Station::named(name).unwrap(), station);
    }
    assert!(Station::named("norm").is_err());
    let stations = LineStep::ALL.map(LineStep::station);
    assert!(stations.is_sorted() && LineStep::ALL.is_sorted());
}
