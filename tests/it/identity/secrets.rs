//! C20: nothing that opens a door can be read in the database, a log or a debug print.

use dragoman::identity::confidential::NewConfidentialClient;
use dragoman::model::access::ExtScope;
use sqlx::{AssertSqlSafe, Row as _};

use super::*;
use crate::support::databases::both;

const TABLES: [&str; 8] = [
    "orgs", "users", "memberships", "oauth_clients", "grants", "refresh_tokens", "connectivity_tokens", "signing_keys",
];

/// Every value of every table as text.
async fn dump(db: &Db) -> String {
    let mut text = String::new();
    let mut all = db.read_everyone().await.unwrap();
    for table in TABLES {
        // The name is from the list above.
        let rows = sqlx::query(AssertSqlSafe(format!("SELECT * FROM {table}"))).fetch_all(&mut *all).await.unwrap();
        text += &format!("== {table}: {} rows\n", rows.len());
        for row in rows {
            for column in 0..row.len() {
                let value = row.try_get::<Option<String>, _>(column).unwrap_or_else(|_| {
                    row.try_get::<Option<i64>, _>(column).unwrap().map(|number| number.to_string())
                });
                text += &format!("{}\n", value.unwrap_or_default());
            }
        }
    }
    text
}

#[tokio::test]
async fn c20_a_dump_of_the_database_opens_nothing() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let code = world.code().await;
        let waiting = world.code().await;
        let first = world.redeem(&code).await.unwrap();
        let second = world.refresh(&first.refresh).await.unwrap();
        let (_, token) = world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await.unwrap();
        let redirect_uris = vec![REDIRECT.to_owned()];
        let new = dragoman::identity::clients::NewClient {
            name: "A".into(),
            redirect_uris,
            application_type: "native".into(),
            uri: None,
        };
        world.identity.register_client(new).await.unwrap();
        let new = NewConfidentialClient { name: "B".into(), redirect_uris: vec![], may_introspect: true };
        let (client, first_secret) = world.identity.create_confidential_client(new).await.unwrap();
        let client_secret = world.identity.replace_client_secret(&client.id).await.unwrap();
        let row = dragoman::store::keys::list(db.pool()).await.unwrap().remove(0);
        let private = world.master.open(&row.kid, &hex::decode(&row.sealed).unwrap()).unwrap();

        let dump = dump(&db).await;
        for table in TABLES {
            assert!(!dump.contains(&format!("== {table}: 0 rows")), "{table} is empty: it proves nothing");
        }
        assert!(dump.contains("ann@example.com"), "the dump holds what was stored");
        let mut hidden = vec![PASSWORD.to_owned(), VERIFIER.to_owned(), world.master.to_hex().expose().to_owned()];
        let tokens = [&code, &waiting, &first.refresh, &second.refresh, &first.access, &second.access, &token];
        for secret in tokens.into_iter().chain([&first_secret, &client_secret]) {
            let text = secret.expose();
            hidden.push(text.to_owned());
            hidden.push(text[text.len() - 32..].to_owned());
            hidden.push(hex::encode(text));
        }
        // The seed of the private key is 32 bytes of its PKCS #8 form (RFC 8410 §7), after a header of 16.
        hidden.push(hex::encode(&private[16..48]));
        hidden.push(base64url(&private[16..48]));
        for secret in hidden {
            assert!(secret.len() > 12, "too short to search for");
            assert!(!dump.contains(&secret), "a live secret is in the database");
        }
    })
    .await;
}

#[tokio::test]
async fn l07_l09_debug_prints_hide_every_secret() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        let pair = world.redeem(&code).await.unwrap();
        let (_, token) = world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await.unwrap();
        let printed = format!("{:?} {pair:?} {code:?} {token:?} {:?}", world.identity, world.master);
        for secret in [&code, &pair.access, &pair.refresh, &token] {
            assert!(!printed.contains(secret.expose()));
        }
        assert!(printed.contains("expires_in"), "the print shows what is not secret");
    })
    .await;
}
