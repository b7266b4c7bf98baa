//! The threads that hash passwords: argon2id (RFC 9106), a few at a time, each in memory that is kept for the next.
//!
//! A hash needs 19 MiB. Taken and given back on whatever thread is free, they stay with that thread's part of the
//! allocator, and a crowd of log-ins leaves hundreds of megabytes behind.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use tokio::sync::oneshot;
use zeroize::Zeroize;

use crate::base::secret::{Secret, random_bytes};
use crate::model::error::{Error, Result};

/// OWASP's minimum set: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Most threads, however many cores there are.
const MOST_THREADS: usize = 4;
/// Log-ins that may wait for a thread.
const MAX_WAITING: usize = 64;
/// How long memory is kept when nobody logs in.
const KEEPS: Duration = Duration::from_secs(30);

type Work = Box<dyn FnOnce(&mut Memory) + Send>;

/// See the module. The threads are made at first use, and end with this.
pub(in crate::identity) struct Hashing {
    threads: usize,
    keeps: Duration,
    queue: Mutex<Option<SyncSender<Work>>>,
    idle: Idle,
}

/// The memory in which nobody hashes now.
type Idle = Arc<Mutex<Vec<Memory>>>;

impl Hashing {
    pub(in crate::identity) fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // One core is left to those who are in already.
        Self::with(cores.saturating_sub(1).clamp(1, MOST_THREADS), KEEPS)
    }

    fn with(threads: usize, keeps: Duration) -> Self {
        Self { threads, keeps, queue: Mutex::new(None), idle: Idle::default() }
    }

    /// The PHC string of a password in its normal form, which the rules have passed.
    ///
    /// # Errors
    /// `service_unavailable` when too many wait.
    pub(super) async fn hash(&self, password: Secret) -> Result<String> {
        self.run(move |memory| hash(memory, password.expose().as_bytes())).await?
    }

    /// Whether a password in its normal form is the one of a PHC string.
    ///
    /// # Errors
    /// `service_unavailable` when too many wait; `internal_error` when the string is none.
    pub(super) async fn verify(&self, password: Secret, hash: String) -> Result<bool> {
        self.run(move |memory| verify(memory, password.expose().as_bytes(), &hash)).await?
    }

    /// Work on one of the threads. Once it has begun it goes on, whether or not the caller waits; for a caller who hung
    /// up before, it is not done.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce(&mut Memory) -> T + Send + 'static) -> Result<T> {
        let (answer, done) = oneshot::channel();
        let work: Work = Box::new(move |memory: &mut Memory| {
            if !answer.is_closed() {
                let _gone_meanwhile = answer.send(work(memory));
            }
        });
        let sent = self.queue()?.try_send(work);
        match sent {
            Ok(()) => done.await.map_err(Error::internal),
            Err(TrySendError::Full(_)) => {
                Err(Error::unavailable("Too many people are logging in at once. Try again in a moment."))
            }
            Err(TrySendError::Disconnected(_)) => Err(Error::internal("no thread is left that hashes passwords")),
        }
    }

    fn queue(&self) -> Result<SyncSender<Work>> {
        let mut made = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = &*made {
            return Ok(queue.clone());
        }
        let (queue, waiting) = sync_channel(MAX_WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..self.threads {
            let (waiting, idle, keeps) = (waiting.clone(), self.idle.clone(), self.keeps);
            let work = move || serve(&waiting, &idle, keeps);
            thread::Builder::new().name("passwords".into()).spawn(work).map_err(Error::internal)?;
        }
        Ok(made.insert(queue).clone())
    }
}

/// One thread, until nobody can send any more.
fn serve(waiting: &Mutex<Receiver<Work>>, idle: &Mutex<Vec<Memory>>, keeps: Duration) {
    let idle = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        // One thread waits for work and the others for their turn to wait; nobody does while hashing.
        let work = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(keeps);
        match work {
            Ok(work) => {
                let mut memory = idle().pop().unwrap_or_default();
                work(&mut memory);
                idle().push(memory);
            }
            Err(RecvTimeoutError::Timeout) => idle().clear(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// What a thread hashes in; empty until its first hash.
#[derive(Default)]
struct Memory(Vec<Block>);

impl Memory {
    fn fill(&mut self, argon2: &Argon2<'_>, password: &[u8], salt: &[u8], out: &mut [u8]) -> Result<()> {
        let needed = argon2.params().block_count();
        if self.0.len() < needed {
            self.0.resize(needed, Block::new());
        }
        let done = argon2.hash_password_into_with_memory(password, salt, out, self.0.as_mut_slice());
        // The memory outlives the password; what is left of the password in it does not.
        self.0.iter_mut().for_each(Zeroize::zeroize);
        done.map_err(Error::internal)
    }
}

fn hash(memory: &mut Memory, password: &[u8]) -> Result<String> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(Error::internal)?;
    let written = ParamsString::try_from(&params).map_err(Error::internal)?;
    let (algorithm, version, salt) = (Algorithm::Argon2id, Version::V0x13, random_bytes::<16>());
    let mut out = [0; Params::DEFAULT_OUTPUT_LEN];
    memory.fill(&Argon2::new(algorithm, version, params), password, &salt, &mut out)?;
    let hash = PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: written,
        salt: Some(Salt::new(&salt).map_err(Error::internal)?),
        hash: Some(Output::new(&out).map_err(Error::internal)?),
    };
    Ok(hash.to_string())
}

/// With the parameters that the string names: they may have been others when it was made.
fn verify(memory: &mut Memory, password: &[u8], hash: &str) -> Result<bool> {
    let hash = PasswordHash::new(hash).map_err(Error::internal)?;
    let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else { return Ok(false) };
    let algorithm = Algorithm::new(hash.algorithm.as_str()).map_err(Error::internal)?;
    let version = hash.version.map_or(Ok(Version::default()), Version::try_from).map_err(Error::internal)?;
    let params = Params::try_from(&hash).map_err(Error::internal)?;
    let mut out = vec![0; expected.len()];
    memory.fill(&Argon2::new(algorithm, version, params), password, salt, &mut out)?;
    // Compared in constant time by the type.
    Ok(Output::new(&out).map_err(Error::internal)? == *expected)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Sender, channel};

    use futures_util::future::join_all;

    use super::*;
    use crate::model::error::Code;

    /// Computed by another implementation of RFC 9106.
    const KEPT: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$c2l4dGVlbiBieXRlIHNhbA$ZJ4FUbptHT0O321/29MZjzSO5FrbsClqx9/BbsxE0RA";
    const PASSWORD: &str = "correct horse battery";

    fn with_threads(threads: usize) -> Hashing {
        Hashing::with(threads, KEEPS)
    }

    /// Work that says when it has begun, and lasts until it is told to end.
    fn held() -> (impl FnOnce(&mut Memory) + Send + 'static, Receiver<()>, Sender<()>) {
        let ((begun, has_begun), (release, released)) = (channel(), channel());
        let work = move |_: &mut Memory| {
            begun.send(()).unwrap();
            released.recv().unwrap();
        };
        (work, has_begun, release)
    }

    #[tokio::test]
    async fn a_hash_verifies_its_password_only() {
        let hashing = Hashing::new();
        let password = Secret::new("correct horse");
        let hash = hashing.hash(password.clone()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, hashing.hash(password.clone()).await.unwrap(), "each hash has its own salt");
        assert!(hashing.verify(password, hash.clone()).await.unwrap());
        assert!(!hashing.verify(Secret::new("correct horsf"), hash).await.unwrap());
    }

    #[tokio::test]
    async fn hashes_of_others_and_with_other_parameters_verify() {
        let hashing = with_threads(1);
        for (password, hash) in [
            (PASSWORD, KEPT),
            // Of the reference implementation's own tests: less memory, more memory, two lanes.
            ("password", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"),
            ("password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"),
            ("password", "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc"),
            (PASSWORD, KEPT),
        ] {
            assert!(hashing.verify(Secret::new(password), hash.into()).await.unwrap(), "{hash}");
            assert!(!hashing.verify(Secret::new("passwore"), hash.into()).await.unwrap(), "{hash}");
        }
        assert_eq!(hashing.verify(Secret::new(""), "no hash".into()).await.unwrap_err().code, Code::InternalError);
    }

    #[tokio::test]
    async fn a_thread_hashes_in_the_same_memory_again_and_leaves_nothing_in_it() {
        let hashing = with_threads(1);
        assert_eq!(hashing.run(|memory| memory.0.capacity()).await.unwrap(), 0, "taken when it is needed");
        let state = |memory: &mut Memory| {
            let clean = memory.0.iter().all(|block| block.as_ref().iter().all(|word| *word == 0));
            (memory.0.as_ptr().addr(), memory.0.capacity(), memory.0.len(), clean)
        };
        hashing.hash(Secret::new(PASSWORD)).await.unwrap();
        let first = hashing.run(state).await.unwrap();
        assert_eq!((first.2, first.3), (MEMORY_KIB as usize, true));
        for _ in 0..5 {
            assert!(hashing.verify(Secret::new(PASSWORD), KEPT.into()).await.unwrap());
            assert_eq!(hashing.run(state).await.unwrap(), first);
        }
    }

    #[tokio::test]
    async fn memory_is_given_back_when_nobody_logs_in() {
        let hashing = Hashing::with(1, Duration::ZERO);
        hashing.hash(Secret::new(PASSWORD)).await.unwrap();
        let given_back = async { while hashing.run(|memory| memory.0.capacity()).await.unwrap() > 0 {} };
        tokio::time::timeout(Duration::from_secs(60), given_back).await.unwrap();
        assert!(hashing.verify(Secret::new(PASSWORD), KEPT.into()).await.unwrap(), "and taken again");
    }

    #[tokio::test]
    async fn however_many_hash_at_once_the_threads_are_as_many_as_they_were() {
        // Of little work: what counts is who does it.
        const SMALL: &str = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA";
        let hashing = with_threads(2);
        let work = |memory: &mut Memory| {
            assert!(!verify(memory, b"password", SMALL).unwrap());
            thread::current().id()
        };
        let seen = join_all((0..MAX_WAITING).map(|_| hashing.run(work))).await;
        let threads: HashSet<_> = seen.into_iter().map(Result::unwrap).collect();
        assert!(threads.len() <= 2, "{threads:?}");
        assert!((1..=MOST_THREADS).contains(&Hashing::new().threads));
    }

    #[tokio::test]
    async fn b26_more_than_the_queue_holds_is_refused_at_once() {
        let hashing = with_threads(1);
        let (work, has_begun, release) = held();
        let mut first = Box::pin(hashing.run(work));
        assert!(futures_util::poll!(&mut first).is_pending());
        has_begun.recv().unwrap();
        let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| Box::pin(hashing.run(|_| ()))).collect();
        for one in &mut waiting {
            assert!(futures_util::poll!(one).is_pending(), "the queue has a place");
        }
        let refused = hashing.run(|_| ()).await.unwrap_err();
        assert_eq!((refused.code, refused.retry_after), (Code::ServiceUnavailable, Some(1)));
        release.send(()).unwrap();
        first.await.unwrap();
        for one in waiting {
            one.await.unwrap();
        }
        hashing.run(|_| ()).await.unwrap();
    }

    #[tokio::test]
    async fn who_hung_up_before_their_turn_costs_no_hash() {
        let hashing = with_threads(1);
        let (work, has_begun, release) = held();
        let mut first = Box::pin(hashing.run(work));
        assert!(futures_util::poll!(&mut first).is_pending());
        has_begun.recv().unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let seen = done.clone();
        let mut gone = Box::pin(hashing.run(move |_| seen.store(true, Ordering::SeqCst)));
        assert!(futures_util::poll!(&mut gone).is_pending());
        drop(gone);
        release.send(()).unwrap();
        // It was the next in the queue: this one comes after it.
        hashing.run(|_| ()).await.unwrap();
        assert!(!done.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn the_threads_end_with_what_they_serve() {
        thread_local!(static HELD: RefCell<Option<Arc<()>>> = const { RefCell::new(None) });
        let (hashing, kept) = (with_threads(2), Arc::new(()));
        let held = kept.clone();
        hashing.run(move |_| HELD.set(Some(held))).await.unwrap();
        assert_eq!(Arc::strong_count(&kept), 2, "the thread lives");
        drop(hashing);
        let ended = async {
            while Arc::strong_count(&kept) > 1 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap();
    }
}
