//! From a plan to an answer: compiled, run, checked, told, drawn.

use serde_json::Value;

use super::relax::{contradictions, loosened, relaxations};
use super::reword::{names_personal, reword};
use super::{Body, Made, Open, Questions, Refused, Steps, civil};
use crate::base::counted::{counted, grouped};
use crate::config::Budgets;
use crate::engine::agent::compiler::{CompileError, Compiled, NoteKind, OutputColumn, compile, with_way};
use crate::engine::agent::explainer::{Facts, Told, tell, unsupported_numbers};
use crate::engine::agent::lineage;
use crate::engine::agent::near::unstored;
use crate::engine::agent::prepared::{MAX_CHARS, Prepared};
use crate::engine::agent::query::write;
use crate::engine::agent::verifier::{Finding, Verdict, verify};
use crate::engine::chart::choose::choose;
use crate::engine::chart::draw::{self, Theme};
use crate::engine::job::Job;
use crate::engine::render::column::{Column, Role};
use crate::engine::render::nouns::capital;
use crate::engine::render::number::Style;
use crate::model::error::Result;
use crate::model::plan::Plan;
use crate::model::reading::{Chosen, Reading};
use crate::model::run::{Caveat, CaveatKind, CheckFound};
use crate::model::table::Table;

/// Most conditions that are left out, one after the other, to explain an empty answer.
const MOST_RELAXED: usize = 6;

/// Most ways that are settled one after the other in one plan.
const MOST_WAYS: usize = 8;

/// An answer, and how its question was read.
pub(super) struct Answer {
    pub reading: Reading,
    pub body: Body,
}

/// What a plan is compiled to, or why not.
#[expect(clippy::large_enum_variant, reason = "one a question, taken apart at once")]
pub(super) enum Settled {
    Compiled(Box<Compiled>),
    Not(Made),
}

impl Questions {
    /// Compiles, runs, checks and tells a plan. `chosen` settles which way is meant where there are several.
    pub(super) async fn answer(
        &self,
        job: &Job<'_>,
        prepared: &Prepared,
        question: &str,
        mut reading: Reading,
        chosen: &[Chosen],
        steps: &mut Steps,
    ) -> Result<Made> {
        job.says(0.3, "Finding the way through the data");
        let compiled = match settled(prepared, &mut reading.plan, chosen, job.budget.ask_rows) {
            Settled::Compiled(compiled) => compiled,
            Settled::Not(made) => {
                steps.done("compile", "no SQL");
                steps.record.add("compile", || why_not(&made));
                return Ok(match made {
                    Made::Cannot(refused) => Made::Cannot(Refused { plan: Some(reading.plan), ..refused }),
                    made => made,
                });
            }
        };
        let answer = self.computed(job, prepared, question, (reading, &compiled), steps).await?;
        Ok(Made::Answer(Box::new(answer)))
    }

    /// Runs, checks and tells a plan by its statement. `question` is empty where nobody asked in words, and then no
    /// language model is asked for better ones.
    pub(super) async fn computed(
        &self,
        job: &Job<'_>,
        prepared: &Prepared,
        question: &str,
        (reading, compiled): (Reading, &Compiled),
        steps: &mut Steps,
    ) -> Result<Answer> {
        let budget = Budgets {
            sql_chars: MAX_CHARS,
            sql_rows: job.budget.ask_rows,
            sql_time: job.budget.ask_sql_time,
            ..job.budget.clone()
        };
        let job = &job.within(&budget);
        steps.done("compile", format!("{} bytes of SQL", compiled.sql.len()));
        steps.record.add("sql", || compiled.sql.clone());
        steps.trace.sql = Some(compiled.sql.clone());
        steps.trace.notes.extend(compiled.notes.iter().map(|note| note.says.clone()));

        job.says(0.5, "Running the query");
        let mut ran = self.sql.query(job, &compiled.sql).await?;
        cut(&mut ran.table, job.budget.ask_rows);
        // Whatever the engine lets them be called.
        for (column, made) in ran.table.columns.iter_mut().zip(&compiled.columns) {
            column.name.clone_from(&made.heading);
        }
        let total = match &compiled.count_sql {
            Some(sql) if ran.table.truncated => only_count(&self.sql.query(job, sql).await?.table),
            _ => None,
        };
        steps.trace.row_count = Some(ran.table.rows.len());
        steps.done("run", counted(ran.table.rows.len(), "row"));
        steps.record.add_json("run", &ran.table);

        job.says(0.7, "Checking the result");
        let verdict = self.checked(job, prepared, compiled, &reading.plan, &ran.table).await?;
        steps.record.add("verification", || said(&verdict));
        let passed = verdict.passed && steps.caveats.is_empty();
        let mut caveats = steps.caveats.clone();
        caveats.extend(of_result(&verdict, compiled, &ran.table, total));
        steps.trace.verified = Some(passed);
        steps.done("check", counted(verdict.findings.len(), "check"));
        let found = verdict.findings.into_iter();
        steps.trace.checks = found.map(|it| CheckFound { name: it.check, passed: it.passed, says: it.says }).collect();
        if is_empty(&reading.plan, &ran.table) {
            let mut why: Vec<String> = prepared.outside(&reading.plan).into_iter().collect();
            why.extend(self.relaxed(job, prepared, &reading.plan).await?);
            steps.record.add("relax", || why.join("\n"));
            caveats.extend(why.into_iter().map(|says| CaveatKind::Empty.says(says)));
            steps.done("relax", "which condition leaves nothing");
        }

        let unstored = unstored(&reading.plan, &prepared.ontology, &prepared.values);
        caveats.extend(unstored.into_iter().map(|says| CaveatKind::Empty.says(says)));
        caveats.extend(prepared.compared_outside(&reading.plan).map(|says| CaveatKind::Empty.says(says)));
        let in_part = prepared.in_part(&reading.plan, civil(&prepared.ontology, self.clock.now())?);
        caveats.extend(in_part.into_iter().map(|says| CaveatKind::Method.says(says)));

        job.says(0.9, "Writing the answer");
        let columns = columns(&compiled.columns, &reading.plan);
        let warned: Vec<String> = caveats.iter().map(|caveat| caveat.says.clone()).collect();
        let facts = Facts {
            reading: &reading,
            ontology: &prepared.ontology,
            columns: &columns,
            table: &ran.table,
            joins: &compiled.reads.joins,
            total,
            caveats: &warned,
            verified: passed,
        };
        let told = tell(&facts);
        steps.record.add("narrative", || told.narrative.clone());
        let charts = choose(&reading.plan, &columns, &ran.table, &told.read_as);
        let svg = charts.iter().map(|chart| draw::svg(chart, Theme::Auto)).collect();
        steps.record.add_json("chart", &charts);
        let lineage = lineage::of(&reading.plan, compiled, &prepared.ontology, ran.table.rows.len());
        steps.record.add_json("lineage", &lineage);
        steps.done("tell", format!("{} characters", told.narrative.len()));
        let narrative = match question.is_empty() || names_personal(&reading.plan, &prepared.ontology) {
            true => told.narrative.clone(),
            false => self.reworded(job, question, &told, &ran.table, &columns, steps).await,
        };
        let body = Body {
            narrative,
            read_as: Some(told.read_as),
            assumptions: reading.assumptions.clone(),
            caveats,
            verified: Some(passed),
            charts,
            svg,
            lineage: Some(lineage),
            table: Some(ran.table),
            query: Some(write(&reading.plan, &prepared.ontology)),
            ..Body::default()
        };
        Ok(Answer { reading, body })
    }

    /// Looks up what the statement relies on. What cannot be looked up is not verified.
    async fn checked(
        &self,
        job: &Job<'_>,
        prepared: &Prepared,
        compiled: &Compiled,
        plan: &Plan,
        result: &Table,
    ) -> Result<Verdict> {
        let looked_up = match &compiled.checks_sql {
            None => None,
            Some(sql) => match self.sql.query(job, sql).await {
                Ok(answer) => Some(answer.table),
                Err(error) => {
                    job.check()?;
                    tracing::warn!(code = error.code.info().name, "the checks of an answer could not be run");
                    None
                }
            },
        };
        Ok(verify(compiled, plan, &prepared.ontology, result, looked_up.as_ref(), &prepared.bounds))
    }

    /// Which condition it is that leaves nothing: how many rows there would be if a text were less exact, without each,
    /// or without two of them.
    async fn relaxed(&self, job: &Job<'_>, prepared: &Prepared, plan: &Plan) -> Result<Vec<String>> {
        let mut said = Vec::new();
        for (condition, loose) in loosened(plan, &prepared.ontology).into_iter().take(MOST_RELAXED) {
            let count = self.count(job, prepared, &loose).await?;
            if count > 0 {
                said.push(format!("With “{condition}”, which leaves capitals aside, {}.", there_are(count)));
            }
        }
        for (condition, without) in relaxations(plan, &prepared.ontology).into_iter().take(MOST_RELAXED) {
            let count = self.count(job, prepared, &without).await?;
            if count > 0 {
                said.push(format!("Without the condition “{condition}” {}.", there_are(count)));
            }
        }
        if !said.is_empty() {
            return Ok(said);
        }
        for ((one, other), without) in contradictions(plan, &prepared.ontology) {
            let count = self.count(job, prepared, &without).await?;
            if count > 0 {
                said.push(format!(
                    "No row meets “{one}” or “{other}” with the rest: without both of these conditions {}.",
                    there_are(count)
                ));
                break;
            }
        }
        Ok(said)
    }

    /// The number of rows that a plan counts; 0 where it has no statement.
    async fn count(&self, job: &Job<'_>, prepared: &Prepared, plan: &Plan) -> Result<usize> {
        job.check()?;
        let Ok(compiled) = compile(plan, &prepared.ontology, &prepared.graph, prepared.dialect, 1) else {
            return Ok(0);
        };
        let answer = self.sql.query(job, &compiled.sql).await?;
        Ok(only_count(&answer.table).unwrap_or(0))
    }

    /// Better words by a language model, where the workspace lets values be sent to one. Every number in them must be
    /// one of the answer's.
    async fn reworded(
        &self,
        job: &Job<'_>,
        question: &str,
        told: &Told,
        table: &Table,
        columns: &[Column],
        steps: &mut Steps,
    ) -> String {
        let narrative = told.narrative.as_str();
        let Ok(model) = self.models.open(job).await else { return narrative.to_owned() };
        let note = match reword(question, narrative, &model).await {
            Ok(None) => return narrative.to_owned(),
            Ok(Some(better)) => {
                steps.record.add("reworded", || better.clone());
                if unsupported_numbers(&better, table, columns, &[narrative]).is_empty() {
                    steps.done("reword", "by a language model");
                    return better;
                }
                "The language model's words had other numbers, and were not used.".to_owned()
            }
            Err(error) => format!("The language model found no better words: {error}."),
        };
        steps.record.add("reworded", || note.clone());
        steps.trace.notes.push(note);
        narrative.to_owned()
    }
}

/// `there is 1 row`, `there are 2 rows`.
fn there_are(rows: usize) -> String {
    format!("there {} {}", if rows == 1 { "is" } else { "are" }, counted(rows, "row"))
}

/// What is to be known of a result: how the data are, what is left out, what failed, how its numbers are made.
fn of_result(verdict: &Verdict, compiled: &Compiled, table: &Table, total: Option<usize>) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = verdict.caveats.iter().map(|says| CaveatKind::Data.says(says)).collect();
    let shown = |total: usize| format!("The first {} of {} rows are shown.", grouped(table.rows.len()), grouped(total));
    caveats.extend(total.map(shown).or_else(|| verdict.cut.clone()).map(|says| CaveatKind::Incomplete.says(says)));
    let failed = verdict.findings.iter().filter(|finding| !finding.passed);
    caveats.extend(failed.map(|finding| CaveatKind::Unverified.says(&finding.says)));
    let is_gap = |value: &Value| value.is_null() || value.as_f64() == Some(0.0);
    let has_gaps = table.rows.iter().any(|row| row.iter().any(is_gap));
    let is_number = |column: &OutputColumn| matches!(column.role, Role::Measure(_));
    let mut numbers =
        table.rows.iter().flat_map(|row| row.iter().zip(&compiled.columns)).filter(|(_, column)| is_number(column));
    let is_empty = numbers.any(|(value, _)| value.is_null());
    let notes = compiled.notes.iter().filter(|note| match note.kind {
        NoteKind::Always => true,
        NoteKind::Gaps => has_gaps,
        NoteKind::Empty => is_empty,
    });
    caveats.extend(notes.map(|note| CaveatKind::Method.says(&note.says)));
    caveats
}

/// Compiles a plan; where several ways are equally good, the one that was chosen, or the question which.
pub(super) fn settled(prepared: &Prepared, plan: &mut Plan, chosen: &[Chosen], rows: usize) -> Settled {
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    for _ in 0..MOST_WAYS {
        let error = match compile(plan, &prepared.ontology, &prepared.graph, prepared.dialect, rows) {
            Ok(compiled) => return Settled::Compiled(Box::new(compiled)),
            Err(error) => error,
        };
        let (Some(open), CompileError::Ambiguous { to, .. }) = (error.clarification(), &error) else {
            return Settled::Not(Made::Cannot(Refused::because(format!("{}.", capital(&error.to_string())))));
        };
        let Some(way) = chosen.iter().find(|it| it.key == open.key) else {
            return Settled::Not(Made::Clarify(Open { asked: vec![open], plan: None }));
        };
        let via: Vec<String> = way.value.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let with = with_way(plan, to, &via);
        if with == *plan {
            return Settled::Not(Made::Clarify(Open { asked: vec![open], plan: None }));
        }
        *plan = with;
    }
    let reason = "Too many of its ways through the data stay open. Ask for less at once.";
    Settled::Not(Made::Cannot(Refused::because(reason)))
}

/// Why a plan has no statement.
fn why_not(made: &Made) -> String {
    match made {
        Made::Cannot(refused) => refused.cannot.reason.clone(),
        Made::Clarify(open) => open.asked.iter().map(|open| format!("{}\n", open.question)).collect(),
        Made::Answer(_) => String::new(),
    }
}

/// What was found, a line each.
fn said(verdict: &Verdict) -> String {
    let finding = |it: &Finding| {
        let how = if it.passed { "passed" } else { "failed" };
        format!("{how} {}: {}\n", it.check, it.says)
    };
    let caveats = verdict.caveats.iter().chain(&verdict.cut).map(|caveat| format!("caveat: {caveat}\n"));
    verdict.findings.iter().map(finding).chain(caveats).collect()
}

/// Whether nothing met the question: no rows, or one row of nothing.
fn is_empty(plan: &Plan, table: &Table) -> bool {
    let nothing = |value: &Value| value.is_null() || value.as_i64() == Some(0);
    match table.rows.as_slice() {
        [] => true,
        [row] => plan.dimensions.is_empty() && row.iter().all(nothing),
        _ => false,
    }
}

/// The last number of the first row.
fn only_count(table: &Table) -> Option<usize> {
    let count = table.rows.first().and_then(|row| row.last()).and_then(Value::as_u64);
    count.and_then(|count| usize::try_from(count).ok())
}

/// The statement gives one row more than may be shown, to tell whether there are more.
fn cut(table: &mut Table, rows: usize) {
    if table.rows.len() > rows {
        table.rows.truncate(rows);
        table.truncated = true;
    }
}

fn columns(of: &[OutputColumn], plan: &Plan) -> Vec<Column> {
    let style = |column: &OutputColumn| Style {
        datatype: column.datatype,
        unit: column.unit.clone(),
        format: column.format.clone(),
        ..Style::default()
    };
    of.iter().map(|column| Column::new(column.heading.clone(), column.role, plan, style(column))).collect()
}
