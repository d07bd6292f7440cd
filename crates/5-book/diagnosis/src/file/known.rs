//! Everything in the files counts: what is not used is harmless, or refused by its name.

use attention::Matrix;
use model_files::{Claim, Fact, Use, expect_metadata, rules};

use super::{Files, settings};
use crate::{Error, Intent, Record, Result};

impl Files<'_> {
    /// Refuses what would make the layer another one and is not read; what is harmless is
    /// said.
    pub fn expect_all_known(
        &self,
        prefix: &str,
        others: &[String],
        (record, intent): (&Record, &Intent),
    ) -> Result<()> {
        let module = prefix.strip_suffix("self.").unwrap_or(prefix);
        let mut harmless: Vec<(&'static str, Vec<String>)> = Vec::new();
        let mut names = self.all_names();
        names.retain(|name| !self.used.borrow().contains(name));
        for name in names {
            let is_others = others.iter().any(|other| {
                other.len() > module.len() && name.starts_with(other.as_str())
            });
            let found = match name.strip_prefix(module).filter(|_| !is_others) {
                Some(local) if !module.is_empty() => self.in_module(&name, local, intent),
                Some(local) => rules::of_input(local)
                    .or_else(|| self.in_module(&name, local, intent)),
                None if is_others => OTHER,
                None => beside(&name),
            };
            let is_rotary = name.contains("rotary") && intent.rotary.is_none();
            let why = match found {
                Some(Use::Used | Use::Harmless(OTHERS)) => continue,
                Some(Use::Harmless(why)) => why,
                Some(Use::Refused(_))
                    if self.is_known_rotation(&name, record, intent) =>
                {
                    "the frequencies of the rotary positions"
                }
                Some(Use::Refused(_)) if is_rotary => {
                    return Err(Error::Unread { name, why: ROTARY });
                }
                Some(Use::Refused(why)) => return Err(Error::Unread { name, why }),
                None => return Err(Error::Unread { name, why: UNKNOWN }),
            };
            match harmless.iter_mut().find(|it| it.0 == why) {
                Some((_, names)) => names.push(name),
                None => harmless.push((why, vec![name])),
            }
        }
        for (why, names) in harmless {
            self.assume(format!("{} is not used: {why}", names.join(", ")));
        }
        self.expect_known_metadata(record, intent)
    }

    /// What a name of the layer's own module means that nothing reads.
    fn in_module(&self, name: &str, local: &str, intent: &Intent) -> Option<Use> {
        let is_buffer = ["bias", "masked_bias", "causal_mask"].contains(&local);
        let n_axes = self.peek(name).map_or(0, |it| it.shape().len());
        if is_buffer && intent.causal.is_some() && matches!(n_axes, 0 | 1 | 4) {
            return Some(Use::Harmless("a causal mask as a buffer"));
        }
        if local.contains("output.LayerNorm.") || name.contains("grad.") {
            return Some(Use::Harmless("no part of this layer's attention"));
        }
        let bare = if local.contains('.') { None } else { rules::of_input(local) };
        rules::anywhere(name)
            .or_else(|| rules::in_other_form(name))
            .or_else(|| rules::in_module(local))
            .or(bare)
            .or_else(|| rules::beside(local))
    }

    /// Whether a table has the frequencies of the rotary positions that are meant.
    fn is_known_rotation(&self, name: &str, record: &Record, intent: &Intent) -> bool {
        let Some((_, base)) = intent.rotary.filter(|_| name.ends_with("inv_freq")) else {
            return false;
        };
        let d_k = record.weights.projections[0].d_out() / intent.n_heads.max(1);
        let Some(numbers) = self.peek(name).and_then(|it| it.numbers().ok()) else {
            return false;
        };
        let expected = |p: usize| base.powf(-2.0 * p as f64 / d_k as f64);
        let is_it = |(p, x): (usize, &f64)| (x - expected(p)).abs() < 1e-2 * expected(p);
        2 * numbers.len() == d_k && numbers.iter().enumerate().all(is_it)
    }

    /// Refuses what the metadata says of another layer.
    fn expect_known_metadata(&self, record: &Record, intent: &Intent) -> Result<()> {
        let d_k = record.weights.projections[0].d_out() / intent.n_heads.max(1);
        let d_model = record.inputs[0].first().map_or(0, Matrix::ncols);
        let weights = &record.weights;
        let scale = intent.scale.or_else(|| Some(1.0 / (d_k as f64).sqrt()));
        let is_so = |claim: &Claim<'_>| {
            if settings::is_read(claim.key) {
                return Some(true);
            }
            Some(match claim.fact {
                Fact::Heads => claim.is_number(intent.n_heads),
                Fact::KeyValueHeads => claim.is_number(intent.n_kv_heads),
                Fact::HeadWidth => claim.is_number(d_k),
                Fact::Width | Fact::InputWidth => claim.is_number(d_model),
                Fact::Causal => claim.is_flag(intent.causal.is_some()),
                Fact::Bidirectional => claim.is_flag(intent.causal.is_none()),
                Fact::HeadNorm => claim.is_flag(weights.norms.is_some()),
                Fact::AppendedKeys => claim.is_flag(weights.sinks.is_some()),
                Fact::Mask => {
                    claim.is_usual() || self.said.is_open_true || rules::is_blocked(claim)
                }
                Fact::Window => is_number(claim, intent.window.map(|it| it as f64)),
                Fact::SoftCap => is_number(claim, intent.cap),
                Fact::Scale => is_number(claim, scale),
                Fact::Positions => is_number(claim, intent.rotary.map(|(_, base)| base)),
                Fact::Scores
                | Fact::TimeFirst
                | Fact::Gates
                | Fact::Pruned
                | Fact::Quantised
                | Fact::Dtype
                | Fact::Lengths
                | Fact::Reversed
                | Fact::Transposed => claim.is_usual(),
                _ => return None,
            })
        };
        for file in self.files {
            expect_metadata(file, is_so)?;
        }
        Ok(())
    }
}

/// Whether a key says this number, or that there is none.
fn is_number(claim: &Claim<'_>, meant: Option<f64>) -> bool {
    let says: Option<f64> = claim.text.trim().parse().ok();
    let near = |(says, meant): (f64, f64)| (says - meant).abs() <= 1e-6 * meant.abs();
    says.zip(meant).is_some_and(near) || claim.is_usual()
}

const UNKNOWN: &str = "not known here, and it may change the result: take it out of the file \
                       if it does not";
const ROTARY: &str = "a table of rotary positions: say --rotary halves or --rotary pairs";
const OTHERS: &str = "no part of this layer";
const OTHER: Option<Use> = Some(Use::Harmless(OTHERS));

/// What stands beside a layer in a file of a whole model.
fn beside(name: &str) -> Option<Use> {
    let is_input = !name.contains('.');
    let input = rules::of_input(name).filter(|_| is_input);
    rules::anywhere(name).or(input).or(OTHER)
}
