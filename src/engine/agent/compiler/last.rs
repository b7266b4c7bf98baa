//! The last rows of each time, of amounts that do not add up over time.

use crate::engine::ontology::graph::Steps;
use crate::engine::render::nouns::plural;
use crate::model::ontology::{DataType, Field, Relationship, in_words};
use crate::model::plan::Grain;
use crate::model::source::quoted;

use super::check::{Check, CheckKind, column_name};
use super::error::CompileError;
use super::layout::{clause, group_by, indented, list};
use super::leaf::Rows;
use super::scope::Scope;
use super::work::Work;

/// When rows were, and what their amounts are of.
pub(super) struct Last {
    /// As SQL.
    at: String,
    /// The day of it, in the ontology's zone.
    day: String,
    /// Whether a day has several times.
    in_day: bool,
    /// Columns that tell apart what the amounts are of, such as accounts; none where nothing tells that.
    things: Vec<String>,
    /// What one of these is called.
    noun: String,
}

/// Two columns that are equal in rows that count, each with the name that is wanted for it.
type Equal = [(String, &'static str); 2];

impl Last {
    pub(super) fn of(work: &mut Work<'_>, scope: &Scope, rows: &Rows) -> Result<Self, CompileError> {
        let Some(time) = &rows.time else {
            return Err(CompileError::Unsupported("a balance without a time".into()));
        };
        let (dataset, field) = work.field(time)?;
        if !work.way(rows.home, dataset, &time.via, Steps::ToOne)?.is_empty() {
            return Err(CompileError::Unsupported(format!(
                "the time of a semi-additive metric must be a field of its own dataset, not {}.{}",
                time.dataset, time.field
            )));
        }
        let at = scope.field(work, 0, &field.name)?;
        let in_day = matches!(field.datatype, DataType::DateTime | DataType::DateTimeTz);
        let day = if in_day { work.grained(&at, field, Grain::Day)? } else { at.clone() };
        let (columns, noun) = things(work, rows.home, field);
        let mut things = Vec::new();
        for column in columns {
            things.push(work.named(rows.home, &scope.node(0).alias, column, &mut Vec::new())?);
        }
        let words = field.words().to_lowercase();
        let counts = match (in_day, things.is_empty()) {
            (false, _) => format!("the last {words} that there is counts"),
            (true, false) => format!("the last day that there is counts, and on it the last {words} of each {noun}"),
            (true, true) => format!("only rows of the very last {words} count, to the fraction of a second"),
        };
        work.note(format!("Of each time, {counts}: such amounts do not add up over time."));
        Ok(Self { at, day, in_day, things, noun })
    }

    /// What keeps rows of the last day of each time, and of that day the last of each thing.
    pub(super) fn kept(&self, times: &[&str]) -> Vec<Equal> {
        let mut kept = vec![[(self.day.clone(), "at_day"), (newest(&self.day, times), "last_day")]];
        if self.in_day {
            let things = self.things.iter().map(String::as_str);
            let by: Vec<&str> = times.iter().copied().chain([self.day.as_str()]).chain(things).collect();
            kept.push([(self.at.clone(), "at_time"), (newest(&self.at, &by), "last_time")]);
        }
        kept
    }

    /// Looks up of how many things there is no row of the last day.
    pub(super) fn watch(&self, work: &mut Work<'_>, from: &str, conditions: &[String], times: &[&str]) {
        let name = format!("last:{}", self.noun);
        if self.things.is_empty() || !work.checks.is_new(name.clone()) {
            return;
        }
        let (without, of) = (work.checks.column(), work.checks.column());
        let key = |at: usize| quoted(&format!("k{at}"));
        let told = times.iter().copied().chain(self.things.iter().map(String::as_str));
        let mut each: Vec<String> = told.enumerate().map(|(at, sql)| format!("{sql} AS {}", key(at))).collect();
        let by = group_by(each.len());
        each.push(format!("MAX({}) AS \"at_day\"", self.day));
        let each = format!("SELECT\n{}\n{from}{}{by}", list(&each), clause(conditions));
        let times: Vec<String> = (0..times.len()).map(key).collect();
        let last = newest("\"at_day\"", &times.iter().map(String::as_str).collect::<Vec<_>>());
        let all =
            format!("SELECT \"at_day\", {last} AS \"last_day\"\nFROM (\n{}\n) AS \"each_thing\"", indented(&each, 2));
        work.checks.look_up(format!(
            "SELECT COUNT(CASE WHEN \"at_day\" < \"last_day\" THEN 1 END) AS {}, COUNT(*) AS {}\n\
             FROM (\n{}\n) AS \"things\"",
            column_name(without),
            column_name(of),
            indented(&all, 2)
        ));
        let things = plural(&self.noun);
        let says = format!("all {things} have a row of the last day");
        let groups = if times.is_empty() { things } else { format!("{things} by time") };
        let have = "no row on the last day, and are left out";
        work.checks.list.push(Check { name, kind: CheckKind::Groups { without, of, groups, have }, says });
    }
}

/// The newest of the rows that are equal in some columns, in each of them.
fn newest(of: &str, by: &[&str]) -> String {
    let by = if by.is_empty() { String::new() } else { format!("PARTITION BY {}", by.join(", ")) };
    format!("MAX({of}) OVER ({by})")
}

/// What tells apart what the amounts of a dataset are of, and what that is called: the rest of a key with the time, or
/// else the only thing that its rows refer to.
fn things<'a>(work: &Work<'a>, home: usize, time: &Field) -> (Vec<&'a String>, String) {
    let entity = work.entity(home);
    let is_time =
        |column: &str| column.eq_ignore_ascii_case(&time.name) || column.eq_ignore_ascii_case(time.expression.trim());
    let mut keys = std::iter::once(&entity.primary_key).chain(&entity.unique_keys);
    let key = keys.find(|key| key.len() > 1 && key.iter().any(|column| is_time(column)));
    let own = work.ontology.relationships.iter().filter(|one| one.from.eq_ignore_ascii_case(&entity.name));
    let own: Vec<&'a Relationship> = own.collect();
    let columns: Vec<&'a String> = match (key, own.as_slice()) {
        (Some(key), _) => key.iter().filter(|column| !is_time(column)).collect(),
        (None, [one]) => one.from_columns.iter().collect(),
        (None, _) => Vec::new(),
    };
    let referred = own.iter().find(|one| one.from_columns.iter().eq(columns.iter().copied()));
    let noun = match referred.and_then(|one| work.ontology.entity(&one.to)) {
        Some(entity) => entity.noun(),
        None => columns.iter().map(|column| in_words(column)).collect::<Vec<_>>().join(" and "),
    };
    (columns, noun)
}
