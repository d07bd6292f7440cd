//! Diagrams that chapters show: one head, a layer, a batch, and small pictures of one idea.

pub mod adding;
pub mod small;

use anyhow::{Context, Result, ensure};
use attention::Dims;
use figures::{
    Family, Figure, HeadPart, LayerForm, LayerPart, batch_diagram, block_diagram,
    head_diagram, layer_diagram, transformer_diagram,
};

use crate::args::{Args, Entry};

pub(crate) const FIGURES: &[Entry] = &[
    ("head-diagram", head),
    ("layer-diagram", layer),
    ("batch-diagram", batch),
    ("block-diagram", block),
    ("transformer", transformer),
    ("temperatures", small::temperatures),
    ("heads-add", adding::figure),
    ("backward-graph", small::graph),
    ("tile-plan", small::tiles),
];

/// `sizes=512x8`: d_model and the number of heads.
fn sizes(args: &Args) -> Result<Option<Dims>> {
    let Some(sizes) = args.get("sizes") else { return Ok(None) };
    let parsed = sizes.split_once('x').map(|(d_model, n_heads)| {
        let number = |text: &str| text.parse().ok();
        Some((number(d_model)?, number(n_heads)?))
    });
    let (d_model, n_heads) = parsed
        .flatten()
        .with_context(|| format!("sizes={sizes}: write d_model x heads, as in 512x8"))?;
    Ok(Some(Dims::new(d_model, n_heads)?))
}

fn expect_keys(args: &Args, known: &[&str]) -> Result<()> {
    for key in args.keys() {
        ensure!(known.contains(&key), "{key} is not among {known:?}");
    }
    Ok(())
}

/// `lit=project|scores|mask|softmax|average`, `sizes=512x8`.
fn head(args: &Args) -> Result<Figure> {
    expect_keys(args, &["lit", "sizes"])?;
    let lit = args.get("lit").map(HeadPart::named).transpose()?;
    let title = match lit {
        None => "One head: project, compare, share out, average",
        Some(HeadPart::Project) => {
            "Each token is projected three times: to a query, a key and a value"
        }
        Some(HeadPart::Scores) => "Each query is compared with each key: n × n scores",
        Some(HeadPart::Mask) => "A mask blocks scores before the softmax",
        Some(HeadPart::Softmax) => {
            "Softmax makes each row of scores a row of attention weights"
        }
        Some(HeadPart::Average) => "Each row of attention weights averages the values",
    };
    Ok(head_diagram(title, sizes(args)?, lit))
}

/// `form=per-head|fused`, `lit=heads|concat|mix|project|mask|attend|tiles`,
/// `sizes=512x8`.
fn layer(args: &Args) -> Result<Figure> {
    expect_keys(args, &["form", "lit", "sizes"])?;
    let form = LayerForm::named(args.get("form").unwrap_or("per-head"))?;
    let lit = args.get("lit").map(LayerPart::named).transpose()?;
    let title = match (lit, form) {
        (None, LayerForm::PerHead) => "A layer: h heads side by side, then one matrix",
        (None, LayerForm::Fused) => {
            "One projection for all heads, cut in blocks of columns"
        }
        (Some(LayerPart::Heads), _) => "Each head works on its own",
        (Some(LayerPart::Concat), _) => "The heads are put side by side, and stay apart",
        (Some(LayerPart::Mix), _) => "W^O mixes the heads",
        (Some(LayerPart::Project), LayerForm::PerHead) => {
            "Each head projects the tokens with its own weights"
        }
        (Some(LayerPart::Project), LayerForm::Fused) => {
            "One product per projection makes the queries, keys and values of all heads"
        }
        (Some(LayerPart::Mask), _) => "The mask acts in each head, before its softmax",
        (Some(LayerPart::Attend), _) => {
            "Scores, softmax and average: the part that looks at pairs of tokens"
        }
        (Some(LayerPart::Tiles), _) => "Scores, softmax and average, one tile at a time",
    };
    Ok(layer_diagram(title, form, sizes(args)?, lit))
}

/// `sizes=512x8`.
fn batch(args: &Args) -> Result<Figure> {
    expect_keys(args, &["sizes"])?;
    let title = "A batch is one matrix for the projections, and blocks for attention";
    Ok(batch_diagram(title, sizes(args)?))
}

fn block(_: &Args) -> Result<Figure> {
    Ok(block_diagram(
        "A block: two sub-layers, each with a norm before it and a residual around it",
    ))
}

/// `lit=encoder|decoder|encoder-decoder`.
fn transformer(args: &Args) -> Result<Figure> {
    expect_keys(args, &["lit"])?;
    let lit = args.get("lit").map(Family::named).transpose()?;
    let title = match lit {
        None | Some(Family::EncoderDecoder) => {
            "The Transformer: an encoder reads one text, a decoder writes another"
        }
        Some(Family::Encoder) => "BERT is an encoder-only model",
        Some(Family::Decoder) => "A GPT is a decoder-only model, without cross-attention",
    };
    Ok(transformer_diagram(title, lit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(name: &str, args: &[(&str, &str)]) -> Result<Figure> {
        let (_, draw) = FIGURES.iter().find(|(known, _)| *known == name).unwrap();
        draw(&args.iter().copied().collect())
    }

    #[test]
    fn sizes_are_checked_and_heads_share_them() {
        let figure = drawn("head-diagram", &[("sizes", "512x8")]).unwrap();
        let rows = &figure.tables()[0].rows;
        assert_eq!(rows[0][2], "[n, d_model] = [n, 512]");
        assert_eq!(rows[1][2], "[d_model, d_k] = [512, 64]");
        let refused = |sizes| {
            let error = drawn("batch-diagram", &[("sizes", sizes)]).unwrap_err();
            format!("{error:#}")
        };
        insta::assert_snapshot!(refused("512"), @"sizes=512: write d_model x heads, as in 512x8");
        insta::assert_snapshot!(refused("500x8"), @"d_model 500 cannot be divided among 8 heads: 500 = 8 × 62 + 4");
    }

    #[test]
    fn every_part_has_a_title_of_its_own() {
        let title = |args: &[(&str, &str)]| {
            let name = if args.len() == 1 { "head-diagram" } else { "layer-diagram" };
            drawn(name, args).unwrap().title().to_owned()
        };
        let head = ["project", "scores", "mask", "softmax", "average"];
        let mut titles: Vec<String> =
            head.iter().map(|part| title(&[("lit", part)])).collect();
        for form in ["per-head", "fused"] {
            titles.push(title(&[("form", form), ("lit", "project")]));
        }
        for part in ["heads", "concat", "mix", "mask", "attend", "tiles"] {
            titles.push(title(&[("form", "fused"), ("lit", part)]));
        }
        let n = titles.len();
        titles.sort();
        titles.dedup();
        assert_eq!(titles.len(), n);
    }

    #[test]
    fn a_key_that_a_diagram_does_not_know_is_refused() {
        let error = drawn("head-diagram", &[("light", "mask")]).unwrap_err();
        insta::assert_snapshot!(error, @r#"light is not among ["lit", "sizes"]"#);
        let error = drawn("layer-diagram", &[("lit", "value")]).unwrap_err();
        insta::assert_snapshot!(error, @"there is no part value in this diagram, only heads, concat, mix, project, mask, attend, tiles");
    }
}
