use std::sync::Arc;

use clap::Parser;
use serde_json::Value;

use super::*;
use crate::base::clock::Clock;
use crate::base::secret::MasterKey;
use crate::config::Config;
use crate::store::Db;

#[derive(Debug, Parser)]
struct Line {
    #[command(subcommand)]
    command: AdminCommand,
}

struct Shell {
    identity: Identity,
    sources: Sources,
    _folder: tempfile::TempDir,
}

impl Shell {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open_sqlite(&folder.path().join("metadata.db")).await.unwrap();
        let config = Arc::new(Config::read(|_| None).unwrap());
        let clock = Clock::manual(1_790_000_000_000);
        let master = MasterKey::generate();
        let sources = Sources::new(&config, db.clone(), clock.clone(), master.clone());
        Self { identity: Identity::open(db, config, master, clock).await.unwrap(), sources, _folder: folder }
    }

    /// Runs a line; a `'name with spaces'` is not needed here.
    async fn run(&self, line: &str) -> Result<Said> {
        self.run_with(line, "").await
    }

    async fn run_with(&self, line: &str, input: &str) -> Result<Said> {
        let line = Line::try_parse_from(std::iter::once("admin").chain(line.split(' ')))?;
        answer(line.command, &self.identity, &self.sources, || first_line(input)).await
    }

    async fn facts(&self, line: &str) -> Value {
        self.run(line).await.unwrap().facts
    }
}

#[test]
fn the_commands_are_well_formed() {
    use clap::CommandFactory as _;
    Line::command().debug_assert();
}

#[tokio::test]
async fn a_workspace_is_set_up_from_nothing_to_a_working_login_and_token() {
    let shell = Shell::new().await;
    shell.run("workspace create acme --name Acme").await.unwrap();
    shell.run("workspace connectivity acme on").await.unwrap();
    let listed = shell.facts("workspace list").await;
    assert_eq!(listed[0]["slug"], "acme");
    assert_eq!(listed[0]["connectivity_enabled"], true);

    let created = shell.run("person create Ann@example.com --name Ann").await.unwrap();
    let password = created.facts["password"].as_str().unwrap();
    assert!(created.text.contains(password));
    let user = shell.identity.log_in("ann@example.com", &Secret::new(password)).await.unwrap().unwrap();
    assert_eq!(created.facts["id"], user.id.to_string());

    shell.run("role set ann@example.com admin --workspace acme").await.unwrap();
    assert_eq!(shell.facts("role list --workspace acme").await[0]["role"], "admin");

    let token = shell.run("token create --workspace acme --label ci --scopes ext:datasets,ext:sql").await.unwrap();
    let secret = token.facts["token"].as_str().unwrap().to_owned();
    assert!(token.text.starts_with(&secret));
    shell.identity.verify(&secret, "").await.unwrap();
    let listed = shell.run("token list --workspace acme").await.unwrap();
    assert_eq!(listed.facts[0]["use_count"], 1);
    assert!(!listed.text.contains(&secret) && !listed.facts.to_string().contains(&secret), "shown once only");

    let id = token.facts["id"].as_str().unwrap();
    shell.run(&format!("token revoke {id} --workspace acme")).await.unwrap();
    assert!(shell.identity.verify(&secret, "").await.is_err());
    assert!(shell.run("token list --workspace acme").await.unwrap().text.contains("revoked"));

    shell.run("role remove ann@example.com --workspace acme").await.unwrap();
    assert_eq!(shell.facts("role list --workspace acme").await, json!([]));
}

#[tokio::test]
async fn l06_keys_are_rotated_in_order_and_withdrawn_at_once() {
    let shell = Shell::new().await;
    let listed = shell.facts("key list").await;
    let first = listed[0]["kid"].as_str().unwrap().to_owned();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["state"]), (1, &json!("signing")));
    let rotated = shell.run("key rotate").await.unwrap();
    let next = rotated.facts["kid"].as_str().unwrap().to_owned();
    assert_eq!(rotated.facts["active_from"], rfc3339(1_790_000_000_000 + 365_000));
    assert!(rotated.text.contains(&next));
    assert_eq!(shell.facts("key rotate").await["new"], false);
    let withdrawn = shell.facts(&format!("key withdraw {first}")).await;
    assert_eq!(withdrawn, json!({ "kid": first, "withdrawn": true, "signer": next }));
    let listed = shell.run("key list").await.unwrap();
    let states: Vec<_> = listed.facts.as_array().unwrap().iter().map(|key| key["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["withdrawn", "signing"]);
    assert!(listed.text.contains("withdrawn") && listed.text.contains("signing"));
    let refused = shell.run(&format!("key withdraw {first}")).await.err().unwrap();
    assert!(refused.to_string().contains("key list"), "{refused}");
}

#[tokio::test]
async fn a_password_comes_from_standard_input_and_is_then_never_printed() {
    let shell = Shell::new().await;
    let created =
        shell.run_with("person create ann@example.com --password-stdin", "hunter2hunter2\r\nmore").await.unwrap();
    assert!(!created.text.contains("hunter2") && !created.facts.to_string().contains("hunter2"));
    let log_in = async |password: &str| {
        shell.identity.log_in("ann@example.com", &Secret::new(password)).await.unwrap().is_some()
    };
    assert!(log_in("hunter2hunter2").await);
    let changed = shell.run("person password ann@example.com").await.unwrap();
    assert!(!log_in("hunter2hunter2").await);
    assert!(log_in(changed.facts["password"].as_str().unwrap()).await);
    // Of standard input the same is asked as of people.
    for weak in ["", "short", "password1", "ann@example.com"] {
        assert!(shell.run_with("person password ann@example.com --password-stdin", weak).await.is_err(), "{weak}");
        assert!(shell.run_with("person create bob@example.com --password-stdin", "iloveyou").await.is_err());
    }
}

#[tokio::test]
async fn who_lost_every_second_factor_signs_in_with_the_password_again() {
    use crate::identity::totp::Confirmed;
    let shell = Shell::new().await;
    shell.run_with("person create ann@example.com --password-stdin", "hunter2hunter2").await.unwrap();
    let user = shell.identity.user_by_email("ann@example.com").await.unwrap().unwrap();
    let key = shell.identity.begin_totp(&user).await.unwrap();
    let key = totp_rs::Builder::new().with_secret(unbase32(key.text.expose())).build().unwrap();
    let code = key.generate(u64::try_from(shell.identity.clock().now() / 1000).unwrap()).to_string();
    let confirmed = shell.identity.confirm_totp(user.id, &Secret::new(code)).await.unwrap();
    assert!(matches!(confirmed, Confirmed::On(codes) if codes.len() == 10));
    assert!(shell.identity.factors(user.id).await.unwrap().any());
    assert_eq!(shell.facts("person reset-factors ann@example.com").await["email"], "ann@example.com");
    assert_eq!(shell.identity.factors(user.id).await.unwrap(), crate::identity::factors::Factors::default());
}

#[tokio::test]
async fn what_whoever_had_an_account_connected_is_ended() {
    use crate::identity::upstream::Foreigner;
    let shell = Shell::new().await;
    shell.run("person create ann@example.com").await.unwrap();
    let user = shell.identity.user_by_email("ann@example.com").await.unwrap().unwrap();
    let thief = Foreigner {
        provider: "oidc".into(),
        issuer: "https://id.example".into(),
        subject: "thief".into(),
        email: None,
        name: None,
        hosted_domain: None,
        auth_time: None,
    };
    shell.identity.link(user.id, &thief).await.unwrap();
    let said = shell.run("person disconnect ann@example.com").await.unwrap();
    assert_eq!((&said.facts["grants"], &said.facts["sign_ins"]), (&json!(0), &json!(1)));
    assert!(said.text.contains("Ended: 0 grants, and 1 sign-in at other providers."), "{}", said.text);
    assert_eq!(shell.identity.upstream_identities(user.id).await.unwrap(), []);
    let line = Line::try_parse_from(["admin", "person", "disconnect", "ann@example.com"]).unwrap();
    assert_eq!(audit::trace(&line.command), Some(("admin.person.disconnect", "ann@example.com".into())));
}

/// RFC 4648 §6.
fn unbase32(text: &str) -> [u8; 20] {
    let bits = text.bytes().flat_map(|letter| {
        let at = if letter.is_ascii_digit() { letter - b'2' + 26 } else { letter - b'A' };
        (0..5).rev().map(move |bit| at >> bit & 1)
    });
    let bits: Vec<u8> = bits.collect();
    let bytes: Vec<u8> = bits.chunks(8).map(|eight| eight.iter().fold(0, |byte, bit| byte << 1 | bit)).collect();
    bytes.try_into().unwrap()
}

#[tokio::test]
async fn a_person_is_erased_unless_a_workspace_would_have_no_admin() {
    let shell = Shell::new().await;
    shell.run("workspace create acme --admin ann@example.com").await.unwrap();
    let refused = shell.run("person erase ann@example.com").await.map(|said| said.text).unwrap_err().to_string();
    assert!(refused.contains("last admin of: acme"), "{refused}");
    shell.run("person create bob@example.com").await.unwrap();
    shell.run("role set bob@example.com admin --workspace acme").await.unwrap();
    let erased = shell.run("person erase Ann@Example.com").await.unwrap();
    assert_eq!(erased.facts["erased"], true);
    assert!(erased.text.starts_with("ann@example.com is erased."), "{}", erased.text);
    let left = shell.facts("person list").await;
    assert_eq!((left.as_array().unwrap().len(), &left[0]["email"]), (1, &json!("bob@example.com")));
    let line = Line::try_parse_from(["admin", "person", "erase", "ann@example.com"]).unwrap();
    assert_eq!(audit::trace(&line.command), Some(("admin.person.erase", "ann@example.com".into())));
}

#[tokio::test]
async fn one_line_makes_a_workspace_that_somebody_can_work_in() {
    let shell = Shell::new().await;
    let made = shell.run("workspace create acme --admin Ann@Example.com --open").await.unwrap();
    assert_eq!((&made.facts["admin"], &made.facts["connectivity_enabled"]), (&"ann@example.com".into(), &true.into()));
    let password = Secret::new(made.facts["password"].as_str().unwrap());
    assert!(shell.identity.log_in("ann@example.com", &password).await.unwrap().is_some());
    assert_eq!(shell.facts("role list --workspace acme").await[0]["role"], "admin");
    assert_eq!(shell.facts("workspace list").await[0]["connectivity_enabled"], true);

    let second = shell.run("workspace create other --admin ann@example.com").await.unwrap();
    assert!(second.facts.get("password").is_none() && second.text.contains("closed to AI clients"), "{}", second.text);
    assert!(shell.identity.log_in("ann@example.com", &password).await.unwrap().is_some(), "who is there keeps it");
    assert!(shell.run("workspace create third --admin nobody").await.is_err());
    assert_eq!(shell.facts("workspace list").await.as_array().unwrap().len(), 2, "nothing is half made");
}

#[tokio::test]
async fn what_is_not_there_or_not_understood_is_said_with_what_helps() {
    let shell = Shell::new().await;
    shell.run("workspace create acme").await.unwrap();
    for (line, helps) in [
        ("workspace create acme", "already"),
        ("workspace create A", "a-z"),
        ("workspace connectivity nowhere on", "workspace list"),
        ("workspace suspend acem", "Did you mean acme?"),
        ("workspace erase acem --yes", "Did you mean acme?"),
        ("workspace erase nowhere --yes", "workspace list"),
        ("workspace erase acme", "workspace erase acme --yes"),
        ("person password nobody@example.com", "person list"),
        ("person reset-factors nobody@example.com", "person list"),
        ("person disconnect nobody@example.com", "person list"),
        ("person erase nobody@example.com", "person list"),
        ("role set nobody@example.com king --workspace acme", "viewer, contributor or admin"),
        ("role set nobody@example.com viewer --workspace acme", "person list"),
        ("token create --workspace acme --label x --scopes ext:all", "ext:datasets"),
        ("token create --workspace acme --label x", "--scopes"),
        ("token create --workspace nowhere --label x --scopes ext:sql", "workspace list"),
        ("token revoke nothing --workspace acme", "token list"),
        ("client create --redirect-uri https://a.example/cb", "--name"),
        ("client create --name x --redirect-uri http://a.example/cb", "localhost"),
        ("client create --name x --redirect-uri https://co.uk/cb", "anybody may register"),
        ("client remove nothing", "no registered client"),
        ("client secret nothing", "no confidential client"),
        ("client block nothing --workspace nowhere", "workspace list"),
        ("client unblock nothing", "client list"),
    ] {
        let Err(refused) = shell.run(line).await else { panic!("{line} was accepted") };
        assert!(refused.to_string().contains(helps), "{line}: {refused}");
    }
}

#[tokio::test]
async fn a_closed_workspace_is_pointed_out_when_a_token_is_made() {
    let shell = Shell::new().await;
    shell.run("workspace create acme").await.unwrap();
    let token =
        shell.run("token create --workspace acme --label x --scopes ext:sql --expires-in-days 7").await.unwrap();
    assert!(token.text.contains("workspace connectivity acme on"));
    assert_eq!(token.facts["expires_at"], rfc3339(1_790_000_000_000 + 7 * 24 * 60 * 60 * 1000));
}

#[tokio::test]
async fn a_client_is_registered_listed_blocked_and_removed() {
    let shell = Shell::new().await;
    shell.run("workspace create acme").await.unwrap();
    let line = "client create --name Gateway --redirect-uri https://a.example/cb --redirect-uri https://b.example/cb";
    let created = shell.run(&format!("{line} --introspect")).await.unwrap();
    let (id, secret) = (created.facts["id"].as_str().unwrap(), created.facts["secret"].as_str().unwrap());
    assert!(created.text.contains(id) && created.text.contains(secret));
    assert_eq!(created.facts["redirect_uris"], json!(["https://a.example/cb", "https://b.example/cb"]));
    let knows = async |secret: &str| shell.identity.authenticate_client(id, Some(secret)).await.unwrap();
    assert!(knows(secret).await.unwrap().may_introspect);

    let listed = shell.run("client list").await.unwrap();
    assert_eq!(
        listed.facts,
        json!([{ "id": id, "name": "Gateway", "confidential": true, "introspect": true,
                 "redirect_uris": ["https://a.example/cb", "https://b.example/cb"],
                 "created_at": rfc3339(1_790_000_000_000), "blocked": [] }])
    );
    assert!(!listed.text.contains(secret), "shown once only");

    let replaced = shell.facts(&format!("client secret {id}")).await;
    assert!(knows(secret).await.is_none());
    assert!(knows(replaced["secret"].as_str().unwrap()).await.is_some());

    shell.run(&format!("client block {id} --workspace acme")).await.unwrap();
    shell.run(&format!("client block {id}")).await.unwrap();
    shell.run("client block https://evil.example/c").await.unwrap();
    let again = shell.run("client block https://evil.example/c").await.unwrap();
    assert!(again.text.contains("already"));
    let listed = shell.facts("client list").await;
    assert_eq!(listed[0]["blocked"], json!(["everywhere", "acme"]));
    assert_eq!(listed[1], json!({ "id": "https://evil.example/c", "blocked": ["everywhere"] }));
    shell.run(&format!("client unblock {id}")).await.unwrap();
    assert_eq!(shell.facts("client list").await[0]["blocked"], json!(["acme"]));

    shell.run(&format!("client remove {id}")).await.unwrap();
    let left = shell.facts("client list").await;
    assert_eq!(left, json!([{ "id": "https://evil.example/c", "blocked": ["everywhere"] }]));
}

#[tokio::test]
async fn people_and_workspaces_are_suspended_and_resumed() {
    let shell = Shell::new().await;
    shell.run("workspace create acme").await.unwrap();
    shell.run("person create ann@example.com").await.unwrap();
    for (what, name) in [("workspace", "acme"), ("person", "ann@example.com")] {
        assert_eq!(shell.facts(&format!("{what} list")).await[0]["state"], "active");
        assert_eq!(shell.facts(&format!("{what} suspend {name}")).await["state"], "suspended");
        let listed = shell.run(&format!("{what} list")).await.unwrap();
        assert_eq!(listed.facts[0]["state"], "suspended");
        assert!(listed.text.contains("suspended"), "{}", listed.text);
        assert_eq!(shell.facts(&format!("{what} resume {name}")).await["state"], "active");
        assert_eq!(shell.facts(&format!("{what} list")).await[0]["state"], "active");
        assert!(shell.run(&format!("{what} suspend nobody")).await.is_err());
        let line = Line::try_parse_from(["admin", what, "suspend", name]).unwrap();
        let traced = audit::trace(&line.command).unwrap();
        assert_eq!(
            traced,
            (["admin.workspace.suspend", "admin.person.suspend"][usize::from(what == "person")], name.into())
        );
    }
}

#[tokio::test]
async fn a_workspace_that_is_being_erased_is_told_from_one_that_is_suspended_and_stays_locked() {
    let shell = Shell::new().await;
    let id = shell.facts("workspace create acme").await["id"].as_str().unwrap().to_owned();
    let refused = shell.run("workspace erase acme").await.err().unwrap().to_string();
    assert!(refused.contains("Nothing was changed.") && refused.contains("0 datasets"), "{refused}");
    assert_eq!(shell.facts("workspace list").await[0]["state"], "active");
    let db = shell.identity.db();
    let begun = crate::store::erasure::begin(&mut db.writer().await.unwrap(), id.parse().unwrap(), 1).await.unwrap();
    let listed = shell.run("workspace list").await.unwrap();
    assert_eq!((begun, &listed.facts[0]["state"]), (true, &json!("being erased")));
    assert!(listed.text.contains("being erased"), "{}", listed.text);
    let refused = shell.run("workspace resume acme").await.err().unwrap().to_string();
    assert!(refused.contains("workspace erase acme --yes"), "{refused}");
    let line = Line::try_parse_from(["admin", "workspace", "erase", "acme", "--yes"]).unwrap();
    assert_eq!(audit::trace(&line.command), Some(("admin.workspace.erase", "acme".into())));
}

#[tokio::test]
async fn l08_a_checkpoint_is_printed_and_holds_the_record_to_it() {
    let shell = Shell::new().await;
    let db = shell.identity.db().clone();
    let entry = json!({
        "at": shell.identity.clock().now(), "org": null, "principal": "local", "client": "", "client_version": "", "session": "", "ip": "",
        "request_id": "", "action": "admin.x", "target": "", "outcome": "ok", "duration_ms": 0, "rows": 0, "bytes": 0,
    });
    let entry = serde_json::from_value(entry).unwrap();
    crate::store::audit::append(&db, vec![entry], vec![]).await.unwrap();
    let checkpoint = shell.run("audit checkpoint").await.unwrap();
    assert_eq!(checkpoint.text.parse::<Value>().unwrap(), checkpoint.facts);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("checkpoint.json");
    std::fs::write(&file, &checkpoint.text).unwrap();
    let verify = format!("audit verify --checkpoint {}", file.display());
    assert_eq!(shell.facts(&verify).await["whole"], true);
    assert_eq!(shell.facts("repair").await, json!({ "deleted": {}, "audit": { "whole": true } }));

    std::fs::write(&file, checkpoint.text.replace("\"seq\": 1", "\"seq\": 2")).unwrap();
    let refused = shell.run(&verify).await.err().unwrap().to_string();
    assert!(refused.contains("it was changed"), "{refused}");
    std::fs::write(&file, "{}").unwrap();
    let refused = shell.run(&verify).await.err().unwrap().to_string();
    assert!(refused.contains("is no audit checkpoint"), "{refused}");
}

#[test]
fn tables_line_up() {
    let rows = [vec!["a".to_owned(), "long name".to_owned()], vec!["büro".to_owned(), "x".to_owned()]];
    assert_eq!(table(&["id", "name"], rows.into_iter()), "id    name\na     long name\nbüro  x\n");
}

#[tokio::test]
async fn a_source_needs_a_password_from_standard_input_and_a_server_that_can_be_reached() {
    let shell = Shell::new().await;
    shell.run("workspace create acme").await.unwrap();
    let add = "source add shop postgres://reader@127.0.0.1:1/shop --workspace acme";
    let refused = shell.run(add).await.map(|said| said.text).unwrap_err().to_string();
    assert!(refused.contains("no password on standard input"), "{refused}");
    let refused = shell.run_with(add, "secret\n").await.map(|said| said.text).unwrap_err().to_string();
    assert!(refused.contains("DRAGOMAN_SOURCE_PRIVATE_HOSTS") && !refused.contains("secret"), "{refused}");
    assert!(shell.run(&format!("{add} --password secret")).await.is_err());
    let refused = shell.run("source test shop --workspace acme").await.map(|said| said.text).unwrap_err().to_string();
    assert!(refused.contains("There is no source \"shop\" in acme"), "{refused}");
    assert_eq!(shell.facts("source list --workspace acme").await, serde_json::json!([]));
}
