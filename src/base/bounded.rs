//! A memory of things that were computed, with a bound in bytes: what was not used for longest goes first.

use std::hash::Hash;

use lru::LruCache;

/// At most so many bytes of values, by the sizes that they were given with.
#[derive(Debug)]
pub(crate) struct Bounded<K: Hash + Eq, V> {
    kept: LruCache<K, (V, usize)>,
    bytes: usize,
    most: usize,
}

impl<K: Hash + Eq + Clone, V: Clone> Bounded<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: LruCache::unbounded(), bytes: 0, most }
    }

    /// Keeps a value; one that is larger than all room is not kept.
    pub(crate) fn put(&mut self, key: K, value: V, bytes: usize) {
        if bytes > self.most {
            return;
        }
        if let Some((_, before)) = self.kept.put(key, (value, bytes)) {
            self.bytes -= before;
        }
        self.bytes += bytes;
        while self.bytes > self.most {
            let Some((_, (_, oldest))) = self.kept.pop_lru() else { break };
            self.bytes -= oldest;
        }
    }

    /// The value, which is now the most recently used.
    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        self.kept.get(key).map(|(value, _)| value.clone())
    }

    /// Forgets all for which it is not true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        let gone: Vec<K> =
            self.kept.iter().filter(|(key, (value, _))| !keep(key, value)).map(|(key, _)| key.clone()).collect();
        gone.iter().for_each(|key| self.forget(key));
    }

    /// Forgets the longest unused of those that `among` names, until these have at most `most` bytes.
    pub(crate) fn shrink(&mut self, most: usize, among: impl Fn(&K, &V) -> bool) {
        let ours = || self.kept.iter().filter(|(key, (value, _))| among(key, value));
        let mut bytes: usize = ours().map(|(_, (_, bytes))| bytes).sum();
        let mut gone = Vec::new();
        // Iteration goes from the most recently used to the least.
        for (key, (_, size)) in ours().collect::<Vec<_>>().into_iter().rev() {
            if bytes <= most {
                break;
            }
            bytes -= size;
            gone.push(key.clone());
        }
        gone.iter().for_each(|key| self.forget(key));
    }

    fn forget(&mut self, key: &K) {
        if let Some((_, bytes)) = self.kept.pop(key) {
            self.bytes -= bytes;
        }
    }

    /// How many values there are, and their bytes.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.kept.len(), self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_goes_first_and_the_bound_holds() {
        let mut kept = Bounded::new(10);
        kept.put("a", 1, 4);
        kept.put("b", 2, 4);
        assert_eq!(kept.get(&"a"), Some(1), "now b is the older");
        kept.put("c", 3, 4);
        assert_eq!((kept.get(&"a"), kept.get(&"b"), kept.get(&"c")), (Some(1), None, Some(3)));
        kept.put("d", 4, 11);
        assert_eq!(kept.get(&"d"), None, "larger than all room");
        kept.put("a", 5, 1);
        assert_eq!((kept.get(&"a"), kept.size()), (Some(5), (2, 5)));
        kept.shrink(0, |key, _| *key == "c");
        assert_eq!((kept.get(&"a"), kept.get(&"c"), kept.size()), (Some(5), None, (1, 1)));
        kept.retain(|_, value| *value != 5);
        assert_eq!(kept.size(), (0, 0));
    }
}
