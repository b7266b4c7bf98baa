//! Nobody learns who has an account here: not by the answer, and not by its time.

use std::time::{Duration, Instant};

use super::{World, on_both};
use crate::site::field;
use crate::support::service::PASSWORD;

const WHO: [&str; 4] = ["ann@example.com", "nobody@example.com", "passwordless@example.com", "suspended@example.com"];

/// Somebody without a password, and somebody suspended.
async fn more_people(world: &World) {
    let password = dragoman::base::secret::Secret::new(PASSWORD);
    for email in [WHO[2], WHO[3]] {
        world.service.identity.create_user(email, "X", &password).await.unwrap();
    }
    world.sql("UPDATE users SET password_hash = '' WHERE email = 'passwordless@example.com'").await;
    world.sql("UPDATE users SET suspended_at = 1 WHERE email = 'suspended@example.com'").await;
}

/// Everything of an answer but what differs from answer to answer: the date, the request's id, the address asked for.
async fn seen(response: reqwest::Response, email: &str) -> (u16, Vec<(String, String)>, String) {
    let status = response.status().as_u16();
    let all = response.headers().iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let headers =
        all.filter(|(name, _)| !["date", "x-request-id", "content-length"].contains(&name.as_str())).collect();
    (status, headers, response.text().await.unwrap().replace(email, "[the address]"))
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_unknown_wrong_passwordless_and_suspended_are_one_answer() {
    on_both(&[], async |world| {
        more_people(world).await;
        let browser = world.browser();
        let csrf = field(&browser.get("/login").await.text().await.unwrap(), "csrf");
        for password in ["wrong password", PASSWORD, "", "x", &"x".repeat(1025)] {
            let mut answers = Vec::new();
            for email in WHO {
                if (email, password) == (WHO[0], PASSWORD) {
                    continue;
                }
                let form = [("csrf", &*csrf), ("email", email), ("password", password)];
                let response = browser.post("/login", &form).await;
                assert_eq!(response.status(), 401, "{email} {password}");
                answers.push(seen(response, email).await);
            }
            assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_two_hundred_wrong_passwords_take_the_same_time_whoever_is_there() {
    let world = World::with(&[("DRAGOMAN_FAILURES_PER_ACCOUNT", "100000")]).await;
    more_people(&world).await;
    let browser = world.browser();
    let csrf = field(&browser.get("/login").await.text().await.unwrap(), "csrf");
    let mut times: [Vec<Duration>; 4] = Default::default();
    // In turns, and each time another one first, so that whatever else the machine does meets all of them.
    for round in 0..50 {
        for turn in 0..4 {
            let who = (round + turn) % 4;
            let form = [("csrf", &*csrf), ("email", WHO[who]), ("password", "wrong password")];
            let started = Instant::now();
            assert_eq!(browser.post("/login", &form).await.status(), 401);
            times[who].push(started.elapsed());
        }
    }
    let medians = times.each_mut().map(|times| median(times));
    for (who, other) in WHO.iter().zip(medians) {
        let ratio = other / medians[0];
        assert!((0.67..1.5).contains(&ratio), "{who}: {ratio} of a wrong password ({medians:?} s)");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b22_asking_for_a_link_says_nothing_about_who_is_there() {
    on_both(&[], async |world| {
        more_people(world).await;
        let mut answers = Vec::new();
        for email in WHO {
            answers.push(seen(world.forgot(email).await, email).await);
        }
        // A second time within the hour nothing is sent, and nothing tells.
        answers.push(seen(world.forgot(WHO[0]).await, WHO[0]).await);
        answers.push(seen(world.forgot("no address").await, "no address").await);
        for answer in &answers {
            assert_eq!((answer.0, answer), (200, &answers[0]));
        }
        let mut mails: Vec<_> = world.mails().await.into_iter().map(|mail| mail.to).collect();
        mails.sort();
        assert_eq!(mails, ["ann@example.com", "passwordless@example.com"], "not the suspended one, not a stranger");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b22_asking_for_a_link_takes_the_same_time_whoever_is_there() {
    let world = World::with(&[]).await;
    let browser = world.browser();
    let csrf = field(&browser.get("/login/forgot").await.text().await.unwrap(), "csrf");
    let mut times: [Vec<Duration>; 2] = Default::default();
    for at in 0..50 {
        for turn in 0..2 {
            let who = (at + turn) % 2;
            let email = WHO[who];
            // Each time a link would be sent to who is there.
            world.service.clock.advance(Duration::from_secs(3600));
            let request = browser.http.post(world.service.url("/login/forgot"));
            let request = request.form(&[("csrf", &*csrf), ("email", email)]);
            let started = Instant::now();
            let response = request.header("x-forwarded-for", format!("192.0.2.{at}")).send().await.unwrap();
            times[who].push(started.elapsed());
            assert_eq!(response.status(), 200);
            // What goes on in the background is over before the next one is measured.
            world.service.identity.mailer().finish().await;
        }
    }
    assert_eq!(world.smtp.take().len(), 50);
    let medians = times.each_mut().map(|times| median(times));
    let ratio = medians[0] / medians[1];
    assert!((0.5..2.0).contains(&ratio), "{ratio}: {medians:?} s");
}
