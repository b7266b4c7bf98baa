//! A question from its words to a plan, stage by stage: rewritten, read as items, sketched, its nouns resolved, the plan
//! built, and every word of the question held against it. Where that gives no plan, other words for the question are
//! tried, and what may be meant is asked back.

use std::cell::Cell;

use super::account;
use super::compose::{Builder, Fault};
use super::dialogue::points_back::Pointer;
use super::dialogue::{about_answer, follow, regroup, variations};
use super::items::{self, Item, Kind, counted, deeds, endpoints, extent, name_parts, years};
use super::lexicon::{Effort, Lexicon, Sense, words};
use super::parse;
use super::repair::{advice, future, left_out_words, other_orders, refuse, spelling, unclear, vague};
use super::resolve::{self, Resolver, Trouble};
use super::rewrite;
use super::sketch;
use super::text::token::{TokenKind, tokens};
use super::time::{self, TimePhrase};
use super::vocabulary;
use crate::engine::agent::plan::validate::nonsense;
use crate::engine::agent::planner::Context;
use crate::engine::ontology::graph::Graph;
use crate::model::ontology::Ontology;
use crate::model::plan::{Plan, Window};
use crate::model::reading::{Cannot, Outcome, Phrase, Reading};

/// No question that is longer is read, in characters.
pub(super) const MAX_QUESTION: usize = 2_000;

/// No question with more words is read, whatever their length.
pub(super) const MAX_WORDS: usize = 150;

/// What reading takes of the work for each word, besides what there is to weigh.
const STEPS_OF_A_WORD: u64 = 10;

/// A question with more words has few others tried in its place, since reading each takes as long.
const LONG: usize = 30;
const TRIES_OF_A_LONG_ONE: usize = 4;

/// Stored values that are offered in place of one that is not stored.
const MAX_NEAR: usize = 5;

/// No answer has more numbers beside each other.
const MAX_MEASURES: usize = 12;

/// A plan for a question, a question back, or why there is none, within some work: what is not finished within it is not
/// answered.
pub(super) fn plan_within(
    question: &str,
    on: &Lexicon,
    ontology: &Ontology,
    graph: &Graph,
    context: &Context,
    effort: &Effort<'_>,
) -> Outcome {
    let key = vague::key(question);
    let meant = context.chosen.iter().rev().find(|chosen| chosen.key == key).map(|chosen| chosen.value.as_str());
    let as_meant = |text: &str| vague::as_chosen(bounded(text, on, ontology, graph, context, effort), text);
    let goes_on = !context.previous.is_empty();
    let outcome = match meant.filter(|_| !goes_on) {
        Some(text) => as_meant(text),
        None if unclear::parts_of_months(question).is_some() => cannot(
            "It is not clear which days of the month are meant: name the first and the last.".into(),
            vec![],
            vec![],
        ),
        None => bounded(question, on, ontology, graph, context, effort),
    };
    match outcome {
        Outcome::Cannot(cannot) if !effort.is_over() => {
            // Names may have "avg" in them: it is put in full only where it is not understood as it stands.
            if let Some(text) = spelling::with_average(question) {
                return plan_within(&text, on, ontology, graph, context, effort);
            }
            // What goes on from another question stands for what was chosen only where it means nothing by itself.
            if let Some(text) = meant.filter(|_| goes_on) {
                return as_meant(text);
            }
            let left = Cell::new(if words_of(question) > LONG { TRIES_OF_A_LONG_ONE } else { usize::MAX });
            let tried = |text: &str| {
                if left.get() == 0 || effort.is_over() {
                    return false;
                }
                left.set(left.get() - 1);
                matches!(bounded(text, on, ontology, graph, context, effort), Outcome::Plan(_))
            };
            for text in other_orders::ways(question) {
                if left.get() == 0 || effort.is_over() {
                    break;
                }
                left.set(left.get() - 1);
                if let plan @ Outcome::Plan(_) = bounded(&text, on, ontology, graph, context, effort) {
                    return plan;
                }
            }
            // What was chosen already is not asked again.
            let read = |text: &str| {
                let may = meant.is_none() && left.get() > 0 && !effort.is_over();
                left.set(left.get().saturating_sub(1));
                may.then(|| bounded(text, on, ontology, graph, context, effort))
            };
            let open = vague::asked_back(question, ontology, &tried)
                .or_else(|| left_out_words::asked_back(question, &cannot, on, ontology, &read));
            match open {
                Some(open) => Outcome::Clarify(vec![open]),
                None => Outcome::Cannot(advice::said_better(cannot, on, ontology, &tried)),
            }
        }
        outcome => outcome,
    }
}

/// A question as it stands, if it is not too long.
fn bounded(
    question: &str,
    on: &Lexicon,
    ontology: &Ontology,
    graph: &Graph,
    context: &Context,
    effort: &Effort<'_>,
) -> Outcome {
    if question.chars().count() > MAX_QUESTION {
        return cannot(format!("The question is longer than {MAX_QUESTION} characters."), Vec::new(), Vec::new());
    }
    let words = words_of(question);
    if words > MAX_WORDS {
        let reason = format!("The question has {words} words, and at most {MAX_WORDS} are read. Ask for less at once.");
        return cannot(reason, Vec::new(), Vec::new());
    }
    context.record.add("question", || question.to_owned());
    let outcome =
        effort.spend(STEPS_OF_A_WORD * words as u64).then(|| read(question, on, ontology, graph, context, effort));
    let Some(outcome) = outcome.filter(|_| !effort.is_over()) else {
        let reason = "There are too many ways to read this question to weigh them all. Ask for less at once, or name \
                      things by their full names.";
        return cannot(reason.into(), Vec::new(), Vec::new());
    };
    outcome
}

fn words_of(question: &str) -> usize {
    tokens(question).iter().filter(|token| token.kind != TokenKind::Punct).count()
}

fn read(
    question: &str,
    on: &Lexicon,
    ontology: &Ontology,
    graph: &Graph,
    context: &Context,
    effort: &Effort<'_>,
) -> Outcome {
    let asked = question;
    let (question, misspelt) = spelling::corrected(question, on);
    let rewriter = rewrite::Rewriter { on, ontology, now: context.now, record: &context.record };
    context.record.add("spelling", || question.clone());
    let question = rewriter.around(question);
    let pointer = Pointer::of(&question, on, ontology);
    let whole = rewriter.whole(question.clone());
    let lost = rewrite::lost(&question, &whole);
    let question = whole;
    let last = context.previous.last().map(|turn| &turn.plan);
    let list = last.and_then(|plan| about_answer::listed(&question, plan, ontology));
    let counted = last.filter(|_| list.is_some());
    let last = last.filter(|_| list.is_none());
    let question = list.unwrap_or(question);
    let some = last.and_then(|plan| variations::of_them(&question, plan, ontology));
    let narrows_rows = some.is_some();
    let question = some.unwrap_or(question);
    let again = |plan: Plan| {
        context.record.add_json("dialogue", &plan);
        Outcome::Plan(Box::new(Reading { plan, follows: true, ..Reading::default() }))
    };
    if let Some(plan) = last.and_then(|plan| variations::told(&question, plan, ontology)) {
        return again(plan);
    }
    let of_it = |plan| {
        about_answer::asked(&question, plan, ontology).or_else(|| variations::of_the_others(&question, plan, ontology))
    };
    match last.and_then(of_it) {
        Some(Ok(plan)) => return again(plan),
        Some(Err(reason)) => {
            context.record.add("dialogue", || reason.clone());
            return cannot(reason, Vec::new(), Vec::new());
        }
        None => {}
    }
    let regrouped = regroup::by_what(&question, last);
    if regrouped.is_some() {
        match last {
            None => return goes_on(),
            Some(before) if before.is_listing() || before.limit.is_some() => {
                let reason = "The answer before is a list or the first of one, which is not divided: say the whole \
                              question with what the number is by.";
                return cannot(reason.into(), Vec::new(), Vec::new());
            }
            Some(_) => {}
        }
    }
    let question = regrouped.unwrap_or(question);
    let beside = last.and_then(|plan| variations::beside(&question, plan));
    let leans = beside.is_some();
    let question = beside.unwrap_or(question);
    if !context.previous.is_empty() {
        context.record.add("dialogue", || question.clone());
    }
    let parts = rewriter.parts(question.clone());
    if let Some(lost) = lost.or_else(|| rewrite::lost(&question, &parts)) {
        return cannot(
            format!("It is not understood what “{lost}” says here: say that part in other words."),
            vec![lost],
            Vec::new(),
        );
    }
    let question = parts;
    context.record.add("tokens", || tokens(&question).iter().map(|token| format!("{token:?}\n")).collect());
    let mut items = items::items(&question, on, context.now, &ontology.calendar);
    years::settle(&mut items, ontology, context.now.year());
    deeds::settle(&mut items, on);
    if let Some(at) = endpoints::begin_without_from(&items) {
        items.splice(at..at, items::items("from", on, context.now, &ontology.calendar));
    }
    let moved = context.extent.map(|extent| extent::settle(&mut items, extent, &ontology.calendar)).unwrap_or_default();
    if let Some(reason) = refuse::refusal(&items) {
        return cannot(reason.to_owned(), Vec::new(), Vec::new());
    }
    name_parts::find(&mut items, on, effort);
    counted::settle(&mut items, on, ontology);
    let lead = last.and_then(|_| follow::lead(&items));
    let leads = last.is_none() && follow::lead(&items).is_some_and(|(lead, _)| lead > 0);
    let narrows = items.first().is_some_and(|item| item.any(&["only", "just", "now"]));
    if leads && !narrows {
        return goes_on();
    }
    let said = &items[lead.map_or(0, |(lead, _)| lead)..];
    context.record.add("items", || said.iter().map(|item| format!("{item:?}\n")).collect());
    let mut sketch = parse::sketch(said, on, ontology);
    context.record.add("sketch", || format!("{sketch:#?}"));
    // "Only from JFK" narrows what nobody asked for.
    if leads && follow::is_fragment(&sketch) {
        return goes_on();
    }
    let follows = last.filter(|_| lead.is_some() || narrows_rows || follow::is_fragment(&sketch));
    // Of other things than numbers it is not known whether they are the rows before or what belongs to them.
    let of_things = sketch.subject.is_some();
    if follows.is_some() {
        follow::settle(&mut sketch);
    }
    if let Some((noun, text)) = sketch.absent.first() {
        let mut near = Vec::new();
        for entry in &sketch.nouns[*noun].entries {
            if let Sense::Field(d, f) = entry.sense
                && near.len() < MAX_NEAR
            {
                near.extend(on.near_values(d, f, text));
            }
        }
        near.truncate(MAX_NEAR);
        let field = &sketch.nouns[*noun].text;
        return cannot(format!("There is no {field} “{text}” in the data."), vec![text.clone()], near);
    }
    if let Some(reason) = sketch.refused.take() {
        return cannot(reason, Vec::new(), Vec::new());
    }
    if let Some(unknown) = unknown(&sketch.unknown) {
        return refuse::unread(unknown, &items, on, ontology);
    }
    if follows.filter(|_| !narrows_rows).is_some_and(|before| follow::adds_nothing(&sketch, before, ontology)) {
        let reason = "It is not understood what this asks for beside the answer before: ask a whole question.";
        return cannot(reason.into(), Vec::new(), Vec::new());
    }
    let pointer = pointer.filter(|_| !narrows_rows && counted.is_none());
    if let Some(pointer) = pointer.as_ref().filter(|_| follows.is_none() || of_things) {
        return cannot(pointer.unsaid(), Vec::new(), Vec::new());
    }
    if sketch.measures.len() > MAX_MEASURES {
        return cannot(format!("The question asks for more than {MAX_MEASURES} numbers."), Vec::new(), Vec::new());
    }
    let resolver = Resolver {
        ontology,
        graph,
        chosen: &context.chosen,
        effort,
        sketch: &sketch,
        before: follows.and_then(|plan| previous_anchor(plan, ontology, graph)),
    };
    let (anchor, found) = match resolver.resolve() {
        Ok(resolved) => resolved,
        Err(Trouble::Ask(clarification)) => return Outcome::Clarify(vec![*clarification]),
        Err(Trouble::Nothing(noun)) if !sketch.nouns[noun].hints.is_empty() => {
            let text = &sketch.nouns[noun].text;
            return cannot(format!("No field says what “{text}” is by: name the field."), Vec::new(), Vec::new());
        }
        Err(Trouble::Nothing(noun)) => {
            let text = &sketch.nouns[noun].text;
            return cannot(
                format!("“{text}” fits nothing here."),
                vec![text.clone()],
                on.near(&sketch.nouns[noun].norm, ontology),
            );
        }
        Err(Trouble::Apart(noun, from)) => {
            let text = &sketch.nouns[noun].text;
            return cannot(format!("Nothing joins “{text}” with the {from}."), Vec::new(), Vec::new());
        }
    };
    if anchor == usize::MAX {
        return cannot("The question names nothing of this ontology.".into(), Vec::new(), on.near("", ontology));
    }
    context.record.add("resolved", || {
        let noun = |(noun, found): (&sketch::Noun, &Option<resolve::Found>)| {
            let means = found.as_ref().map_or_else(|| "nothing".to_owned(), |found| resolver.words(found));
            format!("{}: {means}\n", noun.text)
        };
        sketch.nouns.iter().zip(&found).map(noun).collect()
    });
    let mut builder = Builder {
        resolver: &resolver,
        sketch: &sketch,
        found: &found,
        anchor,
        assumptions: Vec::new(),
        plan: Plan::default(),
    };
    let more = lead.is_some_and(|(_, more)| more);
    let built = match follows {
        Some(before) => follow::merge(&mut builder, before, more, follow::narrows(&items)).and_then(|plan| {
            let plan = if narrows_rows { variations::narrowed(plan, before) } else { Some(plan) };
            let open = || Fault::Cannot("Two times are asked for: say the whole question again.".into());
            builder.plan = plan.ok_or_else(open)?;
            Ok(())
        }),
        None => match (builder.build(), counted) {
            (Ok(()), Some(before)) => {
                let list = std::mem::take(&mut builder.plan);
                let listed = about_answer::with_conditions(list, before, ontology).map_err(Fault::Cannot);
                listed.map(|plan| builder.plan = plan)
            }
            (built, _) => built,
        },
    };
    match built {
        Ok(()) => {}
        Err(Fault::Ask(clarification)) => return Outcome::Clarify(vec![*clarification]),
        Err(Fault::Cannot(reason)) => return cannot(reason, Vec::new(), Vec::new()),
    }
    if let (Some(pointer), Some(before)) = (&pointer, follows)
        && !pointer.is_carried(before, &builder.plan)
    {
        return cannot(pointer.unsaid(), Vec::new(), Vec::new());
    }
    if let Some(window) =
        default_window(context, ontology).filter(|_| !builder.has_time() && !builder.plan.measures.is_empty())
    {
        let said = format!("The question names no time: {} is taken.", window.phrase.clone().unwrap_or_default());
        if builder.default_window(window).is_ok() {
            builder.assumptions.push(said);
        }
    }
    context.record.add_json("plan", &builder.plan);
    if let Some(reason) = nonsense(&builder.plan, ontology).into_iter().next() {
        context.record.add("validation", || reason.clone());
        return cannot(reason, Vec::new(), Vec::new());
    }
    let account = account::Account {
        question: asked,
        items: said,
        sketch: &sketch,
        found: &found,
        resolver: &resolver,
        on,
        effort,
        anchor,
        plan: &builder.plan,
        follows: follows.is_some(),
    };
    let lost = account::lost(&account);
    context.record.add("account", || match &lost {
        Some(lost) => format!("“{lost}” left no trace in the plan"),
        None => "every word that means something left its trace in the plan".to_owned(),
    });
    if let Some(lost) = lost {
        return cannot(
            format!("It is not clear what “{lost}” says here: say that part in other words."),
            vec![lost],
            Vec::new(),
        );
    }
    if let Some(open) = future::not_begun(&mut builder.plan, context) {
        return Outcome::Clarify(vec![open]);
    }
    let mut assumptions = std::mem::take(&mut builder.assumptions);
    let plan = std::mem::take(&mut builder.plan);
    assumptions.extend(moved);
    assumptions.extend(misspelt.iter().map(|(word, right)| format!("“{word}” read as “{right}”.")));
    let mut phrases = Vec::new();
    for (noun, found) in sketch.nouns.iter().zip(&found) {
        let Some(found) = found else { continue };
        phrases.push(Phrase { text: noun.text.clone(), means: resolver.words(found) });
        if let Some(right) = &noun.corrected {
            assumptions.push(format!("“{}” read as “{right}”.", noun.text));
        }
    }
    let values = found.iter().flatten().filter(|found| found.whole).filter_map(|found| match &found.target {
        resolve::Target::Value(dataset, field, value) => Some((*dataset, *field, value.as_str())),
        _ => None,
    });
    assumptions.extend(name_parts::begun_alike(values, on, effort));
    phrases.extend(items.iter().filter_map(time_phrase));
    let candidates = resolver.others(anchor, &found);
    Outcome::Plan(Box::new(Reading {
        plan,
        phrases,
        assumptions,
        follows: leans || counted.is_some() || follows.is_some(),
        candidates,
    }))
}

/// The words that were not understood; those of the grammar only when there are no others.
fn unknown(words: &[String]) -> Option<Vec<String>> {
    let folded = |word: &String| words::fold(word);
    let strange: Vec<String> = words.iter().filter(|word| !vocabulary::is_ordinary(&folded(word))).cloned().collect();
    let words = if strange.is_empty() { words.to_vec() } else { strange };
    (!words.is_empty()).then_some(words)
}

/// What only means something after another question.
fn goes_on() -> Outcome {
    cannot("The question goes on from another one, and there is none before it.".into(), Vec::new(), Vec::new())
}

fn cannot(reason: String, unknown: Vec<String>, instead: Vec<String>) -> Outcome {
    Outcome::Cannot(Cannot { reason, unknown, instead })
}

/// The dataset that a plan is about.
fn previous_anchor(plan: &Plan, ontology: &Ontology, graph: &Graph) -> Option<usize> {
    let sketch = sketch::Sketch::default();
    let effort = Effort::default();
    let resolver = Resolver { ontology, graph, chosen: &[], effort: &effort, sketch: &sketch, before: None };
    follow::anchor(plan, ontology, |metric| resolver.metric_datasets(metric, 0).into_iter().next())
}

fn default_window(context: &Context, ontology: &Ontology) -> Option<Window> {
    let phrase = context.default_window.as_ref()?;
    let phrase = tokens(phrase);
    time::find(&phrase, context.now, &ontology.calendar).into_iter().find_map(|found| match found.phrase {
        TimePhrase::Window(window) => Some(window),
        _ => None,
    })
}

fn time_phrase(item: &Item) -> Option<Phrase> {
    let Kind::Time(TimePhrase::Window(window)) = &item.kind else { return None };
    let bound = |at: &Option<String>| at.clone().unwrap_or_else(|| "…".into());
    Some(Phrase {
        text: item.text.clone(),
        means: format!("from {} up to, not with, {}", bound(&window.start), bound(&window.end)),
    })
}
