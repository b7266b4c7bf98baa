//! Many calls at the same moment, from two nodes over one PostgreSQL: whatever their order, one of them is first.

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
