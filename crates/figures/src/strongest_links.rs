//! The strongest link of each head, sentence by sentence.

use plotly::Scatter;
use plotly::common::{HoverInfo, Line, Marker, Mode};
use serde_json::{Value, json, to_value};

use attention::Error as SizeError;

use crate::heads::share;
use crate::layout::{NEUTRAL, label_width, number_axis, rounded, text, token_axis, with};
use crate::panels::{self, NARROW, Panel, Place, WIDE, axis_name};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// Where one head looks hardest.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadLink {
    /// The head's number.
    pub head: usize,
    /// The token that looks.
    pub query: String,
    /// The token that it looks at.
    pub key: String,
    /// The share of its attention that it gives.
    pub share: f64,
}

/// A sentence and the strongest link of each head in it.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceLinks {
    /// The sentence, or a name for it.
    pub name: String,
    /// One link a head.
    pub links: Vec<HeadLink>,
}

impl HeadLink {
    fn arrow(&self) -> String {
        format!("{} → {}", self.query, self.key)
    }
}

/// The strongest link of each head: a panel a sentence, a line a head.
///
/// # Errors
/// [`Error::Sizes`] for no sentences or one without links; [`Error::TooMany`] above 8
/// sentences or 16 heads; [`Error::Number`] for a share outside 0 to 1.
pub fn strongest_links(
    title: impl Into<String>,
    sentences: &[SentenceLinks],
) -> Result<Figure> {
    check(sentences)?;
    Ok(Figure {
        title: title.into(),
        alternative: told(sentences),
        sketch: sketched(sentences),
        tables: sentences.iter().map(table).collect(),
        traces: sentences
            .iter()
            .enumerate()
            .flat_map(|(nth, it)| traces(nth, it))
            .collect(),
        wide: layout(sentences, WIDE, 2),
        narrow: layout(sentences, NARROW, 1),
        notebook: None,
    })
}

fn check(sentences: &[SentenceLinks]) -> Result<()> {
    SizeError::expect_positive("the number of sentences", sentences.len())?;
    Error::expect_at_most("sentences", sentences.len(), 8)?;
    for SentenceLinks { name, links } in sentences {
        SizeError::expect_positive("the number of links", links.len())?;
        Error::expect_at_most("heads", links.len(), 16)?;
        for link in links {
            let what = format!("the share of {} in “{name}”", link.arrow());
            Error::expect_between(what, link.share, [0.0, 1.0])?;
        }
    }
    Ok(())
}

/// A stem from 0 to each share, and a dot with its arrow at the end.
fn traces(nth: usize, sentence: &SentenceLinks) -> [Value; 2] {
    let links = || sentence.links.iter().enumerate();
    let on_panel = |trace: Box<Scatter<_, _>>| {
        trace.x_axis(axis_name("x", nth)).y_axis(axis_name("y", nth)).show_legend(false)
    };
    let stems = Scatter::new(
        links()
            .flat_map(|(_, link)| [Some(0.0), Some(rounded(link.share)), None])
            .collect(),
        links().flat_map(|(at, _)| [Some(at), Some(at), None]).collect(),
    )
    .mode(Mode::Lines)
    .line(Line::new().color(NEUTRAL).width(1.0))
    .hover_info(HoverInfo::Skip);
    let told = |(_, link): (usize, &HeadLink)| {
        format!("head {}<br>{} {}", link.head, text(&link.arrow()), share(link.share))
    };
    let dots = Scatter::new(
        links().map(|(_, link)| Some(rounded(link.share))).collect(),
        links().map(|(at, _)| Some(at)).collect(),
    )
    .mode(Mode::MarkersText)
    .marker(
        Marker::new()
            .size(9)
            .color_array(links().map(|(at, _)| palette::head(at)).collect()),
    )
    .text_array(links().map(|(_, link)| text(&link.arrow())).collect())
    .hover_text_array(links().map(told).collect())
    .hover_info(HoverInfo::Text);
    [
        with(to_value(on_panel(stems)), []),
        with(
            to_value(on_panel(dots)),
            [
                ("textposition", json!("middle right")),
                ("textfont.size", json!(11)),
                ("cliponaxis", json!(false)),
            ],
        ),
    ]
}

fn layout(sentences: &[SentenceLinks], width: f64, most_columns: usize) -> Value {
    let place = Place {
        width,
        n_columns: most_columns.min(sentences.len()),
        left: 50.0,
        left_once: false,
        below: 36.0,
        above: 0.0,
    };
    let all = || sentences.iter().flat_map(|sentence| &sentence.links);
    let arrows: Vec<String> = all().map(HeadLink::arrow).collect();
    let most = all().map(|link| link.share).fold(0.1, f64::max);
    // The strongest dot leaves room for its arrow.
    let room = place.column() / (place.column() - label_width(&arrows, 11) - 10.0);
    let quarters = [0.0, 0.25, 0.5, 0.75, 1.0];
    let ticks: Vec<f64> = quarters.into_iter().filter(|&at| at <= most * room).collect();
    let panel = |sentence: &SentenceLinks| {
        let links = &sentence.links;
        let names: Vec<_> = links.iter().map(|it| format!("head {}", it.head)).collect();
        Panel {
            title: sentence.name.clone(),
            x: number_axis(most * room, "share of the query's attention")
                .tick_values(ticks.clone()),
            y: token_axis(&names, 11).range(vec![links.len() as f64 - 0.5, -0.5]),
            width: None,
            height: links.len() as f64 * 21.0,
        }
    };
    panels::layout(sentences.iter().map(panel).collect(), &place)
}

fn table(sentence: &SentenceLinks) -> Table {
    let row = |link: &HeadLink| {
        let HeadLink { head, query, key, .. } = link;
        [format!("head {head}"), query.clone(), key.clone(), share(link.share)]
    };
    let columns = ["head", "query", "key", "share"];
    Table::new(sentence.name.clone(), columns, sentence.links.iter().map(row))
}

fn sketched(sentences: &[SentenceLinks]) -> String {
    let arrows: Vec<String> =
        sentences.iter().flat_map(|it| it.links.iter().map(HeadLink::arrow)).collect();
    let width = sketch::longest(&arrows);
    let line = |link: &HeadLink| {
        let (of, bar) = (share(link.share), sketch::bar(link.share, 1.0, 30));
        let head = format!("head {}", link.head);
        format!("  {head:<7}  {:<width$}  {of:>5} {bar}", link.arrow())
            .trim_end()
            .to_owned()
    };
    let panel = |sentence: &SentenceLinks| {
        let lines: Vec<_> = sentence.links.iter().map(line).collect();
        format!("{}\n{}", sentence.name, lines.join("\n"))
    };
    sentences.iter().map(panel).collect::<Vec<_>>().join("\n\n")
}

fn told(sentences: &[SentenceLinks]) -> String {
    let strongest = |sentence: &SentenceLinks| {
        let link = sentence.links.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        let link = link.map_or(String::new(), |link| {
            format!("head {}, {} {}", link.head, link.arrow(), share(link.share))
        });
        format!("in “{}”, {link}", sentence.name)
    };
    let each: Vec<_> = sentences.iter().map(strongest).collect();
    format!(
        "The strongest link between two words in each head, for {} sentences. The strongest \
         of all: {}.",
        sentences.len(),
        each.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn link(head: usize, query: &str, key: &str, share: f64) -> HeadLink {
        HeadLink { head, query: query.into(), key: key.into(), share }
    }

    #[test]
    fn two_sentences_of_three_heads() {
        let sentences = [
            SentenceLinks {
                name: "The pilot flew the plane to Paris.".into(),
                links: vec![
                    link(4, "the", "paris", 0.558),
                    link(5, "plane", "paris", 0.46),
                    link(11, "flew", "pilot", 0.572),
                ],
            },
            SentenceLinks {
                name: "The river banks overflowed.".into(),
                links: vec![
                    link(9, "banks", "over", 0.391),
                    link(11, "river", "<s>", 0.2),
                ],
            },
        ];
        assert_figure!(
            strongest_links("Each head has its own link", &sentences).unwrap()
        );
    }

    #[test]
    fn sentences_without_links_are_refused() {
        let sentence = |links| [SentenceLinks { name: "a b".into(), links }];
        let refused = |links| strongest_links("", &sentence(links)).unwrap_err();
        insta::assert_snapshot!(refused(vec![]), @"the number of links is 0, and must be at least 1");
        insta::assert_snapshot!(refused(vec![link(0, "a", "b", 1.5)]), @"the share of a → b in “a b” is 1.5, expected from 0 to 1");
    }
}
