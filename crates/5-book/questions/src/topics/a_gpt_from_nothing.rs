//! A GPT from nothing.

use lessons::a_gpt_from_nothing::next;

use super::*;

pub fn guesses_of_a_batch(n: &Facts) -> Result<Facts> {
    let [names] = n.words(["names"])?;
    let names: Vec<&str> = names.split(", ").collect();
    // Behind the end of the name before it and behind each letter there is a guess.
    let each: Vec<usize> = names.iter().map(|name| next::ids(name).len()).collect();
    let guesses: usize = each.iter().sum();
    let longest = each.iter().copied().max().context("a name")?;
    let line = |(name, n): (&&str, &usize)| format!("{name}: {n}");
    let lines: Vec<String> = names.iter().zip(&each).map(line).collect();
    Ok(facts![
        guesses,
        letters = guesses - names.len(),
        padded = longest * names.len(),
        lines = lines.join(", "),
    ])
}

pub fn kept_by_top_p(n: &Facts) -> Result<Facts> {
    let ([chances], [p]) = (n.words(["chances"])?, n.decimals(["p"])?);
    let chances: Vec<f64> =
        chances.split(", ").map(str::parse).collect::<Result<_, _>>()?;
    let kept = next::kept(&chances, p)?;
    let sums = chances.iter().scan(0.0, |sum, chance| {
        *sum += chance;
        Some(format!("{sum:.2}"))
    });
    let above = chances.iter().filter(|&&chance| chance > 1.0 - p).count();
    Ok(facts![kept, above, sums = sums.collect::<Vec<_>>().join("  ")])
}
