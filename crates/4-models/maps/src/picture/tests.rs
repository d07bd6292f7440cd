//! What a picture must be: of the size that was asked for, readable, and of text only.

use attention::{Rng, SeedableRng, random_matrix, softmax_rows};

use super::*;

fn text(pieces: Vec<String>, n_layers: usize, n_heads: usize) -> TextHeads {
    let n = pieces.len();
    let rng = &mut Rng::seed_from_u64(1);
    let mut map = || {
        let map: Matrix = softmax_rows(random_matrix(n, n, 3.0, rng));
        map.map(|share| share as f32)
    };
    let maps = (0..n_layers).map(|_| (0..n_heads).map(|_| map()).collect()).collect();
    TextHeads::of_encoder(pieces, vec![false; n], maps)
}

fn words(n: usize) -> Vec<String> {
    (0..n).map(|i| ["the", "committee", "of", "##ation"][i % 4].to_owned()).collect()
}

/// The value of an attribute, wherever it stands.
fn all(svg: &str, before: &str, after: &str) -> Vec<f64> {
    let found = svg.split(before).skip(1).filter_map(|rest| rest.split(after).next());
    found.map(|number| number.parse().unwrap()).collect()
}

/// Sixty names at 80 mm, none smaller than 5 points, none over another.
#[test]
fn sixty_tokens_have_names_that_can_be_read() {
    let svg = svg(&text(words(60), 1, 1), Part::Head([0, 0]), 80.0);
    assert!(svg.contains("width=\"80mm\""));
    let width = all(&svg, "viewBox=\"0 0 ", " ")[0];
    assert!((width - 80.0 * POINTS).abs() < 0.01, "a point is a point: {width}");
    assert!(all(&svg, "font-size=\"", "\"").into_iter().all(|size| size >= 5.0));
    assert!(!svg.contains("is printed"), "every token is named");
    // Names of one column stand at the same x, and those of a row at another y.
    let ends = svg.lines().filter(|line| line.contains("text-anchor=\"end\""));
    let places: Vec<[f64; 2]> = ends
        .map(|line| [all(line, "x=\"", "\"")[0], all(line, "y=\"", "\"")[0]])
        .collect();
    assert_eq!(places.len(), 60);
    for (nth, a) in places.iter().enumerate() {
        for b in &places[nth + 1..] {
            assert!(a[0] != b[0] || (a[1] - b[1]).abs() >= SMALL, "{a:?} over {b:?}");
        }
    }
}

#[test]
fn of_many_tokens_the_picture_says_what_it_leaves_out() {
    let svg = svg(&text(words(200), 1, 1), Part::Head([0, 0]), 80.0);
    assert!(svg.contains("one name in 3 is printed"), "{svg}");
    let overview = super::svg(&text(words(40), 1, 2), Part::All, 80.0);
    assert!(overview.contains("a cell is the largest of several shares"));
}

/// Cells are as many as shares that round to a shade, each in the shade of its share.
#[test]
fn a_cell_is_as_dark_as_its_share() {
    let map = Matrix::from_row_slice(2, 2, &[0.5f32, 0.5, 0.25, 0.0]);
    let found = cells(&map, 0.5);
    assert_eq!(found[SHADES - 1], [[0, 0], [1, 0]]);
    assert_eq!(found[SHADES / 2 - 1], [[0, 1]]);
    assert_eq!(found.concat().len(), 3, "a share of 0 is white");
    assert_eq!((colour(0), colour(SHADES)), ("#ffffff".into(), "#08306b".into()));
    let pooled = cells::pooled(&map, 1);
    assert_eq!(pooled, Matrix::from_element(1, 1, 0.5));
}

/// Markup, control characters, marks of direction and right-to-left letters.
#[test]
fn hostile_tokens_are_text() {
    let pieces = ["</text><script>x</script>", "\u{202e}ab\u{7}", "שלום", "a\"&\u{ffff}"];
    let pieces = pieces.map(str::to_owned).to_vec();
    for part in [Part::Head([0, 0]), Part::Layer(0), Part::All] {
        let svg = svg(&text(pieces.clone(), 1, 1), part, 80.0);
        assert!(!svg.contains("<script"), "{svg}");
        assert!(!svg.contains(['\u{202e}', '\u{7}', '\u{ffff}']));
    }
    let svg = svg(&text(pieces, 1, 1), Part::Head([0, 0]), 80.0);
    for name in ["&lt;/text&gt;&lt;s…", ">ab<", ">שלום<", ">a&quot;&amp;<"] {
        assert!(svg.contains(name), "{name}: {svg}");
    }
}

#[test]
fn a_layer_and_all_heads_are_named() {
    let text = text(words(6), 3, 5);
    let layer = svg(&text, Part::Layer(2), 120.0);
    assert!(layer.contains(">2.4") && !layer.contains(">1.4"), "{layer}");
    // The control of what heads prefer, where one prefers anything.
    let mut text = text;
    text.maps[2][1] = Matrix::from_fn(6, 6, |_, j| f32::from(u8::from(j == 0)));
    text.is_special[0] = true;
    let layer = svg(&text, Part::Layer(2), 120.0);
    assert!(layer.contains(">2.1 first 1.00<"), "{layer}");
    assert!(layer.contains(">an even head gives first .17"), "{layer}");
    let all = svg(&text, Part::All, 80.0);
    assert_eq!(all.matches("<g transform").count(), 15);
}
