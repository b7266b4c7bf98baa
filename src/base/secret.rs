//! Chance and secrets: random bytes, digests, comparison in constant time, sealing at rest.
//! All primitives are AWS-LC's; nothing here is home-made cryptography.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, RandomizedNonceKey};
use aws_lc_rs::{constant_time, digest, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// A text that must not be seen: `Debug` hides it, and it has no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself; each call is a place to look at in review.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Bytes from the operating system's generator.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[expect(clippy::expect_used, reason = "no service can run safely without randomness")]
    aws_lc_rs::rand::fill(&mut bytes).expect("the system's random generator answers");
    bytes
}

/// `prefix` followed by 256 random bits in URL-safe base64 without padding.
pub fn random_token(prefix: &str) -> Secret {
    Secret(format!("{prefix}{}", base64url(&random_bytes::<32>())))
}

/// Digits of the check that a token ends in.
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A code, token or secret that carries a check: `prefix`, 256 random bits as 43 characters of base64url, and 6 of
/// base62 with the CRC-32 of what precedes them. The check proves nothing: it keeps mistyped and cut texts from the
/// database, and lets scanners of leaked secrets be sure of what they found.
pub fn checked_token(prefix: &str) -> Secret {
    checked_token_of(prefix, &random_bytes())
}

/// As [`checked_token`], of bits that were derived.
pub fn checked_token_of(prefix: &str, bits: &[u8; 32]) -> Secret {
    let text = format!("{prefix}{}", base64url(bits));
    let check = check(&text);
    Secret(text + &check)
}

/// Whether a text has exactly the form that [`checked_token`] gives to this prefix. Nothing else is worth a look-up.
pub fn is_well_formed(prefix: &str, text: &str) -> bool {
    let Some((body, said)) = text.len().checked_sub(6).and_then(|at| text.split_at_checked(at)) else { return false };
    let bits = body.strip_prefix(prefix).and_then(from_base64url);
    bits.is_some_and(|bits| bits.len() == 32) && said == check(body)
}

fn check(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = ['0'; 6];
    for digit in digits.iter_mut().rev() {
        if let Some(letter) = BASE62.get((rest % 62) as usize) {
            *digit = char::from(*letter);
        }
        rest /= 62;
    }
    digits.iter().collect()
}

/// The bytes of base64 with padding (RFC 4648 §4); `None` for any other spelling.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Base64 with padding (RFC 4648 §4).
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// URL-safe base64 without padding (RFC 4648 §5).
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The inverse of [`base64url`]; `None` for anything that it would not have written.
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// SHA-256 in lower-case hex: how codes, tokens and session ids of 256 random bits are kept.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(digest::digest(&digest::SHA256, bytes))
}

/// SHA-256, raw.
pub fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, bytes).as_ref().to_vec()
}

/// SHA-256 of all that a reader gives, raw. Blocks.
pub fn sha256_of(reader: &mut impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let (mut sum, mut chunk) = (digest::Context::new(&digest::SHA256), vec![0; 64 << 10]);
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(sum.finish().as_ref().to_vec()),
            read => sum.update(chunk.get(..read).unwrap_or_default()),
        }
    }
}

/// HMAC-SHA-256 (RFC 2104), raw.
pub fn hmac_bytes(key: &[u8], message: &[u8]) -> [u8; 32] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mut bytes = [0; 32];
    bytes.copy_from_slice(hmac::sign(&key, message).as_ref());
    bytes
}

/// PBKDF2 with HMAC-SHA-256 (RFC 8018 §5.2), 32 bytes: what SCRAM calls `Hi` (RFC 5802 §2.2).
pub fn pbkdf2(password: &[u8], salt: &[u8], iterations: std::num::NonZeroU32) -> [u8; 32] {
    let mut bytes = [0; 32];
    aws_lc_rs::pbkdf2::derive(aws_lc_rs::pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password, &mut bytes);
    bytes
}

/// SHA-1 in upper-case hex: only for looking up in lists that are published so; it protects nothing.
pub fn sha1_hex_upper(bytes: &[u8]) -> String {
    hex::encode_upper(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, bytes))
}

/// HMAC-SHA-256 (RFC 2104) in lower-case hex.
pub fn hmac_hex(key: &[u8], message: &[u8]) -> String {
    hex::encode(hmac_bytes(key, message))
}

/// Equality that takes the same time whatever differs (the lengths may show).
pub fn same(left: &[u8], right: &[u8]) -> bool {
    constant_time::verify_slices_are_equal(left, right).is_ok()
}

/// The master key of the installation: seals private keys at rest and peppers digests.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[master key]")
    }
}

/// A sealed value could not be opened: other key, other label, or damaged.
#[derive(Debug, thiserror::Error)]
#[error("a sealed value could not be opened with this master key")]
pub struct NotOpened;

impl MasterKey {
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn generate() -> Self {
        Self(random_bytes())
    }

    /// From 64 hex digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text.trim()).ok()?.try_into().ok().map(Self)
    }

    pub fn to_hex(&self) -> Secret {
        Secret(hex::encode(self.0))
    }

    /// A key for one purpose, so that no key serves two.
    pub fn derive(&self, purpose: &str) -> Vec<u8> {
        hmac_bytes(&self.0, purpose.as_bytes()).to_vec()
    }

    /// AES-256-GCM with a random nonce in front; `label` is authenticated (a value cannot be moved to another row).
    pub fn seal(&self, label: &str, plain: &[u8]) -> Result<Vec<u8>, NotOpened> {
        let key = self.aead()?;
        let mut body = plain.to_vec();
        let nonce = key.seal_in_place_append_tag(Aad::from(label.as_bytes()), &mut body).map_err(|_| NotOpened)?;
        Ok([nonce.as_ref().as_slice(), &body].concat())
    }

    /// The inverse of [`MasterKey::seal`].
    pub fn open(&self, label: &str, sealed: &[u8]) -> Result<Vec<u8>, NotOpened> {
        let (nonce, body) = sealed.split_at_checked(12).ok_or(NotOpened)?;
        let nonce = aws_lc_rs::aead::Nonce::try_assume_unique_for_key(nonce).map_err(|_| NotOpened)?;
        let mut body = body.to_vec();
        let plain = self.aead()?.open_in_place(nonce, Aad::from(label.as_bytes()), &mut body).map_err(|_| NotOpened)?;
        Ok(plain.to_vec())
    }

    /// A secret sealed as by [`MasterKey::seal`], in URL-safe base64.
    pub fn seal_secret(&self, label: &str, secret: &Secret) -> Result<String, NotOpened> {
        Ok(base64url(&self.seal(label, secret.expose().as_bytes())?))
    }

    /// The inverse of [`MasterKey::seal_secret`].
    pub fn open_secret(&self, label: &str, sealed: &str) -> Result<Secret, NotOpened> {
        let sealed = from_base64url(sealed).ok_or(NotOpened)?;
        String::from_utf8(self.open(label, &sealed)?).map(Secret).map_err(|_| NotOpened)
    }

    fn aead(&self) -> Result<RandomizedNonceKey, NotOpened> {
        RandomizedNonceKey::new(&AES_256_GCM, &self.derive("seal")).map_err(|_| NotOpened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_only_with_its_key_and_label() {
        let key = MasterKey::generate();
        let sealed = key.seal("kid-1", b"private").unwrap();
        assert_eq!(key.open("kid-1", &sealed).unwrap(), b"private");
        assert!(key.open("kid-2", &sealed).is_err());
        assert!(MasterKey::generate().open("kid-1", &sealed).is_err());
        assert!(key.open("kid-1", &sealed[..5]).is_err());
        assert!(!sealed.windows(7).any(|w| w == b"private"));
    }

    #[test]
    fn a_secret_is_sealed_as_text_and_opens_as_it_was() {
        let (key, secret) = (MasterKey::generate(), Secret::new("wJalrXUtnFEMI"));
        let sealed = key.seal_secret("source 1", &secret).unwrap();
        assert_eq!(key.open_secret("source 1", &sealed).unwrap(), secret);
        assert!(key.open_secret("source 2", &sealed).is_err());
        assert!(key.open_secret("source 1", &format!("{sealed}=")).is_err());
    }

    #[test]
    fn digests_match_published_vectors() {
        // FIPS 180-2 appendix B.1; RFC 4231 §4.3.
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            hmac_hex(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        // RFC 3174 §7.3.
        assert_eq!(sha1_hex_upper(b"abc"), "A9993E364706816ABA3E25717850C26C9CD0D89D");
    }

    #[test]
    fn c20_the_check_is_the_crc_32_of_prefix_and_body_in_base62() {
        // The check value of CRC-32/ISO-HDLC, 0xCBF43926, and the largest that there is.
        assert_eq!(check("123456789"), "3jZRME");
        assert_eq!(check(""), "000000");
        assert_eq!(
            checked_token_of("dgac_", &[0; 32]).expose(),
            "dgac_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1cXB4r",
            "zlib's crc32 of the first 48 characters"
        );
    }

    #[test]
    fn c20_d12_only_the_exact_form_of_a_kind_is_well_formed() {
        let token = checked_token("dgac_");
        let text = token.expose();
        assert_eq!(text.len(), 5 + 43 + 6);
        assert!(is_well_formed("dgac_", text));
        assert_ne!(token, checked_token("dgac_"));
        let body = text.strip_prefix("dgac_").unwrap();
        // Another prefix has another check: what is good as one kind cannot be respelled as another.
        for (prefix, bad) in [
            ("dgrt_", text.to_owned()),
            ("dgrt_", format!("dgrt_{body}")),
            ("dgac_", String::new()),
            ("dgac_", "dgac_".into()),
            ("dgac_", "é".repeat(27)),
            ("dgac_", format!("{text}=")),
            ("dgac_", format!(" {text}")),
            ("dgac_", text[..text.len() - 1].into()),
            ("dgac_", text[..48].into()),
            ("dgac_", random_token("dgac_").expose().into()),
            ("dgac_", format!("DGAC_{body}")),
        ] {
            assert!(!is_well_formed(prefix, &bad), "{bad}");
        }
        // Every single wrong character is seen, wherever it is.
        for at in 0..text.len() {
            let other = if &text[at..=at] == "x" { "y" } else { "x" };
            assert!(!is_well_formed("dgac_", &format!("{}{other}{}", &text[..at], &text[at + 1..])), "at {at}");
        }
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "[secret]");
    }
}
