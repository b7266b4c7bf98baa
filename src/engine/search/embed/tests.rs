use std::time::Duration;

use super::*;
use crate::base::clock::Clock;

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn builtin(texts: &[&str]) -> Result<Vec<Vec<f32>>> {
    Encoders::builtin().builtin.passages(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
}

#[test]
fn like_meanings_are_nearer_than_unlike_ones() {
    let vectors =
        builtin(&["The flight was postponed.", "The plane left late.", "Add two eggs to the dough."]).unwrap();
    assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.2);
    assert!(vectors.iter().all(|vector| (cosine(vector, vector) - 1.0).abs() < 1e-4));
}

#[test]
fn a_text_s_vector_does_not_depend_on_what_is_encoded_beside_it() {
    let texts = ["One.", "A second text that is longer than the first.", "Three.", "And a fourth, of middling length."];
    let together = builtin(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert!(cosine(&builtin(&[text]).unwrap()[0], vector) > 0.9999, "{text}");
    }
}

#[test]
fn a_blank_text_is_an_error_and_not_a_vector() {
    assert!(builtin(&[" "]).is_err());
}

#[test]
fn only_vectors_of_the_right_length_that_point_somewhere_are_sound() {
    assert_eq!(unit(vec![3.0, 4.0], 2).unwrap(), [0.6, 0.8]);
    for unsound in [vec![1.0], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
        assert!(unit(unsound.clone(), 2).is_err(), "{unsound:?}");
    }
}

#[test]
fn work_side_by_side_comes_back_in_order_and_fails_as_a_whole() {
    let texts: Vec<String> = (0..50).map(|n| "x".repeat(1 + n * 7 % 13)).collect();
    let lengths = |texts: &[&String]| Ok(texts.iter().map(|text| vec![text.len() as f32]).collect());
    for most in [1, 4, 100] {
        let done = side_by_side(&texts, String::len, most, lengths).unwrap();
        assert!(done.iter().zip(&texts).all(|(vector, text)| vector == &[text.len() as f32]), "{most}");
    }
    let failing = |texts: &[&String]| match texts.iter().any(|text| text.len() == 5) {
        true => Err(Error::internal("no")),
        false => lengths(texts),
    };
    assert!(side_by_side(&texts, String::len, 4, failing).is_err());
    assert!(side_by_side(&[] as &[String], String::len, 4, lengths).unwrap().is_empty());
}

#[test]
fn texts_go_together_by_their_length_and_only_as_far_as_there_is_room() {
    let texts: Vec<String> = (1..=40).map(|n| "x".repeat(if n % 10 == 0 { 30 } else { 1 + n % 5 })).collect();
    let groups = Mutex::new(Vec::new());
    let seen = |texts: &[&String]| {
        groups.lock().unwrap().push(texts.iter().map(|text| text.len()).collect::<Vec<_>>());
        Ok(texts.iter().map(|_| vec![0.0]).collect())
    };
    side_by_side(&texts, String::len, 20, seen).unwrap();
    let groups = groups.into_inner().unwrap();
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), texts.len());
    for group in &groups {
        assert!(group.len() == 1 || group.len() * group.iter().max().unwrap() <= 20, "{groups:?}");
    }
    assert!(groups.iter().any(|group| group.len() > 1) && groups.iter().any(|group| group == &[30]), "{groups:?}");
}

#[tokio::test]
async fn a_query_waits_for_no_import_and_is_kept() {
    let encoders = Encoders::builtin();
    let org = Id::new(&Clock::manual(1));
    let mut held = vec![];
    while let Ok(turn) = tokio::time::timeout(Duration::ZERO, encoders.import_turn(org)).await {
        held.push(turn.unwrap());
    }
    assert!(!held.is_empty(), "imports have every turn that they can have");
    let encoder = encoders.of_workspace(org).await.unwrap();
    let found = tokio::time::timeout(Duration::from_secs(60), encoder.query("late planes")).await.unwrap().unwrap();
    assert!(cosine(&found, &builtin(&["late planes"]).unwrap()[0]) > 0.999);
    assert_eq!(encoder.asked.lock().unwrap().get("late planes"), Some(&found));
}
