//! Where tokens stand: what rotary positions, causal masks, windows and slopes count by.

use crate::{Corner, Intent, Record};

impl Intent {
    /// Where the first query stands, where keys are counted from 0. It is said; or else the
    /// last query stands at the last key, unless a causal mask begins at the top left.
    pub fn first_query(&self, (n_q, n_kv): (usize, usize)) -> isize {
        let at_end = n_kv as isize - n_q as isize;
        match (self.offset, self.causal) {
            (Some(offset), _) => offset as isize,
            (None, Some(Corner::TopLeft)) => 0,
            (None, Some(Corner::BottomRight)) => at_end,
            (None, None) => at_end.max(0),
        }
    }

    /// Where the queries (0) or keys (1) of a sequence stand.
    pub(crate) fn positions(
        &self,
        record: &Record,
        sequence: usize,
        role: usize,
    ) -> Vec<f64> {
        let (n_q, n_kv) = record.lengths();
        let n = if role == 0 { n_q } else { n_kv };
        if let Some(listed) = &self.positions {
            let lists = if role == 0 { &listed.queries } else { &listed.keys };
            let list = lists.get(if lists.len() == 1 { 0 } else { sequence });
            if let Some(list) = list.filter(|list| list.len() == n) {
                return list.clone();
            }
        }
        let first = if role == 0 { self.first_query((n_q, n_kv)) } else { 0 };
        (0..n).map(|t| (t as isize + first) as f64).collect()
    }

    /// The slopes of ALiBi as the paper has them: 2^(−8/h), 2^(−16/h), …; where h is no power
    /// of 2, those of the next lower one, and then every other one of the next higher.
    pub fn paper_slopes(n_heads: usize) -> Vec<f64> {
        let below = 1 << n_heads.max(1).ilog2();
        let steps = |n: usize| (1..=n).map(move |i| slope(i, n));
        steps(below).chain(steps(2 * below).step_by(2)).take(n_heads).collect()
    }
}

/// 2^(−8i/n).
pub(crate) fn slope(i: usize, n: usize) -> f64 {
    (-8.0 * i as f64 / n as f64).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_paper() {
        assert_eq!(Intent::paper_slopes(4), [0.25, 0.0625, 0.015625, 0.00390625]);
        assert_eq!(Intent::paper_slopes(3), [0.0625, 0.00390625, 0.25]);
        assert_eq!(Intent::paper_slopes(1), [0.00390625]);
    }
}
