//! Which mistakes explain all tensors of a record together.

use crate::Mistake;
use crate::recipe::Recipe;
use crate::search::{Outcome, Search, Segment};

/// Of how many combinations at most.
const MOST: usize = 20_000;

/// The smallest sets of mistakes that explain every tensor for which an explanation was
/// found; several where the numbers cannot tell them apart.
pub(crate) fn explanations(
    search: &Search<'_>,
    segments: &[Segment],
) -> Vec<Vec<&'static Mistake>> {
    let mut unions: Vec<Vec<&'static Mistake>> = vec![Vec::new()];
    for segment in segments {
        let (Outcome::Explained { trials, .. } | Outcome::Number { trials, .. }) =
            &segment.outcome
        else {
            continue;
        };
        let mut longer: Vec<Vec<&'static Mistake>> = Vec::new();
        for union in &unions {
            for trial in trials {
                let joined = joined(union, &trial.mistakes);
                if !longer.iter().any(|it| is_same(it, &joined)) && longer.len() < MOST {
                    longer.push(joined);
                }
            }
        }
        unions = longer;
    }
    unions.retain(|union| !union.is_empty());
    unions.sort_by_key(Vec::len);
    let consistent: Vec<_> =
        unions.iter().filter(|union| is_consistent(search, segments, union)).collect();
    let Some(size) = consistent.first().map(|union| union.len()) else {
        return unions.into_iter().take(1).collect();
    };
    let smallest = consistent.into_iter().filter(|union| union.len() == size);
    smallest.cloned().collect()
}

/// The mistakes of both, in the order of the steps.
fn joined(a: &[&'static Mistake], b: &[&'static Mistake]) -> Vec<&'static Mistake> {
    let mut joined = a.to_vec();
    joined.extend(b.iter().filter(|mistake| !a.contains(mistake)));
    joined.sort_by_key(|mistake| mistake.step);
    joined
}

fn is_same(a: &[&'static Mistake], b: &[&'static Mistake]) -> bool {
    a.len() == b.len() && a.iter().all(|mistake| b.contains(mistake))
}

/// Whether the mistakes together give every tensor that is right or explained.
fn is_consistent(
    search: &Search<'_>,
    segments: &[Segment],
    mistakes: &[&'static Mistake],
) -> bool {
    let recipe = Recipe::with(mistakes);
    segments.iter().all(|segment| {
        let state = segment.state;
        let is_same = |it: &Recipe| it.before(state) == recipe.before(state);
        let (level, is_known) = match &segment.outcome {
            Outcome::Unknown | Outcome::Number { .. } => return true,
            Outcome::Right { level } | Outcome::Condition { level, .. } => {
                (level, is_same(&Recipe::RIGHT))
            }
            Outcome::Explained { level, trials } => {
                (level, trials.iter().any(|it| is_same(&it.recipe)))
            }
        };
        is_known || search.is_explained(level, state, &recipe)
    })
}
