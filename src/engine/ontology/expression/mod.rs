//! The SQL expressions of ontologies: parsed, limited to what they may be, and written for an engine.
//!
//! A [`Scalar`] is computed from one row (fields, conditions); an [`Aggregate`] from many (metrics). Both are portable:
//! what the engines write differently is written for each, and a division by 0 is NULL everywhere.

mod clickhouse;
mod functions;
mod limits;
mod write;
mod zone;

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArguments, Ident, Spanned as _, VisitMut as _, VisitorMut,
    visit_expressions_mut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::dialect::Unwritten;
use crate::model::ontology::{DataType, Entity, Field, Ontology};
use crate::model::source::Dialect;

/// The greatest length of an expression, in characters.
pub const MAX_CHARS: usize = 4_096;

/// How deep an expression may be nested.
const MAX_DEPTH: usize = 48;

/// Why a text is no expression that an ontology may hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at character {offset})")]
pub struct Problem {
    /// What is wrong and what to write instead.
    pub message: String,
    /// Characters before the place, from 0.
    pub offset: usize,
}

/// A name in an expression: `column` or `dataset.field`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    pub dataset: Option<String>,
    pub name: String,
}

/// An expression over one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    expr: Expr,
    refs: Vec<Reference>,
}

/// An expression over many rows: aggregates and metrics, put together by arithmetic.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// With a name in place of each aggregate call, made by [`mark`].
    expr: Expr,
    calls: Vec<Call>,
    metrics: Vec<String>,
}

/// What an aggregate is at its outermost.
pub enum Made {
    /// The call at this position in [`Aggregate::calls`].
    Call(usize),
    /// The metric of this name.
    Metric(String),
    Sum(Aggregate, Aggregate),
    Difference(Aggregate, Aggregate),
    Ratio(Aggregate, Aggregate),
    Other,
}

/// One aggregate call of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    expr: Expr,
    /// In lower case.
    pub function: String,
    pub distinct: bool,
    refs: Vec<Reference>,
}

impl Scalar {
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let expr = parsed(text)?;
        let mut refs = Vec::new();
        limits::scalar(&expr, &Place(text), &mut refs)?;
        Ok(Self { expr, refs })
    }

    /// The names that it is computed from, each once, in their order.
    pub fn refs(&self) -> &[Reference] {
        &self.refs
    }

    /// The name that it is, if it is nothing but a name.
    pub fn as_name(&self) -> Option<&Reference> {
        matches!(self.expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)).then(|| self.refs.first()).flatten()
    }

    /// An expression over `dataset.field` that is the same in every session: days and hours of instants are those of the
    /// ontology's time zone, whatever the session's is.
    pub fn settled(&self, ontology: &Ontology) -> Self {
        self.in_zone(&ontology.calendar.timezone, &|dataset, name| datatype(ontology, dataset, name))
    }

    /// The same for the expression of a field or a row policy of one dataset; `inside` of a field its own name means the
    /// column.
    pub fn settled_in(&self, ontology: &Ontology, entity: &Entity, inside: Option<&str>) -> Self {
        self.in_zone(&ontology.calendar.timezone, &|_, name| own_datatype(entity, name, inside))
    }

    /// `of` says what is known of a name's type.
    fn in_zone(&self, zone: &str, of: &dyn Fn(Option<&str>, &str) -> Option<DataType>) -> Self {
        Self { expr: zone::settled(&self.expr, zone, of), refs: self.refs.clone() }
    }

    /// As SQL; `name` says what stands for a name, and is asked again each time that it occurs.
    pub fn write<E: From<Unwritten>>(
        &self,
        dialect: Dialect,
        name: &mut impl FnMut(Option<&str>, &str) -> Result<String, E>,
    ) -> Result<String, E> {
        write::expression(&self.expr, dialect, name)
    }
}

impl Aggregate {
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let place = Place(text);
        let mut expr = parsed(text)?;
        let mut taken = Take::default();
        let _ = expr.visit(&mut taken);
        let mut calls = Vec::new();
        for call in taken.calls {
            calls.push(limits::call(call, &place)?);
        }
        let mut names = Vec::new();
        limits::scalar(&expr, &place, &mut names)?;
        let mut metrics = Vec::new();
        for name in names {
            match name.dataset {
                _ if marked(&name.name).is_some() => {}
                None => metrics.push(name.name),
                Some(dataset) => {
                    return Err(Problem {
                        message: format!(
                            "{dataset}.{0} stands outside an aggregate: write SUM({dataset}.{0}) or another aggregate of it",
                            name.name
                        ),
                        offset: place.find(&name.name),
                    });
                }
            }
        }
        if calls.is_empty() && metrics.is_empty() {
            let message = "no aggregate and no metric: a metric needs one, such as SUM(dataset.field)".to_owned();
            return Err(Problem { message, offset: 0 });
        }
        Ok(Self { expr, calls, metrics })
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The metrics that it uses, by name.
    pub fn metrics(&self) -> &[String] {
        &self.metrics
    }

    /// The names in its aggregates, each once.
    pub fn refs(&self) -> Vec<Reference> {
        let mut refs: Vec<Reference> = Vec::new();
        for reference in self.calls.iter().flat_map(|call| &call.refs) {
            if !refs.contains(reference) {
                refs.push(reference.clone());
            }
        }
        refs
    }

    /// What it is at its outermost. Sides have the calls of the whole.
    pub fn made(&self) -> Made {
        let of = |expr: &Expr| Self { expr: expr.clone(), ..self.clone() };
        match &self.expr {
            Expr::Nested(inner) => of(inner).made(),
            Expr::Identifier(name) => match marked(&name.value) {
                Some(position) => Made::Call(position),
                None => Made::Metric(name.value.clone()),
            },
            Expr::BinaryOp { left, op: BinaryOperator::Plus, right } => Made::Sum(of(left), of(right)),
            Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => Made::Difference(of(left), of(right)),
            Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => Made::Ratio(of(left), of(right)),
            _ => Made::Other,
        }
    }

    /// As SQL over finished numbers: `call` says what stands for a call (its position in [`Self::calls`]), `metric`
    /// what stands for a metric.
    pub fn write<E: From<Unwritten>>(
        &self,
        dialect: Dialect,
        call: &mut impl FnMut(usize) -> Result<String, E>,
        metric: &mut impl FnMut(&str) -> Result<String, E>,
    ) -> Result<String, E> {
        write::expression(&self.expr, dialect, &mut |_, name| match marked(name) {
            Some(position) => call(position),
            None => metric(name),
        })
    }
}

impl Call {
    pub fn refs(&self) -> &[Reference] {
        &self.refs
    }

    /// Whether equal rows change nothing.
    pub fn ignores_repetition(&self) -> bool {
        self.distinct || matches!(self.function.as_str(), "min" | "max")
    }

    /// Whether it counts, so that it is 0 where there is no row.
    pub fn counts(&self) -> bool {
        self.function == "count"
    }

    /// Whether the parts of it add up to the whole, whatever rows are put in groups.
    pub fn adds_up(&self) -> bool {
        !self.distinct && matches!(self.function.as_str(), "count" | "sum")
    }

    /// As [`Scalar::settled`]; a name without a dataset is one of `own`.
    pub fn settled(&self, ontology: &Ontology, own: &str) -> Self {
        let zone = &ontology.calendar.timezone;
        self.in_zone(zone, &|dataset, name| datatype(ontology, dataset.or(Some(own)), name))
    }

    fn in_zone(&self, zone: &str, of: &dyn Fn(Option<&str>, &str) -> Option<DataType>) -> Self {
        Self { expr: zone::settled(&self.expr, zone, of), ..self.clone() }
    }

    /// As [`Scalar::write`].
    pub fn write<E: From<Unwritten>>(
        &self,
        dialect: Dialect,
        name: &mut impl FnMut(Option<&str>, &str) -> Result<String, E>,
    ) -> Result<String, E> {
        write::expression(&self.expr, dialect, name)
    }
}

/// An expression with other names for its fields; `None` where there is none for one, and for what cannot be read.
pub fn renamed(text: &str, name: &mut impl FnMut(&str, &str) -> Option<(String, String)>) -> Option<String> {
    let mut expr = parsed(text).ok()?;
    let mut changed = false;
    let missing = visit_expressions_mut(&mut expr, |expr| {
        let Expr::CompoundIdentifier(parts) = expr else { return ControlFlow::Continue(()) };
        let [dataset, field] = parts.as_mut_slice() else { return ControlFlow::Break(()) };
        let Some(new) = name(&dataset.value, &field.value) else { return ControlFlow::Break(()) };
        for (ident, new) in [(dataset, new.0), (field, new.1)] {
            if ident.value != new {
                let plain = new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let plain = plain && new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                *ident = if plain { Ident::new(new) } else { Ident::with_quote('"', new) };
                changed = true;
            }
        }
        ControlFlow::Continue(())
    });
    match missing {
        ControlFlow::Break(()) => None,
        ControlFlow::Continue(()) if changed => Some(expr.to_string()),
        ControlFlow::Continue(()) => Some(text.to_owned()),
    }
}

/// The type of a field, where the ontology tells it.
fn datatype(ontology: &Ontology, dataset: Option<&str>, name: &str) -> Option<DataType> {
    ontology.field(dataset?, name).map(|field| field.datatype)
}

/// The type of a field, or of a column that a field is nothing but.
fn own_datatype(entity: &Entity, name: &str, inside: Option<&str>) -> Option<DataType> {
    let itself = inside.is_some_and(|field| field.eq_ignore_ascii_case(name));
    let field = entity.field(name).filter(|_| !itself);
    let is_column = |field: &&Field| field.expression.trim().eq_ignore_ascii_case(name);
    field.or_else(|| entity.fields.iter().find(is_column)).map(|field| field.datatype)
}

/// A name that cannot be written in an expression.
fn mark(position: usize) -> String {
    format!("\u{0}{position}")
}

fn marked(name: &str) -> Option<usize> {
    name.strip_prefix('\u{0}')?.parse().ok()
}

/// Takes the aggregate calls out of an expression.
#[derive(Default)]
struct Take {
    calls: Vec<Function>,
}

impl VisitorMut for Take {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && functions::is_aggregate(&function.name.to_string())
            && !matches!(function.args, FunctionArguments::None)
        {
            let ident = Ident::new(mark(self.calls.len()));
            self.calls.push(function.clone());
            *expr = Expr::Identifier(ident);
        }
        ControlFlow::Continue(())
    }
}

/// The text of an expression, to say where something is.
struct Place<'a>(&'a str);

impl Place<'_> {
    fn of(&self, expr: &Expr) -> usize {
        let start = expr.span().start;
        self.at(start.line, start.column)
    }

    /// Lines and columns count from 1; 0 is nowhere.
    fn at(&self, line: u64, column: u64) -> usize {
        let line = usize::try_from(line).unwrap_or(1).max(1);
        let column = usize::try_from(column).unwrap_or(1).max(1);
        let before: usize = self.0.split('\n').take(line - 1).map(|line| line.chars().count() + 1).sum();
        before + column - 1
    }

    fn find(&self, name: &str) -> usize {
        self.0.find(name).map_or(0, |bytes| self.0[..bytes].chars().count())
    }
}

fn parsed(text: &str) -> Result<Expr, Problem> {
    let chars = text.chars().count();
    if chars > MAX_CHARS {
        let message = format!("{chars} characters; an expression has at most {MAX_CHARS}");
        return Err(Problem { message, offset: MAX_CHARS });
    }
    if text.trim().is_empty() {
        return Err(Problem { message: "empty: write a column's name or an SQL expression".into(), offset: 0 });
    }
    if text.contains('\u{0}') {
        return Err(Problem { message: "a character that no text may hold (U+0000)".into(), offset: 0 });
    }
    let place = Place(text);
    let dialect = GenericDialect {};
    let wrong = |error: &dyn std::fmt::Display| syntax(&error.to_string(), &place);
    let mut parser =
        Parser::new(&dialect).with_recursion_limit(MAX_DEPTH).try_with_sql(text).map_err(|error| wrong(&error))?;
    let expr = parser.parse_expr().map_err(|error| wrong(&error))?;
    let next = parser.peek_token();
    if next.token != Token::EOF {
        let start = next.span.start;
        let message = format!("{} is too much: one expression, and nothing after it", next.token);
        return Err(Problem { message, offset: place.at(start.line, start.column) });
    }
    Ok(expr)
}

/// The parser's message without its own way to say where.
fn syntax(error: &str, place: &Place<'_>) -> Problem {
    let text = error.strip_prefix("sql parser error: ").unwrap_or(error);
    let (message, at) = text.split_once(" at Line: ").unwrap_or((text, "1, Column: 1"));
    let mut numbers = at.split(", Column: ").map(|number| number.trim().parse::<u64>().unwrap_or(1));
    let (line, column) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
    Problem { message: format!("not an SQL expression: {message}"), offset: place.at(line, column) }
}

#[cfg(test)]
mod tests;
