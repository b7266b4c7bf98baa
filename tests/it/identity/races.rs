//! Many calls at the same moment, from two nodes over one PostgreSQL: whatever their order, one of them is first.

use dragoman::identity::clients::NewClient;
use dragoman::identity::consents::Request;
use dragoman::model::error::{Code, Error};
use dragoman::store::orgs;
use futures_util::future::join_all;

use super::*;
use crate::support::databases::postgres_url;

const ROUNDS: usize = 100;
const AT_ONCE: usize = 20;

/// Two nodes of one installation.
async fn nodes() -> (World, [Identity; 2]) {
    let url = Secret::new(postgres_url().await);
    let world = World::new(Db::open_postgres(&url).await.unwrap()).await;
    let db = Db::open_postgres(&url).await.unwrap();
    let second = Identity::open(db, config(), world.master.clone(), world.clock.clone()).await.unwrap();
    let nodes = [world.identity.clone(), second];
    (world, nodes)
}

/// Runs `call` on the nodes in turn, all at once.
async fn at_once<T: Send + 'static, F>(nodes: &[Identity; 2], call: impl Fn(usize, Identity) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks = (0..AT_ONCE).map(|number| tokio::spawn(call(number, nodes[number % 2].clone())));
    join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn c03_of_twenty_redeems_of_a_code_on_two_nodes_one_succeeds_a_hundred_times() {
    let (world, nodes) = nodes().await;
    for round in 0..ROUNDS {
        let code = world.code().await;
        let results = at_once(&nodes, |_, node| {
            let code = code.clone();
            async move { node.redeem(code_use(&code)).await }
        })
        .await;
        let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert_eq!(good.len(), 1, "round {round}");
        bad.into_iter().for_each(invalid_grant);
        let pair = good.into_iter().next().unwrap().unwrap();
        world.verify(&pair.access).await.unwrap();
        assert_eq!(leaves(&world).await, [1], "round {round}");
        // C01: once the moment is over, it is a leaked code.
        world.wait(11);
        invalid_grant(world.redeem(&code).await);
        revoked(&world.verify(&pair.access).await);
        forget(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d05_of_twenty_refreshes_of_a_token_on_two_nodes_all_get_one_successor_a_hundred_times() {
    let (world, nodes) = nodes().await;
    let mut current = world.pair().await.refresh;
    for round in 0..ROUNDS {
        let results = at_once(&nodes, |_, node| {
            let token = current.clone();
            async move { node.refresh(refresh_use(&token)).await }
        })
        .await;
        let pairs: Vec<TokenPair> = results.into_iter().map(Result::unwrap).collect();
        assert!(pairs.iter().all(|pair| pair.refresh == pairs[0].refresh), "round {round}: one successor");
        world.verify(&pairs[round % AT_ONCE].access).await.unwrap();
        assert_eq!(leaves(&world).await, [1], "round {round}");
        current = pairs[0].refresh.clone();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d11_nothing_that_is_refreshed_beside_a_kill_lives_a_hundred_times() {
    let (world, nodes) = nodes().await;
    let (mut before, mut after) = (0, 0);
    for round in 0..ROUNDS {
        let code = world.code().await;
        let first = world.redeem(&code).await.unwrap();
        let second = world.refresh(&first.refresh).await.unwrap();
        // By then both the code and the first token are leaked ones.
        world.wait(31);
        let results = at_once(&nodes, |number, node| {
            let (code, first, second) = (code.clone(), first.refresh.clone(), second.refresh.clone());
            async move {
                if number != AT_ONCE / 2 {
                    return node.refresh(refresh_use(&second)).await.ok();
                }
                match round % 3 {
                    0 => assert!(node.revoke(second.expose(), CLIENT).await.unwrap().is_some()),
                    1 => invalid_grant(node.refresh(refresh_use(&first)).await),
                    _ => invalid_grant(node.redeem(code_use(&code)).await),
                }
                None
            }
        })
        .await;
        let issued: Vec<TokenPair> = results.into_iter().flatten().collect();
        if issued.is_empty() {
            before += 1;
        } else {
            after += 1;
        }
        for pair in issued.iter().take(3).chain([&second]) {
            revoked(&world.verify(&pair.access).await);
            invalid_grant(world.refresh(&pair.refresh).await);
        }
    }
    assert_eq!(before + after, ROUNDS);
    assert!(after > 0, "no refresh was ever first: nothing raced");
}

/// Living ends of each family that lives.
async fn leaves(world: &World) -> Vec<i64> {
    let sql = "SELECT COUNT(*) FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id
               WHERE t.superseded_at IS NULL AND g.revoked_at IS NULL GROUP BY g.id";
    sqlx::query_scalar(sql).fetch_all(world.identity.db().pool()).await.unwrap()
}

async fn forget(world: &World) {
    for sql in ["DELETE FROM refresh_tokens", "DELETE FROM grants"] {
        sqlx::query(sql).execute(world.identity.db().pool()).await.unwrap();
    }
}

/// How several things of a workspace end at once.
const WAYS: [&str; 7] = ["role", "membership", "consent", "grant", "own grant", "person", "client"];

/// Whose they are.
#[derive(Clone)]
struct Whose {
    org: Id<Org>,
    user: Id<User>,
    /// Its registration ends.
    client: String,
    /// Of another client.
    grants: [String; 2],
}

async fn second_admin(world: &World) {
    let ada = world.identity.create_user("ada@example.com", "Ada", &Secret::new(PASSWORD)).await.unwrap();
    world.identity.set_role(world.org.id, ada.id, Role::Admin).await.unwrap();
}

/// Makes the person an admin of the workspace, of whose things there are several of each kind.
async fn furnish(world: &World, name: &str) -> Whose {
    let (identity, org, user) = (&world.identity, world.org.id, world.user.id);
    identity.set_role(org, user, Role::Admin).await.unwrap();
    let redirect_uris = vec![REDIRECT.into()];
    let new = NewClient { name: name.into(), redirect_uris, application_type: "native".into(), uri: None };
    let client = identity.register_client(new).await.unwrap().id;
    for client_id in [CLIENT, client.as_str()] {
        for path in ["a", "b", "c"] {
            identity.approve(Approval { client_id: client_id.into(), ..world.approval() }).await.unwrap();
            let redirect_uri = format!("https://example.com/{path}");
            let request = Request { user, client_id, redirect_uri: &redirect_uri, resource: "", addresses: "" };
            identity.remember_consent(org, request, &[Scope::DataRead]).await.unwrap();
        }
    }
    identity.invite(org, Some(user), &format!("{name}@example.com"), Role::Viewer).await.unwrap();
    assert!(identity.block_client(Some(org), &client).await.unwrap());
    let sql = "SELECT id FROM grants WHERE client_id = $1 AND revoked_at IS NULL ORDER BY id LIMIT 2";
    let ids = sqlx::query_scalar::<_, String>(sql).bind(CLIENT).fetch_all(identity.db().pool()).await.unwrap();
    Whose { org, user, client, grants: ids.try_into().unwrap() }
}

async fn end(node: Identity, way: &'static str, of: Whose) -> Result<(), Error> {
    match way {
        "role" => node.change_role(of.org, None, of.user, Role::Viewer).await,
        "membership" => node.remove_member(of.org, of.user).await,
        "consent" => node.withdraw_consent(of.org, of.user, CLIENT).await.map(drop),
        "grant" => node.disconnect(of.org, &of.grants[0]).await.map(drop),
        "own grant" => node.disconnect_own(of.user, &of.grants[1]).await.map(drop),
        "person" => node.disconnect_person(of.user).await.map(drop),
        "client" => node.remove_client(&of.client).await,
        other => panic!("{other}"),
    }
}

/// Of two that took rows in different orders, PostgreSQL would have to refuse one.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_ends_in_a_workspace_at_once_on_two_nodes_ends_a_hundred_times() {
    let (world, nodes) = nodes().await;
    second_admin(&world).await;
    for round in 0..ROUNDS {
        let whose = furnish(&world, &format!("r{round}")).await;
        let tasks = WAYS
            .into_iter()
            .enumerate()
            .map(|(number, way)| tokio::spawn(end(nodes[(round + number) % 2].clone(), way, whose.clone())));
        let ended = join_all(tasks).await;
        for (way, ended) in WAYS.into_iter().zip(ended) {
            match ended.unwrap() {
                Ok(()) => {}
                // The membership was first.
                Err(problem) => assert_eq!((way, problem.code), ("role", Code::NotFound), "round {round}: {problem}"),
            }
        }
    }
}

/// As the one above, for each way: nothing of the workspace is taken while the workspace is waited for.
#[tokio::test]
async fn whoever_ends_things_of_a_workspace_has_it_before_any_of_them() {
    let (world, nodes) = nodes().await;
    second_admin(&world).await;
    let db = world.identity.db();
    for way in WAYS {
        let whose = furnish(&world, &way.replace(' ', "-")).await;
        let mut holder = db.begin().await.unwrap();
        assert!(orgs::lock(&mut holder, whose.org).await.unwrap());
        let ending = tokio::spawn(end(nodes[1].clone(), way, whose.clone()));
        let waiting =
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while sqlx::query_scalar::<_, i64>(waiting).fetch_one(db.pool()).await.unwrap() == 0 {
            assert!(!ending.is_finished(), "{way}: nobody waits for the workspace");
            tokio::task::yield_now().await;
        }
        for sql in [
            "SELECT role FROM memberships WHERE org_id = $1 FOR UPDATE NOWAIT",
            "SELECT id FROM grants WHERE org_id = $1 FOR UPDATE NOWAIT",
            "SELECT user_id FROM consents WHERE org_id = $1 FOR UPDATE NOWAIT",
            "SELECT id FROM invitations WHERE org_id = $1 FOR UPDATE NOWAIT",
            "SELECT client_id FROM client_blocks WHERE org_id = $1 FOR UPDATE NOWAIT",
        ] {
            let free = sqlx::query(sql).bind(whose.org.to_string()).fetch_all(&mut *holder).await;
            free.unwrap_or_else(|problem| panic!("{way}, {sql}: {problem}"));
        }
        drop(holder);
        ending.await.unwrap().unwrap();
    }
}
