//! An authenticator app: reads the key that a page shows, and says the code of a time.

use dragoman::base::clock::Millis;
use dragoman::base::secret::Secret;
use totp_rs::{Builder, Totp};

pub struct App {
    totp: Totp,
    key: [u8; 20],
}

impl App {
    /// From the key as text, with or without spaces (RFC 4648 §6).
    pub fn new(text: &str) -> Self {
        let letters = text.bytes().filter(|letter| *letter != b' ');
        let bits = letters.flat_map(|letter| {
            let at = if letter.is_ascii_digit() { letter - b'2' + 26 } else { letter - b'A' };
            (0..5).rev().map(move |bit| at >> bit & 1)
        });
        let bits: Vec<u8> = bits.collect();
        let bytes: Vec<u8> = bits.chunks(8).map(|eight| eight.iter().fold(0, |byte, bit| byte << 1 | bit)).collect();
        let key: [u8; 20] = bytes.try_into().unwrap();
        Self { totp: Builder::new().with_secret(key).build().unwrap(), key }
    }

    pub fn key(&self) -> [u8; 20] {
        self.key
    }

    pub fn code(&self, at: Millis) -> Secret {
        Secret::new(self.totp.generate(u64::try_from(at / 1000).unwrap()).to_string())
    }
}
