//! A sentence in all heads, as text.

use std::path::Path;

use ablation::HeadOfLayer;
use attention::Matrix;
use maps::{Extract, Glance, Kind};
use model_files::{MOST_SHOWN, shown};

use crate::view::{View, preferred_shares, share};

/// All that is printed.
pub fn of(view: &View, in_full: Option<HeadOfLayer>) -> String {
    let n = view.text.pieces.len();
    let tokens = beginning_and_end(&view.text.shown_pieces());
    let mut text = format!("{n} tokens: {tokens}\n");
    if view.n_uncut > n {
        text += &format!("The text had {} tokens: its end was cut.\n", view.n_uncut);
    }
    if let Some(queries) = &view.text.queries {
        let name = |(query, piece): (usize, &String)| match &view.text.places {
            Some(places) => format!("{} {}", places[query], shown(piece)),
            None => shown(piece),
        };
        let queries: Vec<_> = queries.pieces.iter().enumerate().map(name).collect();
        let between = if view.text.places.is_some() { ", " } else { " " };
        text += &format!("{} queries: {}\n", queries.len(), queries.join(between));
    }
    let Some(uniform) = view.text.uniform() else { return text };
    text += &at_a_glance(view, &uniform);
    text += &each_head(view, &uniform);
    text += &in_full.map_or(String::new(), |name| one_head(view, name));
    let [loading, computing] = [view.loading, view.computing].map(|it| it.as_secs_f64());
    // Maps from a file are not computed.
    let computed = match computing > 0.0 {
        true => format!(", computed in {:.0} ms", computing * 1e3),
        false => String::new(),
    };
    text + &format!("\n{}: loaded in {loading:.2} s{computed}\n", view.model)
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
fn at_a_glance(view: &View, uniform: &Glance) -> String {
    let most_heads = view.text.maps.iter().map(Vec::len).max().unwrap_or(0);
    let heads: String = (0..most_heads).map(|head| format!("{head:>12}")).collect();
    let mut text = format!(
        "\nWhat each head prefers: the kind of key whose share is farthest above chance, on \
         average over the words,\nand that share in hundredths (spread: none is above by more than \
         a tenth).\n\nlayer {heads}"
    );
    let there = view.text.maps.iter().enumerate().filter(|(_, maps)| !maps.is_empty());
    for (layer, maps) in there {
        text += &format!("\n{layer:>5} ");
        for glance in maps.iter().filter_map(|map| view.text.glance(map)) {
            let hundredths = |kind| format!(" {:.0}", glance.share(kind) * 100.0);
            let share = glance.preferred(uniform).map_or(String::new(), hundredths);
            text += &format!("{:>12}", format!("{}{share}", glance.preference(uniform)));
        }
    }
    text + "\n"
}

fn each_head(view: &View, uniform: &Glance) -> String {
    let Glance { entropy, distance, .. } = uniform;
    let mut text = format!(
        "\nEach head: what it prefers, the share of that and what it would be by chance, every \
         key getting {};\nhow many bits its shares spread over (by chance {entropy:.1}) and \
         how many tokens away they go (by chance {distance:.1});\nand its two strongest links \
         between words, each with its control: what the other words give the same key.\n\n\
         head  prefers   share  chance  bits  away  strongest links (the others)\n",
        view.chance()
    );
    for ([layer, head], map) in view.text.heads() {
        let Some(glance) = view.text.glance(map) else { continue };
        let [preferred, by_chance] = preferred_shares(&glance, uniform);
        let links = view.text.links(map, 2).into_iter().map(|link| {
            let text = view.link_names(&link).join(" → ");
            format!("{text} {} ({})", share(link.share), share(link.others))
        });
        let links = links.collect::<Vec<_>>().join(",  ");
        let (name, preference) = (format!("{layer}.{head}"), glance.preference(uniform));
        let Glance { entropy, distance, .. } = glance;
        text += &format!(
            "{name:<5} {preference:<9} {preferred:>5}  {by_chance:>6}  {entropy:>4.1}  \
             {distance:>4.1}  {links}\n"
        );
    }
    let [first, last] = [Kind::First, Kind::Last].map(|kind| kind_of(view, kind));
    text + &format!("\nfirst is {first}, last is {last}; same is the word itself.\n")
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
fn one_head(view: &View, (layer, head): HeadOfLayer) -> String {
    let map: &Matrix<f32> = &view.text.maps[layer][head];
    let (asking, _) = view.text.asking();
    let pieces: Vec<String> = asking.iter().map(|piece| shown(piece)).collect();
    let extract = Extract::of(&view.text, MOST_SHOWN);
    let width = pieces.iter().map(|piece| piece.chars().count()).max().unwrap_or(0);
    let digits = view.text.pieces.len().to_string().len().max(3);
    let cell = digits + 1;
    let keys: String = extract.keys().iter().map(|key| format!("{key:>cell$}")).collect();
    let mut text = format!(
        "\nHead {layer}.{head} in full: a row per query, in hundredths.\n\n{:width$}{:cell$}{keys}",
        "", ""
    );
    for (query, piece) in pieces.iter().enumerate() {
        let place = view.text.sight().place(query).unwrap_or(query);
        text += &format!("\n{piece:>width$} {place:>digits$}");
        for &key in extract.keys() {
            text += &match (f64::from(map[(query, key)]) * 100.0).round() {
                0.0 => format!("{:>cell$}", "·"),
                hundredths => format!("{hundredths:>cell$}"),
            };
        }
    }
    let left_out = extract.left_out().map_or(String::new(), |it| format!("\n{it}\n"));
    text + "\n" + &left_out
}
