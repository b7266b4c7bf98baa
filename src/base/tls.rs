//! TLS towards peers that do not speak HTTP: the certificates that are trusted, and the settings of a connection.

use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Where systems keep the certificates that they trust, in one file (Debian, Red Hat, Alpine and the BSDs).
const BUNDLES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Why there can be no TLS.
#[derive(Debug, thiserror::Error)]
pub enum NoTls {
    #[error("the text holds no certificate in PEM form")]
    NoCertificate,
    #[error("this machine has no list of trusted certificates; install the package ca-certificates")]
    NoRoots,
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

/// Settings that verify the server's certificate and its name, against the certificates in `ca` (PEM), or against the
/// system's when there are none.
///
/// # Errors
/// [`NoTls`].
pub fn verified(ca: Option<&str>) -> Result<Arc<ClientConfig>, NoTls> {
    let roots = match ca {
        Some(pem) => Arc::new(parse(pem.as_bytes()).ok_or(NoTls::NoCertificate)?),
        None => system().ok_or(NoTls::NoRoots)?,
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(Arc::new(config.map_err(NoTls::Setup)?.with_root_certificates(roots).with_no_client_auth()))
}

fn parse(pem: &[u8]) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let (kept, _) = roots.add_parsable_certificates(CertificateDer::pem_slice_iter(pem).filter_map(Result::ok));
    (kept > 0).then_some(roots)
}

fn system() -> Option<Arc<RootCertStore>> {
    static ROOTS: OnceLock<Option<Arc<RootCertStore>>> = OnceLock::new();
    let read = || BUNDLES.iter().find_map(|path| parse(&std::fs::read(path).ok()?)).map(Arc::new);
    ROOTS.get_or_init(read).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_trusts_nobody() {
        for bad in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            assert!(matches!(verified(Some(bad)), Err(NoTls::NoCertificate)), "{bad}");
        }
    }
}
