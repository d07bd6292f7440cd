//! What each head adds to some entries of one token's output.

use plotly::common::{HoverInfo, Marker, MarkerSymbol, Mode};
use plotly::{Bar, Scatter};
use serde_json::{Value, json, to_value};

use attention::Error as SizeError;

use crate::layout::{
    NEUTRAL, legend_lines, number_axis, rounded, text, token_axis, with,
};
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// More heads have no colours of their own, and more features no room.
const MOST: [(&str, usize); 2] = [("heads", 16), ("output features", 12)];

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

    /// Everything that is added, each under its name.
    fn parts(&self) -> impl Iterator<Item = (String, &[f64])> {
        let heads = self.heads.iter().enumerate();
        let heads = heads.map(|(nth, head)| (format!("head {nth}"), &head[..]));
        heads.chain([("b^O".to_owned(), &self.bias[..])])
    }
}

/// Bars from 0: what is added stands above the line, what is taken away below it, and a
/// mark stands at the sum.
///
/// # Errors
/// [`Error::Sizes`] for no heads or no features; [`Error::TooMany`] above 16 heads or 12
/// features; [`Error::Length`] for a head or a bias that does not fit the features;
/// [`Error::Number`] for what is not finite.
pub fn heads_add(title: impl Into<String>, added: &Additions) -> Result<Figure> {
    check(added)?;
    let sums: Vec<f64> = (0..added.features.len()).map(|nth| added.sum(nth)).collect();
    let names: Vec<String> = added.parts().map(|(name, _)| name).collect();
    let layout = |width: f64| {
        let names = names.iter().map(String::as_str).chain(["sum"]);
        layout(added, width, legend_lines(names, width) * 20.0 + 8.0)
    };
    Ok(Figure {
        title: title.into(),
        alternative: alternative(added, &sums),
        sketch: sketched(added, &sums),
        tables: vec![table(added, &sums)],
        traces: traces(added, &sums),
        wide: layout(WIDE),
        narrow: layout(NARROW),
        notebook: None,
    })
}

fn check(added: &Additions) -> Result<()> {
    let n = added.features.len();
    SizeError::expect_positive("the number of heads", added.heads.len())?;
    SizeError::expect_positive("the number of output features", n)?;
    for ((what, most), found) in MOST.into_iter().zip([added.heads.len(), n]) {
        Error::expect_at_most(what, found, most)?;
    }
    for (name, part) in added.parts() {
        Error::expect_length(&name, part.len(), n)?;
        for &number in part {
            let all = [f64::NEG_INFINITY, f64::INFINITY];
            Error::expect_between(format!("what {name} adds"), number, all)?;
        }
    }
    Ok(())
}

/// With its sign: a reader adds them up.
fn signed(number: f64) -> String {
    format!("{number:+.4}").replace('-', "−")
}

fn traces(added: &Additions, sums: &[f64]) -> Vec<Value> {
    let at: Vec<usize> = (0..added.features.len()).collect();
    let hover = |name: &str, numbers: &[f64]| {
        let each = added.features.iter().zip(numbers);
        let told = |(feature, &number): (&usize, &f64)| {
            format!("{}<br>feature {feature}: {}", text(name), signed(number))
        };
        each.map(told).collect::<Vec<_>>()
    };
    let bars = added.parts().enumerate().map(|(nth, (name, part))| {
        let is_bias = nth == added.heads.len();
        let colour = if is_bias { NEUTRAL } else { palette::head(nth) };
        let bars = Bar::new(at.clone(), part.iter().map(|&n| rounded(n)).collect())
            .name(crate::layout::formula(&name))
            .marker(Marker::new().color(colour))
            .hover_text_array(hover(&name, part))
            .hover_info(HoverInfo::Text);
        with(to_value(bars), [])
    });
    // White within black, over bars of any colour on any page.
    let marks = Scatter::new(at.clone(), sums.iter().map(|&n| rounded(n)).collect())
        .name("sum")
        .mode(Mode::Markers)
        .marker(Marker::new().symbol(MarkerSymbol::Diamond).size(11).color("#ffffff"))
        .hover_text_array(hover("sum", sums))
        .hover_info(HoverInfo::Text);
    let marks = with(
        to_value(marks),
        [("marker.line", json!({ "width": 2, "color": "#000000" }))],
    );
    bars.chain([marks]).collect()
}

fn layout(added: &Additions, width: f64, above: f64) -> Value {
    let n = added.features.len();
    // How far the bars reach, above 0 and below it.
    let reach = |sign: f64| {
        let of = |nth: usize| {
            added.parts().map(|(_, part)| (part[nth] * sign).max(0.0)).sum::<f64>()
        };
        (0..n).map(of).fold(0.0, f64::max) * 1.08
    };
    let names: Vec<String> = added.features.iter().map(usize::to_string).collect();
    let panel = Panel {
        title: format!("added to the output of “{}”, by feature", added.token),
        x: token_axis(&names, 12).range(vec![-0.5, n as f64 - 0.5]),
        y: number_axis(1.0, "").range(vec![rounded(-reach(-1.0)), rounded(reach(1.0))]),
        width: None,
        height: 260.0,
    };
    let place =
        Place { width, n_columns: 1, left: 40.0, left_once: true, below: 20.0, above };
    let mut layout = panels::layout(vec![panel], &place);
    layout["barmode"] = "relative".into();
    layout["bargap"] = 0.35.into();
    layout
}

fn table(added: &Additions, sums: &[f64]) -> Table {
    let parts = added.parts().map(|(name, part)| (name, part.to_vec()));
    let row = |(name, numbers): (String, Vec<f64>)| {
        std::iter::once(name).chain(numbers.into_iter().map(signed)).collect()
    };
    let features = added.features.iter().map(|feature| format!("feature {feature}"));
    Table {
        caption: format!("What is added to the output of “{}”", added.token),
        columns: std::iter::once("from".to_owned()).chain(features).collect(),
        rows: parts.chain([("sum".to_owned(), sums.to_vec())]).map(row).collect(),
    }
}

fn sketched(added: &Additions, sums: &[f64]) -> String {
    let table = table(added, sums);
    sketch::table(&table)
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
    fn what_does_not_fit_is_refused() {
        let refused = |added: Additions| heads_add("", &added).unwrap_err();
        insta::assert_snapshot!(refused(Additions { bias: vec![0.0], ..added() }), @"b^O has 1 entries, expected 2");
        insta::assert_snapshot!(refused(Additions { heads: vec![], ..added() }), @"the number of heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused(Additions { bias: vec![0.0, f64::NAN], ..added() }), @"what b^O adds is NaN, expected a number");
    }
}
