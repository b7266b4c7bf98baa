//! How a call comes in through the protocol: with cancellation, and with progress where the client asked for it.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::gateway::{OnProgress, Progress, Via};

/// What a call said last of its progress, for whoever asks.
#[derive(Clone, Default)]
pub(super) struct Said(Arc<Mutex<String>>);

impl Said {
    pub(super) fn last(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn say(&self, message: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = message;
    }
}

/// A call's way in, with cancellation, and progress where the client asked for it.
pub(super) fn via(action: &'static str, context: &RequestContext<RoleServer>) -> Via {
    Via { cancel: context.ct.clone(), on_progress: notifying(context), ..Via::new(action) }
}

/// The way in of a call that may go on when its request is answered: `cancel` ends it, and `said` keeps what it says of its
/// progress. The client hears of that, where it asked for it, until the answer.
pub(super) fn outliving(
    action: &'static str,
    context: Option<&RequestContext<RoleServer>>,
    cancel: CancellationToken,
    said: Said,
) -> Via {
    let notify = context.and_then(notifying);
    let on_progress: OnProgress = Arc::new(move |progress: Progress| {
        said.say(progress.message.clone());
        if let Some(notify) = &notify {
            notify(progress);
        }
    });
    Via { cancel, on_progress: Some(on_progress), ..Via::new(action) }
}

fn notifying(context: &RequestContext<RoleServer>) -> Option<OnProgress> {
    context.meta.get_progress_token().map(|token| {
        let (send, mut receive) = mpsc::unbounded_channel::<Progress>();
        let peer = context.peer.clone();
        tokio::spawn(async move {
            let mut reached = 0.0;
            while let Some(progress) = receive.recv().await {
                let Some(step) = risen(reached, progress.fraction) else { continue };
                reached = step;
                let mut param = ProgressNotificationParam::new(token.clone(), step).with_message(progress.message);
                param.total = progress.fraction.map(|_| 1.0);
                if peer.notify_progress(param).await.is_err() {
                    break;
                }
            }
        });
        let on_progress: OnProgress = Arc::new(move |progress| {
            let _nobody_listens = send.send(progress);
        });
        on_progress
    })
}

/// The next value of progress, in parts of one. Values must rise: a known fraction that is further leads, any other news
/// is a small step towards the end. `None` when there is nothing left to rise to.
fn risen(reached: f64, fraction: Option<f64>) -> Option<f64> {
    let further = fraction.filter(|fraction| *fraction > reached);
    let next = further.map_or(reached + (1.0 - reached) / 1000.0, |fraction| fraction.min(1.0));
    (next > reached).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_rises_and_never_passes_its_end() {
        let said = [None, Some(0.5), Some(0.2), None, Some(0.9), Some(f64::NAN), Some(0.95), Some(0.1), None];
        for last in [None, Some(7.0)] {
            let mut reached = 0.0;
            let news = std::iter::repeat_n(None, 5_000).chain(said).chain(std::iter::repeat_n(last, 100_000));
            for fraction in news {
                let Some(next) = risen(reached, fraction) else { continue };
                assert!(next > reached && next <= 1.0, "{fraction:?}: {reached} {next}");
                reached = next;
            }
            assert!(reached > 0.99, "{reached}");
        }
        for fraction in [0.2500001, 0.5, 1.0] {
            assert_eq!(risen(0.25, Some(fraction)), Some(fraction), "what is further is told as it is");
        }
        assert_eq!(risen(1.0, None), None);
    }
}
