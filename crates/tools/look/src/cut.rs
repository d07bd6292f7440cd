//! What to say of a text that is too long.

use anyhow::Result;

/// Names the option that helps.
pub(crate) fn cut_hint<T>(outcome: ::texts::Result<T>) -> Result<T> {
    outcome.map_err(|error| match error {
        ::texts::Error::LongText { .. } => {
            anyhow::anyhow!("{error}: `--truncate` cuts its end")
        }
        error => error.into(),
    })
}
