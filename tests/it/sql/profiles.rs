//! Profiles through the real worker process.

use std::sync::Arc;
use std::time::Duration;

use dragoman::config::Budgets;
use dragoman::model::error::Code;
use dragoman::model::personal::{Basis, Kind};
use dragoman::model::profile::{ColumnProfile, Figure, Profile};

use super::house::House;

/// Tables whose profiles have time, however busy the machine is: in a hurry figures are estimated or left out.
async fn patient(change: impl FnOnce(&mut Budgets)) -> House {
    House::new(|budgets| {
        budgets.sql_time = Duration::from_secs(120);
        change(budgets);
    })
    .await
}

fn column<'p>(profile: &'p Profile, name: &str) -> &'p ColumnProfile {
    profile.columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no column {name}"))
}

/// Value and count of the most frequent.
fn top(column: &ColumnProfile) -> Vec<(&str, i64)> {
    column.top_values.iter().map(|top| (top.value.as_str(), top.count)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_of_a_small_table_are_exact() {
    let mut house = patient(|_| {}).await;
    house.make(
        "small",
        "SELECT * FROM (VALUES (1, 1.50, 'b', true, DATE '2024-01-01', 0.5::DOUBLE),
            (2, 2.50, 'a', true, DATE '2024-01-03', 'NaN'), (3, 3.50, 'a', false, NULL, 'Infinity'),
            (NULL, 4.50, 'ccc', NULL, DATE '2024-01-02', 1.5)) t(n, money, word, yes, day, f)",
    );
    let profile = house.profile("small").await.unwrap();
    assert_eq!((profile.row_count, profile.sampled_rows), (4, None));
    assert!(profile.columns.iter().all(|column| column.approximate.is_empty() && column.not_computed.is_empty()));
    let n = column(&profile, "n");
    assert_eq!((n.r#type.as_str(), n.nulls, n.distinct), ("INTEGER", 1, 3));
    assert_eq!(
        (n.min.as_deref(), n.max.as_deref(), n.mean, n.median.as_deref()),
        (Some("1"), Some("3"), Some(2.0), Some("2.0"))
    );
    assert_eq!(top(n), [("1", 1), ("2", 1), ("3", 1)], "few values are shown, in their order");
    let money = column(&profile, "money");
    assert_eq!((money.min.as_deref(), money.max.as_deref(), money.mean), (Some("1.50"), Some("4.50"), Some(3.0)));
    let word = column(&profile, "word");
    assert_eq!((word.min.as_deref(), word.max.as_deref(), word.mean, word.distinct), (Some("a"), Some("ccc"), None, 3));
    assert_eq!(top(word), [("a", 2), ("b", 1), ("ccc", 1)]);
    assert!((word.top_values[0].share - 0.5).abs() < 1e-9);
    assert_eq!(top(column(&profile, "yes")), [("true", 2), ("false", 1)]);
    let day = column(&profile, "day");
    assert_eq!((day.min.as_deref(), day.median.as_deref()), (Some("2024-01-01"), Some("2024-01-02")));
    let f = column(&profile, "f");
    assert_eq!(
        (f.not_finite, f.min.as_deref(), f.max.as_deref(), f.mean),
        (Some(2), Some("0.5"), Some("1.5"), Some(1.0))
    );
    assert_eq!((f.distinct, f.nulls), (4, 0));

    let again = house.profile("small").await.unwrap();
    assert!(Arc::ptr_eq(&profile, &again), "a version is read once");
    house.engine.forget(house.dataset("small").org, house.dataset("small").id);
    let afresh = house.profile("small").await.unwrap();
    assert!(!Arc::ptr_eq(&profile, &afresh));
    assert_eq!(profile, afresh);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_has_figures() {
    let mut house = patient(|_| {}).await;
    house.make(
        "types",
        "SELECT i AS i8, i::HUGEINT AS i128, (i % 2)::UHUGEINT AS u128, i::BIGNUM AS big, (i / 4.0)::DECIMAL(38, 10) AS de,
            i % 2 = 0 AS b, DATE '2020-01-01' + (i % 7)::INT AS d, 'infinity'::DATE AS never, TIME '10:00:00' + INTERVAL (i) SECOND AS t,
            TIMESTAMP '2020-01-01' + INTERVAL (i) HOUR AS ts, TIMESTAMPTZ '2020-01-01 00:00:00+00' AS tz,
            '2020-01-01'::TIMESTAMP_NS AS ns, '10:00:00+02'::TIMETZ AS ttz, INTERVAL (i % 3) DAY AS iv, ('x' || i)::BLOB AS bl,
            '0101'::BIT AS bits, uuid() AS u, (CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END)::ENUM('a', 'b') AS e,
            [i % 3, NULL] AS l, {'a': i % 2, 'b': ['x']} AS st, MAP {'k': i % 2} AS m, [i % 2, 2]::BIGINT[2] AS arr,
            union_value(num := i % 2) AS un, '{\"a\": 1}'::JSON AS j, NULL::INTEGER AS nothing, NULL::VARCHAR[] AS nothing_nested,
            repeat('long ', 1000) || (i % 2) AS long_text, 'a' || chr(0) || 'b' AS nul
         FROM range(100) r(i)",
    );
    let profile = house.profile("types").await.unwrap();
    assert_eq!(profile.columns.len(), 28);
    for column in &profile.columns {
        assert!(column.not_computed.is_empty() && column.approximate.is_empty(), "{column:?}");
        assert!(column.likely_personal_data.is_none(), "{column:?}");
    }
    for (name, distinct, min, max) in [
        ("i8", 100, Some("0"), Some("99")),
        ("i128", 100, Some("0"), Some("99")),
        ("u128", 2, Some("0"), Some("1")),
        ("big", 100, Some("0"), Some("99")),
        ("de", 100, Some("0.0000000000"), Some("24.7500000000")),
        ("b", 2, Some("false"), Some("true")),
        ("d", 7, Some("2020-01-01"), Some("2020-01-07")),
        ("never", 1, None, None),
        ("t", 100, Some("10:00:00"), Some("10:01:39")),
        ("ts", 100, Some("2020-01-01 00:00:00"), Some("2020-01-05 03:00:00")),
        ("iv", 3, Some("00:00:00"), Some("2 days")),
        ("bl", 100, None, None),
        ("bits", 1, None, None),
        ("e", 2, Some("a"), Some("b")),
        ("l", 3, None, None),
        ("st", 2, None, None),
        ("m", 2, None, None),
        ("arr", 2, None, None),
        ("un", 2, None, None),
        ("j", 1, None, None),
        ("nothing", 0, None, None),
        ("nothing_nested", 0, None, None),
    ] {
        let column = column(&profile, name);
        assert_eq!((column.distinct, column.min.as_deref(), column.max.as_deref()), (distinct, min, max), "{name}");
    }
    assert_eq!(top(column(&profile, "st")), [("{'a': 0, 'b': [x]}", 50), ("{'a': 1, 'b': [x]}", 50)]);
    assert!(column(&profile, "bl").top_values.is_empty(), "bytes are not shown");
    assert_eq!(column(&profile, "nothing").nulls, 100);
    let long = &column(&profile, "long_text").top_values[0];
    assert_eq!((long.value.chars().count(), long.count), (101, 50), "cut, and one of two that begin alike");
    assert_eq!(column(&profile, "big").mean, Some(49.5));
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_and_wide_tables_have_profiles_too() {
    let mut house = patient(|_| {}).await;
    house.make("empty", "SELECT 1 AS n, 'x' AS email, [1] AS l WHERE false");
    let profile = house.profile("empty").await.unwrap();
    assert_eq!((profile.row_count, profile.columns.len()), (0, 3));
    assert!(
        profile.columns.iter().all(|column| column.nulls == 0 && column.distinct == 0 && column.top_values.is_empty())
    );
    let personal = column(&profile, "email").likely_personal_data.as_ref().unwrap();
    assert_eq!((personal.kind, personal.because.as_slice(), personal.share), (Kind::Email, &[Basis::Name][..], None));

    for (table, kind) in [("wide", "BIGINT"), ("wide_floats", "DOUBLE")] {
        let column = |n: usize| format!("CAST(i % {} AS {kind}) AS \"c {n} \"\"q\"\"\"", n + 1);
        let many: Vec<String> = (0..300).map(column).collect();
        house.make(table, &format!("SELECT {} FROM range(1000) r(i)", many.join(", ")));
        let profile = house.profile(table).await.unwrap();
        assert_eq!(profile.columns.len(), 300);
        for (n, column) in profile.columns.iter().enumerate() {
            assert_eq!((column.name.as_str(), column.distinct), (format!("c {n} \"q\"").as_str(), n as i64 + 1));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_table_is_estimated_and_says_of_what() {
    let mut house = patient(|_| {}).await;
    house.make(
        "large",
        "SELECT i AS id, i % 1000 AS k, CASE WHEN i % 4 = 0 THEN NULL WHEN i % 4 = 1 THEN 'rare' ELSE 'often' END AS word
         FROM range(1200000) r(i)",
    );
    let profile = house.profile("large").await.unwrap();
    let near = |value: f64, right: f64, share: f64| assert!((value - right).abs() <= right * share, "{value} {right}");
    let id = column(&profile, "id");
    assert_eq!(id.approximate, [Figure::Median, Figure::Distinct, Figure::TopValues]);
    assert_eq!(
        (id.nulls, id.min.as_deref(), id.max.as_deref(), id.mean),
        (0, Some("0"), Some("1199999"), Some(599_999.5))
    );
    near(id.distinct as f64, 1_200_000.0, 0.1);
    near(id.median.as_ref().unwrap().parse().unwrap(), 600_000.0, 0.05);
    assert!(id.top_values.is_empty(), "each value of a sample once");
    let word = column(&profile, "word");
    assert_eq!((word.nulls, word.distinct, word.mean), (300_000, 2, None));
    assert_eq!(word.top_values[0].value, "often");
    near(word.top_values[0].share, 2.0 / 3.0, 0.03);
    near(profile.sampled_rows.unwrap() as f64, 100_000.0, 0.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_very_large_table_is_sampled_and_then_read_for_what_is_quick() {
    let mut house = patient(|_| {}).await;
    let same: Vec<String> = (0..48).map(|n| format!("{n} AS c{n}")).collect();
    // One value each, of which the sample meets some.
    let rare = |n: i32| format!("CASE WHEN i = {n} * 160000 + 7 THEN 'secret@canary.example' END AS rare{n}");
    let rare: Vec<String> = (0..12).map(rare).collect();
    let query = format!(
        "SELECT CASE WHEN i % 2 = 0 THEN NULL ELSE i % 10 END AS half, {}, {} FROM range(2000000) r(i)",
        same.join(", "),
        rare.join(", ")
    );
    house.make("huge", &query);
    let profile = house.profile("huge").await.unwrap();
    assert_eq!(profile.row_count, 2_000_000);
    let sampled = profile.sampled_rows.unwrap();
    assert!((400_000..1_400_000).contains(&sampled), "{sampled}: 122 million cells, half of 100 million are read");
    // What is quickly computed is of all rows, since there is time.
    let half = column(&profile, "half");
    assert_eq!(half.approximate, [Figure::Median, Figure::Distinct, Figure::TopValues]);
    assert_eq!((half.nulls, half.mean), (1_000_000, Some(5.0)));
    assert_eq!((half.distinct, half.min.as_deref(), half.max.as_deref()), (5, Some("1"), Some("9")));
    // What the sample did not meet is looked at before it is shown.
    let told = serde_json::to_string(&*profile).unwrap();
    assert!(!told.contains("canary"), "{told}");
    for n in 0..12 {
        let rare = column(&profile, &format!("rare{n}"));
        assert_eq!(rare.likely_personal_data.as_ref().map(|finding| finding.kind), Some(Kind::Email), "{rare:?}");
    }
}

/// What would need more memory than a query may have is estimated instead.
#[tokio::test(flavor = "multi_thread")]
async fn values_too_large_to_group_are_estimated() {
    let mut house = patient(|budgets| budgets.sql_memory_mb = 64).await;
    house.make("texts", "SELECT i AS id, repeat(md5(i::VARCHAR), 60) AS body FROM range(120000) r(i)");
    let profile = house.profile("texts").await.unwrap();
    let body = column(&profile, "body");
    assert!(body.approximate.contains(&Figure::Distinct), "{body:?}");
    assert!((100_000..=120_000).contains(&body.distinct), "{}", body.distinct);
    assert!(column(&profile, "id").approximate.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn personal_values_are_masked_everywhere() {
    let mut house = patient(|_| {}).await;
    house.make(
        "people",
        "SELECT 'secret' || (i % 4) || '@canary.example' AS contact, DATE '1962-03-04' AS dob, 'Canaria' AS first_name,
            '123-45-6789' AS code, 4111111111111111 AS n, {'mail': 'x@canary.example'} AS more, 'airline' AS name,
            550000 + i AS product, md5(i::VARCHAR)::UUID AS id FROM range(40) r(i)",
    );
    let profile = house.profile("people").await.unwrap();
    let found = |name: &str| {
        let finding = column(&profile, name).likely_personal_data.clone();
        finding.map(|finding| (finding.kind, finding.because))
    };
    assert_eq!(found("contact"), Some((Kind::Email, vec![Basis::Values])));
    assert_eq!(found("dob"), Some((Kind::DateOfBirth, vec![Basis::Name])));
    assert_eq!(found("first_name"), Some((Kind::PersonName, vec![Basis::Name])));
    assert_eq!(found("code"), Some((Kind::NationalId, vec![Basis::Values])));
    assert_eq!(found("n"), Some((Kind::PaymentCard, vec![Basis::Values])));
    assert_eq!(found("more"), Some((Kind::Email, vec![Basis::Name, Basis::Values])));
    assert_eq!((found("name"), found("product"), found("id")), (None, None, None));
    let contact = column(&profile, "contact");
    assert_eq!(
        (contact.min.as_deref(), contact.distinct, contact.likely_personal_data.as_ref().unwrap().share),
        (Some("s…@…"), 4, Some(1.0))
    );
    assert_eq!(top(contact), [("s…@…", 10); 4]);
    assert_eq!((column(&profile, "n").mean, column(&profile, "n").median.as_deref()), (None, None));
    assert_eq!(column(&profile, "dob").max.as_deref(), Some("1962-…"));
    let told = serde_json::to_string(&*profile).unwrap();
    for secret in ["canary", "Canaria", "6789", "4111", "03-04"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_is_of_tables_in_the_pass_only_and_ends_in_time() {
    let mut house = House::new(|budgets| budgets.sql_time = Duration::from_millis(200)).await;
    assert_eq!(house.profile("secret").await.unwrap_err().code, Code::DatasetNotFound);
    let many: Vec<String> = (0..16).map(|n| format!("i * {} % 1000003 AS c{n}", 2 * n + 3)).collect();
    house.make("slow", &format!("SELECT {} FROM range(3000000) r(i)", many.join(", ")));
    assert_eq!(house.profile("slow").await.unwrap_err().code, Code::QueryTimeout);
}
