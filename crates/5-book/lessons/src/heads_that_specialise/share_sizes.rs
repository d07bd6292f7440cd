//! The share that a head gives to each identity, in whatever role it stands.

use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Mark, Panel, Result, Table, escaped, palette, rounded,
    significant, sketch,
};

/// What a head gives to identities.
#[derive(Clone, Copy)]
pub(super) struct ShareSizes<'a> {
    pub(super) roles: &'a [&'a str],
    /// The mean of the logarithm of the share, `[n_identities, n_roles]`; NaN for an
    /// identity that was never seen in the role.
    pub(super) log_shares: &'a Matrix,
    /// Two identities to mark.
    pub(super) marked: [usize; 2],
}

/// One point per identity and role: shares on a logarithmic axis, identities in the order
/// of their mean. Where the points of the roles lie on one curve, the size of a share says
/// who and not which role.
pub(super) fn figure(title: &str, sizes: ShareSizes) -> Result<Figure> {
    let order = sizes.order();
    let shares = || sizes.log_shares.iter().filter(|x| !x.is_nan()).map(|x| x.exp());
    let (least, most) = (shares().fold(1.0, f64::min), shares().fold(0.0, f64::max));
    let places = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
    let range = [least * 0.8, most * 1.4].map(|share| rounded(share.log10()));
    let identities = Axis::between([-1.0, sizes.log_shares.nrows() as f64])
        .titled("identities, in the order of their weights");
    let y = Axis::factors(places, places.map(|place| place.to_string())).range(range);
    let panel = Panel::new("mean attention weight", identities, y, 260.0);
    Chart::new(title)
        .panels([panel])
        .marks((0..sizes.roles.len()).map(|r| sizes.of_role(r, &order)))
        .marks([sizes.pair(&order)])
        .left(40.0)
        .above([34.0, 54.0])
        .tables([sizes.table(&order)])
        .sketch(sizes.sketch(&order))
        .says(sizes.sentence(&order))
        .figure()
}

/// One a role.
const SYMBOLS: [&str; 4] = ["circle", "diamond", "triangle-up", "square"];

impl ShareSizes<'_> {
    /// The mean over the roles in which an identity was seen.
    fn mean(self, identity: usize) -> f64 {
        let row = self.log_shares.row(identity);
        let seen = || row.iter().filter(|x| !x.is_nan());
        seen().sum::<f64>() / seen().count() as f64
    }

    /// Identities from the smallest share to the largest; those never seen are left out.
    fn order(self) -> Vec<usize> {
        let all = 0..self.log_shares.nrows();
        let mut order: Vec<usize> =
            all.filter(|&identity| !self.mean(identity).is_nan()).collect();
        order.sort_by(|&a, &b| self.mean(a).total_cmp(&self.mean(b)));
        order
    }

    fn of_role(self, r: usize, order: &[usize]) -> Mark {
        let points = order.iter().enumerate().filter_map(|(x, &identity)| {
            let log_share = self.log_shares[(identity, r)];
            (!log_share.is_nan()).then(|| (x, identity, log_share.exp()))
        });
        let points: Vec<_> = points.collect();
        let told = points.iter().map(|(_, identity, share)| {
            let role = escaped(self.roles[r]);
            format!("identity {identity} as {role}<br>attention weight {share:.3}")
        });
        marks(&points)
            .named(self.roles[r])
            .marked(SYMBOLS[r], 6)
            .coloured(palette::beside_wrong(r))
            .mark_opacity(0.8)
            .hover(told)
    }

    fn pair(self, order: &[usize]) -> Mark {
        let point = |identity: usize| {
            let x = order.iter().position(|&other| other == identity)?;
            Some((x, identity, self.mean(identity).exp()))
        };
        let points: Vec<_> = self.marked.into_iter().filter_map(point).collect();
        let names = points.iter().map(|point| format!("identity {}", point.1));
        marks(&points)
            .named("one exchanged pair")
            .written(names, "top left")
            .marked("circle-open", 17)
            .coloured(palette::head(3))
            .outlined(palette::head(3), 2.0)
            .silent()
    }

    fn table(self, order: &[usize]) -> Table {
        let identities: Vec<String> = order.iter().map(usize::to_string).collect();
        let cell = |row: usize, r: usize| written(self.log_shares[(order[row], r)]);
        let caption = "Mean attention weight by identity and role";
        Table::grid(caption, "identity", &identities, &self.names(), cell)
    }

    fn names(self) -> Vec<String> {
        self.roles.iter().map(|&role| role.to_owned()).collect()
    }

    fn sketch(self, order: &[usize]) -> String {
        let names = self.names();
        let width = sketch::longest(&names);
        let line = |(r, name): (usize, &String)| {
            let share = |&identity: &usize| self.log_shares[(identity, r)].exp();
            let share = |x| Some(share(x)).filter(|x| !x.is_nan()).unwrap_or(0.0);
            let shares: Vec<f64> = order.iter().map(share).collect();
            format!("{name:<width$}  {}", sketch::columns(&shares, 0.5))
        };
        let lines: Vec<String> = names.iter().enumerate().map(line).collect();
        let [a, b] = self.marked.map(|it| format!("{it} ({})", written(self.mean(it))));
        format!(
            "{}\n\nMean attention weight, one column per identity. Full column: 0.5. \
             The exchanged pair: identities {a} and {b}.",
            lines.join("\n")
        )
    }

    fn sentence(self, order: &[usize]) -> String {
        let share = |identity: usize| written(self.mean(identity));
        let [least, most] = [order.first(), order.last()]
            .map(|identity| identity.map_or_else(String::new, |&it| share(it)));
        let [a, b] = self.marked.map(|it| format!("{it} with {}", share(it)));
        format!(
            "A scatter of the mean attention weights of {} identities as {}: they rise from {least} \
             to {most}, and the points of an identity lie close together. Marked are \
             identities {a} and {b}.",
            order.len(),
            self.roles.join(", "),
        )
    }
}

/// At a place, an identity's share.
fn marks(points: &[(usize, usize, f64)]) -> Mark {
    let y = points.iter().map(|point| significant(point.2));
    Mark::points(points.iter().map(|point| point.0), y)
}

fn written(log_share: f64) -> String {
    if log_share.is_nan() { "–".to_owned() } else { format!("{:.3}", log_share.exp()) }
}
