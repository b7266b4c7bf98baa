use super::*;
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::engine::ontology::read::read;
use crate::model::ontology::{Metric, Severity};

const RICH: &str = include_str!("../../../../tests/data/ossie/insurance.yaml");

fn table(name: &str, columns: &[(&str, &str)]) -> Dataset {
    let column = |(name, kind): &(&str, &str)| ColumnInfo {
        name: (*name).into(),
        r#type: (*kind).into(),
        nullable: true,
        description: String::new(),
        sample_values: Vec::new(),
        ..ColumnInfo::default()
    };
    Dataset {
        externally_queryable: true,
        version: Some("v1".into()),
        row_count: 1,
        bytes: 1,
        columns: columns.iter().map(column).collect(),
        ..Dataset::new(Id::new(&Clock::manual(0)), Id::new(&Clock::manual(0)), name, Kind::Table)
    }
}

fn tables() -> Vec<Dataset> {
    vec![
        table(
            "claim",
            &[
                ("claim_identifier", "BIGINT"),
                ("company_claim_number", "VARCHAR"),
                ("claim_open_date", "TIMESTAMP"),
                ("status_code", "VARCHAR"),
                ("claimant_email", "VARCHAR"),
            ],
        ),
        table(
            "claim_amount",
            &[
                ("amount_id", "INTEGER"),
                ("claim_identifier", "INTEGER"),
                ("kind", "VARCHAR"),
                ("amount", "DECIMAL(12,2)"),
            ],
        ),
    ]
}

/// What is said of the rich example after a part was replaced.
fn said(from: &str, to: &str) -> Vec<String> {
    assert!(RICH.contains(from), "{from}");
    let document = read(&RICH.replacen(from, to, 1)).unwrap();
    let problems = document.place(check(&document.ontology, &tables()));
    let mark = |severity| if severity == Severity::Error { "!" } else { "?" };
    problems.iter().map(|p| format!("{}{} | {} {}", mark(p.severity), p.path, p.message, p.hint)).collect()
}

#[test]
fn a_consistent_ontology_passes() {
    assert_eq!(said("Claims", "Claims"), [""; 0]);
}

#[test]
fn every_inconsistency_is_named() {
    for (from, to, expected) in [
        (
            "source: claim_amount",
            "source: claim_amonts",
            "!datasets[1].source | The workspace has no table `claim_amonts`. Write `claim_amount`.",
        ),
        (
            "primary_key: [amount_id]",
            "primary_key: [amount_nr]",
            "!datasets[1].primary_key[0] | `amount_nr` is neither a column of the table `claim_amount` nor a field of `claim_amount`. Write `amount_id`.",
        ),
        (
            "unique_keys: [[company_claim_number]]",
            "unique_keys: [[claim_number]]",
            "!datasets[0].unique_keys[0][0] | `claim_number` is neither",
        ),
        (
            "expression: kind}",
            "expression: kinds}",
            "!datasets[1].fields[2].expression | The table `claim_amount` has no column `kinds`. Write `kind`.",
        ),
        (
            "expression: kind}",
            "expression: UPPER(kinds)}",
            "!datasets[1].fields[2].expression | The table `claim_amount` has no column `kinds`.",
        ),
        (
            "expression: kind}",
            "expression: SUM(amount)}",
            "!datasets[1].fields[2].expression | The expression cannot be used: SUM is an aggregate",
        ),
        (
            "expression: kind}",
            "expression: claim.status_code}",
            "!datasets[1].fields[2].expression | `claim.status_code` is not of `claim_amount`",
        ),
        (
            "\"unit_field\": \"kind\"",
            "\"unit_field\": \"kinds\"",
            "!datasets[1].fields[3].unit_field | `claim_amount` has no field `kinds`. Write `kind`.",
        ),
        (
            "label_field: company_claim_number",
            "label_field: company_number",
            "!datasets[0].label_field | `claim` has no field `company_number`.",
        ),
        (
            "default_time_field: claim_open_date",
            "default_time_field: status",
            "!datasets[0].default_time_field | `claim.status` is no time: its type is String.",
        ),
        (
            "row_policy: claim.status",
            "row_policy: claim.state",
            "!datasets[0].row_policy | The table `claim` has no column `state`.",
        ),
        (
            "expression: \"claim.status = 'O'\"",
            "expression: \"claim.status = \"",
            "!segments[0].expression | The expression cannot be used",
        ),
        (
            "datasets: [claim]}",
            "datasets: [claim, claim_amount]}",
            "!segments[0].datasets | The segment `open claims` is about 2 datasets.",
        ),
        (
            "SUM(claim_amount.amount)",
            "SUM(claim_amount.amnt)",
            "!metrics[1].expression | `claim_amount` has no field `amnt`. Write `amount`.",
        ),
        (
            "SUM(claim_amount.amount)",
            "SUM(amount)",
            "!metrics[1].expression | `amount` does not say of which dataset it is. Write `dataset.amount`.",
        ),
        ("SUM(claim_amount.amount)", "claim_amount.amount", "!metrics[1].expression | The expression cannot be used"),
        (
            "SUM(claim_amount.amount)",
            "COUNT(*)",
            "!metrics[1].expression | `loss_amount` does not say whose rows it counts.",
        ),
        (
            "SUM(claim_amount.amount)",
            "loss_amount / claim_cont",
            "!metrics[1].expression | There is no metric `claim_cont`. Write `claim_count`.",
        ),
        (
            "SUM(claim_amount.amount)",
            "loss_amount + 1",
            "!metrics[1].expression | `loss_amount` comes back to itself through other metrics.",
        ),
        (
            "filters: [\"claim_amount.kind",
            "filters: [\"claim_amount.knd",
            "!metrics[1].filters[0] | `claim_amount` has no field `knd`.",
        ),
        (
            "default_time_field: claim.claim_open_date",
            "default_time_field: claim.open_date",
            "!metrics[0].default_time_field | `claim` has no field `open_date`.",
        ),
        (
            "expression: amount}]}",
            "expression: amount}]}\n        datatype: String",
            "!datasets[1].fields[3].datatype | `claim_amount.amount` is declared as String, but the column is DECIMAL(12,2).",
        ),
        (
            "value_synonyms: {O",
            "default_aggregation: avg\n              value_synonyms: {O",
            "!datasets[0].fields[3].default_aggregation | `claim.status` is String and cannot be added up.",
        ),
        (
            "to_columns: [claim_identifier]",
            "to_columns: [company_claim_number]",
            "!relationships[0].to_columns[0] | `claim_amount.claim_identifier` is Integer and `claim.company_claim_number` is String: they never are equal.",
        ),
        (
            "from_columns: [claim_identifier]",
            "from_columns: [claim_id]",
            "!relationships[0].from_columns[0] | `claim_id` is neither",
        ),
        (
            "how many claims]",
            "insurance claims]",
            "?datasets[0].ai_context.synonyms[1] | `insurance claims` means the metric `claim_count` and the dataset `claim`",
        ),
        ("          hidden: false\n", "          hidden: true\n", "NOTHING"),
    ] {
        let given = said(from, to);
        let found = given.iter().any(|line| line.starts_with(expected)) || expected == "NOTHING" && given.is_empty();
        assert!(found, "{to}\n  expected {expected}\n  given    {given:#?}");
    }
}

#[test]
fn fields_of_fields_are_followed() {
    let field = |name: &str, expression: &str| {
        format!(
            "      - name: {name}\n        expression: {{dialects: [{{dialect: ANSI_SQL, expression: {expression}}}]}}\n"
        )
    };
    let before = "      - name: kind\n";
    let with = |fields: &[(&str, &str)]| {
        let text: String = fields.iter().map(|(name, expression)| field(name, expression)).collect();
        said(before, &format!("{text}{before}"))
    };
    assert_eq!(with(&[("net", "amount / 2"), ("half", "net / 2")]), [""; 0]);
    let circle = with(&[("net", "half * 2"), ("half", "net / 2"), ("quarter", "half / 2")]);
    assert_eq!(circle.len(), 3, "{circle:#?}");
    assert!(circle[0].starts_with("!datasets[1].fields[2].expression | `claim_amount.net` comes back to itself"));
    // A field may be made from the column of its own name.
    assert_eq!(with(&[("amount_id2", "amount_id"), ("claimant", "UPPER(kind)")]), [""; 0]);
}

#[test]
fn islands_and_twin_relationships_are_pointed_out() {
    let mut document = read(RICH).unwrap();
    let mut more = tables();
    more.push(table("region", &[("id", "INTEGER")]));
    document.ontology.datasets.push(Entity { name: "region".into(), source: "region".into(), ..Entity::default() });
    let problems = check(&document.ontology, &more);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!((problems[0].severity, problems[0].path.as_str()), (Severity::Warning, "datasets[2]"));
    document.ontology.datasets[2].hidden = true;
    assert_eq!(check(&document.ontology, &more), []);
    let mut twin = document.ontology.relationships[0].clone();
    document.ontology.relationships[0].preferred = false;
    (twin.name, twin.preferred) = ("other_way".into(), false);
    document.ontology.relationships.push(twin);
    let problems = check(&document.ontology, &more);
    assert_eq!(problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), ["relationships[0]", "relationships[1]"]);
}

#[test]
fn one_aggregate_over_two_fact_tables_is_refused() {
    let mut document = read(RICH).unwrap();
    let mut more = tables();
    more.push(table("payment", &[("claim_identifier", "INTEGER"), ("paid", "DOUBLE")]));
    let text = "SUM(claim_amount.amount - payment.paid)";
    let mut payment = Entity { name: "payment".into(), source: "payment".into(), ..Entity::default() };
    payment.fields.push(Field { name: "paid".into(), expression: "paid".into(), ..Field::default() });
    document.ontology.datasets.push(payment);
    let mut to_claim = document.ontology.relationships[0].clone();
    (to_claim.name, to_claim.from) = ("payment_to_claim".into(), "payment".into());
    document.ontology.relationships.push(to_claim);
    document.ontology.metrics[1].expression = text.into();
    let problems = check(&document.ontology, &more);
    assert!(
        problems.iter().any(|p| p.path == "metrics[1].expression" && p.message.contains("claim_amount and payment"))
    );
    document.ontology.metrics[1].expression = "SUM(claim_amount.amount) - SUM(payment.paid)".into();
    assert_eq!(check(&document.ontology, &more), []);
}

#[test]
fn nothing_is_looked_at_once_there_are_enough_errors() {
    let metric = |at: usize| Metric {
        name: format!("metric_{at}"),
        expression: "SUM(nowhere.amount)".into(),
        filters: vec!["nowhere.kind = 'a'".into()],
        ..Metric::default()
    };
    let metrics = (0..MAX_PROBLEMS).map(metric).collect();
    let ontology = Ontology { metrics, ..read(RICH).unwrap().ontology };
    let mut looked =
        Check { ontology: &ontology, tables: &[], by_name: HashMap::new(), problems: Vec::new(), errors: 0 };
    looked.expressions();
    assert_eq!((looked.problems.len(), looked.errors), (MAX_PROBLEMS, MAX_PROBLEMS));
    let hints = looked.problems.iter().filter(|problem| problem.hint == "There are: claim, claim_amount.");
    assert_eq!(hints.count(), MAX_PROBLEMS, "all that are reported have theirs");
    assert_eq!(looked.suggest("clam", ["claim"].into_iter()), "", "none for what is not reported");
}
