//! SCRAM-SHA-256 (RFC 5802, RFC 7677) as PostgreSQL asks for passwords. Neither side sees more of the password than a
//! proof, and the server proves that it knows it too. A server may not choose how long we compute.

use std::num::NonZeroU32;

use unicode_normalization::UnicodeNormalization as _;

use super::Trouble;
use crate::base::secret::{Secret, base64, from_base64, hmac_bytes, pbkdf2, random_bytes, same, sha256};

/// The mechanism's name.
pub(super) const NAME: &str = "SCRAM-SHA-256";

/// PostgreSQL's own default is 4,096; a server that asks for much more wants to keep us busy.
const MOST_ITERATIONS: u32 = 100_000;

/// No channel binding, no other identity.
const HEADER: &str = "n,,";

/// A conversation that has begun.
pub(super) struct Scram {
    password: Vec<u8>,
    nonce: String,
    /// What the server must prove at the end.
    expected: Option<[u8; 32]>,
}

impl Scram {
    pub(super) fn new(password: &Secret) -> Self {
        Self::with_nonce(password, base64(&random_bytes::<18>()))
    }

    fn with_nonce(password: &Secret, nonce: String) -> Self {
        // SASLprep (RFC 4013) leaves ASCII alone; of the rest this is the part that keyboards and forms make differ.
        let password = password.expose().nfkc().collect::<String>().into_bytes();
        Self { password, nonce, expected: None }
    }

    fn bare(&self) -> String {
        // PostgreSQL takes the name from the start of the connection.
        format!("n=,r={}", self.nonce)
    }

    /// The client's first message.
    pub(super) fn first(&self) -> String {
        format!("{HEADER}{}", self.bare())
    }

    /// The client's final message, for the server's first.
    pub(super) fn answer(&mut self, server: &str) -> Result<String, Trouble> {
        let odd = || Trouble::odd("a malformed password challenge");
        let mut parts = server.split(',');
        let mut part = |name: &str| parts.next().and_then(|part| part.strip_prefix(name)).ok_or_else(odd);
        let (nonce, salt, iterations) = (part("r=")?, part("s=")?, part("i=")?);
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(odd());
        }
        let salt = from_base64(salt).ok_or_else(odd)?;
        let iterations: NonZeroU32 = iterations.parse().map_err(|_| odd())?;
        if iterations.get() > MOST_ITERATIONS {
            return Err(Trouble::odd("a password challenge that takes too long to answer"));
        }
        let salted = pbkdf2(&self.password, &salt, iterations);
        let client_key = hmac_bytes(&salted, b"Client Key");
        let without_proof = format!("c={},r={nonce}", base64(HEADER.as_bytes()));
        let message = format!("{},{server},{without_proof}", self.bare());
        let signature = hmac_bytes(&sha256(&client_key), message.as_bytes());
        let proof: Vec<u8> = client_key.iter().zip(signature).map(|(key, signed)| key ^ signed).collect();
        self.expected = Some(hmac_bytes(&hmac_bytes(&salted, b"Server Key"), message.as_bytes()));
        Ok(format!("{without_proof},p={}", base64(&proof)))
    }

    /// Whether the server's final message proves that it knows the password.
    pub(super) fn is_proven(&self, server: &str) -> bool {
        let proof = server.split(',').next().and_then(|part| part.strip_prefix("v=")).and_then(from_base64);
        matches!((proof, self.expected), (Some(proof), Some(expected)) if same(&proof, &expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    /// The example of RFC 7677 §3, whose messages carry a name where PostgreSQL has none: the proof covers the name,
    /// so that it was computed anew, with Python's hashlib.
    #[test]
    fn the_exchange_is_that_of_the_standard() {
        let mut scram = Scram::with_nonce(&Secret::new("pencil"), "rOprNGfwEbeRWgbNEkqO".into());
        assert_eq!(scram.first(), "n,,n=,r=rOprNGfwEbeRWgbNEkqO");
        let answer = scram.answer(FIRST).unwrap();
        assert_eq!(
            answer,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=qvT2SWdEH5Q06albL+hjSYuUhCG7VndFyzIb7CK4n9k="
        );
        assert!(scram.is_proven("v=3HO6Qt1M4MKJrmlKaoOqLAI0/0TV0HZe7J9H3MBtSOg="));
        assert!(!scram.is_proven("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="), "of another conversation");
        assert!(!scram.is_proven("e=other-error") && !scram.is_proven(""));
    }

    #[test]
    fn challenges_of_hostile_servers_are_refused() {
        for challenge in [
            "",
            "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            "r=mine,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            "r=mine+theirs,s=!,i=4096",
            "r=mine+theirs,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=0",
            "r=mine+theirs,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4000000000",
            "r=mine+theirs,s=W22ZaJ0SNY7soEsUEjb6gQ==",
            "m=ext,r=mine+theirs,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        ] {
            let mut scram = Scram::with_nonce(&Secret::new("pencil"), "mine".into());
            assert!(scram.answer(challenge).is_err(), "{challenge}");
            assert!(!scram.is_proven("v="), "nothing was asked yet");
        }
    }
}
