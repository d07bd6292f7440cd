//! A sentence in all heads, as text.

use std::fmt::Write;
use std::path::Path;

use ablation::HeadOfLayer;
use attention::Matrix;
use maps::{Extract, Glance, Kind};
use model_files::{MOST_SHOWN, shown};

use crate::view::{View, preferred_shares, share};

/// All that is printed.
pub fn of(view: &View, in_full: Option<HeadOfLayer>) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, view, in_full);
    text
}

/// What was written, a line per file.
pub fn written<'a>(
    html: Option<&Path>,
    saved: impl Iterator<Item = &'a Path>,
    of: &str,
) -> String {
    let page = |path: &Path| format!("\n{} shows every head in full.\n", path.display());
    let file = |path: &Path| format!("{} is written{of}.\n", path.display());
    html.map(page).into_iter().chain(saved.map(file)).collect()
}

fn write(to: &mut String, view: &View, in_full: Option<HeadOfLayer>) -> std::fmt::Result {
    let n = view.text.pieces.len();
    writeln!(to, "{n} tokens: {}", beginning_and_end(&view.text.shown_pieces()))?;
    if view.n_uncut > n {
        writeln!(to, "The text had {} tokens: its end was cut.", view.n_uncut)?;
    }
    if let Some(queries) = &view.text.queries {
        let name = |(query, piece): (usize, &String)| match &view.text.places {
            Some(places) => format!("{} {}", places[query], shown(piece)),
            None => shown(piece),
        };
        let queries: Vec<_> = queries.pieces.iter().enumerate().map(name).collect();
        let between = if view.text.places.is_some() { ", " } else { " " };
        writeln!(to, "{} queries: {}", queries.len(), queries.join(between))?;
    }
    let Some(uniform) = view.text.uniform() else { return Ok(()) };
    at_a_glance(to, view, &uniform)?;
    each_head(to, view, &uniform)?;
    if let Some(name) = in_full {
        one_head(to, view, name)?;
    }
    writeln!(
        to,
        "\n{}: loaded in {:.2} s{}",
        view.model,
        view.loading.as_secs_f64(),
        match view.computing.as_secs_f64() {
            // Maps from a file.
            0.0 => String::new(),
            seconds => format!(", computed in {:.0} ms", seconds * 1e3),
        }
    )
}

/// Tokens in a line; of many those at both ends.
fn beginning_and_end(pieces: &[String]) -> String {
    const ENDS: usize = 100;
    match pieces.len() <= 3 * ENDS {
        true => pieces.join(" "),
        false => format!(
            "{} … ({} more) … {}",
            pieces[..ENDS].join(" "),
            pieces.len() - 2 * ENDS,
            pieces[pieces.len() - ENDS..].join(" ")
        ),
    }
}

/// A row per layer.
fn at_a_glance(to: &mut String, view: &View, uniform: &Glance) -> std::fmt::Result {
    writeln!(
        to,
        "\nWhat each head prefers: the kind of key whose share is farthest above chance, on \
         average over the words,\nand that share in hundredths (spread: none is above by more than \
         a tenth).\n"
    )?;
    write!(to, "layer ")?;
    let most_heads = view.text.maps.iter().map(Vec::len).max().unwrap_or(0);
    for head in 0..most_heads {
        write!(to, "{head:>12}")?;
    }
    let there = view.text.maps.iter().enumerate().filter(|(_, maps)| !maps.is_empty());
    for (layer, maps) in there {
        write!(to, "\n{layer:>5} ")?;
        for map in maps {
            let Some(glance) = view.text.glance(map) else { continue };
            let hundredths = |kind| format!(" {:.0}", glance.share(kind) * 100.0);
            let share = glance.preferred(uniform).map_or(String::new(), hundredths);
            write!(to, "{:>12}", format!("{}{share}", glance.preference(uniform)))?;
        }
    }
    writeln!(to)
}

fn each_head(to: &mut String, view: &View, uniform: &Glance) -> std::fmt::Result {
    writeln!(
        to,
        "\nEach head: what it prefers, the share of that and what it would be by chance, every \
         key getting {};\nhow many bits its shares spread over (by chance {:.1}) and \
         how many tokens away they go (by chance {:.1});\nand its two strongest links between \
         words, each with its control: what the other words give the same key.\n",
        view.chance(),
        uniform.entropy,
        uniform.distance
    )?;
    writeln!(
        to,
        "head  prefers   share  chance  bits  away  strongest links (the others)"
    )?;
    for ([layer, head], map) in view.text.heads() {
        let Some(glance) = view.text.glance(map) else { continue };
        let [preferred, by_chance] = preferred_shares(&glance, uniform);
        let links = view.text.links(map, 2).into_iter().map(|link| {
            let text = view.link_names(&link).join(" → ");
            format!("{text} {} ({})", share(link.share), share(link.others))
        });
        writeln!(
            to,
            "{:<5} {:<9} {preferred:>5}  {by_chance:>6}  {:>4.1}  {:>4.1}  {}",
            format!("{layer}.{head}"),
            glance.preference(uniform),
            glance.entropy,
            glance.distance,
            links.collect::<Vec<_>>().join(",  ")
        )?;
    }
    writeln!(
        to,
        "\nfirst is {}, last is {}; same is the word itself.",
        kind_of(view, Kind::First),
        kind_of(view, Kind::Last)
    )
}

/// What the special tokens of a kind are.
fn kind_of(view: &View, kind: Kind) -> String {
    let is_it = |key: &usize| {
        view.text.is_special[*key] && view.text.sight().kind(0, *key) == kind
    };
    let found: Vec<_> = (0..view.text.pieces.len()).filter(is_it).collect();
    match found.first() {
        Some(&key) => shown(&view.text.pieces[key]),
        None => "not there".to_owned(),
    }
}

/// A map in hundredths.
fn one_head(
    to: &mut String,
    view: &View,
    (layer, head): HeadOfLayer,
) -> std::fmt::Result {
    let map: &Matrix<f32> = &view.text.maps[layer][head];
    let (asking, _) = view.text.asking();
    let pieces: Vec<String> = asking.iter().map(|piece| shown(piece)).collect();
    let extract = Extract::of(&view.text, MOST_SHOWN);
    let width = pieces.iter().map(|piece| piece.chars().count()).max().unwrap_or(0);
    writeln!(to, "\nHead {layer}.{head} in full: a row per query, in hundredths.\n")?;
    let digits = view.text.pieces.len().to_string().len().max(3);
    let cell = digits + 1;
    write!(to, "{:width$}{:cell$}", "", "")?;
    for key in extract.keys() {
        write!(to, "{key:>cell$}")?;
    }
    for (query, piece) in pieces.iter().enumerate() {
        let place = view.text.sight().place(query).unwrap_or(query);
        write!(to, "\n{piece:>width$} {place:>digits$}")?;
        for &key in extract.keys() {
            match (f64::from(map[(query, key)]) * 100.0).round() {
                0.0 => write!(to, "{:>cell$}", "·")?,
                hundredths => write!(to, "{hundredths:>cell$}")?,
            }
        }
    }
    writeln!(to)?;
    match extract.left_out() {
        Some(left_out) => writeln!(to, "\n{left_out}"),
        None => Ok(()),
    }
}
