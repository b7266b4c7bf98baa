//! Chance that a seed decides, so that what failed once fails again: a generator of numbers, and of hostile texts.

/// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough to choose test cases.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to one less than `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// One of `valid` with some of its bytes changed, dropped, doubled, or replaced by what parsers stumble over; at
    /// times bytes without any order.
    pub(crate) fn mutated(&mut self, valid: &[&str]) -> Vec<u8> {
        const HOSTILE: [&[u8]; 24] = [
            b"\0",
            b"\r\n",
            b"\t",
            b"%",
            b"%00",
            b"%0d%0a",
            b"%zz",
            b"%c3%28",
            b"&",
            b"&&=",
            b"=",
            b"+",
            b"\"",
            b"\\",
            b"../",
            b"//",
            b"[",
            b"{\"",
            b"\xff\xfe",
            "\u{202e}".as_bytes(),
            "é".as_bytes(),
            b"e999",
            b"-1",
            b".",
        ];
        if self.below(8) == 0 {
            return (0..self.below(64)).map(|_| u8::try_from(self.next() & 0xff).unwrap()).collect();
        }
        let mut bytes = self.one(valid).as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(6) {
                0 if at < bytes.len() => bytes[at] = u8::try_from(self.next() & 0xff).unwrap(),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                3 => {
                    let rest = bytes[at..].to_vec();
                    bytes.extend(rest);
                }
                4 => {
                    let more = self.one(valid).as_bytes();
                    let from = self.below(more.len() + 1);
                    bytes.splice(at..at, more[from..].iter().copied());
                }
                _ => drop(bytes.splice(at..at, HOSTILE[self.below(HOSTILE.len())].iter().copied())),
            }
        }
        if self.below(64) == 0 {
            bytes = bytes.repeat(40);
        }
        bytes
    }

    /// As [`Chance::mutated`], made a text by replacing what is none.
    pub(crate) fn text(&mut self, valid: &[&str]) -> String {
        String::from_utf8_lossy(&self.mutated(valid)).into_owned()
    }
}
