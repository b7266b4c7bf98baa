//! A passkey in software (WebAuthn Level 3 §6): one P-256 credential that answers as well, or as badly, as a test wants.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use dragoman::base::secret::{base64url, from_base64url, random_bytes, sha256};
use serde_json::{Value, json};

pub struct Authenticator {
    key: EcdsaKeyPair,
    pub id: Vec<u8>,
    /// What it keeps of the person; sent with every proof unless empty.
    pub user_handle: Vec<u8>,
    /// Of the page that it believes to be on.
    pub origin: String,
    pub rp_id: String,
    /// Goes up with every proof; 0 stays 0.
    pub counter: u32,
    pub verifies_user: bool,
}

impl Authenticator {
    /// Without a credential, on a page of `origin`.
    pub fn new(origin: &str) -> Self {
        let rp_id = url::Url::parse(origin).unwrap().host_str().unwrap().to_owned();
        Self {
            key: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap(),
            id: random_bytes::<32>().to_vec(),
            user_handle: Vec::new(),
            origin: origin.to_owned(),
            rp_id,
            counter: 1,
            verifies_user: true,
        }
    }

    /// `navigator.credentials.create()`.
    pub fn create(&mut self, options: &str) -> String {
        let options: Value = serde_json::from_str(options).unwrap();
        let asked = &options["publicKey"];
        assert_eq!(asked["authenticatorSelection"]["residentKey"], "required");
        assert_eq!(asked["authenticatorSelection"]["userVerification"], "required");
        self.user_handle = from_base64url(asked["user"]["id"].as_str().unwrap()).unwrap();
        let mut data = self.data(0x40);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(self.public_key());
        // {"fmt": "none", "attStmt": {}, "authData": h'…'} in CBOR (RFC 8949).
        let mut object = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".to_vec();
        object.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        object.extend(data);
        let said = self.client_data("webauthn.create", asked);
        self.credential(json!({
            "attestationObject": base64url(&object), "clientDataJSON": base64url(&said), "transports": ["internal"],
        }))
    }

    /// `navigator.credentials.get()`.
    pub fn get(&mut self, options: &str) -> String {
        let options: Value = serde_json::from_str(options).unwrap();
        assert_eq!(options["publicKey"]["userVerification"], "required");
        if self.counter > 0 {
            self.counter += 1;
        }
        let (data, said) = (self.data(0), self.client_data("webauthn.get", &options["publicKey"]));
        let signature = self.key.sign(&SystemRandom::new(), &[data.clone(), sha256(&said)].concat()).unwrap();
        let handle = (!self.user_handle.is_empty()).then(|| base64url(&self.user_handle));
        self.credential(json!({
            "authenticatorData": base64url(&data), "clientDataJSON": base64url(&said),
            "signature": base64url(signature.as_ref()), "userHandle": handle,
        }))
    }

    fn credential(&self, response: Value) -> String {
        let id = base64url(&self.id);
        json!({ "id": id, "rawId": id, "type": "public-key", "response": response, "extensions": {} }).to_string()
    }

    fn client_data(&self, kind: &str, asked: &Value) -> Vec<u8> {
        let said =
            json!({ "type": kind, "challenge": asked["challenge"], "origin": self.origin, "crossOrigin": false });
        said.to_string().into_bytes()
    }

    /// Authenticator data (§6.1): relying party, flags (present, perhaps verified), counter.
    fn data(&self, flags: u8) -> Vec<u8> {
        let verified = if self.verifies_user { 0x04 } else { 0 };
        let mut data = sha256(self.rp_id.as_bytes());
        data.push(0x01 | verified | flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    /// As a COSE key (RFC 9053 §7.1.1): EC2, ES256, P-256.
    fn public_key(&self) -> Vec<u8> {
        let point = self.key.public_key().as_ref();
        let (x, y) = point[1..].split_at(32);
        [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", x, b"\x22\x58\x20", y].concat()
    }
}
