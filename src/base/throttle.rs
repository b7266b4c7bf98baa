//! How often one key, and how often one network address may try. IPv4 addresses count alone, IPv6 addresses by their /64 (what one
//! subscriber gets). Memory is bounded: idle rates are forgotten, and failures are kept for the latest addresses.
//! What is bounded by what a look-up finds is bounded there: refreshes of a grant, and look-ups of unknown tokens, in
//! `identity`.

mod accounts;
mod failures;

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use lru::LruCache;

use crate::base::clock::{Clock, Millis, whole_millis};
pub use accounts::{Accounts, TryingAccount};
use failures::Failures;
pub use failures::Trying;

/// Keys whose tries are remembered.
const TRIED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// Keys whose rate is remembered before idle ones are dropped.
const RATED: usize = 10_000;
/// Requests for a new password, a minute and address.
const FORGOT: u32 = 5;
/// The window of tries.
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
    /// Registrations of clients that are not known yet.
    pub register: u32,
    /// Requests for tokens, revocations and introspections that fail, and starts of devices; and good ones of one grant
    /// or client, from wherever they come.
    pub exchange: u32,
    /// Requests without a good credential.
    pub refused: u32,
}

/// User codes of devices that one browser session, or one address, may get wrong in a minute (L04).
const WRONG_CODES: usize = 5;

/// Counts by address, and failures by account.
#[derive(Debug)]
pub struct Throttle {
    pub accounts: Accounts,
    logins: Failures,
    tokens: Failures,
    refused: Rate<IpAddr>,
    authorize: Rate<IpAddr>,
    register: Tries<IpAddr>,
    exchange: Rate<IpAddr>,
    clients: Rate<String>,
    codes_by_session: Tries<String>,
    codes_by_address: Tries<IpAddr>,
    forgot: Rate<IpAddr>,
}

/// Seconds to wait.
pub type Wait = u64;

impl Throttle {
    pub fn new(rates: ThrottleRates, clock: Clock) -> Self {
        Self {
            logins: Failures::new(rates.failures, rates.block, &clock),
            tokens: Failures::new(rates.failures, rates.block, &clock),
            refused: Rate::new(rates.refused, &clock),
            authorize: Rate::new(rates.authorize, &clock),
            register: Tries::new(rates.register as usize, &clock),
            exchange: Rate::new(rates.exchange, &clock),
            clients: Rate::new(rates.exchange, &clock),
            codes_by_session: Tries::new(WRONG_CODES, &clock),
            codes_by_address: Tries::new(WRONG_CODES, &clock),
            forgot: Rate::new(FORGOT, &clock),
            accounts: Accounts::new(rates.account_failures, clock),
        }
    }

    /// Whether the address is blocked for its failed log-ins.
    ///
    /// # Errors
    /// Seconds until it is free.
    pub fn check_login(&self, ip: IpAddr) -> Result<(), Wait> {
        self.logins.check(ip)
    }

    /// As [`Throttle::check_login`], before a password is compared: who sends many at once may try no more of them than
    /// who sends one after the other.
    ///
    /// # Errors
    /// Seconds to wait.
    pub fn try_login(&self, ip: IpAddr) -> Result<Trying<'_>, Wait> {
        self.logins.begin(ip)
    }

    /// Counts a wrong password, code or passkey. The block starts with the failure that reaches the limit.
    pub fn record_failure(&self, ip: IpAddr) {
        self.logins.record(ip);
    }

    /// Counts a bad token. It has nothing to do with log-ins: a program with an old token does not lock out the people
    /// behind its address.
    ///
    /// # Errors
    /// Seconds for which bad tokens of this address are turned away.
    pub fn bad_token(&self, ip: IpAddr) -> Result<(), Wait> {
        self.tokens.check(ip)?;
        self.tokens.record(ip);
        Ok(())
    }

    /// Counts a request without a good credential.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn check_refused(&self, ip: IpAddr) -> Result<(), Wait> {
        self.refused.check(&subscriber(ip))
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
        self.register.count(&subscriber(ip))
    }

    /// Takes back the last [`Throttle::check_register`]: the client was known already. One that registers all the time
    /// counts all the same.
    pub fn client_was_known(&self, ip: IpAddr, client: &str) {
        let ip = subscriber(ip);
        if self.clients.check(&format!("{client} at {ip}")).is_ok() {
            self.register.forgive(&ip);
        }
    }

    /// Counts a request for tokens, a revocation or an introspection that came to nothing, or the start of a device.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn check_exchange(&self, ip: IpAddr) -> Result<(), Wait> {
        self.exchange.check(&subscriber(ip))
    }

    /// Counts a good request of a client that has proved who it is.
    ///
    /// # Errors
    /// Seconds until the next one is welcome.
    pub fn check_client(&self, client: &str) -> Result<(), Wait> {
        self.clients.check(&client.to_owned())
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
pub fn subscriber(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

type Store<K> = DashMapStateStore<K>;

/// So many a minute for each key, a burst of all of them allowed (generic cell rate algorithm). Keys that are idle are
/// forgotten when there are many.
pub struct Rate<K: Clone + Eq + Hash> {
    limiter: RateLimiter<K, Store<K>, Ticks, NoOpMiddleware<Nanos>>,
    ticks: Ticks,
    /// With more keys than these, idle ones are forgotten; it rises with those that are not idle, so that the search for
    /// idle ones costs each check the same, however many senders there are.
    forget_at: AtomicUsize,
}

impl<K: Clone + Eq + Hash> Rate<K> {
    pub fn new(per_minute: u32, clock: &Clock) -> Self {
        let ticks = Ticks(clock.clone());
        let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
        let limiter = RateLimiter::new(quota, Store::default(), ticks.clone());
        Self { limiter, ticks, forget_at: AtomicUsize::new(RATED) }
    }

    /// Counts one.
    ///
    /// # Errors
    /// Seconds until the next one is welcome; at least 1.
    pub fn check(&self, key: &K) -> Result<(), Wait> {
        if self.limiter.len() > self.forget_at.load(Ordering::Relaxed) {
            self.limiter.retain_recent();
            self.forget_at.store(RATED.max(2 * self.limiter.len()), Ordering::Relaxed);
        }
        self.limiter.check_key(key).map_err(|until| {
            let wait = until.wait_time_from(self.ticks.now());
            whole_millis(wait).div_ceil(1000).max(1)
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
        Self { most, clock: clock.clone(), made: Mutex::new(LruCache::new(TRIED)) }
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
        let rates = ThrottleRates {
            failures: 5,
            block: Duration::from_secs(300),
            account_failures: 10,
            authorize: 10,
            register: 20,
            exchange: 60,
            refused: 300,
        };
        Throttle::new(rates, clock.clone())
    }

    #[test]
    fn bad_tokens_turn_away_bad_tokens_and_nothing_else() {
        let clock = Clock::manual(1_700_000_000_000);
        let throttle = throttle(&clock);
        let ip = IpAddr::from([192, 0, 2, 1]);
        for _ in 0..5 {
            assert_eq!(throttle.bad_token(ip), Ok(()));
        }
        assert_eq!(throttle.bad_token(ip), Err(300));
        assert_eq!(throttle.check_login(ip), Ok(()));
        assert_eq!(throttle.bad_token(IpAddr::from([192, 0, 2, 2])), Ok(()));
        clock.advance(Duration::from_secs(300));
        assert_eq!(throttle.bad_token(ip), Ok(()));
    }

    #[test]
    fn a_known_client_registers_for_many_people_and_does_not_register_all_the_time() {
        let clock = Clock::manual(1_700_000_000_000);
        let throttle = throttle(&clock);
        let ip = IpAddr::from([192, 0, 2, 1]);
        for _ in 0..60 + 20 {
            assert_eq!(throttle.check_register(ip), Ok(()));
            throttle.client_was_known(ip, "dgc_known");
        }
        assert_eq!(throttle.check_register(ip), Err(60), "sixty for nothing, and the twenty of the address");
        assert_eq!(throttle.check_register(IpAddr::from([192, 0, 2, 2])), Ok(()));
        clock.advance(Duration::from_secs(60));
        assert_eq!(throttle.check_register(ip), Ok(()));
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
