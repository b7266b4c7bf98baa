//! A server that speaks as much of S3's protocol as reading a bucket takes. It verifies signatures in addresses by itself,
//! as "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)" in the API reference has them, and answers
//! as Amazon's does.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dragoman::base::clock::{Clock, Millis, http_date, rfc3339};
use dragoman::base::secret::{hmac_bytes, sha256_hex};

pub const KEY: &str = "AKIAIOSFODNN7EXAMPLE";
pub const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
pub const REGION: &str = "eu-central-1";
/// Objects on a page of a list.
const PAGE: usize = 2;

/// An object: its bytes and its class.
#[derive(Clone)]
pub struct Object {
    pub body: Vec<u8>,
    pub class: &'static str,
}

/// A server with a bucket called `docs`, under the test's hand.
#[derive(Clone)]
pub struct S3 {
    pub endpoint: String,
    pub objects: Arc<Mutex<BTreeMap<String, Object>>>,
    /// Whether everybody may list and read it.
    pub is_open: Arc<Mutex<bool>>,
    /// What the access key may not: `list`, `read`.
    pub denied: Arc<Mutex<Vec<&'static str>>>,
    /// What it is too busy for: `read`, or to go on with a list.
    pub busy: Arc<Mutex<Vec<&'static str>>>,
    /// Keys in the order in which they were read, and `?` before the prefix of a list.
    asked: Arc<Mutex<Vec<String>>>,
    clock: Arc<Mutex<(Clock, Millis)>>,
}

impl S3 {
    pub async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let s3 = Self {
            endpoint,
            objects: Arc::default(),
            is_open: Arc::default(),
            denied: Arc::default(),
            busy: Arc::default(),
            asked: Arc::default(),
            clock: Arc::new(Mutex::new((Clock::system(), 0))),
        };
        let router = axum::Router::new().fallback(answer).with_state(s3.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        s3
    }

    /// Its clock is another's, and so many milliseconds ahead of it.
    pub fn goes_by(&self, clock: &Clock, ahead: Millis) {
        *self.clock.lock().unwrap() = (clock.clone(), ahead);
    }

    pub fn put(&self, key: &str, body: impl Into<Vec<u8>>) {
        self.objects.lock().unwrap().insert(key.into(), Object { body: body.into(), class: "STANDARD" });
    }

    /// What was asked for since the last time.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    fn now(&self) -> Millis {
        let (clock, ahead) = &*self.clock.lock().unwrap();
        clock.now() + ahead
    }

    /// The answer to a key of the bucket, or to its list.
    fn object(&self, key: &str, query: &BTreeMap<String, String>) -> Response {
        let objects = self.objects.lock().unwrap();
        let is_busy = |what| self.busy.lock().unwrap().contains(&what);
        if !key.is_empty() {
            self.asked.lock().unwrap().push(key.to_owned());
            if is_busy("read") {
                return refused(503, "SlowDown", "");
            }
            return match objects.get(key) {
                Some(object) if object.class == "GLACIER" => refused(403, "InvalidObjectState", ""),
                Some(object) => object.body.clone().into_response(),
                None => refused(404, "NoSuchKey", ""),
            };
        }
        let prefix = query.get("prefix").map_or("", String::as_str);
        self.asked.lock().unwrap().push(format!("?{prefix}"));
        assert_eq!(query.get("list-type").map(String::as_str), Some("2"));
        if is_busy("next") && query.contains_key("continuation-token") {
            return refused(503, "SlowDown", "");
        }
        let after = query.get("continuation-token").map_or("", |token| token.strip_prefix("after=").unwrap());
        let mut left = objects.iter().filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after);
        let page: Vec<_> = left.by_ref().take(PAGE).collect();
        let next = page.last().filter(|_| left.next().is_some());
        let mut said = format!("<IsTruncated>{}</IsTruncated>", next.is_some());
        if let Some((key, _)) = next {
            write!(said, "<NextContinuationToken>after={}</NextContinuationToken>", escaped(key)).unwrap();
        }
        for (key, Object { body, class }) in page {
            let (key, etag, size) = (escaped(key), sha256_hex(body), body.len());
            write!(said, "<Contents><Key>{key}</Key><ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size>").unwrap();
            write!(said, "<StorageClass>{class}</StorageClass></Contents>").unwrap();
        }
        let xmlns = "http://s3.amazonaws.com/doc/2006-03-01/";
        format!("<?xml version=\"1.0\"?><ListBucketResult xmlns=\"{xmlns}\">{said}</ListBucketResult>").into_response()
    }
}

async fn answer(State(s3): State<S3>, request: Request) -> Response {
    let date = http_date(&rfc3339(s3.now())).parse().unwrap();
    let mut answer = judged(&s3, &request);
    answer.headers_mut().insert("date", date);
    answer
}

fn judged(s3: &S3, request: &Request) -> Response {
    let path = decoded(request.uri().path());
    let (bucket, key) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    let pairs = request.uri().query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query: BTreeMap<String, String> = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
    let host = request.headers()["host"].to_str().unwrap();
    let said = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    if said("X-Amz-Signature").is_empty() {
        let is_open = *s3.is_open.lock().unwrap();
        match (bucket, is_open) {
            ("docs", true) => return s3.object(key, &query),
            ("docs", false) => return refused(403, "AccessDenied", ""),
            _ => return refused(404, "NoSuchBucket", ""),
        }
    }
    let credential: Vec<&str> = said("X-Amz-Credential").split('/').collect();
    let [id, day, region, "s3", "aws4_request"] = credential[..] else { return refused(400, "InvalidRequest", "") };
    if region != REGION {
        return refused(400, "AuthorizationQueryParametersError", &format!("<Region>{REGION}</Region>"));
    }
    if id != KEY {
        return refused(403, "InvalidAccessKeyId", "");
    }
    let signed_at = said("X-Amz-Date");
    assert_eq!((signed_at.get(..8), said("X-Amz-SignedHeaders")), (Some(day), "host"));
    if signature("GET", &path, &query, host, SECRET) != said("X-Amz-Signature") {
        return refused(403, "SignatureDoesNotMatch", "");
    }
    let at = jiff::fmt::strtime::parse("%Y%m%dT%H%M%S%z", signed_at.replace('Z', "+0000")).unwrap();
    let age = s3.now() - at.to_timestamp().unwrap().as_millisecond();
    let lives = Duration::from_secs(said("X-Amz-Expires").parse().unwrap()).as_millis();
    if age < -900_000 || u128::try_from(age).is_ok_and(|age| age > lives) {
        return refused(403, "AccessDenied", "<Message>Request has expired</Message>");
    }
    let what = if key.is_empty() { "list" } else { "read" };
    match bucket {
        "docs" if s3.denied.lock().unwrap().contains(&what) => refused(403, "AccessDenied", ""),
        "docs" => s3.object(key, &query),
        _ => refused(404, "NoSuchBucket", ""),
    }
}

fn refused(status: u16, code: &str, more: &str) -> Response {
    let said = format!(
        "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code>{more}<RequestId>4442587FB7D0A2F9</RequestId></Error>"
    );
    (StatusCode::from_u16(status).unwrap(), said).into_response()
}

/// The signature of an address whose path and query are given as they mean.
fn signature(method: &str, path: &str, query: &BTreeMap<String, String>, host: &str, secret: &str) -> String {
    let uri: Vec<String> = path.split('/').map(encoded).collect();
    let mut pairs: Vec<(String, String)> = query
        .iter()
        .filter(|(name, _)| *name != "X-Amz-Signature")
        .map(|(name, value)| (encoded(name), encoded(value)))
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (uri, pairs) = (uri.join("/"), pairs.join("&"));
    let request = format!("{method}\n{uri}\n{pairs}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD");
    let (_, scope) = query["X-Amz-Credential"].split_once('/').unwrap();
    let text = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{}", query["X-Amz-Date"], sha256_hex(request.as_bytes()));
    let first = format!("AWS4{secret}").into_bytes();
    let key = scope.split('/').fold(first, |key, part| hmac_bytes(&key, part.as_bytes()).to_vec());
    hex::encode(hmac_bytes(&key, text.as_bytes()))
}

/// `UriEncode` of the reference.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.extend(hex::decode(&part[..2]).unwrap());
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The example of the same page of the reference.
#[test]
fn the_stand_in_verifies_as_amazon_publishes_it() {
    let query = [
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
        ("X-Amz-Credential", "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"),
        ("X-Amz-Date", "20130524T000000Z"),
        ("X-Amz-Expires", "86400"),
        ("X-Amz-SignedHeaders", "host"),
    ];
    let query = query.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let signed = signature("GET", "/test.txt", &query, "examplebucket.s3.amazonaws.com", SECRET);
    assert_eq!(signed, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}
