//! Which keys and values each query head reads, and what that leaves to be cached.

use anyhow::Result;
use attention::thousands;
use figures::{Axis, Chart, Figure, Mark, NEUTRAL, Panel, palette};

use super::count::{KV_HEADS, N_CACHED, N_HEADS, latent, next, sizes};
use crate::args::Args;

/// Query heads above, keys and values below, a line for each that reads them.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let title = "Nine query heads (above): the fewer keys and values (below) they read, the \
                 less is cached per token";
    let mut chart = Chart::new(title).columns(4).left(14.0).below(6.0);
    for (name, n_kv_heads) in ["MHA", "GQA", "MQA"].into_iter().zip(KV_HEADS) {
        let kv_head = |head| sizes(n_kv_heads).map(|it| it.groups.kv_head(head));
        let groups = (0..N_HEADS).map(kv_head).collect::<Result<Vec<_>>>()?;
        let title = headed(name, next(n_kv_heads)?.cached);
        chart = chart.panel(panel(title), heads(&groups));
    }
    let title = headed("MLA, a latent row", latent()?.next_token(N_CACHED).cached);
    let row = Mark::lines([1.0, 7.0], [0.0, 0.0]).line(NEUTRAL, 14.0).silent();
    let all = heads(&[0; N_HEADS]).into_iter().take(N_HEADS + 1);
    Ok(chart
        .panel(panel(title), all.chain([row.in_legend(false)]))
        .says(
            "Query heads with lines to the keys and values that they read: to nine, to \
               three, to one, and to one latent row.",
        )
        .figure()?)
}

/// `GQA: 1,536 bytes a token`.
fn headed(name: &str, n_cached: u64) -> String {
    format!("{name}: {} bytes", thousands(4 * n_cached / N_CACHED as u64))
}

fn panel(title: String) -> Panel {
    let [x, y] = [[-0.7, N_HEADS as f64 - 0.3], [-0.4, 1.4]];
    Panel::new(title, Axis::hidden(x), Axis::hidden(y), 96.0)
}

/// Lines, query heads, and the heads that these read, each in the middle of its readers.
fn heads(groups: &[usize]) -> Vec<Mark> {
    let middle = |group: usize| {
        let of = (0..N_HEADS).filter(|&head| groups[head] == group);
        let of: Vec<f64> = of.map(|head| head as f64).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let colour = |group: usize| palette::head(group);
    let line = |head: usize| {
        let x = [head as f64, middle(groups[head])];
        Mark::lines(x, [1.0, 0.0])
            .in_legend(false)
            .line(colour(groups[head]), 1.5)
            .silent()
    };
    let queries =
        Mark::points((0..N_HEADS).map(|x| x as f64).collect::<Vec<_>>(), [1.0; N_HEADS])
            .marked("circle", 10)
            .coloured_each(groups.iter().map(|&group| colour(group)).collect::<Vec<_>>())
            .hover(
                (0..N_HEADS)
                    .map(|head| format!("query head {head} reads head {}", groups[head])),
            );
    let n_groups = groups[N_HEADS - 1] + 1;
    let read =
        Mark::points((0..n_groups).map(middle).collect::<Vec<_>>(), vec![0.0; n_groups])
            .marked("square", 14)
            .coloured_each((0..n_groups).map(colour).collect::<Vec<_>>())
            .hover((0..n_groups).map(|group| format!("keys and values of head {group}")));
    let lines = (0..N_HEADS).map(line);
    lines.chain([queries.in_legend(false), read.in_legend(false)]).collect()
}
