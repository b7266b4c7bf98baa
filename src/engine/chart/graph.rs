//! An ontology as a picture: its datasets, and what refers to what.

use std::collections::{BTreeMap, BTreeSet};

use super::draw::canvas::{Anchor, Canvas, Text, number};
use super::draw::paint::{Paint, dark_rules};
use super::draw::text::{escaped, fitted, label};
use crate::model::ontology::{Cardinality, Entity, Ontology, Relationship};

const CARD: (f64, f64) = (178.0, 52.0);
/// From a card to the next one below, and to the next column.
const PITCH: (f64, f64) = (300.0, 74.0);
const MARGIN: f64 = 24.0;
/// Cards below each other; longer columns are broken.
const TALLEST: usize = 10;
/// Datasets up to which relationships have their names and cardinalities written beside them.
const NAMED: usize = 40;

/// Draws the datasets as cards with their numbers of fields and metrics, from those that refer (left) to those that
/// are referred to (right), and the relationships as lines with role and cardinality ("n" rows for "1", dashed where
/// partners may be missing). Each card leads to `#dataset-<name>` of the page. Beyond 40 datasets the lines have no
/// names: they are shown when pointed at. Equal ontologies are drawn as equal texts.
pub fn graph_svg(ontology: &Ontology) -> String {
    let places = places(ontology);
    let mut canvas = Canvas::new(false, true);
    let extent = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(0.0, f64::max);
    let width = extent(|at| at.0) + CARD.0 + MARGIN + 40.0;
    let height = extent(|at| at.1) + CARD.1 + MARGIN;
    canvas.rect((0.0, 0.0), (width, height), Paint::Ground, "");
    let named = ontology.datasets.len() <= NAMED;
    let end = |name: &str| index(ontology, name).and_then(|at| Some((at, *places.get(at)?)));
    for (at, relationship) in ontology.relationships.iter().enumerate() {
        if let (Some(from), Some(to)) = (end(&relationship.from), end(&relationship.to)) {
            let before = ontology.relationships.iter().take(at);
            edge(relationship, from, to, lane(relationship, before), named, &mut canvas);
        }
    }
    let expressions: Vec<String> = ontology.metrics.iter().map(|metric| metric.expression.to_lowercase()).collect();
    for (entity, at) in ontology.datasets.iter().zip(&places) {
        card(entity, metrics(entity, &expressions), *at, &mut canvas);
    }
    let title = escaped(&label(&format!("Datasets of {}", ontology.name)));
    let summary = escaped(&summary(ontology));
    let (width, height) = (number(width), number(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"group\" aria-label=\"{title}\" \
         font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\">\n\
         <title>{title}</title>\n<desc>{summary}</desc>\n\
         <style>@media (prefers-color-scheme:dark){{{}}}</style>\n{}</svg>\n",
        dark_rules(),
        canvas.into_body()
    )
}

fn summary(ontology: &Ontology) -> String {
    let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    format!("{}, {}.", count(ontology.datasets.len(), "dataset"), count(ontology.relationships.len(), "relationship"))
}

fn index(ontology: &Ontology, name: &str) -> Option<usize> {
    ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name))
}

/// How many relationships between the same datasets come before: each has its own lane.
fn lane<'a>(one: &Relationship, before: impl Iterator<Item = &'a Relationship>) -> usize {
    let joins = |other: &&Relationship| {
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        same(&other.from, &one.from) && same(&other.to, &one.to)
            || same(&other.from, &one.to) && same(&other.to, &one.from)
    };
    before.filter(joins).count()
}

/// How many of the expressions of metrics, in lower case, read the dataset.
fn metrics(entity: &Entity, expressions: &[String]) -> usize {
    let name = format!("{}.", entity.name.to_lowercase());
    let reads = |lower: &&String| {
        lower.match_indices(&name).any(|(at, _)| {
            !lower[..at]
                .chars()
                .next_back()
                .is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | '.'))
        })
    };
    expressions.iter().filter(reads).count()
}

/// Where the cards are: in columns by how far they are from what nothing refers to, in each column near to what they
/// are related to.
fn places(ontology: &Ontology) -> Vec<(f64, f64)> {
    let count = ontology.datasets.len();
    let pairs: BTreeSet<(usize, usize)> = ontology
        .relationships
        .iter()
        .filter_map(|one| Some((index(ontology, &one.from)?, index(ontology, &one.to)?)))
        .filter(|(from, to)| from != to)
        .collect();
    let mut columns = columns(count, &pairs);
    for _ in 0..4 {
        settle(&mut columns, &pairs);
    }
    let tallest = columns.iter().map(Vec::len).max().unwrap_or_default() as f64;
    let mut places = BTreeMap::new();
    for (column, cards) in columns.iter().enumerate() {
        let top = MARGIN + (tallest - cards.len() as f64) * PITCH.1 / 2.0;
        for (row, at) in cards.iter().enumerate() {
            places.insert(*at, (MARGIN + PITCH.0 * column as f64, top + PITCH.1 * row as f64));
        }
    }
    places.into_values().collect()
}

/// Each dataset at least one column after those that refer to it, as far as they do not refer to each other in a
/// circle; what is related to nothing comes last; columns that are too long are broken.
fn columns(count: usize, pairs: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    // Of those that are related to others only.
    let mut depths: BTreeMap<usize, usize> = pairs.iter().flat_map(|(from, to)| [(*from, 0), (*to, 0)]).collect();
    // As many rounds as there can be steps; a circle ends there.
    for _ in 0..count.min(8) {
        for (from, to) in pairs {
            let next = depths.get(from).map_or(0, |depth| (depth + 1).min(7));
            depths.entry(*to).and_modify(|depth| *depth = next.max(*depth));
        }
    }
    let of_depth =
        |wanted: usize| depths.iter().filter(move |(_, depth)| **depth == wanted).map(|(at, _)| *at).collect();
    let deepest = depths.values().copied().max().unwrap_or_default();
    let by_depth = (0..=deepest).map(of_depth);
    let alone: Vec<usize> = (0..count).filter(|at| !depths.contains_key(at)).collect();
    let whole: Vec<Vec<usize>> = by_depth.chain([alone]).filter(|column: &Vec<usize>| !column.is_empty()).collect();
    whole.iter().flat_map(|column| column.chunks(TALLEST).map(<[usize]>::to_vec)).collect()
}

/// Sorts each column by where its neighbours in other columns are.
fn settle(columns: &mut [Vec<usize>], pairs: &BTreeSet<(usize, usize)>) {
    for at in 0..columns.len() {
        let place = |wanted: usize| {
            let found = columns.iter().enumerate().find_map(|(column, cards)| {
                let row = cards.iter().position(|card| *card == wanted)?;
                Some((column, (row as f64 + 0.5) / cards.len() as f64))
            });
            found.filter(|(column, _)| *column != at).map(|(_, row)| row)
        };
        let wanted = |card: usize| {
            let ends = pairs.iter().filter_map(|(from, to)| match card {
                card if card == *from => place(*to),
                card if card == *to => place(*from),
                _ => None,
            });
            let rows: Vec<f64> = ends.collect();
            if rows.is_empty() { 0.5 } else { rows.iter().sum::<f64>() / rows.len() as f64 }
        };
        let Some(cards) = columns.get(at) else { break };
        let mut keyed: Vec<(f64, usize)> = cards.iter().map(|card| (wanted(*card), *card)).collect();
        keyed.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
        if let Some(column) = columns.get_mut(at) {
            *column = keyed.into_iter().map(|(_, card)| card).collect();
        }
    }
}

fn card(entity: &Entity, metrics: usize, at: (f64, f64), canvas: &mut Canvas) {
    let full = label(&entity.name);
    // Bold letters are wider.
    let name = fitted(&full, CARD.0 - 24.0, 14.5);
    let fields = entity.fields.iter().filter(|field| !field.hidden).count();
    let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let mut facts = counted(fields, "field");
    if metrics > 0 {
        facts = format!("{facts} · {}", counted(metrics, "metric"));
    }
    if entity.hidden {
        facts = format!("{facts} · hidden");
    }
    let (edge, dashes) =
        if entity.hidden { (Paint::Axis, " stroke-dasharray=\"4 3\"") } else { (Paint::Series(0), "") };
    canvas.link(&format!("dataset-{}", encoded(&entity.name)), |canvas| {
        canvas.card(at, CARD, edge, dashes, &label(&entity.description));
        let place = (at.0 + 12.0, at.1 + 22.0);
        canvas.text(&Text {
            size: 13.0,
            bold: true,
            paint: Paint::Ink,
            full: Some(&full),
            ..Text::new(place, &name, Anchor::Start)
        });
        canvas.text(&Text { size: 11.0, ..Text::new((at.0 + 12.0, at.1 + 39.0), &facts, Anchor::Start) });
    });
}

/// A name as part of an address.
fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// A line from one card to another, with cardinalities at its ends and the role at its middle.
fn edge(
    relationship: &Relationship,
    (from, from_at): (usize, (f64, f64)),
    (to, to_at): (usize, (f64, f64)),
    lane: usize,
    named: bool,
    canvas: &mut Canvas,
) {
    let (many, one) = match relationship.cardinality {
        Cardinality::ManyToOne => ("n", "1"),
        Cardinality::OneToOne => ("1", "1"),
        Cardinality::ManyToMany => ("n", "n"),
    };
    let role = relationship.role.as_deref().map(label);
    let kind = if relationship.optional { ", optional" } else { "" };
    let name = label(&relationship.name);
    let tip = format!(
        "{name}: {} ({}) → {} ({}), {many} to {one}{kind}",
        label(&relationship.from),
        label(&relationship.from_columns.join(", ")),
        label(&relationship.to),
        label(&relationship.to_columns.join(", "))
    );
    let dashes = if relationship.optional { " stroke-dasharray=\"5 4\"" } else { "" };
    // Lines between the same cards fan out: 0, 1 up, 1 down, 2 up …
    let off = lane.div_ceil(2) as f64 * if lane % 2 == 1 { -13.0 } else { 13.0 };
    let middle = |at: (f64, f64)| at.1 + CARD.1 / 2.0 + off.clamp(-22.0, 22.0);
    let (start, end, bend) = if from == to || from_at.0 == to_at.0 {
        // To itself, or in the same column: around the right side.
        let low = if from == to { 14.0 } else { 0.0 };
        let side = from_at.0 + CARD.0;
        ((side, middle(from_at) - low), (side, middle(to_at) + low), 46.0)
    } else if from_at.0 < to_at.0 {
        ((from_at.0 + CARD.0, middle(from_at)), (to_at.0, middle(to_at)), 60.0)
    } else {
        ((from_at.0, middle(from_at)), (to_at.0 + CARD.0, middle(to_at)), -60.0)
    };
    let around = start.0 == end.0;
    match around {
        true => {
            let peak = (start.0 + bend * 0.75, (start.1 + end.1) / 2.0);
            canvas.curve(start, peak, bend * 0.3, Paint::Axis, dashes, &tip);
            canvas.curve(end, peak, bend * 0.3, Paint::Axis, dashes, &tip);
        }
        false => canvas.curve(start, end, bend, Paint::Axis, dashes, &tip),
    }
    if !named {
        return;
    }
    let away = |x: f64, right: bool| if right { x + 8.0 } else { x - 8.0 };
    let leaves_right = bend > 0.0;
    canvas.text(&Text { size: 10.0, ..Text::new((away(start.0, leaves_right), start.1 - 4.0), many, Anchor::Middle) });
    let arrives_left = !around && leaves_right;
    canvas.text(&Text { size: 10.0, ..Text::new((away(end.0, !arrives_left), end.1 - 4.0), one, Anchor::Middle) });
    if let Some(role) = role {
        let shown = fitted(&role, if around { 60.0 } else { 96.0 }, 10.0);
        let (at, anchor) = match around {
            true => ((start.0 + bend * 0.75 + 4.0, (start.1 + end.1) / 2.0 + 3.0), Anchor::Start),
            // Cards of columns between cover the line: the role stands before them.
            false if (end.0 - start.0).abs() > PITCH.0 => {
                ((start.0 + bend.signum() * (PITCH.0 - CARD.0) / 2.0, start.1 - 4.0), Anchor::Middle)
            }
            false => (((start.0 + end.0) / 2.0, (start.1 + end.1) / 2.0 - 4.0), Anchor::Middle),
        };
        canvas.text(&Text { size: 10.0, paint: Paint::Ink, full: Some(&role), ..Text::new(at, &shown, anchor) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::{Field, Metric};

    fn dataset(name: &str, fields: usize) -> Entity {
        let fields = (0..fields).map(|at| Field { name: format!("f{at}"), ..Field::default() }).collect();
        Entity { name: name.into(), fields, ..Entity::default() }
    }

    fn refers(name: &str, from: &str, to: &str, role: Option<&str>) -> Relationship {
        Relationship {
            name: name.into(),
            from: from.into(),
            to: to.into(),
            from_columns: vec!["x".into()],
            to_columns: vec!["y".into()],
            role: role.map(str::to_owned),
            ..Relationship::default()
        }
    }

    fn trips() -> Ontology {
        Ontology {
            name: "Trips".into(),
            datasets: vec![dataset("stops", 2), dataset("trips", 3), dataset("firms", 1), dataset("lone", 0)],
            relationships: vec![
                refers("from", "trips", "stops", Some("origin")),
                refers("to", "trips", "stops", Some("destination")),
                refers("by", "trips", "firms", None),
                refers("parent", "firms", "firms", Some("owner")),
            ],
            metrics: vec![
                Metric { name: "m".into(), expression: "SUM(trips.fare)".into(), ..Metric::default() },
                Metric { name: "n".into(), expression: "SUM(more_trips.fare)".into(), ..Metric::default() },
            ],
            ..Ontology::default()
        }
    }

    #[test]
    fn what_refers_is_left_of_what_is_referred_to() {
        let places = places(&trips());
        let [stops, trips, firms, lone] = places[..] else { panic!("{places:?}") };
        assert!(trips.0 < stops.0 && trips.0 < firms.0 && stops.0 == firms.0 && firms.0 < lone.0, "{places:?}");
    }

    #[test]
    fn no_card_covers_another() {
        let mut many =
            Ontology { datasets: (0..60).map(|at| dataset(&format!("d{at}"), 1)).collect(), ..Ontology::default() };
        // A star, a circle, and many that are alone.
        many.relationships = (1..30).map(|at| refers(&format!("r{at}"), "d0", &format!("d{at}"), None)).collect();
        many.relationships.extend([refers("a", "d40", "d41", None), refers("b", "d41", "d40", None)]);
        let places = places(&many);
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                assert!((one.0 - other.0).abs() >= CARD.0 || (one.1 - other.1).abs() >= CARD.1, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn cards_lead_to_their_dataset_and_say_what_is_in_it() {
        let picture = graph_svg(&trips());
        assert!(picture.contains("<desc>4 datasets, 4 relationships.</desc>"));
        assert!(picture.contains("<a href=\"#dataset-trips\">"));
        assert!(picture.contains(">3 fields · 1 metric<"), "{picture}");
        assert!(picture.contains(">origin<") && picture.contains(">destination<") && picture.contains(">owner<"));
        assert!(picture.contains("<title>from: trips (x) → stops (y), n to 1</title>"));
        assert_eq!(picture, graph_svg(&trips()));
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let evil = "\"><script>alert(1)</script>";
        let mut ontology = trips();
        ontology.name = evil.into();
        ontology.datasets[0].name = evil.into();
        ontology.datasets[0].description = evil.into();
        ontology.relationships[0].to = evil.into();
        ontology.relationships[0].role = Some(evil.into());
        let picture = graph_svg(&ontology);
        assert!(!picture.contains("<script"), "{picture}");
        assert!(picture.contains("href=\"#dataset-%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E\""));
    }
}
