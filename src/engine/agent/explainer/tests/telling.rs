use serde_json::{Value, json};

use super::super::{Facts, tell, unsupported_numbers};
use super::restating::ontology;
use crate::engine::render::column::{Column, Role};
use crate::engine::render::number::Style;
use crate::model::lineage::JoinUse;
use crate::model::ontology::DataType;
use crate::model::plan::{Value as Value_, *};
use crate::model::reading::Reading;
use crate::model::table;

fn style(datatype: DataType, unit: Option<&str>) -> Style {
    Style { datatype, unit: unit.map(str::to_owned), ..Style::default() }
}

fn by(dataset: &str, field: &str, grain: Option<Grain>) -> Dimension {
    Dimension { grain, ..Dimension::of(FieldRef::new(dataset, field)) }
}

fn counted(dimensions: Vec<Dimension>) -> Plan {
    Plan { dimensions, measures: vec![Measure::of(Value_::Count("trips".into()))], ..Plan::default() }
}

#[derive(Clone)]
struct Case {
    plan: Plan,
    columns: Vec<(&'static str, Role, Style)>,
    rows: Vec<Vec<Value>>,
    truncated: bool,
    assumptions: Vec<String>,
    caveats: Vec<String>,
    verified: bool,
    joins: Vec<JoinUse>,
}

impl Case {
    fn new(plan: Plan, columns: Vec<(&'static str, Role, Style)>, rows: Vec<Vec<Value>>) -> Self {
        Self {
            plan,
            columns,
            rows,
            truncated: false,
            assumptions: vec![],
            caveats: vec![],
            verified: true,
            joins: vec![],
        }
    }

    fn narrative(&self) -> String {
        let columns: Vec<Column> = self
            .columns
            .iter()
            .map(|(heading, role, style)| Column::new(*heading, *role, &self.plan, style.clone()))
            .collect();
        let table = table::Table {
            columns: columns
                .iter()
                .map(|column| table::Column { name: column.heading.clone(), r#type: "X".into() })
                .collect(),
            rows: self.rows.clone(),
            truncated: self.truncated,
        };
        let reading = Reading { plan: self.plan.clone(), assumptions: self.assumptions.clone(), ..Reading::default() };
        let ontology = ontology();
        let facts = Facts {
            reading: &reading,
            ontology: &ontology,
            columns: &columns,
            table: &table,
            joins: &self.joins,
            total: None,
            caveats: &self.caveats,
            verified: self.verified,
        };
        let told = tell(&facts);
        let mut known: Vec<&str> = self.caveats.iter().chain(&self.assumptions).map(String::as_str).collect();
        known.push(&told.read_as);
        assert_eq!(unsupported_numbers(&told.narrative, &table, &columns, &known), Vec::<String>::new());
        told.narrative
    }
}

fn firms(rows: &[(&str, Value)]) -> Case {
    let rows = rows.iter().map(|(firm, count)| vec![json!(firm), count.clone()]).collect();
    Case::new(
        counted(vec![by("trips", "firm", None)]),
        vec![
            ("Firm", Role::Dimension(0), style(DataType::String, None)),
            ("Number of trips", Role::Measure(0), style(DataType::Integer, None)),
        ],
        rows,
    )
}

#[test]
fn one_number_is_one_bold_sentence() {
    let mut case = Case::new(
        counted(vec![]),
        vec![("Number of trips", Role::Measure(0), style(DataType::Integer, None))],
        vec![vec![json!(336776)]],
    );
    assert_eq!(case.narrative(), "**Number of trips: 336,776.**\n\n_Read as: Number of trips, all time._");
    case.rows = vec![vec![Value::Null]];
    assert!(case.narrative().starts_with("**Number of trips: no value.** No row with a value meets the question.\n\n"));
}

#[test]
fn one_row_is_a_sentence_without_a_table() {
    let case = firms(&[("Blue | Line", json!(1200))]);
    assert!(case.narrative().starts_with("**Blue \\| Line** – Number of trips: 1,200.\n\n_Read as"));
}

#[test]
fn a_table_has_its_leader_above_it() {
    let case = firms(&[("Red", json!(5)), ("Blue", json!(1200)), ("Green", Value::Null)]);
    assert_eq!(
        case.narrative(),
        "**Blue** has the highest number of trips: **1,200** (of 3 rows).\n\n\
         | Firm | Number of trips |\n| --- | ---: |\n| Red | 5 |\n| Blue | 1,200 |\n| Green | _no value_ |\n\n\
         _Read as: Number of trips by firm, all time._"
    );
    let nameless = Case { rows: vec![vec![Value::Null, json!(9)], vec![json!("Red"), json!(1)]], ..case };
    assert!(nameless.narrative().starts_with("**(no firm)** has the highest number of trips: **9** (of 2 rows)."));
    let tied = firms(&[("Red", json!(7)), ("Blue", json!(7)), ("Green", json!(1))]);
    assert!(tied.narrative().starts_with("**Red** and 1 more share the highest number of trips: **7** (of 3 rows)."));
    let mut bottom = firms(&[("Red", json!(1)), ("Blue", json!(7))]);
    bottom.plan.order = vec![Order { by: By::Measure(0), descending: false }];
    bottom.plan.limit = Some(Limit { rows: 2, per: vec![], with_ties: false, skip: 0 });
    assert!(bottom.narrative().starts_with("**Red** has the lowest number of trips: **1** (of these 2 rows)."));
}

#[test]
fn exact_values_decide_who_leads() {
    // As floats both are 9007199254740992.
    let case = firms(&[("Red", json!("9007199254740992")), ("Blue", json!("9007199254740993"))]);
    assert!(case.narrative().starts_with("**Blue** has the highest"));
}

#[test]
fn a_series_tells_its_ends_and_its_peak() {
    let case = Case::new(
        counted(vec![by("trips", "departed_at", Some(Grain::Month))]),
        vec![
            ("Month", Role::Dimension(0), style(DataType::Date, None)),
            ("Number of trips", Role::Measure(0), style(DataType::Integer, None)),
        ],
        vec![
            vec![json!("2013-01-01"), json!(10)],
            vec![json!("2013-02-01"), json!(30)],
            vec![json!("2013-03-01"), json!(20)],
        ],
    );
    assert!(case.narrative().starts_with(
        "**Number of trips**: 10 in Jan 2013, 20 in Mar 2013; highest in **Feb 2013** with 30.\n\n| Month |"
    ));
}

#[test]
fn long_results_are_cut_and_say_so() {
    let rows: Vec<(String, Value)> = (1..=1022).map(|at| (format!("firm {at}"), json!(at))).collect();
    let rows: Vec<(&str, Value)> = rows.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let mut case = firms(&rows);
    let text = case.narrative();
    assert_eq!(text.matches("\n| firm ").count(), 20);
    assert!(text.contains("\n\n… and 1,002 more rows\n\n"), "{text}");
    case.truncated = true;
    let text = case.narrative();
    assert!(text.starts_with("**1,022 rows.**"), "no leader of a cut result: {text}");
    assert!(text.contains("⚠️ The result was cut after 1,022 rows"));
}

#[test]
fn an_empty_result_says_what_nothing_met() {
    let mut case = firms(&[]);
    assert!(case.narrative().starts_with("**No rows.** The data hold nothing that this question is about."));
    case.plan.filters = vec![Condition::IsNull { field: FieldRef::new("trips", "firm"), negated: false }];
    case.plan.time =
        Some(TimeFilter { field: None, window: Window { start: Some("2013-01-01".into()), ..Window::default() } });
    let text = case.narrative();
    assert!(
        text.starts_with("**No rows.** Nothing in the data meets the time and the conditions.\n\n_Read as"),
        "{text}"
    );
}

#[test]
fn an_empty_list_says_what_there_is_none_of() {
    let plan = Plan { subject: Some("people".into()), dimensions: vec![by("people", "name", None)], ..Plan::default() };
    let mut case = Case::new(plan, vec![("Name", Role::Dimension(0), style(DataType::String, None))], vec![]);
    assert!(case.narrative().starts_with("**There are no people.**\n\n"), "{}", case.narrative());
    case.plan.filters = vec![Condition::IsNull { field: FieldRef::new("people", "name"), negated: false }];
    assert!(case.narrative().starts_with("**There are no people** that meet the conditions.\n\n"));
}

#[test]
fn the_way_that_was_taken_is_said_where_several_lead_there() {
    let join = |relationship: &str| JoinUse {
        left: "trips".into(),
        right: "stops".into(),
        relationship: relationship.into(),
        on: vec![],
    };
    let mut case = Case { joins: vec![join("trip_from"), join("made_by")], ..firms(&[("Red", json!(5))]) };
    case.plan.dimensions = vec![by("stops", "code", None)];
    let text = case.narrative();
    assert!(text.ends_with("_Read as: Number of trips by IATA code, all time, with stop as origin._"), "{text}");
    case.plan.dimensions[0].field.via = vec!["trip_from".into()];
    let text = case.narrative();
    assert!(text.ends_with("_Read as: Number of trips by origin stop IATA code, all time._"), "said once: {text}");
}

#[test]
fn lists_are_counted_by_their_noun() {
    let plan = Plan { subject: Some("people".into()), dimensions: vec![by("people", "name", None)], ..Plan::default() };
    let case = Case::new(
        plan,
        vec![("Name", Role::Dimension(0), style(DataType::String, None))],
        vec![vec![json!("Ann")], vec![json!("<img src=x onerror=alert(1)>")]],
    );
    let one = Case { rows: case.rows[..1].to_vec(), ..case.clone() };
    assert!(one.narrative().starts_with("**Name: Ann.**\n\n_Read as"), "one row needs no table");
    let text = case.narrative();
    assert!(text.starts_with("**2 people.**\n\n| Name |\n| --- |\n| Ann |\n"), "{text}");
    assert!(text.contains(r"\<img src=x onerror=alert(1)\>"), "{text}");
}

#[test]
fn what_is_uncertain_is_said_line_by_line() {
    let mut case = firms(&[("Red", json!(1))]);
    case.assumptions = vec!["“Best” is by number of trips.".into()];
    case.caveats = vec!["3 rows have no firm.".into(), "The last day is 2013-12-31.".into()];
    case.verified = false;
    assert!(case.narrative().ends_with(
        "_Read as: Number of trips by firm, all time._  \nAssumed: “Best” is by number of trips.  \n\
         ⚠️ 3 rows have no firm.  \n⚠️ The last day is 2013-12-31.  \n\
         ⚠️ Not verified: this result could not be checked against the data."
    ));
}

#[test]
fn values_of_conditions_are_data_too() {
    let mut case = firms(&[("Red", json!(1))]);
    case.plan.filters = vec![Condition::Compare {
        field: FieldRef::new("trips", "firm"),
        op: Comparator::Equal,
        value: Literal::Text("![x](https://evil.example/*)".into()),
    }];
    let text = case.narrative();
    assert!(text.contains("where firm is `“![x](https://evil.example/*)”`"), "{text}");
}

#[test]
fn comparisons_and_shares_are_told_in_per_cent() {
    let plan = Plan { comparison: Some(Comparison { with: Window::default(), align: None }), ..counted(vec![]) };
    let case = Case::new(
        plan,
        vec![
            ("Number of trips", Role::Measure(0), style(DataType::Integer, None)),
            ("Before", Role::Other(0), style(DataType::Integer, None)),
            ("Difference", Role::Difference(0), style(DataType::Integer, None)),
            ("Change", Role::Change(0), style(DataType::Float, None)),
        ],
        vec![vec![json!(110), json!(100), json!(10), json!(0.1)]],
    );
    assert!(case.narrative().starts_with("**Number of trips: 110; Before: 100; Difference: 10; Change: 10%.**"));
}

#[test]
fn numbers_that_name_things_are_not_counted_in_thousands() {
    let mut case = firms(&[("x", json!(5)), ("y", json!(7))]);
    case.columns[0] = ("Licence Number", Role::Dimension(0), style(DataType::Integer, None));
    case.rows = vec![vec![json!(31003000336_i64), json!(5000)], vec![json!(7), json!(1)]];
    let text = case.narrative();
    assert!(text.starts_with("**Licence number 31003000336** has the highest number of trips: **5,000**"), "{text}");
    assert!(text.contains("\n| 31003000336 | 5,000 |\n"), "{text}");
    case.rows.truncate(1);
    assert!(case.narrative().starts_with("**Licence number 31003000336** – Number of trips: 5,000."));
    case.columns[0].2.unit = Some("miles".into());
    assert!(case.narrative().starts_with("**31,003,000,336 miles** – Number of trips"), "a quantity is");
}

#[test]
fn a_series_without_change_or_with_several_peaks_says_so() {
    let series = |values: [i64; 3]| {
        let month = |at: usize| json!(format!("2013-0{}-01", at + 1));
        Case::new(
            counted(vec![by("trips", "departed_at", Some(Grain::Month))]),
            vec![
                ("Month", Role::Dimension(0), style(DataType::Date, None)),
                ("Number of trips", Role::Measure(0), style(DataType::Integer, None)),
            ],
            values.iter().enumerate().map(|(at, value)| vec![month(at), json!(value)]).collect(),
        )
        .narrative()
    };
    assert!(series([5, 5, 5]).starts_with("**Number of trips**: 5 throughout, from Jan 2013 to Mar 2013."));
    assert!(
        series([5, 9, 9]).starts_with(
            "**Number of trips**: 5 in Jan 2013, 9 in Mar 2013; highest in **Feb 2013** and 1 more with 9."
        )
    );
}
