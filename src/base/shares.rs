//! Places that are shared fairly. A caller holds places under several keys at once (a token, a person, a workspace),
//! and each key is bounded in two ways: by a number, and by what is still free. A key that may hold no more than is
//! free (part 1) can have half of an idle instance alone, a third beside one like it, a quarter beside two: however many
//! grab what they can, there is always room for who comes next. (Dynamic thresholds: Choudhury and Hahne, "Dynamic
//! queue length thresholds for shared-memory packet switches", IEEE/ACM ToN 6(2), 1998.)

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A bounded number of places.
#[derive(Debug)]
pub struct Shares {
    /// Of what, in the metrics.
    of: &'static str,
    places: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by_key: HashMap<String, usize>,
}

/// Under which name places are held, and how many at most.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: String,
    /// Never more than these; `usize::MAX` for no such bound.
    pub most: usize,
    /// Never more than the free places divided by this; 0 for no such bound.
    pub part: usize,
}

/// No place: by which of the keys, in the order they were given; `None` when all places are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    pub key: Option<usize>,
}

/// A place; given back when dropped.
#[derive(Debug)]
pub struct Share {
    of: Arc<Shares>,
    keys: Vec<String>,
}

impl Key {
    /// A key that is bounded by a number alone.
    pub fn at_most(name: impl Into<String>, most: usize) -> Self {
        Self { name: name.into(), most, part: 0 }
    }

    /// A key that is bounded by what is free alone.
    pub fn part(name: impl Into<String>, part: usize) -> Self {
        Self { name: name.into(), most: usize::MAX, part }
    }
}

impl Shares {
    pub fn new(of: &'static str, places: usize) -> Arc<Self> {
        Arc::new(Self { of, places, held: Mutex::default() })
    }

    /// Takes one place under all of `keys`, whose names differ, or none.
    ///
    /// # Errors
    /// [`Full`].
    pub fn enter(self: &Arc<Self>, keys: &[Key]) -> Result<Share, Full> {
        let mut held = self.held();
        let free = self.places.saturating_sub(held.all);
        if free == 0 {
            return Err(Full { key: None });
        }
        let full = |key: &Key| {
            let own = held.by_key.get(&key.name).copied().unwrap_or_default();
            own >= key.most || own.saturating_mul(key.part) >= free
        };
        if let Some(key) = keys.iter().position(full) {
            return Err(Full { key: Some(key) });
        }
        held.all += 1;
        self.tell(&held);
        for key in keys {
            *held.by_key.entry(key.name.clone()).or_default() += 1;
        }
        Ok(Share { of: self.clone(), keys: keys.iter().map(|key| key.name.clone()).collect() })
    }

    fn tell(&self, held: &Held) {
        metrics::gauge!("dragoman_open", "of" => self.of).set(held.all as f64);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.of.held();
        held.all -= 1;
        self.of.tell(&held);
        for key in &self.keys {
            if let Some(count) = held.by_key.get_mut(key) {
                *count -= 1;
                if *count == 0 {
                    held.by_key.remove(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as one can get under a key.
    fn grab(shares: &Arc<Shares>, key: &Key) -> Vec<Share> {
        std::iter::from_fn(|| shares.enter(std::slice::from_ref(key)).ok()).collect()
    }

    #[test]
    fn a_number_bounds_a_key_and_the_places_bound_all() {
        let shares = Shares::new("", 4);
        let (ann, bob) = (Key::at_most("ann", 3), Key::at_most("bob", 3));
        let mut hers = grab(&shares, &ann);
        assert_eq!(hers.len(), 3);
        assert_eq!(shares.enter(std::slice::from_ref(&ann)).unwrap_err(), Full { key: Some(0) });
        let his = shares.enter(std::slice::from_ref(&bob)).unwrap();
        assert_eq!(shares.enter(&[bob]).unwrap_err(), Full { key: None });
        hers.pop();
        drop(his);
        assert_eq!(grab(&shares, &ann).len(), 1);
    }

    #[test]
    fn whoever_grabs_what_they_can_leaves_room_for_the_next() {
        let shares = Shares::new("", 64);
        let mut kept = Vec::new();
        let counts: Vec<usize> = ["a", "b", "c", "d"]
            .map(|name| {
                let got = grab(&shares, &Key::part(name, 1));
                let count = got.len();
                kept.extend(got);
                count
            })
            .to_vec();
        assert_eq!(counts, [32, 16, 8, 4], "half of what is free, each time");
    }

    #[test]
    fn what_is_refused_by_one_key_is_counted_under_none() {
        let shares = Shares::new("", 10);
        let both = [Key::at_most("person", 9), Key::at_most("token", 1)];
        let _one = shares.enter(&both).unwrap();
        for _ in 0..20 {
            assert_eq!(shares.enter(&both).unwrap_err(), Full { key: Some(1) });
        }
        assert_eq!(grab(&shares, &Key::at_most("person", 9)).len(), 8);
    }

    #[test]
    fn nothing_is_remembered_of_who_holds_nothing() {
        let shares = Shares::new("", 10);
        drop(grab(&shares, &Key::part("somebody", 1)));
        let held = shares.held();
        assert_eq!((held.all, held.by_key.len()), (0, 0));
    }
}
