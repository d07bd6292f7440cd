//! Which mistakes explain all tensors of a record together.

use crate::Mistakes;
use crate::recipe::Recipe;
use crate::report::Verdict;
use crate::search::{Outcome, Search, Segment};

/// Of how many combinations at most.
const MOST: usize = 20_000;

/// The smallest sets of mistakes that explain every tensor for which an explanation was
/// found; several where the numbers cannot tell them apart. None where each would change a
/// tensor that is right.
pub(crate) fn explanations(search: &Search<'_>, segments: &[Segment]) -> Vec<Mistakes> {
    let mut unions: Vec<Mistakes> = vec![Vec::new()];
    let trials = segments.iter().map(|segment| &segment.outcome.trials);
    for trials in trials.filter(|trials| !trials.is_empty()) {
        let mut longer: Vec<Mistakes> = Vec::new();
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
    let is_consistent =
        |union: &&Mistakes| segments.iter().all(|segment| gives(search, segment, union));
    let consistent: Vec<_> = unions.iter().filter(is_consistent).collect();
    let Some(size) = consistent.first().map(|union| union.len()) else {
        let is_right = |it: &&Segment| it.outcome.verdict == Verdict::Right;
        let spares_right = |union: &Mistakes| {
            segments.iter().filter(is_right).all(|segment| gives(search, segment, union))
        };
        return unions.into_iter().find(spares_right).into_iter().collect();
    };
    let smallest = consistent.into_iter().filter(|union| union.len() == size);
    smallest.cloned().collect()
}

/// The mistakes of both, in the order of the steps.
fn joined(a: &Mistakes, b: &Mistakes) -> Mistakes {
    let mut joined = a.clone();
    joined.extend(b.iter().filter(|mistake| !a.contains(mistake)));
    joined.sort_by_key(|mistake| mistake.step);
    joined
}

fn is_same(a: &Mistakes, b: &Mistakes) -> bool {
    a.len() == b.len() && a.iter().all(|mistake| b.contains(mistake))
}

/// Whether these mistakes give a tensor, if that is right or explained.
fn gives(search: &Search<'_>, segment: &Segment, mistakes: &Mistakes) -> bool {
    let (state, recipe) = (segment.state, Recipe::with(mistakes));
    let is_same = |it: &Recipe| it.before(state) == recipe.before(state);
    let Outcome { verdict, level, trials, .. } = &segment.outcome;
    let has_number = trials.iter().any(|it| it.number.is_some());
    let Some(level) = level.filter(|_| !has_number) else { return true };
    let is_known = match verdict {
        Verdict::Mistake => trials.iter().any(|it| is_same(&it.recipe)),
        _ => is_same(&Recipe::RIGHT),
    };
    is_known || search.is_explained(&level, state, mistakes)
}
