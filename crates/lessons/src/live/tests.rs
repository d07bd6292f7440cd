//! What is true of every live figure.

use super::*;

#[test]
fn every_live_figure_is_drawn_at_its_first_settings_and_says_so() {
    for live in ALL {
        let shown = live.at([]).unwrap();
        assert!(!shown.figure.title().is_empty(), "{}", live.name);
        assert!(shown.words.ends_with('.'), "{}: {}", live.name, shown.words);
        assert!(shown.numbers.iter().all(|it| it.is_finite()), "{}", live.name);
        assert!(!shown.numbers.is_empty(), "{}", live.name);
        assert_eq!(shown.figure, crate::draw(live.name, &Default::default()).unwrap());
    }
}

/// An address holds names and keys between `?`, `.`, `=` and `&`.
#[test]
fn names_and_keys_are_told_apart_and_fit_an_address() {
    let fits = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
    };
    let mut names: Vec<&str> = crate::names().collect();
    names.sort_unstable();
    let n = names.len();
    names.dedup();
    assert_eq!(names.len(), n, "two figures have one name");
    for live in ALL {
        let mut keys: Vec<&str> = (live.controls)().iter().map(|it| it.key).collect();
        assert!(!keys.is_empty() && fits(live.name), "{}", live.name);
        assert!(keys.iter().all(|key| fits(key)), "{}: {keys:?}", live.name);
        keys.sort_unstable();
        let n = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), n, "{}", live.name);
    }
}

#[test]
fn what_a_control_cannot_be_set_to_is_named() {
    let live = &ch02::scale::LIVE;
    let refused = |key, text| live.at([(key, text)]).unwrap_err().to_string();
    insta::assert_snapshot!(refused("dk", "4"), @"dk is not among products, d_k, temperature");
    insta::assert_snapshot!(refused("d_k", "0"), @"d_k is “0”, expected a whole number from 1 to 4096");
    insta::assert_snapshot!(refused("d_k", "4.5"), @"d_k is “4.5”, expected a whole number from 1 to 4096");
    insta::assert_snapshot!(refused("temperature", "NaN"), @"Temperature is “NaN”, expected a number from 0.1 to 10");
    insta::assert_snapshot!(refused("products", "1,2,x,4,5"), @"Products, q · k, plane, is “x”, expected a number from -1000 to 1000");
    insta::assert_snapshot!(refused("products", "1,2"), @"Products has shape (1, 2), expected (1, 5)");
}

#[test]
fn what_is_written_is_read_again() {
    for live in ALL {
        let controls = (live.controls)();
        let first: Vec<(&str, String)> =
            controls.iter().map(|it| (it.key, it.first())).collect();
        let pairs = first.iter().map(|(key, text)| (*key, text.as_str()));
        let again = live.at(pairs).unwrap();
        assert_eq!(again.to_json(), live.at([]).unwrap().to_json(), "{}", live.name);
    }
}
