//! Whether the answer is no other one than the question asks for: what was said already, a total instead of one length,
//! rows instead of how many, a row for each time that something was done.

use super::super::items::{Item, Kind};
use super::super::resolve::Target;
use super::super::sketch::{Noun, Quantity};
use super::Check;
use crate::engine::agent::english::lexicon::words;
use crate::engine::ontology::graph::Steps;
use crate::model::ontology::Aggregation;
use crate::model::plan::{By, Comparator, Condition, FieldRef, Literal, Value};

/// Names that say nothing alone: "total number" is no sum of some number.
const BARE: &[&str] = &["number", "numbers", "no", "num", "id", "ids", "code", "codes", "name", "names", "key"];

impl Check<'_> {
    /// The words of the question that the answer takes in another sense.
    pub(super) fn senses(&self) -> Option<String> {
        self.known()
            .or_else(|| self.numbers())
            .or_else(|| self.verbs())
            .or_else(|| self.relates_nothing())
            .or_else(|| self.total())
            .or_else(|| self.who_does())
            .or_else(|| self.per())
            .or_else(|| self.always_one())
    }

    /// The fields whose value the question says, with the texts.
    fn fixed(&self) -> impl Iterator<Item = &FieldRef> {
        self.account.plan.filters.iter().filter_map(|filter| match filter {
            Condition::Compare { field, op: Comparator::Equal, value: Literal::Text(text) } => {
                let same = |item: &Item| words::split(&item.text) == words::split(text);
                self.account.items.iter().any(same).then_some(field)
            }
            _ => None,
        })
    }

    /// "Who is Ada's boss?" is not answered with Ada, nor "how many orders with status F" with one status.
    fn known(&self) -> Option<String> {
        let items = self.account.items;
        let plan = self.account.plan;
        let is_fixed = |field: &FieldRef| self.fixed().any(|known| known == field);
        let asks = items.iter().find(|item| item.any(&["who", "which", "what"]));
        let shown: Vec<&FieldRef> = self.fields().filter(|field| !self.is_key(field)).collect();
        if let (Some(word), true, true) =
            (asks, plan.measures.is_empty(), shown.iter().any(|field| self.is_label(field)))
            && shown.iter().all(|field| is_fixed(field))
        {
            return Some(word.text.clone());
        }
        self.account.sketch.measures.iter().find_map(|quantity| {
            let (Quantity::Count(noun) | Quantity::Distinct(noun)) = quantity else { return None };
            let Target::Field(d, f) = &self.account.found.get(*noun)?.as_ref()?.target else { return None };
            let noun = self.account.sketch.nouns.get(*noun)?;
            let own = self.account.resolver.ontology.datasets.get(*d)?.fields.get(*f)?;
            let counts_times = own.datatype.is_calendar()
                && !words::split(&noun.text).iter().any(|word| {
                    matches!(words::singular(word).as_str(), "date" | "day" | "time" | "month" | "year" | "week")
                });
            let fixed = self
                .fixed()
                .any(|known| known.field == own.name && self.account.resolver.position(&known.dataset) == Some(*d));
            (counts_times || fixed).then(|| noun.text.clone())
        })
    }

    /// "how many …" is answered by a number, and a number is one of something.
    fn numbers(&self) -> Option<String> {
        let items = self.account.items;
        let sketch = self.account.sketch;
        let counted = |at: usize, item: &Item| {
            let many = item.is("many") && at > 0 && items[at - 1].is("how") || item.is("how many");
            let count = item.any(&["number of", "count of"])
                || item.any(&["number", "count"])
                    && !sketch.nouns.iter().any(|noun| noun.items.contains(&at))
                    && items.get(at + 1).is_some_and(|next| next.is("of"));
            many || count
        };
        let found = items.iter().enumerate().find(|(at, item)| item.kind == Kind::Word && counted(*at, item));
        if let Some((_, item)) = found.filter(|_| !self.has_number() && self.held.bounds.is_empty()) {
            return Some(item.text.clone());
        }
        // "their number" of several things is how many there are.
        let bare = |noun: &&Noun| BARE.contains(&noun.norm.as_str());
        let measured = sketch.measures.iter().filter_map(|quantity| match quantity {
            Quantity::Plain(noun) | Quantity::Aggregate(_, noun) => {
                sketch.nouns.get(*noun).filter(|noun| noun.of.is_none())
            }
            _ => None,
        });
        let counted = sketch.nouns.iter().filter(|noun| {
            let of = noun.of.and_then(|of| sketch.nouns.get(of));
            let many = of.is_some_and(|of| of.items.start > noun.items.start && words::singular(&of.norm) != of.norm);
            noun.norm == "number" && many
        });
        // "planes … and the number" is not the number of something else that has to do with them.
        let foreign = sketch.columns.iter().filter_map(|column| {
            let noun = sketch.nouns.get(*column).filter(|noun| noun.of.is_none() && noun.roles.is_empty())?;
            let Target::Field(d, _) = self.account.found.get(*column)?.as_ref()?.target else { return None };
            let subject = sketch.subject.is_some();
            (subject && d != self.account.anchor).then_some(noun)
        });
        measured.chain(foreign).filter(bare).chain(counted).next().map(|noun| noun.text.clone())
    }

    /// "How far is it …" asks for one length, not for the total of all.
    fn total(&self) -> Option<String> {
        let items = self.account.items;
        let all = |item: &Item| item.any(&["total", "altogether", "overall", "sum", "together", "combined"]);
        const SIZES: &[&str] = &["far", "long", "high", "tall", "deep", "wide", "heavy", "big", "old", "fast"];
        let text = items.iter().map(|item| item.norm.as_str()).collect::<Vec<_>>().join(" ");
        let mut pairs = text.split(' ').zip(text.split(' ').skip(1));
        let size = pairs.find_map(|(how, size)| (how == "how" && SIZES.contains(&size)).then_some(size))?;
        let sums = self
            .account
            .plan
            .measures
            .iter()
            .any(|measure| matches!(&measure.value, Value::Aggregate { function: Aggregation::Sum, .. }));
        (sums && !items.iter().any(all)).then(|| format!("how {size}"))
    }

    /// The first of each of something was asked for with "each", "every" or "per".
    fn per(&self) -> Option<String> {
        let limit = self.account.plan.limit.as_ref().filter(|limit| !limit.per.is_empty() && !self.account.follows)?;
        let said = self.account.items.iter().any(|item| item.any(&["each", "every", "per", "by"]))
            || self.account.sketch.groups.iter().any(|group| group.each || group.per);
        let by_time = self.account.plan.order.iter().any(|order| matches!(order.by, By::Measure(_)));
        (!said && by_time && limit.rows > 0).then(|| "in which".into())
    }

    /// "number of titles by loan id", where each loan is of one title: 1 in every row, which nobody asks for.
    fn always_one(&self) -> Option<String> {
        let resolver = self.account.resolver;
        let ontology = resolver.ontology;
        let counted = self.account.plan.measures.iter().filter_map(|measure| match &measure.value {
            Value::Count(name) => resolver.position(name),
            Value::Metric(name) => {
                let at = ontology.metrics.iter().position(|metric| metric.name.eq_ignore_ascii_case(name))?;
                (0..ontology.datasets.len()).find(|dataset| resolver.counts(at, *dataset))
            }
            _ => None,
        });
        let mut pairs = counted.flat_map(|of| self.fields().map(move |field| (of, field)));
        let row = pairs.find_map(|(of, field)| {
            let row = resolver.position(&field.dataset).filter(|row| self.is_row_each(*row, &field.via))?;
            let way = resolver.graph.way(of, row, &field.via, Steps::Any).ok()?;
            let one = way.iter().any(|step| step.to_many) && way.iter().all(|step| !step.shares);
            one.then_some(row)
        })?;
        let said = self.account.sketch.nouns.iter().zip(self.account.found).find_map(|(noun, found)| {
            let of = resolver.dataset_of(&found.as_ref()?.target);
            (of == Some(row)).then(|| noun.text.clone())
        });
        said.or_else(|| Some(resolver.entity_words(row)))
    }

    /// Whether the answer has a row for each row of a dataset: all of a key of it is shown.
    fn is_row_each(&self, dataset: usize, via: &[String]) -> bool {
        let Some(entity) = self.account.resolver.ontology.datasets.get(dataset) else { return false };
        let shown = |column: &String| {
            self.account.plan.dimensions.iter().any(|dimension| {
                let own = entity.field(&dimension.field.field).filter(|_| {
                    let same = dimension.field.dataset.eq_ignore_ascii_case(&entity.name) && dimension.field.via == via;
                    same && dimension.grain.is_none() && dimension.bucket.is_none()
                });
                own.is_some_and(|own| {
                    own.name.eq_ignore_ascii_case(column) || own.expression.eq_ignore_ascii_case(column)
                })
            })
        };
        let is_shown = |key: &Vec<String>| !key.is_empty() && key.iter().all(shown);
        is_shown(&entity.primary_key) || entity.unique_keys.iter().any(is_shown)
    }
}
