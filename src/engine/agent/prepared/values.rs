//! The values of fields that people name in questions.

use std::time::Duration;

use futures_util::future::join_all;

use super::{MAX_CHARS, On, is_over, is_own};
use crate::config::Budgets;
use crate::engine::agent::compiler::{Compiled, compile};
use crate::engine::agent::planner::{FieldValues, MOST_CHARS as MOST_OF_A_VALUE};
use crate::model::error::Result;
use crate::model::ontology::{DataType, Entity, Field, FieldRole};
use crate::model::personal::{self, Content};
use crate::model::plan::{Dimension, FieldRef, Plan};
use crate::model::source::{Dialect, quoted};
use crate::model::table::Table;

/// Most values of one field that can be recognised in questions; a field with more is known to have others.
const MOST_VALUES: usize = 10_000;

/// Most values of all fields of an ontology together, and their bytes.
const MOST_OF_ALL: usize = 200_000;
const MOST_BYTES: usize = 8 << 20;

/// Most fields whose values can be recognised.
const MOST_FIELDS: usize = 300;

/// Statements at the same time where they wait for the network. A worker here has all tables open; a second one would
/// have to open them again.
const AT_ONCE: usize = 4;

/// Values that are looked at for personal data.
const SAMPLE: usize = 200;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub values: Vec<FieldValues>,
    /// What was not, and why.
    pub left_out: Vec<String>,
    /// A part of it may be read the next time.
    pub is_partial: bool,
}

/// Why people name the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// The ontology says so: then personal ones can be named too, and are told nobody.
    Said,
    /// It is a closed set, or what one groups by.
    Likely,
}

/// Whether people name values of a field. Personal data are named only where the ontology says so.
fn why(field: &Field) -> Option<Why> {
    let is_text = matches!(field.datatype, DataType::String | DataType::Opaque);
    let likely = field.is_enum || is_text && field.role == FieldRole::Dimension;
    match field {
        field if field.hidden => None,
        field if field.index_values => Some(Why::Said),
        field if likely && field.pii.is_none() && personal_kind(field, &[]).is_none() => Some(Why::Likely),
        _ => None,
    }
}

/// The kind of personal data that a field seems to hold, by its names and its values. A closed set of the ontology is
/// none.
fn personal_kind(field: &Field, values: &[String]) -> Option<String> {
    if field.is_enum || !matches!(field.datatype, DataType::String | DataType::Opaque) {
        return None;
    }
    let sample = values.get(..SAMPLE).unwrap_or(values);
    let names = [&field.name, &field.expression];
    let finding = names.iter().find_map(|name| personal::judge(name, &[], Content::Text, sample))?;
    serde_json::to_value(finding.kind).ok()?.as_str().map(|kind| kind.replace('_', " "))
}

/// A field and the statement for its values.
struct Wanted<'a> {
    entity: &'a Entity,
    field: &'a Field,
    why: Why,
    sql: String,
}

impl Wanted<'_> {
    fn name(&self) -> String {
        format!("{}.{}", self.entity.name, self.field.name)
    }
}

/// Reads the values of every field that people name: those first of which the ontology says it. What cannot be read
/// within the time is left out.
///
/// # Errors
/// When the call ends; those of the SQL engine that are of no single field.
pub(super) async fn read(on: &On<'_>, time: Duration) -> Result<Read> {
    let budget = Budgets { sql_chars: MAX_CHARS, sql_rows: MOST_VALUES, ..on.job.budget.clone() };
    let job = &on.job.within(&budget).at_most(time);
    let mut read = Read::default();
    let wanted = wanted(on, &mut read);
    let at_once = if on.dialect == Dialect::DuckDb { 1 } else { AT_ONCE };
    let query = async |sql: &str| on.sql.query(job, sql).await.map(|answer| answer.table);
    read.all(&wanted, at_once, |it| query(&it.sql), || is_over(on.job, job)).await?;
    Ok(read)
}

/// The fields in the order in which they are read.
fn wanted<'a>(on: &On<'a>, read: &mut Read) -> Vec<Wanted<'a>> {
    let mut found: Vec<(&Entity, &Field, Why)> = Vec::new();
    for entity in on.ontology.datasets.iter().filter(|entity| !entity.hidden) {
        found.extend(entity.fields.iter().filter_map(|field| Some((entity, field, why(field)?))));
    }
    found.sort_by_key(|(_, _, why)| *why);
    let surplus = found.split_off(found.len().min(MOST_FIELDS));
    if let Some((entity, field, _)) = surplus.first() {
        read.left_out.push(format!(
            "The values of {MOST_FIELDS} fields are known; those of {} others are not, {}.{} the first of them.",
            surplus.len(),
            entity.name,
            field.name
        ));
    }
    let compiled = found.into_iter().filter_map(|(entity, field, why)| {
        let plan = Plan {
            dimensions: vec![Dimension::of(FieldRef::new(&entity.name, &field.name))],
            distinct: true,
            ..Plan::default()
        };
        let rows = u32::try_from(MOST_VALUES).unwrap_or(u32::MAX);
        let compiled = compile(&plan, on.ontology, on.graph, on.dialect, rows).ok()?;
        Some(Wanted { entity, field, why, sql: shortened(compiled, field, on.dialect) })
    });
    compiled.collect()
}

/// Long texts stay where they are: one alone could fill all of an answer. A second column says where one was.
fn shortened(compiled: Compiled, field: &Field, dialect: Dialect) -> String {
    let heading = compiled.columns.first().map(|column| dialect.alias(&column.heading)).unwrap_or_default();
    if field.datatype != DataType::String {
        return compiled.sql;
    }
    let (value, ending) = (quoted(&heading), dialect.ending());
    let long = format!("length({value}) > {}", MOST_OF_A_VALUE);
    format!(
        "SELECT CASE WHEN {long} THEN NULL ELSE {value} END AS \"value\", {long} AS \"long\"\nFROM (\n{}\n) AS \"v\"{ending}",
        compiled.sql.strip_suffix(ending).unwrap_or(&compiled.sql)
    )
}

impl Read {
    /// Reads some fields at once after others until the time is over.
    async fn all<'w, F: Future<Output = Result<Table>>>(
        &mut self,
        wanted: &'w [Wanted<'w>],
        at_once: usize,
        query: impl Fn(&'w Wanted<'w>) -> F,
        is_over: impl Fn() -> Result<bool>,
    ) -> Result<()> {
        let (mut room, mut bytes) = (MOST_OF_ALL, MOST_BYTES);
        for (at, some) in wanted.chunks(at_once).enumerate() {
            if is_over()? {
                self.had_no_time(wanted.get(at * at_once..).unwrap_or_default());
                break;
            }
            for (it, answer) in some.iter().zip(join_all(some.iter().map(&query)).await) {
                match answer {
                    Ok(table) => self.add(it, &table, &mut room, &mut bytes),
                    Err(error) if is_own(&error) => {
                        // Whoever asked may be gone.
                        is_over()?;
                        let (code, field) = (error.code.info().name, it.name());
                        tracing::warn!(code, field, "values of a field were not read");
                        self.left_out.push(format!("The values of {field} could not be read."));
                        self.is_partial = true;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn had_no_time(&mut self, rest: &[Wanted<'_>]) {
        let Some(first) = rest.first().map(Wanted::name) else { return };
        let said = match rest.len() {
            1 => format!("There was no time to read the values of {first}."),
            many => format!("There was no time to read the values of {many} fields, {first} the first of them."),
        };
        self.left_out.push(said);
        self.is_partial = true;
    }

    fn add(&mut self, of: &Wanted<'_>, table: &Table, room: &mut usize, bytes: &mut usize) {
        let mut complete = !table.truncated && table.rows.len() <= MOST_VALUES;
        let mut values = Vec::new();
        for row in &table.rows {
            complete &= row.get(1).and_then(serde_json::Value::as_bool) != Some(true);
            let text = match row.first() {
                Some(serde_json::Value::String(text)) => text.clone(),
                Some(serde_json::Value::Null) | None => continue,
                Some(other) => other.to_string(),
            };
            if values.len() == (*room).min(MOST_VALUES) || text.len() > *bytes {
                complete = false;
                break;
            }
            *bytes -= text.len();
            values.push(text);
        }
        if of.why == Why::Likely
            && let Some(kind) = personal_kind(of.field, &values)
        {
            self.left_out.push(format!(
                "The values of {} look personal ({kind}), and are not recognised unless the ontology says index_values.",
                of.name()
            ));
            return;
        }
        *room -= values.len();
        let (dataset, field) = (of.entity.name.clone(), of.field.name.clone());
        self.values.push(FieldValues { dataset, field, values, complete });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::{Code, Error};

    fn field(name: &str) -> Field {
        Field {
            name: name.into(),
            expression: name.into(),
            datatype: DataType::String,
            role: FieldRole::Dimension,
            ..Field::default()
        }
    }

    #[test]
    fn values_are_named_where_it_is_likely_or_said_and_personal_ones_only_where_it_is_said() {
        for (field, expected) in [
            (field("country"), Some(Why::Likely)),
            (Field { role: FieldRole::Attribute, ..field("country") }, None),
            (Field { role: FieldRole::Key, index_values: true, ..field("code") }, Some(Why::Said)),
            (Field { datatype: DataType::Integer, is_enum: true, ..field("level") }, Some(Why::Likely)),
            (Field { hidden: true, index_values: true, ..field("country") }, None),
            // Personal by what the ontology says, by its own name, or by that of its column.
            (Field { pii: Some("name".into()), ..field("who") }, None),
            (Field { pii: Some("name".into()), is_enum: true, ..field("who") }, None),
            (field("email"), None),
            (field("customer_name"), None),
            (Field { expression: "last_name".into(), ..field("called") }, None),
            (Field { index_values: true, ..field("customer_name") }, Some(Why::Said)),
            (Field { pii: Some("name".into()), index_values: true, ..field("who") }, Some(Why::Said)),
            // A closed set holds nobody's name.
            (Field { is_enum: true, ..field("phone") }, Some(Why::Likely)),
        ] {
            assert_eq!(why(&field), expected, "{field:?}");
        }
    }

    fn table(values: &[&str], long: bool) -> Table {
        let mut rows: Vec<Vec<serde_json::Value>> =
            values.iter().map(|value| vec![(*value).into(), false.into()]).collect();
        if long {
            rows.push(vec![serde_json::Value::Null, true.into()]);
        }
        Table { columns: Vec::new(), rows, truncated: false }
    }

    fn read(why: Why, name: &str, table: &Table, room: usize, bytes: usize) -> Read {
        let (entity, field) = (Entity { name: "d".into(), ..Entity::default() }, field(name));
        let mut read = Read::default();
        let wanted = Wanted { entity: &entity, field: &field, why, sql: String::new() };
        read.add(&wanted, table, &mut room.clone(), &mut bytes.clone());
        read
    }

    /// What is read when so many fields may be asked for before the time is over; `call` is what then becomes of the call.
    async fn read_for(fields: usize, at_once: usize, call: Result<bool>) -> Result<Read> {
        let entity = Entity { name: "d".into(), ..Entity::default() };
        let named: Vec<Field> = (0..5).map(|at| field(&format!("f{at}"))).collect();
        let wanted: Vec<Wanted<'_>> = named
            .iter()
            .map(|field| Wanted { entity: &entity, field, why: Why::Likely, sql: field.name.clone() })
            .collect();
        let asked = std::cell::Cell::new(0);
        let query = |it: &Wanted<'_>| {
            asked.set(asked.get() + 1);
            std::future::ready(Ok(table(&[it.sql.as_str()], false)))
        };
        let mut read = Read::default();
        let is_over = || if asked.get() < fields { Ok(false) } else { call.clone() };
        read.all(&wanted, at_once, query, is_over).await?;
        Ok(read)
    }

    #[tokio::test]
    async fn what_was_read_when_the_time_is_over_is_kept() {
        let told = |read: &Read| {
            let names = read.values.iter().map(|it| it.field.clone()).collect::<Vec<_>>();
            (names.join(" "), read.left_out.join(" "), read.is_partial)
        };
        for (fields, at_once, names, left_out) in [
            (5, 1, "f0 f1 f2 f3 f4", ""),
            (4, 1, "f0 f1 f2 f3", "There was no time to read the values of d.f4."),
            (2, 1, "f0 f1", "There was no time to read the values of 3 fields, d.f2 the first of them."),
            // Those at the same time are all read.
            (1, 4, "f0 f1 f2 f3", "There was no time to read the values of d.f4."),
            (0, 4, "", "There was no time to read the values of 5 fields, d.f0 the first of them."),
        ] {
            let read = read_for(fields, at_once, Ok(true)).await.unwrap();
            assert_eq!(
                told(&read),
                (names.to_owned(), left_out.to_owned(), !left_out.is_empty()),
                "{fields} {at_once}"
            );
        }
        // The call itself may end before.
        let ended = read_for(2, 1, Err(Error::new(Code::QueryTimeout, "over"))).await;
        assert_eq!(ended.err().map(|error| error.code), Some(Code::QueryTimeout));
    }

    #[test]
    fn what_is_not_kept_makes_a_field_incomplete() {
        let values = |read: &Read| read.values.iter().map(|it| (it.values.len(), it.complete)).collect::<Vec<_>>();
        let three = table(&["a", "b", "c"], false);
        assert_eq!(values(&read(Why::Likely, "x", &three, 10, 10)), [(3, true)]);
        assert_eq!(values(&read(Why::Likely, "x", &three, 2, 10)), [(2, false)]);
        assert_eq!(values(&read(Why::Likely, "x", &three, 10, 2)), [(2, false)]);
        assert_eq!(values(&read(Why::Likely, "x", &table(&["a"], true), 10, 10)), [(1, false)]);
        let cut = Table { truncated: true, ..three };
        assert_eq!(values(&read(Why::Likely, "x", &cut, 10, 10)), [(3, false)]);
    }

    #[test]
    fn values_that_look_personal_are_not_kept_and_it_is_said() {
        let mails = table(&["ada@example.org", "bo@example.org"], false);
        let left = read(Why::Likely, "reached_at", &mails, 10, 100);
        assert!(left.values.is_empty());
        assert_eq!(
            left.left_out,
            ["The values of d.reached_at look personal (email), and are not recognised unless the ontology says \
              index_values."]
        );
        assert_eq!(read(Why::Said, "reached_at", &mails, 10, 100).values.len(), 1);
    }
}
