//! Families of tokens against a model of them: some hundred steps in an order that a seed decides, every one of them
//! with the answer that the model says, on both databases.

use super::*;
use crate::support::chance::Chance;
use crate::support::databases::both;

const SEEDS: u64 = 10;
const STEPS: usize = 200;
/// So many of the newest families are chosen from: with all of them, nothing would happen twice to one.
const RECENT: usize = 5;

/// What a client and a thief hold of one grant, and what must be true of it.
struct Family {
    user: usize,
    code: Secret,
    approved_at: Millis,
    redeemed_at: Option<Millis>,
    /// All refresh tokens in their order, with the time at which each was replaced.
    line: Vec<(Secret, Option<Millis>)>,
    access: Vec<(Secret, Millis)>,
    dead: bool,
}

struct Lives {
    world: World,
    people: Vec<User>,
    member: Vec<bool>,
    families: Vec<Family>,
    /// How often the same successor was given again.
    retries: usize,
}

impl Lives {
    async fn new(db: Db) -> Self {
        let world = World::new(db).await;
        let bob = world.identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap();
        world.identity.set_role(world.org.id, bob.id, Role::Viewer).await.unwrap();
        let people = vec![world.user.clone(), bob];
        Self { world, people, member: vec![true, true], families: Vec::new(), retries: 0 }
    }

    fn now(&self) -> Millis {
        self.world.clock.now()
    }

    async fn step(&mut self, chance: &mut Chance) -> String {
        let count = self.families.len();
        let one = count.saturating_sub(RECENT) + chance.below(count.min(RECENT));
        match chance.below(16) {
            _ if self.member == [false, false] => self.come_and_go(chance.below(2)).await,
            _ if self.families.is_empty() => self.authorize(chance).await,
            0 | 1 => self.authorize(chance).await,
            2 => self.redeem(one).await,
            3..=12 if self.families[one].line.is_empty() => self.redeem(one).await,
            3..=9 => self.refresh(one, usize::MAX).await,
            10 | 11 => self.refresh(one, self.families[one].line.len().saturating_sub(2)).await,
            12 => self.refresh(one, chance.below(self.families[one].line.len())).await,
            13 => self.revoke(one, chance).await,
            14 => self.come_and_go(chance.below(2)).await,
            _ => {
                let seconds = [1, 9, 12, 29, 31, 61][chance.below(6)];
                self.world.wait(seconds);
                format!("{seconds} s pass")
            }
        }
    }

    async fn authorize(&mut self, chance: &mut Chance) -> String {
        let user = chance.below(2);
        let approval = Approval { user: self.people[user].id, scopes: vec![Scope::DataRead], ..self.world.approval() };
        let approved = self.world.identity.approve(approval).await;
        assert_eq!(approved.is_ok(), self.member[user]);
        if let Ok(code) = approved {
            self.families.push(Family {
                user,
                code,
                approved_at: self.now(),
                redeemed_at: None,
                line: Vec::new(),
                access: Vec::new(),
                dead: false,
            });
        }
        format!("person {user} approves")
    }

    async fn redeem(&mut self, one: usize) -> String {
        let now = self.now();
        let family = &mut self.families[one];
        let good = !family.dead && family.redeemed_at.is_none() && now < family.approved_at + 60_000;
        let result = self.world.identity.redeem(code_use(&family.code)).await;
        assert_eq!(result.is_ok(), good, "redeem {one}: {result:?}");
        match result {
            Ok(pair) => {
                family.redeemed_at = Some(now);
                family.line.push((pair.refresh, None));
                family.access.push((pair.access, now));
            }
            // A code that comes again at once is a click too many; later it is a leaked one.
            Err(_) => family.dead |= family.redeemed_at.is_some_and(|at| now >= at + 10_000),
        }
        format!("redeem {one}")
    }

    /// Presents a token of the family: its `which`th, or the last.
    async fn refresh(&mut self, one: usize, which: usize) -> String {
        let now = self.now();
        let family = &mut self.families[one];
        let last = family.line.len() - 1;
        let which = which.min(last);
        let (token, replaced_at) = family.line[which].clone();
        let retry = replaced_at.is_some_and(|at| which + 1 == last && now < at + 30_000);
        let good = !family.dead && (replaced_at.is_none() || retry);
        let result = self.world.identity.refresh(refresh_use(&token)).await;
        assert_eq!(result.is_ok(), good, "refresh {one} with its token {which} of {last}: {result:?}");
        match result {
            Ok(pair) if retry => {
                assert_eq!(pair.refresh, family.line[last].0, "a retry gets the same successor");
                self.retries += 1;
                family.access.push((pair.access, now));
            }
            Ok(pair) => {
                family.line[last].1 = Some(now);
                family.line.push((pair.refresh, None));
                family.access.push((pair.access, now));
            }
            // Whoever presents a replaced one ends the family.
            Err(_) => family.dead = true,
        }
        format!("refresh {one} with its token {which} of {last}")
    }

    async fn revoke(&mut self, one: usize, chance: &mut Chance) -> String {
        let family = &mut self.families[one];
        let Some((refresh, _)) = family.line.first() else { return format!("{one} has nothing to give back") };
        let token = if chance.below(2) == 0 { refresh } else { &family.access[0].0 };
        let ended = self.world.identity.revoke(token.expose(), CLIENT).await.unwrap();
        assert_eq!(ended.is_some(), !family.dead);
        family.dead = true;
        format!("give {one} back")
    }

    /// A member is removed, or somebody who was is taken back; what ended does not come back with them.
    async fn come_and_go(&mut self, user: usize) -> String {
        let (org, id) = (self.world.org.id, self.people[user].id);
        if self.member[user] {
            self.world.identity.remove_member(org, id).await.unwrap();
            self.families.iter_mut().filter(|family| family.user == user).for_each(|family| family.dead = true);
        } else {
            self.world.identity.set_role(org, id, Role::Contributor).await.unwrap();
        }
        self.member[user] = !self.member[user];
        format!("person {user} is a member: {}", self.member[user])
    }

    /// What must hold between any two steps.
    async fn check(&self) {
        for (one, family) in self.families.iter().enumerate() {
            let Some((newest, at)) = family.access.last() else { continue };
            let proven = self.world.verify(newest).await;
            let alive = !family.dead && self.now() < at + 600_000 + 60_000;
            assert_eq!(proven.is_ok(), alive, "the newest access token of {one}: {proven:?}");
        }
        let sql = "SELECT COUNT(*) FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id
                   WHERE t.superseded_at IS NULL GROUP BY g.id HAVING COUNT(*) > 1";
        let forked: Vec<i64> = sqlx::query_scalar(sql).fetch_all(self.world.identity.db().pool()).await.unwrap();
        assert!(forked.is_empty(), "a family has {forked:?} living ends");
    }

    /// Whatever was ever handed out of a family that has ended is worth nothing.
    async fn check_the_dead(&self) {
        for family in self.families.iter().filter(|family| family.dead) {
            for (access, _) in &family.access {
                assert!(self.world.verify(access).await.is_err());
            }
            for (refresh, _) in &family.line {
                invalid_grant(self.world.refresh(refresh).await);
            }
            invalid_grant(self.world.redeem(&family.code).await);
        }
    }
}

#[tokio::test]
async fn c01_d01_d09_d11_families_live_and_die_as_the_model_says() {
    both(async |db| {
        let mut lives = Lives::new(db).await;
        let (mut died, mut rotations) = (0, 0);
        for seed in 0..SEEDS {
            let mut chance = Chance::new(seed);
            let mut steps = Vec::new();
            for _ in 0..STEPS {
                steps.push(lives.step(&mut chance).await);
                if steps.len() % 5 == 0 {
                    eprintln!("seed {seed}: {}", steps[steps.len() - 5..].join("; "));
                    lives.check().await;
                }
            }
            lives.check_the_dead().await;
            died += lives.families.iter().filter(|family| family.dead && !family.line.is_empty()).count();
            rotations += lives.families.iter().map(|family| family.line.len().saturating_sub(1)).sum::<usize>();
            lives.families.clear();
        }
        let counts = [died, rotations, lives.retries];
        assert!(counts.iter().all(|count| *count > 30), "{counts:?}: too few to mean anything");
    })
    .await;
}
