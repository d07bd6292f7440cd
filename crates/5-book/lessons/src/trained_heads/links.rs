//! The nine claims under three measures, drawn.

use anyhow::Result;
use figures::{Axis, Figure, Mark, NEUTRAL, Table, escaped, palette, rounded};

use super::claims::Claim;
use super::measures::MEASURES;
use super::others::{RANDOM_LAYERS, random_layers};
use super::verdicts::{Verdict, Verdicts, verdicts};
use crate::Args;
use crate::named_rows::NamedRows;
use crate::numbers::share;

/// Each claim's link beside what the other tokens give its key, with the controls it passes.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let random = random_layers(RANDOM_LAYERS)?;
    let claims = verdicts(&random.iter().collect::<Vec<_>>())?;
    let names: Vec<String> = claims.iter().map(|(claim, _)| claim.name()).collect();
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0];
    let x = || Axis::between([0.0, 1.2]).at(ticks, ["0", "", ".5", "", "1"]);
    let titles = ["raw: attention weight", "among words", "written: part of the row"];
    let everywhere = claims.iter().filter(|(_, of)| of.iter().all(|it| it.passed() == 3));
    let title = format!(
        "{} of nine links pass the controls P, R and T under every measure",
        everywhere.count()
    );
    let cell = |row: usize, measure: usize| {
        let it = &claims[row].1[measure];
        let [link, others] = [it.link.share, it.link.others].map(share);
        format!("{link} ({others}) {}", it.letters())
    };
    let columns = MEASURES.map(str::to_owned);
    let caption =
        "The link (what the others give its key), and the controls that it passes";
    let says = names.iter().enumerate().map(|(row, name)| {
        let of = [0, 1, 2]
            .map(|measure| format!("{} {}", MEASURES[measure], cell(row, measure)));
        format!("{name}: {}.", of.join("; "))
    });
    let says = says.collect::<Vec<_>>().join(" ");
    Ok(NamedRows::new(&names, 24.0, titles.len())
        .chart(&title, &titles.map(|title| (title, x())), [28.0, 48.0])
        .marks((0..MEASURES.len()).flat_map(|measure| marks(&claims, measure)))
        .tables([Table::grid(caption, "", &names, &columns, cell)])
        .says(format!("Nine links and what the others give their keys. {says}"))
        .figure()?)
}

/// Of one measure: a line for each claim, from the others to the link.
fn marks(claims: &[(Claim, Verdicts)], measure: usize) -> Vec<Mark> {
    let of = || claims.iter().map(|(_, of)| &of[measure]).enumerate();
    let line = |(row, it): (usize, &Verdict)| {
        let line = Mark::lines([it.link.others, it.link.share].map(rounded), [row; 2]);
        line.line(NEUTRAL, 2.0).in_legend(false).silent()
    };
    let points = |x: fn(&Verdict) -> f64, name: &str| {
        let told = of().map(|(row, it)| {
            let claim = escaped(&claims[row].0.name());
            format!("{claim}, {} in head {}", share(x(it)), it.link.head)
        });
        let x = of().map(|(_, it)| rounded(x(it)));
        let points = Mark::points(x, (0..claims.len()).collect::<Vec<_>>());
        points.of_group(name, measure == 0).named(name).hover(told)
    };
    let colour = |it: &Verdict| if it.passed() == 3 { palette::head(0) } else { NEUTRAL };
    let others =
        points(|it| it.link.others, "what the other tokens give the same key, mean");
    let links = points(|it| it.link.share, "the link; blue: passes P, R and T");
    let letters = of().map(|(_, it)| it.letters());
    let links = links
        .marked("circle", 10)
        .coloured_each(of().map(|(_, it)| colour(it)))
        .written(letters.collect::<Vec<_>>(), "middle right")
        .text_size(10);
    let others = others.marked("circle-open", 8).coloured(NEUTRAL);
    let marks = of().map(line).chain([others, links]);
    marks.map(|mark| mark.on(measure)).collect()
}
