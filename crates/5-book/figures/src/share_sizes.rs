//! The share that a head gives to each identity, in whatever role it stands.

use attention::Matrix;

use crate::axis::Axis;
use crate::chart::{Chart, Text};
use crate::heads::owned;
use crate::layout::{rounded, significant};
use crate::panels::Panel;
use crate::trace::Trace;
use crate::{Error, Figure, Result, Table, escaped, palette, sketch};

/// What a head gives to identities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareSizes<'a> {
    /// The names of the roles.
    pub roles: &'a [&'a str],
    /// The mean of the logarithm of the share, `[n_identities, n_roles]`; NaN for an
    /// identity that was never seen in the role.
    pub log_shares: &'a Matrix,
    /// Two identities to mark.
    pub marked: [usize; 2],
}

/// One point per identity and role: shares on a logarithmic axis, identities in the order
/// of their mean. Where the points of the roles lie on one curve, the size of a share says
/// who and not which role.
///
/// # Errors
/// [`Error::Sizes`] for no identities or roles; [`Error::TooMany`] above 100 identities or
/// 4 roles; [`Error::Length`] for names that do not fit; [`Error::Number`] for a share
/// above 1, or a marked identity that is not there.
pub fn share_sizes(title: impl Into<String>, sizes: ShareSizes) -> Result<Figure> {
    check(sizes)?;
    let order = order(sizes.log_shares);
    let text = Text {
        alternative: told(sizes, &order),
        sketch: sketched(sizes, &order),
        tables: vec![table(sizes, &order)],
    };
    Ok(chart(sizes, &order).figure(title, text))
}

fn check(ShareSizes { roles, log_shares, marked }: ShareSizes) -> Result<()> {
    let (n_identities, n_roles) = log_shares.shape();
    Error::expect_count("the number of identities", n_identities, 100)?;
    Error::expect_count("the number of roles", n_roles, 4)?;
    Error::expect_length("the list of roles", roles.len(), n_roles)?;
    for &log_share in log_shares.iter().filter(|x| !x.is_nan()) {
        Error::expect_between("a log share", log_share, [f64::NEG_INFINITY, 0.0])?;
    }
    for who in marked {
        let last = n_identities as f64 - 1.0;
        Error::expect_between("a marked identity", who as f64, [0.0, last])?;
    }
    Ok(())
}

/// The mean over the roles in which an identity was seen.
fn mean(log_shares: &Matrix, who: usize) -> f64 {
    let row = log_shares.row(who);
    let seen = || row.iter().filter(|x| !x.is_nan());
    seen().sum::<f64>() / seen().count() as f64
}

/// Identities from the smallest share to the largest; those never seen are left out.
fn order(log_shares: &Matrix) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..log_shares.nrows()).filter(|&who| !mean(log_shares, who).is_nan()).collect();
    order.sort_by(|&a, &b| mean(log_shares, a).total_cmp(&mean(log_shares, b)));
    order
}

/// One a role.
const SYMBOLS: [&str; 4] = ["circle", "diamond", "triangle-up", "square"];

fn traces(sizes: ShareSizes, order: &[usize]) -> Vec<Trace> {
    let ShareSizes { roles, log_shares, marked } = sizes;
    let marks = |points: &[(usize, usize, f64)]| {
        let y = points.iter().map(|point| significant(point.2));
        Trace::marks(points.iter().map(|point| point.0), y)
    };
    let of_role = |(r, role): (usize, &&str)| {
        let seen =
            order.iter().enumerate().filter(|(_, who)| !log_shares[(**who, r)].is_nan());
        let points = seen.map(|(x, &who)| (x, who, log_shares[(who, r)].exp()));
        let points: Vec<_> = points.collect();
        let told = points.iter().map(|(_, who, share)| {
            format!("identity {who} as {}<br>share {share:.3}", escaped(role))
        });
        marks(&points)
            .named(role)
            .marked(SYMBOLS[r], 6)
            .coloured(palette::head(r))
            .with("marker.opacity", 0.8)
            .told(told)
    };
    let at = |who: usize| order.iter().position(|&other| other == who);
    let points = marked.map(|who| (at(who), who, mean(log_shares, who).exp()));
    let points = points.iter().filter_map(|&(x, who, share)| Some((x?, who, share)));
    let points: Vec<_> = points.collect();
    let names = points.iter().map(|point| format!("identity {}", point.1));
    let pair = marks(&points)
        .named("one exchanged pair")
        .written(names, "top left")
        .marked("circle-open", 17)
        .coloured(palette::head(3))
        .with("marker.line.color", palette::head(3))
        .with("marker.line.width", 2.0)
        .silent();
    roles.iter().enumerate().map(of_role).chain([pair]).collect()
}

fn chart(sizes: ShareSizes, order: &[usize]) -> Chart {
    let shares = || sizes.log_shares.iter().filter(|x| !x.is_nan()).map(|x| x.exp());
    let (least, most) = (shares().fold(1.0, f64::min), shares().fold(0.0, f64::max));
    let places = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
    let names = places.map(|place| place.to_string());
    let range = [least * 0.8, most * 1.4].map(|share| rounded(share.log10()));
    let panel = Panel::new(
        "mean share",
        Axis::between([-1.0, sizes.log_shares.nrows() as f64])
            .titled("identities, in the order of their shares"),
        Axis::factors(places, names).range(range),
        260.0,
    );
    Chart {
        panels: vec![panel],
        traces: traces(sizes, order),
        left: 40.0,
        above: [34.0, 54.0],
        ..Chart::default()
    }
}

fn said(log_share: f64) -> String {
    if log_share.is_nan() { "–".to_owned() } else { format!("{:.3}", log_share.exp()) }
}

fn table(ShareSizes { roles, log_shares, .. }: ShareSizes, order: &[usize]) -> Table {
    let identities: Vec<String> = order.iter().map(usize::to_string).collect();
    let cell = |row: usize, r: usize| said(log_shares[(order[row], r)]);
    let caption = "Mean share by identity and role";
    Table::grid(caption, "identity", &identities, &owned(roles), cell)
}

fn sketched(sizes: ShareSizes, order: &[usize]) -> String {
    let ShareSizes { roles, log_shares, marked: [a, b] } = sizes;
    let names = owned(roles);
    let width = sketch::longest(&names);
    let line = |(r, name): (usize, &String)| {
        let share = |&who: &usize| log_shares[(who, r)].exp();
        let shares: Vec<f64> =
            order.iter().map(share).map(|x| if x.is_nan() { 0.0 } else { x }).collect();
        format!("{name:<width$}  {}", sketch::columns(&shares, 0.5))
    };
    let lines: Vec<String> = names.iter().enumerate().map(line).collect();
    let [a, b] = [a, b].map(|who| format!("{who} ({})", said(mean(log_shares, who))));
    format!(
        "{}\n\nMean share, one column per identity. Full column: 0.5. \
         The exchanged pair: identities {a} and {b}.",
        lines.join("\n")
    )
}

fn told(sizes: ShareSizes, order: &[usize]) -> String {
    let ShareSizes { roles, log_shares, marked } = sizes;
    let share = |who: usize| said(mean(log_shares, who));
    let [least, most] = [order.first(), order.last()]
        .map(|who| who.map_or_else(String::new, |&who| share(who)));
    let [a, b] = marked.map(|who| format!("{who} with {}", share(who)));
    format!(
        "A scatter of the mean shares of {} identities as {}: they rise from {least} to \
         {most}, and the points of an identity lie close together. Marked are identities \
         {a} and {b}.",
        order.len(),
        roles.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    const ROLES: [&str; 3] = ["agent", "object", "place"];

    fn log_shares() -> Matrix {
        let share = [0.31, 0.12, 0.4, 0.2, 0.08];
        let mut logs =
            Matrix::from_fn(5, 3, |who, r| f64::ln(share[who] + 0.01 * r as f64));
        logs[(3, 1)] = f64::NAN;
        logs
    }

    #[test]
    fn five_identities_in_three_roles_one_never_seen() {
        let sizes =
            ShareSizes { roles: &ROLES, log_shares: &log_shares(), marked: [1, 2] };
        assert_figure!(
            share_sizes("Each identity has a size of its own", sizes).unwrap()
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |roles: &[&str], log_shares: &Matrix, marked| {
            share_sizes("", ShareSizes { roles, log_shares, marked }).unwrap_err()
        };
        insta::assert_snapshot!(refused(&ROLES, &log_shares(), [1, 5]), @"a marked identity is 5, expected from 0 to 4");
        insta::assert_snapshot!(refused(&ROLES[..2], &log_shares(), [1, 2]), @"the list of roles has 2 entries, expected 3");
        insta::assert_snapshot!(refused(&ROLES, &-log_shares(), [1, 2]), @"a log share is 1.171182981502945, expected at most 0");
        insta::assert_snapshot!(refused(&[], &Matrix::zeros(3, 0), [1, 2]), @"the number of roles is 0, and must be at least 1");
    }
}
