//! Which passwords can be had, on both databases and from the operator's list of breached ones.

use dragoman::base::clock::Clock;
use dragoman::base::secret::{MasterKey, Secret, sha1_hex_upper};
use dragoman::config::Config;
use dragoman::identity::Identity;
use dragoman::model::error::Code;
use dragoman::store::Db;

use crate::support::databases::both;

async fn open(db: Db, breached: &str) -> dragoman::model::error::Result<Identity> {
    let config = Config::read(|name| (name == "DRAGOMAN_BREACHED_PASSWORDS").then(|| breached.to_owned())).unwrap();
    Identity::open(db, config.into(), MasterKey::new([7; 32]), Clock::system()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn b25_a_breached_password_is_refused_with_the_reason_and_the_same_letters_are_the_same_password() {
    both(async |db| {
        let mut lines: Vec<String> = ["a breached secret", "another breached one", "caf\u{e9} au lait"]
            .iter()
            .map(|password| format!("{}:42", sha1_hex_upper(password.as_bytes())))
            .collect();
        lines.sort();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.join("\r\n")).unwrap();
        let identity = open(db, file.path().to_str().unwrap()).await.unwrap();
        let create =
            async |password: &str| identity.create_user("ann@example.com", "Ann", &Secret::new(password)).await;
        for (weak, why) in [
            ("a breached secret", "appeared in a breach"),
            ("cafe\u{301} au lait", "appeared in a breach"),
            ("PassWord1", "most used"),
            ("ann@example.com", "e-mail address"),
            (&"x".repeat(1025), "8 to 128"),
        ] {
            let refused = create(weak).await.unwrap_err();
            assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &"password".into()));
            assert!(refused.message.contains(why), "{weak}: {refused}");
        }
        let user = create("cre\u{300}me bru\u{302}le\u{301}e").await.unwrap();
        let log_in =
            async |password: &str| identity.log_in("ann@example.com", &Secret::new(password)).await.unwrap().is_some();
        assert!(log_in("cr\u{e8}me br\u{fb}l\u{e9}e").await, "composed letters");
        assert!(log_in("cre\u{300}me bru\u{302}le\u{301}e").await, "letters and marks");
        assert!(!log_in("creme brulee").await);
        let refused = identity.set_password(user.id, &Secret::new("another breached one")).await.unwrap_err();
        assert!(refused.message.contains("appeared in a breach"), "{refused}");
        assert!(log_in("cr\u{e8}me br\u{fb}l\u{e9}e").await, "nothing has changed");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b25_a_file_that_cannot_be_used_is_said_at_the_start_and_never_taken_for_empty() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open_sqlite(&folder.path().join("meta.db")).await.unwrap();
    let file = folder.path().join("breached.txt");
    let path = file.to_str().unwrap();
    for content in [None, Some(""), Some("password\n123456\n")] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let problem = open(db.clone(), path).await.unwrap_err().to_string();
        assert!(problem.starts_with("DRAGOMAN_BREACHED_PASSWORDS: "), "{problem}");
    }
    // Damaged later: a password is not set, rather than set unchecked.
    std::fs::write(&file, format!("{}:1\n", sha1_hex_upper(b"x"))).unwrap();
    let identity = open(db, path).await.unwrap();
    std::fs::write(&file, "damaged\n".repeat(100)).unwrap();
    let refused = identity.create_user("ann@example.com", "Ann", &Secret::new("a fine password")).await.unwrap_err();
    assert_eq!(refused.code, Code::InternalError);
}
