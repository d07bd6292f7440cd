//! The mistakes that a layer can have: one list for the exercises, the diagnosis and the book.
//!
//! `mistakes/` has a file a step of the layer, and in it a heading a mistake with its id, what
//! it does, why it looks right, what a person sees who has it, the line in PyTorch (JAX and
//! candle where they differ), the chapter, and public reports.

use std::sync::LazyLock;

use crate::sheet::{Block, blocks, body_of};

/// A mistake that a layer can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerMistake {
    /// The file that it stands in: `scores`.
    pub page: &'static str,
    /// What it is called: `scaled by sqrt(d_model)`.
    pub name: String,
    /// Its name for programs, which stays.
    pub id: String,
    /// What it does.
    pub does: String,
    /// Why it looks right.
    pub looks_right: String,
    /// What a person sees who has it, as they would say it.
    pub symptom: String,
    /// The line to look for, in PyTorch's words.
    pub pytorch: String,
    /// The same in JAX's words, where they differ.
    pub jax: Option<String>,
    /// The same in candle's words, where they differ.
    pub candle: Option<String>,
    /// What people wrote who had it, each with its report in brackets: a reader who types
    /// something like it into the book's search is to find it.
    pub asked: Vec<(String, String)>,
    /// The chapter about it: its file without the number.
    pub chapter: String,
    /// The public reports that it is from, or that are nearest to it.
    pub report: Option<String>,
}

/// The files, in the order of the steps.
const PAGES: [(&str, &str); 9] = [
    ("inputs", include_str!("../mistakes/inputs.md")),
    ("packing", include_str!("../mistakes/packing.md")),
    ("projections", include_str!("../mistakes/projections.md")),
    ("heads", include_str!("../mistakes/heads.md")),
    ("positions", include_str!("../mistakes/positions.md")),
    ("scores", include_str!("../mistakes/scores.md")),
    ("masks", include_str!("../mistakes/masks.md")),
    ("softmax", include_str!("../mistakes/softmax.md")),
    ("outputs", include_str!("../mistakes/outputs.md")),
];

static MISTAKES: LazyLock<Vec<LayerMistake>> = LazyLock::new(|| {
    PAGES.into_iter().flat_map(|(page, text)| parsed(page, text)).collect()
});

/// All mistakes that a layer can have, step by step.
pub fn layer_mistakes() -> &'static [LayerMistake] {
    &MISTAKES
}

/// The one of this id.
pub fn layer_mistake(id: &str) -> Option<&'static LayerMistake> {
    MISTAKES.iter().find(|mistake| mistake.id == id)
}

/// The pages of the list, and what each is called.
pub fn layer_pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.into_iter().map(|(page, text)| {
        let title = text.lines().next().unwrap_or_default();
        (page, title.trim_start_matches("# "))
    })
}

/// `words (report) · words (report)`, as words and reports.
fn quotes(text: &str) -> Vec<(String, String)> {
    let quotes =
        text.split(" · ").filter_map(|quote| quote.strip_suffix(')')?.rsplit_once(" ("));
    quotes.map(|(words, report)| (words.to_owned(), report.to_owned())).collect()
}

fn parsed(page: &'static str, text: &str) -> Vec<LayerMistake> {
    let headings = blocks(text).into_iter().filter(|block| block.level == 2);
    let mistake = |block: Block| {
        let (name, rest) = block.heading.split_once(" {#")?;
        let body = body_of(&block);
        let key = |name: &str| body.key(name);
        Some(LayerMistake {
            page,
            name: name.to_owned(),
            id: rest.trim_end_matches('}').to_owned(),
            does: body.text.clone(),
            looks_right: key("Looks right").unwrap_or_default(),
            symptom: key("Symptom").unwrap_or_default(),
            pytorch: key("PyTorch").unwrap_or_default(),
            jax: key("JAX"),
            candle: key("candle"),
            asked: key("Asked").map_or(Vec::new(), |asked| quotes(&asked)),
            chapter: key("Chapter").unwrap_or_default(),
            report: key("Report"),
        })
    };
    headings.filter_map(mistake).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_mistake_of_a_layer_says_all_that_is_asked() {
        let headings: usize =
            PAGES.iter().map(|(_, text)| text.matches("\n## ").count()).sum();
        assert_eq!(layer_mistakes().len(), headings, "each with an id");
        let ids: BTreeSet<&str> =
            layer_mistakes().iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), headings, "no id twice");
        assert!(headings >= 60, "{headings}");
        let names: BTreeSet<&str> =
            layer_mistakes().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), headings, "no name twice");
        let chapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../chapters");
        let chapters: Vec<String> = fs::read_dir(chapters)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        let mut reports = BTreeSet::new();
        for it in layer_mistakes() {
            let page = format!("-{}.md", it.chapter);
            assert!(
                chapters.iter().any(|name| name.ends_with(&page)),
                "{}: {page}",
                it.id
            );
            for report in it.report.iter().flat_map(|reports| reports.split("; ")) {
                let (place, number) =
                    report.split_once(" #").expect("owner/name #number");
                assert!(place.contains('/') && number.parse::<u32>().is_ok(), "{report}");
                reports.insert(report);
            }
            for (what, text) in [
                ("sentence on what it does", &it.does),
                ("`Looks right:`", &it.looks_right),
                ("`Symptom:`", &it.symptom),
                ("`PyTorch:`", &it.pytorch),
            ] {
                assert!(text.len() > 5, "{} has no {what}", it.id);
            }
        }
        println!("{headings} mistakes, {} reports", reports.len());
        assert!(reports.len() >= 60, "{}", reports.len());
    }
}
