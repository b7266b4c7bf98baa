//! Browser sessions and pending authorizations as stored, on both engines.

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::store::pending::{self, PendingKey};
use dragoman::store::sessions::{self, SessionRow};

use crate::support::databases::both;

fn row(id: &str, user: Option<String>, expires_at: i64) -> SessionRow {
    SessionRow { id_hash: id.to_owned(), user_id: user, data: r#"{"é":1}"#.to_owned(), expires_at, trace: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_lives_until_it_expires_or_is_deleted_and_is_never_brought_back() {
    both(async |db| {
        let pool = db.pool();
        let (ann, bob) = (Id::new(&Clock::system()), Id::new(&Clock::system()));
        assert!(sessions::create(&mut db.writer().await.unwrap(), &row("a", None, 1_000)).await.unwrap());
        assert!(
            !sessions::create(&mut db.writer().await.unwrap(), &row("a", None, 9_000)).await.unwrap(),
            "the id is taken"
        );
        assert_eq!(sessions::load(pool, "a", 999).await.unwrap().unwrap(), (r#"{"é":1}"#.to_owned(), 1_000));
        assert!(sessions::load(pool, "a", 1_000).await.unwrap().is_none());
        sessions::save(&mut db.writer().await.unwrap(), &row("a", Some(ann.to_string()), 2_000)).await.unwrap();
        assert_eq!(sessions::load(pool, "a", 1_999).await.unwrap().unwrap().1, 2_000);
        sessions::delete(&mut db.writer().await.unwrap(), "a").await.unwrap();
        sessions::save(&mut db.writer().await.unwrap(), &row("a", Some(ann.to_string()), 9_000)).await.unwrap();
        assert!(sessions::load(pool, "a", 0).await.unwrap().is_none());
        for (id, user) in [("b", ann), ("c", ann), ("d", bob)] {
            assert!(
                sessions::create(&mut db.writer().await.unwrap(), &row(id, Some(user.to_string()), 5_000))
                    .await
                    .unwrap()
            );
        }
        sessions::delete_of_user(&mut db.writer().await.unwrap(), ann).await.unwrap();
        let mut left = Vec::new();
        for id in ["b", "c", "d"] {
            left.push(sessions::load(pool, id, 0).await.unwrap().is_some());
        }
        assert_eq!(left, [false, false, true]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b08_a_pending_authorization_is_used_once_by_its_own_session_and_person() {
    both(async |db| {
        let pool = db.pool();
        let user = Id::new(&Clock::system());
        let key = PendingKey { handle_hash: "h".into(), session_hash: "s".into(), user };
        pending::create(&mut db.writer().await.unwrap(), &key, "{}", 1_000).await.unwrap();
        for other in [
            PendingKey { handle_hash: "x".into(), ..key.clone() },
            PendingKey { session_hash: "x".into(), ..key.clone() },
            PendingKey { user: Id::new(&Clock::system()), ..key.clone() },
        ] {
            assert!(pending::peek(pool, &other, 0).await.unwrap().is_none(), "{other:?}");
            assert!(pending::take(&mut db.writer().await.unwrap(), &other, 0).await.unwrap().is_none(), "{other:?}");
        }
        assert!(pending::peek(pool, &key, 1_000).await.unwrap().is_none());
        assert!(pending::take(&mut db.writer().await.unwrap(), &key, 1_000).await.unwrap().is_none());
        assert_eq!(pending::peek(pool, &key, 999).await.unwrap().as_deref(), Some("{}"));
        let take = async || pending::take(&mut db.writer().await.unwrap(), &key, 999).await;
        let (one, two) = tokio::join!(take(), take());
        assert_eq!([one.unwrap(), two.unwrap()].iter().flatten().count(), 1, "of two at once one gets it");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_the_place_of_another_takes_that_of_its_own_kind_and_person_alone() {
    both(async |db| {
        let (ann, bob) = (Id::new(&Clock::system()), Id::new(&Clock::system()));
        let key =
            |handle: &str, kind: &str, user| PendingKey { handle_hash: handle.into(), session_hash: kind.into(), user };
        let all = [key("1", "form", ann), key("2", "page", ann), key("3", "form", bob), key("4", "form", ann)];
        for key in &all {
            pending::replace(&mut db.writer().await.unwrap(), key, "{}", 1_000).await.unwrap();
        }
        let mut left = Vec::new();
        for key in &all {
            left.push(pending::peek(db.pool(), key, 0).await.unwrap().is_some());
        }
        assert_eq!(left, [false, true, true, true]);
    })
    .await;
}
