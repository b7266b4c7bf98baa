//! How often one key, and how often one network address may try. IPv4 addresses count alone, IPv6 addresses by their /64 (what one
//! subscriber gets). Memory is bounded: idle rates are forgotten, and failures are kept for the latest addresses.

mod accounts;

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use lru::LruCache;

use crate::base::clock::{Clock, Millis};
pub use accounts::{Accounts, TryingAccount};

/// Addresses whose failures are remembered.
const FAILING: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// Keys whose rate is remembered before idle ones are dropped.
const RATED: usize = 10_000;
/// Requests for a new password, a minute and address.
const FORGOT: u32 = 5;
/// The window of failures.
const WINDOW: Millis = 60_000;

/// The rates; all per minute and address.
#[derive(Clone, Debug)]
pub struct ThrottleRates {
    /// Failures after which an address is blocked.
    pub failures: u32,
    pub block: Duration,
    /// Failures of one account in a quarter of an hour, from anywhere, before it is slowed down.
    pub account_failures: u32,
    pub authorize: u32,
    pub register: u32,
    /// Requests for tokens, and revocations.
    pub exchange: u32,
}

/// User codes of devices that one browser session, or one address, may get wrong in a minute (L04).
const WRONG_CODES: usize = 5;

/// Counts by address, and failures by account.
#[derive(Debug)]
pub struct Throttle {
    pub accounts: Accounts,
    rates: ThrottleRates,
    clock: Clock,
    failing: Mutex<LruCache<IpAddr, Failing>>,
    authorize: Rate<IpAddr>,
    register: Rate<IpAddr>,
    exchange: Rate<IpAddr>,
    codes_by_session: Tries<String>,
    codes_by_address: Tries<IpAddr>,
    forgot: Rate<IpAddr>,
}

#[derive(Debug, Default)]
struct Failing {
    /// When the failures of the last minute happened.
    at: Vec<Millis>,
    blocked_until: Millis,
    /// Passwords that are being compared at this moment.
    trying: usize,
}

/// A password that is being compared; counts as a failure until it is known to be none.
#[derive(Debug)]
pub struct Trying<'a> {
    throttle: &'a Throttle,
    ip: IpAddr,
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        let mut failing = self.throttle.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = failing.get_mut(&self.ip) {
            entry.trying = entry.trying.saturating_sub(1);
        }
    }
}

/// Seconds to wait.
pub type Wait = u64;

impl Throttle {
    pub fn new(rates: ThrottleRates, clock: Clock) -> Self {
        Self {
            failing: Mutex::new(LruCache::new(FAILING)),
            authorize: Rate::new(rates.authorize, &clock),
            register: Rate::new(rates.register, &clock),
            exchange: Rate::new(rates.exchange, &clock),
            codes_by_session: Tries::new(WRONG_CODES, &clock),
            codes_by_address: Tries::new(WRONG_CODES, &clock),
            forgot: Rate::new(FORGOT, &clock),
            accounts: Accounts::new(rates.account_failures, clock.clone()),
            rates,
            clock,
        }
    }

    /// Whether the address is blocked for its failures.
    ///
    /// # Errors
    /// Seconds until it is free.
    pub fn check_login(&self, ip: IpAddr) -> Result<(), Wait> {
        let now = self.clock.now();
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        match failing.get(&subscriber(ip)) {
            Some(entry) if entry.blocked_until > now => {
                Err(u64::try_from(entry.blocked_until - now).unwrap_or(0).div_ceil(1000))
            }
            _ => Ok(()),
        }
    }

    /// As [`Throttle::check_login`], before a password is compared: who sends many at once may try no more of them than
    /// who sends one after the other.
    ///
    /// # Errors
    /// Seconds to wait.
    pub fn try_login(&self, ip: IpAddr) -> Result<Trying<'_>, Wait> {
        self.check_login(ip)?;
        let (ip, now) = (subscriber(ip), self.clock.now());
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = failing.get_or_insert_mut(ip, Failing::default);
        entry.at.retain(|at| *at > now - WINDOW);
        if entry.at.len() + entry.trying >= self.rates.failures as usize {
            return Err(1);
        }
        entry.trying += 1;
        Ok(Trying { throttle: self, ip })
    }

    /// Counts a wrong password or credential. The block starts with the failure that reaches the limit.
    pub fn record_failure(&self, ip: IpAddr) {
        let now = self.clock.now();
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = failing.get_or_insert_mut(subscriber(ip), Failing::default);
        entry.at.retain(|at| *at > now - WINDOW);
        entry.at.push(now);
        if entry.at.len() >= self.rates.failures as usize {
            entry.at.clear();
            entry.blocked_until = now + Millis::try_from(self.rates.block.as_millis()).unwrap_or(Millis::MAX / 2);
        }
    }

    /// Counts an authorization request.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn check_authorize(&self, ip: IpAddr) -> Result<(), Wait> {
        self.authorize.check(&subscriber(ip))
    }

    /// Counts a client registration.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn check_register(&self, ip: IpAddr) -> Result<(), Wait> {
        self.register.check(&subscriber(ip))
    }

    /// Counts a request for tokens or a revocation.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn check_exchange(&self, ip: IpAddr) -> Result<(), Wait> {
        self.exchange.check(&subscriber(ip))
    }

    /// Counts a device's user code that is being looked up as a wrong one.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn try_code(&self, session: &str, ip: IpAddr) -> Result<(), Wait> {
        self.codes_by_session.count(&session.to_owned())?;
        let counted = self.codes_by_address.count(&subscriber(ip));
        counted.inspect_err(|_| self.codes_by_session.forgive(&session.to_owned()))
    }

    /// Takes back the last [`Throttle::try_code`]: the code was right.
    pub fn code_was_right(&self, session: &str, ip: IpAddr) {
        self.codes_by_session.forgive(&session.to_owned());
        self.codes_by_address.forgive(&subscriber(ip));
    }

    /// Counts a request for a new password.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn check_forgot(&self, ip: IpAddr) -> Result<(), Wait> {
        self.forgot.check(&subscriber(ip))
    }
}

/// The part of an address that stands for one subscriber.
fn subscriber(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

type Store<K> = DashMapStateStore<K>;

/// So many a minute for each key, a burst of all of them allowed (generic cell rate algorithm). Keys that are idle are
/// forgotten when there are many.
pub struct Rate<K: Clone + Eq + Hash> {
    limiter: RateLimiter<K, Store<K>, Ticks, NoOpMiddleware<Nanos>>,
    ticks: Ticks,
}

impl<K: Clone + Eq + Hash> Rate<K> {
    pub fn new(per_minute: u32, clock: &Clock) -> Self {
        let ticks = Ticks(clock.clone());
        let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
        Self { limiter: RateLimiter::new(quota, Store::default(), ticks.clone()), ticks }
    }

    /// Counts one.
    ///
    /// # Errors
    /// Seconds until the next one is welcome; at least 1.
    pub fn check(&self, key: &K) -> Result<(), Wait> {
        if self.limiter.len() > RATED {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(key).map_err(|until| {
            let wait = until.wait_time_from(self.ticks.now());
            u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).div_ceil(1000).max(1)
        })
    }
}

impl<K: Clone + Eq + Hash> std::fmt::Debug for Rate<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rate").field("keys", &self.limiter.len()).finish()
    }
}

/// So many tries in any minute for each key. A try counts before its outcome is known, so that many at once are no more
/// than many in turn, and is forgiven when it was right.
#[derive(Debug)]
pub struct Tries<K: Eq + Hash> {
    most: usize,
    clock: Clock,
    made: Mutex<LruCache<K, Vec<Millis>>>,
}

impl<K: Clone + Eq + Hash> Tries<K> {
    pub fn new(most: usize, clock: &Clock) -> Self {
        Self { most, clock: clock.clone(), made: Mutex::new(LruCache::new(FAILING)) }
    }

    /// Counts one.
    ///
    /// # Errors
    /// Seconds until the next one is welcome; at least 1.
    pub fn count(&self, key: &K) -> Result<(), Wait> {
        let now = self.clock.now();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let at = made.get_or_insert_mut(key.clone(), Vec::new);
        at.retain(|at| *at > now - WINDOW);
        match at.first() {
            Some(oldest) if at.len() >= self.most => {
                Err(u64::try_from(oldest + WINDOW - now).unwrap_or(0).div_ceil(1000).max(1))
            }
            _ => {
                at.push(now);
                Ok(())
            }
        }
    }

    /// Takes the last one back.
    pub fn forgive(&self, key: &K) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = made.get_mut(key) {
            at.pop();
        }
    }
}

/// Our clock, as governor reads it.
#[derive(Clone, Debug)]
struct Ticks(Clock);

impl GovernorClock for Ticks {
    type Instant = Nanos;
    fn now(&self) -> Nanos {
        Nanos::from(Duration::from_millis(u64::try_from(self.0.now()).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(clock: &Clock) -> Throttle {
        let block = Duration::from_secs(300);
        let rates =
            ThrottleRates { failures: 5, block, account_failures: 10, authorize: 10, register: 20, exchange: 60 };
        Throttle::new(rates, clock.clone())
    }

    #[test]
    fn the_fifth_failure_of_a_minute_blocks_for_five_minutes() {
        let clock = Clock::manual(1_700_000_000_000);
        let throttle = throttle(&clock);
        let (ip, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for _ in 0..4 {
            throttle.record_failure(ip);
        }
        assert_eq!(throttle.check_login(ip), Ok(()));
        throttle.record_failure(ip);
        assert_eq!(throttle.check_login(ip), Err(300));
        assert_eq!(throttle.check_login(other), Ok(()));
        clock.advance(Duration::from_secs(299));
        assert_eq!(throttle.check_login(ip), Err(1));
        clock.advance(Duration::from_secs(1));
        assert_eq!(throttle.check_login(ip), Ok(()));
    }

    #[test]
    fn passwords_that_are_tried_at_once_count_before_they_are_known_to_be_wrong() {
        let clock = Clock::manual(1_700_000_000_000);
        let throttle = throttle(&clock);
        let ip = IpAddr::from([192, 0, 2, 1]);
        throttle.record_failure(ip);
        let mut trying: Vec<_> = (0..4).map(|_| throttle.try_login(ip).unwrap()).collect();
        assert_eq!(throttle.try_login(ip).unwrap_err(), 1);
        trying.pop();
        trying.push(throttle.try_login(ip).unwrap());
        for wrong in trying {
            throttle.record_failure(ip);
            drop(wrong);
        }
        assert_eq!(throttle.try_login(ip).unwrap_err(), 300);
    }

    #[test]
    fn failures_a_minute_apart_do_not_add_up() {
        let clock = Clock::manual(1_700_000_000_000);
        let throttle = throttle(&clock);
        let ip = IpAddr::from([192, 0, 2, 1]);
        for _ in 0..20 {
            throttle.record_failure(ip);
            clock.advance(Duration::from_secs(20));
        }
        assert_eq!(throttle.check_login(ip), Ok(()));
    }

    #[test]
    fn rates_are_by_subscriber_and_say_when_to_come_back() {
        let clock = Clock::manual(1_700_000_000_000);
        let throttle = throttle(&clock);
        for host in 0..10_u8 {
            let ip: IpAddr = format!("2001:db8:1:2::{host}").parse().unwrap();
            assert_eq!(throttle.check_authorize(ip), Ok(()));
        }
        assert_eq!(throttle.check_authorize("2001:db8:1:2:ffff::9".parse().unwrap()), Err(6));
        assert_eq!(throttle.check_authorize("2001:db8:1:3::1".parse().unwrap()), Ok(()));
        clock.advance(Duration::from_secs(6));
        assert_eq!(throttle.check_authorize("2001:db8:1:2::9".parse().unwrap()), Ok(()));
    }

    #[test]
    fn l04_the_sixth_try_of_a_minute_waits_and_a_right_one_does_not_count() {
        let clock = Clock::manual(1_700_000_000_000);
        let tries = Tries::new(5, &clock);
        for _ in 0..20 {
            tries.count(&"ann").unwrap();
            tries.forgive(&"ann");
        }
        for _ in 0..5 {
            tries.count(&"ann").unwrap();
            clock.advance(Duration::from_secs(10));
        }
        assert_eq!(tries.count(&"ann"), Err(10));
        assert_eq!(tries.count(&"bob"), Ok(()));
        clock.advance(Duration::from_secs(10));
        assert_eq!(tries.count(&"ann"), Ok(()));
        assert_eq!(tries.count(&"ann"), Err(10));
    }

    #[test]
    fn l04_wrong_codes_count_for_the_session_and_for_the_address() {
        let clock = Clock::manual(1_700_000_000_000);
        let throttle = throttle(&clock);
        let ip = |host| IpAddr::from([192, 0, 2, host]);
        for host in 0..5 {
            throttle.try_code("ann", ip(host)).unwrap();
            throttle.try_code(&format!("session-{host}"), ip(9)).unwrap();
        }
        assert_eq!(throttle.try_code("ann", ip(8)), Err(60), "one session from anywhere");
        assert_eq!(throttle.try_code("bob", ip(9)), Err(60), "one address with any session");
        // What was refused at one door was not counted at the other.
        for _ in 0..5 {
            throttle.try_code("bob", ip(8)).unwrap();
        }
        throttle.code_was_right("bob", ip(8));
        assert_eq!(throttle.try_code("bob", ip(8)), Ok(()));
    }

    #[test]
    fn an_ipv4_address_in_ipv6_clothes_is_the_same_address() {
        assert_eq!(subscriber("::ffff:192.0.2.1".parse().unwrap()), IpAddr::from([192, 0, 2, 1]));
    }
}
