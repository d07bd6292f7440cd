//! What each head adds to some entries of one token's output.

use serde_json::json;

use crate::axis::Axis;
use crate::chart::{Chart, Text, above_for};
use crate::layout::{NEUTRAL, all_rounded, formula};
use crate::panels::Panel;
use crate::trace::Trace;
use crate::{Error, Figure, Result, Table, escaped, palette};

/// How many heads have a colour of their own; b^O has the last one.
const NAMED: usize = palette::N_HUES - 1;

/// What heads and W^O's bias add to a few entries of one token's output row.
#[derive(Debug, Clone, PartialEq)]
pub struct Additions {
    /// The token.
    pub token: String,
    /// Which entries of the row.
    pub features: Vec<usize>,
    /// Per head, what head_i W_i^O has at each of them.
    pub heads: Vec<Vec<f64>>,
    /// What b^O has at each of them.
    pub bias: Vec<f64>,
}

impl Additions {
    /// What all heads and the bias come to, at the `nth` feature.
    pub fn sum(&self, nth: usize) -> f64 {
        self.heads.iter().map(|head| head[nth]).sum::<f64>() + self.bias[nth]
    }

    /// What is drawn: the heads that add most, each under its name, the others as one, and
    /// the bias; each with its colour.
    fn drawn(&self) -> Vec<(String, Vec<f64>, &'static str)> {
        let size = |head: usize| self.heads[head].iter().map(|it| it.abs()).sum::<f64>();
        let mut by_size: Vec<usize> = (0..self.heads.len()).collect();
        by_size.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
        let (largest, others) = by_size.split_at(by_size.len().min(NAMED));
        let mut largest = largest.to_vec();
        largest.sort_unstable();
        let head = |(nth, &head): (usize, &usize)| {
            (format!("head {head}"), self.heads[head].clone(), palette::head(nth))
        };
        let mut drawn: Vec<_> = largest.iter().enumerate().map(head).collect();
        if !others.is_empty() {
            let sum = |nth| others.iter().map(|&head| self.heads[head][nth]).sum();
            let sums = (0..self.features.len()).map(sum).collect();
            drawn.push((format!("{} other heads", others.len()), sums, NEUTRAL));
        }
        drawn.push(("b^O".to_owned(), self.bias.clone(), palette::head(NAMED)));
        drawn
    }

    /// Everything that is added, each under its name.
    fn parts(&self) -> impl Iterator<Item = (String, &[f64])> {
        let heads = self.heads.iter().enumerate();
        let heads = heads.map(|(nth, head)| (format!("head {nth}"), &head[..]));
        heads.chain([("b^O".to_owned(), &self.bias[..])])
    }
}

/// Bars from 0, of the five heads that add most, of all others together, and of the bias:
/// what is added stands above the line, what is taken away below it, and a
/// mark stands at the sum.
///
/// # Errors
/// [`Error::Sizes`] for no heads or no features; [`Error::TooMany`] above 16 heads or 12
/// features; [`Error::Length`] for a head or a bias that does not fit the features;
/// [`Error::Number`] for what is not finite.
pub fn heads_add(title: impl Into<String>, added: &Additions) -> Result<Figure> {
    check(added)?;
    let sums: Vec<f64> = (0..added.features.len()).map(|nth| added.sum(nth)).collect();
    let text = Text::of_tables(alternative(added, &sums), vec![table(added, &sums)]);
    Ok(chart(added, &sums).figure(title, text))
}

fn check(added: &Additions) -> Result<()> {
    let n = added.features.len();
    // More features have no room.
    Error::expect_count("the number of heads", added.heads.len(), 16)?;
    Error::expect_count("the number of output features", n, 12)?;
    for (name, part) in added.parts() {
        Error::expect_length(&name, part.len(), n)?;
        for &number in part {
            Error::expect_finite(format!("what {name} adds"), number)?;
        }
    }
    Ok(())
}

/// With its sign: a reader adds them up.
fn signed(number: f64) -> String {
    format!("{number:+.4}").replace('-', "−")
}

fn traces(added: &Additions, sums: &[f64]) -> Vec<Trace> {
    let hover = |name: &str, numbers: &[f64]| -> Vec<String> {
        let each = added.features.iter().zip(numbers);
        let told = |(feature, &number): (&usize, &f64)| {
            format!("{}<br>feature {feature}: {}", escaped(name), signed(number))
        };
        each.map(told).collect()
    };
    let bars = added.drawn().into_iter().map(|(name, part, colour)| {
        Trace::bars(all_rounded(&part))
            .with("name", formula(&name))
            .coloured(colour)
            .told(hover(&name, &part))
    });
    // White within black, over bars of any colour on any page.
    let marks = Trace::marks(0..sums.len(), all_rounded(sums))
        .named("sum")
        .marked("diamond", 11)
        .coloured("#ffffff")
        .with("marker.line", json!({ "width": 2, "color": "#000000" }))
        .told(hover("sum", sums));
    bars.chain([marks]).collect()
}

fn chart(added: &Additions, sums: &[f64]) -> Chart {
    // How far the bars reach, above 0 and below it.
    let drawn = added.drawn();
    let reach = |sign: f64| {
        let of = |nth: usize| {
            drawn.iter().map(|(_, part, _)| (part[nth] * sign).max(0.0)).sum::<f64>()
        };
        (0..sums.len()).map(of).fold(0.0, f64::max) * 1.08
    };
    let features: Vec<String> = added.features.iter().map(usize::to_string).collect();
    let names: Vec<&str> = drawn.iter().map(|(name, ..)| name.as_str()).collect();
    let panel = Panel::new(
        format!("added to the output of “{}”, by feature", added.token),
        Axis::across(&features, 12),
        Axis::between([-reach(-1.0), reach(1.0)]),
        260.0,
    );
    Chart {
        panels: vec![panel],
        traces: traces(added, sums),
        left: 40.0,
        left_once: true,
        below: 20.0,
        above: above_for(names.iter().copied().chain(["sum"]), 8.0),
        fields: vec![("barmode", json!("relative")), ("bargap", json!(0.35))],
        ..Chart::default()
    }
}

fn table(added: &Additions, sums: &[f64]) -> Table {
    let (mut names, mut rows): (Vec<String>, Vec<&[f64]>) = added.parts().unzip();
    names.push("sum".to_owned());
    rows.push(sums);
    let features: Vec<String> =
        added.features.iter().map(|feature| format!("feature {feature}")).collect();
    let caption = format!("What is added to the output of “{}”", added.token);
    let cell = |i: usize, j: usize| signed(rows[i][j]);
    Table::grid(caption, "from", &names, &features, cell)
}

fn alternative(added: &Additions, sums: &[f64]) -> String {
    let told = |(nth, sum): (usize, &f64)| {
        let by_size =
            |a: &(String, f64), b: &(String, f64)| a.1.abs().total_cmp(&b.1.abs());
        let parts = added.parts().map(|(name, part)| (name, part[nth]));
        let (name, most) = parts.max_by(by_size).unwrap_or_default();
        let feature = added.features[nth];
        format!(
            "feature {feature}, sum {}, most from {name} {}",
            signed(*sum),
            signed(most)
        )
    };
    let each: Vec<String> = sums.iter().enumerate().map(told).collect();
    format!(
        "Stacked bars, above and below 0, of what {} heads and b^O add to {} entries of \
         the output of “{}”. {}.",
        added.heads.len(),
        added.features.len(),
        added.token,
        each.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn added() -> Additions {
        Additions {
            token: "banks".into(),
            features: vec![0, 7],
            heads: vec![vec![0.5, -0.25], vec![-0.125, -0.5]],
            bias: vec![0.0625, 0.0],
        }
    }

    #[test]
    fn two_heads_and_a_bias() {
        assert_eq!(added().sum(0), 0.4375);
        assert_figure!(heads_add("One adds, one takes away", &added()).unwrap());
    }

    #[test]
    fn what_is_drawn_of_many_heads_adds_up() {
        let heads = (0..9).map(|head| vec![f64::from(head) - 4.0, 0.5]).collect();
        let many = Additions { heads, ..added() };
        let drawn = many.drawn();
        let names: Vec<&str> = drawn.iter().map(|(name, ..)| name.as_str()).collect();
        let expected =
            ["head 0", "head 1", "head 2", "head 7", "head 8", "4 other heads", "b^O"];
        assert_eq!(names, expected);
        for nth in 0..2 {
            let sum: f64 = drawn.iter().map(|(_, part, _)| part[nth]).sum();
            assert!((sum - many.sum(nth)).abs() < 1e-12, "{sum}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |added: Additions| heads_add("", &added).unwrap_err();
        insta::assert_snapshot!(refused(Additions { bias: vec![0.0], ..added() }), @"b^O has 1 entries, expected 2");
        insta::assert_snapshot!(refused(Additions { heads: vec![], ..added() }), @"the number of heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused(Additions { bias: vec![0.0, f64::NAN], ..added() }), @"what b^O adds is NaN, expected a number");
    }
}
