//! Every exercise in order: an exercise's place here is its number.

use crate::bank::*;
use crate::{Answer, Exercise, Section, Verdict};

/// What can be said of an exercise without knowing its types.
pub trait Entry: Sync {
    /// The file's name without `.rs`: `scale`.
    fn name(&self) -> &'static str;
    /// What the reader learns to write.
    fn title(&self) -> &'static str;
    /// The section that explains it.
    fn read(&self) -> Section;
    /// What the check says while nothing is written.
    fn said_as_given(&self) -> String;
    /// What the check says of a right answer.
    fn said_when_right(&self) -> String;
    /// What is said of each mistake when it is handed in, under the mistake's name.
    fn named(&self) -> Vec<(&'static str, String)>;
    /// The sections that mistakes are explained in.
    fn sections(&self) -> Vec<Section>;
    /// What is wrong with the exercise itself: nothing, as the tests show.
    fn faults(&self) -> Vec<String>;
    /// The numbers of its right answer and its mistakes, where these are numbers.
    #[cfg(test)]
    fn numbers(&self) -> Option<Vec<u8>>;

    /// Its place in the catalogue, counted from 1.
    fn number(&self) -> usize {
        let place = all().iter().position(|entry| entry.name() == self.name());
        place.map_or(0, |place| place + 1)
    }
}

/// Every exercise in order.
pub fn all() -> Vec<&'static dyn Entry> {
    vec![
        &weighted_average::EXERCISE,
        &scores::EXERCISE,
        &softmax::EXERCISE,
        &scale::EXERCISE,
        &head_in_loops::EXERCISE,
        &head_in_matrices::EXERCISE,
        &subspaces::EXERCISE,
        &concatenation::EXERCISE,
        &mixing::EXERCISE,
        &sum_over_heads::EXERCISE,
        &packing::EXERCISE,
        &columns_as_heads::EXERCISE,
        &batches::EXERCISE,
        &count_parameters::EXERCISE,
        &count_multiply_adds::EXERCISE,
        &masks::EXERCISE,
        &cross_attention::EXERCISE,
        &nothing_to_attend::EXERCISE,
        &softmax_backward::EXERCISE,
        &projection_backward::EXERCISE,
        &head_backward::EXERCISE,
        &cross_entropy::EXERCISE,
        &ablation::EXERCISE,
        &layer_norm::EXERCISE,
        &sublayer::EXERCISE,
        &positions::EXERCISE,
        &gated_feed_forward::EXERCISE,
        &induction::EXERCISE,
        &logit_paths::EXERCISE,
        &decoder_masks::EXERCISE,
        &cross_heads::EXERCISE,
        &cross_cache::EXERCISE,
        &transposed_weights::EXERCISE,
        &whole_layer::EXERCISE,
        &write_a_test::EXERCISE,
        &rotary::EXERCISE,
        &shared_keys::EXERCISE,
        &window_cache::EXERCISE,
        &latent_keys::EXERCISE,
        &stretched_rotary::EXERCISE,
        &next_token_loss::EXERCISE,
        &choose::EXERCISE,
        &copying_share::EXERCISE,
        &online_softmax::EXERCISE,
        &pieces::EXERCISE,
        &ring_mask::EXERCISE,
        &part_of_sum::EXERCISE,
        &both_ways::EXERCISE,
        &windows::EXERCISE,
        &scaled::EXERCISE,
    ]
}

/// The exercise of this name.
pub fn find(name: &str) -> Option<&'static dyn Entry> {
    all().into_iter().find(|entry| entry.name() == name)
}

impl<I, O: Answer> Entry for Exercise<I, O> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn read(&self) -> Section {
        self.read
    }

    fn said_as_given(&self) -> String {
        self.message(&Verdict::NotWritten)
    }

    fn said_when_right(&self) -> String {
        self.message(&Verdict::Passed)
    }

    fn named(&self) -> Vec<(&'static str, String)> {
        let said = |mistake: &crate::Mistake<I, O>| {
            (mistake.name, self.message(&self.diagnose(mistake.answer)))
        };
        self.mistakes.iter().map(said).collect()
    }

    fn sections(&self) -> Vec<Section> {
        self.mistakes.iter().map(|mistake| mistake.read).chain([self.read]).collect()
    }

    fn faults(&self) -> Vec<String> {
        self.find_faults()
    }

    #[cfg(test)]
    fn numbers(&self) -> Option<Vec<u8>> {
        Some(self.numbers())
    }
}
