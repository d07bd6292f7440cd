//! mdBook says what it does not like through `tracing`; a build collects that, since a
//! warning that nobody reads lets a page break in silence.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Runs `action` on this thread and returns what was warned of meanwhile.
pub fn collected<T>(action: impl FnOnce() -> T) -> (T, Vec<String>) {
    let collector = Collector::default();
    let messages = Arc::clone(&collector.0);
    let outcome = tracing::subscriber::with_default(collector, action);
    let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
    (outcome, std::mem::take(&mut *messages))
}

#[derive(Default)]
struct Collector(Arc<Mutex<Vec<String>>>);

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // Writing to a String cannot fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn warnings_are_collected_and_notes_are_not() {
        let (seven, said) = super::collected(|| {
            tracing::info!("working");
            tracing::warn!("unclosed {}", "tag");
            7
        });
        assert_eq!((seven, said), (7, vec!["unclosed tag".to_string()]));
    }
}
