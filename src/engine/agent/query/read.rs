//! A query as a plan.

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of a reader of one lifetime is not what reads a text of any"
)]

use jiff::civil::DateTime;

use super::cursor::{Around, Read, Reader, whole};
use super::lexer::{Kind, tokens};
use super::names::{dataset, datasets, field_of, fields, label_of, spaced, words_of};
use super::problem::{Problem, Wrong};
use crate::engine::agent::plan::validate::{nearest, shown};
use crate::engine::ontology::graph::{Graph, Steps};
use crate::model::ontology::{Entity, Field, FieldRole, Ontology};
use crate::model::plan::{Condition, Dimension, FieldRef, Limit, Plan, TimeFilter};
use crate::model::query::Query;

/// Most columns of a list that names none.
const TELLING: usize = 8;

/// The plan that a query says. Times that move are as they are `now`, a time of the ontology's zone.
///
/// # Errors
/// Everything that is wrong, text by text: in a text all names that are not there, and the first place that cannot be
/// read.
pub(crate) fn read(query: &Query, ontology: &Ontology, now: DateTime) -> Result<Plan, Vec<Problem>> {
    let around = Around {
        datasets: named(query, ontology),
        compares: query.compare_to.is_some(),
        spaced: spaced(ontology),
        ..Around::default()
    };
    let mut reading = Reading { query, ontology, now, around, problems: Vec::new(), plan: Plan::default() };
    reading.columns();
    reading.conditions();
    if reading.problems.is_empty() {
        reading.subject();
        reading.finished();
    }
    if reading.problems.is_empty() { Ok(reading.plan) } else { Err(reading.problems) }
}

struct Reading<'a> {
    query: &'a Query,
    ontology: &'a Ontology,
    now: DateTime,
    around: Around,
    problems: Vec<Problem>,
    plan: Plan,
}

impl Reading<'_> {
    fn text<T>(
        &mut self,
        argument: &str,
        text: &str,
        read: impl for<'r> FnOnce(&mut Reader<'r>) -> Read<T>,
    ) -> Option<T> {
        whole(argument, text, (self.ontology, self.now, &self.around), &mut self.problems, read)
    }

    fn say(&mut self, argument: &str, message: impl Into<String>, near: Vec<String>) {
        self.problems.push(Wrong::at(0, message).near(near).of(argument));
    }

    /// What each row is about, and its columns.
    fn columns(&mut self) {
        let query = self.query;
        if let Some(each) = &query.each
            && let Some(name) = self.text("each", each, |reader| reader.dataset())
        {
            if !self.around.datasets.contains(&name) {
                self.around.datasets.push(name.clone());
            }
            self.around.each = Some(name.clone());
            self.plan.subject = Some(name);
        }
        if !query.list.is_empty() && !query.measures.is_empty() {
            self.say(
                "list",
                "a query has either measures or a list: fields beside numbers are `dimensions`",
                Vec::new(),
            );
        }
        for (at, text) in query.dimensions.iter().enumerate() {
            let dimension = self.text(&format!("dimensions[{at}]"), text, |reader| reader.whole_dimension());
            self.plan.dimensions.extend(dimension);
        }
        for (at, text) in query.list.iter().enumerate() {
            match self.rows(text) {
                Some(dimensions) => self.plan.dimensions.extend(dimensions),
                None => {
                    let dimension = self.text(&format!("list[{at}]"), text, |reader| reader.whole_dimension());
                    self.plan.dimensions.extend(dimension);
                }
            }
        }
        let texts = query.dimensions.iter().chain(&query.list).cloned().collect();
        self.around.texts = (texts, query.measures.clone());
        self.around.dimensions = self.plan.dimensions.clone();
        for (at, text) in query.measures.iter().enumerate() {
            let measure = self.text(&format!("measures[{at}]"), text, |reader| reader.measure());
            self.plan.measures.extend(measure);
        }
        self.around.measures = self.plan.measures.clone();
        let dimensions = self.plan.dimensions.iter().filter_map(|it| it.label.as_deref());
        let labels = dimensions.chain(self.plan.measures.iter().filter_map(|it| it.label.as_deref()));
        self.around.spaced.extend(labels.filter_map(words_of));
        if self.plan.dimensions.is_empty() && self.plan.measures.is_empty() && self.problems.is_empty() {
            match self.plan.subject.as_deref().and_then(|name| self.ontology.entity(name)) {
                Some(entity) => self.plan.dimensions = telling(entity),
                None => self.say(
                    "measures",
                    "the query asks for nothing: give `measures`, or the fields of rows as `list`",
                    datasets(self.ontology).take(3).map(|entity| format!("count({})", entity.name)).collect(),
                ),
            }
        }
    }

    /// The columns of a dataset that a list names alone, or with a star.
    fn rows(&mut self, text: &str) -> Option<Vec<Dimension>> {
        let tokens = tokens(text).ok()?;
        let kinds: Vec<&Kind> = tokens.iter().map(|token| &token.kind).collect();
        let (name, is_all) = match kinds.as_slice() {
            [Kind::Word(name) | Kind::Name(name)] => (name.clone(), false),
            [Kind::Word(name) | Kind::Name(name), Kind::Sign("."), Kind::Sign("*")] => (name.clone(), true),
            [Kind::Sign("*")] => (self.around.each.clone()?, true),
            _ => return None,
        };
        let entity = dataset(self.ontology, &name)?;
        let is_field = || datasets(self.ontology).any(|entity| field_of(entity, &name).is_some());
        if !is_all && !entity.name.eq_ignore_ascii_case(&name) && is_field() {
            return None;
        }
        if self.plan.subject.is_none() && self.query.list.len() == 1 {
            self.plan.subject = Some(entity.name.clone());
        }
        Some(if is_all { fields(entity).map(|field| column(entity, field)).collect() } else { telling(entity) })
    }

    fn conditions(&mut self) {
        let query = self.query;
        for (at, text) in query.filters.iter().enumerate() {
            let conditions = self.text(&format!("filters[{at}]"), text, |reader| reader.conditions());
            self.plan.filters.extend(conditions.into_iter().flatten());
        }
        for (at, text) in query.segments.iter().enumerate() {
            let segment = self.text(&format!("segments[{at}]"), text, segment);
            self.plan.filters.extend(segment);
        }
        if let Some(text) = &query.time {
            self.plan.time = self.text("time", text, |reader| reader.time_filter());
        }
        if let Some(text) = &query.compare_to {
            let (main, dimensions) =
                (self.plan.time.as_ref().map(|time: &TimeFilter| time.window.clone()), self.plan.dimensions.clone());
            self.plan.comparison =
                self.text("compare_to", text, |reader| reader.comparison_with(main.as_ref(), &dimensions));
        }
        self.plan.distinct = query.distinct;
    }

    /// Whose rows are listed, where the fields alone do not tell.
    fn subject(&mut self) {
        let plan = &mut self.plan;
        if !plan.measures.is_empty() || plan.subject.is_some() {
            return;
        }
        // Values to group by without a number are each shown once.
        plan.distinct |= self.query.list.is_empty();
        let mut named: Vec<&str> = plan.dimensions.iter().map(|dimension| dimension.field.dataset.as_str()).collect();
        named.dedup();
        if named.iter().all(|name| Some(name) == named.first()) {
            return;
        }
        let graph = Graph::new(self.ontology);
        let reaches = |name: &str| {
            let from = graph.dataset(name);
            plan.dimensions.iter().all(|dimension| {
                let ends = from.zip(graph.dataset(&dimension.field.dataset));
                ends.is_some_and(|(from, to)| graph.way(from, to, &dimension.field.via, Steps::ToOne).is_ok())
            })
        };
        let others = datasets(self.ontology).map(|entity| entity.name.as_str());
        let found = named.iter().copied().find(|name| reaches(name)).map(str::to_owned);
        let mut beyond = others.filter(|name| !named.contains(name) && reaches(name));
        let found = found.or_else(|| beyond.next().filter(|_| beyond.next().is_none()).map(str::to_owned));
        match found {
            Some(found) => plan.subject = Some(found),
            None => {
                let choices = named.iter().map(|name| (*name).to_owned()).collect();
                self.say("each", "the fields are of several datasets: say with `each` whose rows are listed", choices);
            }
        }
    }

    /// The dataset each of whose rows is one of the answer.
    fn rows_shown(&self) -> Option<String> {
        let plan = &self.plan;
        let first = plan.dimensions.first().map(|dimension| &dimension.field);
        let of_one = |field: &FieldRef| field.via.is_empty() && Some(&field.dataset) == first.map(|it| &it.dataset);
        let is_list = plan.measures.is_empty() && plan.dimensions.iter().all(|dimension| of_one(&dimension.field));
        let listed = first.filter(|_| is_list).map(|field| field.dataset.clone());
        plan.subject.clone().or(listed).filter(|_| !plan.distinct)
    }

    /// What is about the columns of the answer.
    fn finished(&mut self) {
        let query = self.query;
        for (at, text) in query.having.iter().enumerate() {
            let having = self.text(&format!("having[{at}]"), text, |reader| reader.havings());
            self.plan.having.extend(having.into_iter().flatten());
        }
        self.around.rows = self.rows_shown();
        for (at, text) in query.order.iter().enumerate() {
            let read = self.text(&format!("order[{at}]"), text, |reader| {
                Ok((reader.orders()?, std::mem::take(&mut reader.beside)))
            });
            let (order, beside) = read.unwrap_or_default();
            self.plan.order.extend(order);
            self.around.beside.extend(beside);
        }
        self.plan.dimensions.append(&mut self.around.beside.clone());
        let mut per = Vec::new();
        for (at, text) in query.per.iter().enumerate() {
            per.extend(
                self.text(&format!("per[{at}]"), text, |reader| reader.dimension_columns()).into_iter().flatten(),
            );
        }
        match query.limit {
            Some(rows) => self.plan.limit = Some(Limit { rows, per, with_ties: query.with_ties, skip: query.offset }),
            None => {
                let without =
                    [("per", !query.per.is_empty()), ("offset", query.offset > 0), ("with_ties", query.with_ties)];
                for (argument, _) in without.into_iter().filter(|(_, is)| *is) {
                    self.say(argument, "this is said of the rows that `limit` leaves: give `limit`", Vec::new());
                }
            }
        }
    }
}

/// `late`, `not late`, `late flights`: nothing else stands here, so that names of several words need no quotes.
fn segment(reader: &mut Reader<'_>) -> Read<Condition> {
    if let Some(name) = rest_as_segment(reader) {
        return Ok(Condition::Segment { name, negated: false });
    }
    let negated = reader.eat(&["not"]) || reader.eat_sign("!");
    if let Some(name) = rest_as_segment(reader) {
        return Ok(Condition::Segment { name, negated });
    }
    let path = reader.path()?;
    match reader.segment_named(&path.text()) {
        Some(name) => Ok(Condition::Segment { name, negated }),
        None => {
            let names: Vec<String> = reader.ontology.segments.iter().map(|segment| segment.name.clone()).collect();
            let near = nearest(&path.text(), &names);
            let near = if near.is_empty() { names.into_iter().take(6).collect() } else { near };
            let message =
                format!("there is no segment {}: conditions on fields belong into `filters`", shown(&path.text()));
            Err(Wrong::at(path.at, message).near(near))
        }
    }
}

/// The segment that all of what is left is called, if it is one.
fn rest_as_segment(reader: &mut Reader<'_>) -> Option<String> {
    let place = reader.place();
    reader.back_to(reader.place_of_end());
    let found = reader.segment_named(reader.since(place).trim());
    if found.is_none() {
        reader.back_to(place);
    }
    found
}

/// The datasets that a query names, also by its metrics.
fn named(query: &Query, ontology: &Ontology) -> Vec<String> {
    let texts =
        [&query.measures, &query.dimensions, &query.list, &query.filters, &query.having, &query.order, &query.per];
    let texts = texts.into_iter().flatten().chain(&query.each).chain(&query.time);
    let mut found: Vec<String> = Vec::new();
    let mut note = |entity: &Entity| {
        if !found.contains(&entity.name) {
            found.push(entity.name.clone());
        }
    };
    for tokens in texts.filter_map(|text| tokens(text).ok()) {
        for (at, token) in tokens.iter().enumerate() {
            let (Kind::Word(name) | Kind::Name(name)) = &token.kind else { continue };
            let is = |at: Option<usize>, sign: &str| {
                at.and_then(|at| tokens.get(at))
                    .is_some_and(|token| token.kind == Kind::Sign(if sign == "." { "." } else { "(" }))
            };
            let has = matches!(tokens.get(at + 1).map(|token| &token.kind), Some(Kind::Word(has)) if has.eq_ignore_ascii_case("has"));
            let is_dataset = is(Some(at + 1), ".") && !is(at.checked_sub(1), ".") || is(at.checked_sub(1), "(") || has;
            if let Some(entity) = dataset(ontology, name).filter(|_| is_dataset) {
                note(entity);
            }
            if let Some(metric) = ontology.metric(name) {
                let of_metric = datasets(ontology).filter(|entity| names(&metric.expression, &entity.name));
                of_metric.for_each(&mut note);
            }
        }
    }
    found
}

/// Whether an expression names fields of a dataset.
fn names(expression: &str, dataset: &str) -> bool {
    let tokens = tokens(expression).unwrap_or_default();
    tokens.windows(2).any(|pair| match pair {
        [first, second] => {
            matches!(&first.kind, Kind::Word(name) | Kind::Name(name) if name.eq_ignore_ascii_case(dataset))
                && second.kind == Kind::Sign(".")
        }
        _ => false,
    })
}

/// What tells the rows of a dataset: how they are called, when they were, and its first fields that people group by and
/// compute with.
fn telling(entity: &Entity) -> Vec<Dimension> {
    let label = label_of(entity);
    let time = entity.default_time_field.as_deref().and_then(|name| entity.field(name)).filter(|field| !field.hidden);
    let mut found: Vec<&Field> = label.into_iter().collect();
    let plain = |role: FieldRole| fields(entity).filter(move |field| field.role == role && field.pii.is_none());
    let others = [FieldRole::Dimension, FieldRole::Measure, FieldRole::Attribute, FieldRole::Key].map(plain);
    for field in time.into_iter().chain(others.into_iter().flatten()) {
        if found.len() < TELLING && !found.iter().any(|known| known.name == field.name) {
            found.push(field);
        }
    }
    found.into_iter().map(|field| column(entity, field)).collect()
}

fn column(entity: &Entity, field: &Field) -> Dimension {
    Dimension::of(FieldRef::new(&entity.name, &field.name))
}
