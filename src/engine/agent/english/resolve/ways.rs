//! Ways to things, and what speaks for one of several.

use super::*;
use crate::engine::ontology::graph::Step;

impl Resolver<'_> {
    /// A value is more likely one of, or on the way through, the dataset that stands right before it.
    pub(super) fn passes(&self, from: usize, target: &Target, via: &[String], noun: &Noun) -> f32 {
        let Some(near) = noun.near.and_then(|near| self.sketch.nouns.get(near)) else { return 0.0 };
        let things: Vec<usize> = near.entries.iter().filter_map(|entry| self.thing(&entry.sense)).collect();
        let Some(to) = self.dataset_of(target) else { return 0.0 };
        let way = self.graph.way(from, to, via, Steps::Any).unwrap_or_default();
        // "the manager of Ada" is not Ada herself.
        if noun.before == "of" && things.contains(&to) {
            return -0.3;
        }
        let passes = things.contains(&to) || way.iter().any(|step| things.contains(&step.from));
        if passes { 0.12 } else { 0.0 }
    }

    /// The ways to a thing, with what they cost.
    pub(super) fn ways(&self, from: usize, target: &Target, noun: &Noun) -> Vec<(Vec<String>, f32)> {
        if let Target::Metric(m) = target {
            let Some(to) = self.metric_datasets(*m, 0).into_iter().next() else { return vec![(Vec::new(), 0.0)] };
            return match self.graph.way(from, to, &[], Steps::Any) {
                Ok(_) => vec![(Vec::new(), 0.0)],
                Err(NoWay::Ambiguous(_)) => vec![(Vec::new(), 0.1)],
                Err(_) => Vec::new(),
            };
        }
        let Some(to) = self.dataset_of(target) else { return vec![(Vec::new(), 0.0)] };
        if let Some(owned) = self.owned(from, to, noun).filter(|_| noun.of.is_some()) {
            return owned;
        }
        let (roles, strict) = Self::roles(noun);
        let demanded: Vec<(Vec<String>, f32)> =
            roles.iter().filter_map(|role| self.by_role(from, to, target, *role)).collect();
        // "suppliers from Kenya" are there themselves, even where "from" is said of customers too.
        let one = |via: &[String]| self.graph.way(from, to, via, Steps::ToOne).is_ok();
        let by_chance = !strict && vocabulary::is_filler(&noun.before) && one(&[]);
        let far = by_chance && demanded.iter().all(|(via, _)| !one(via));
        if !demanded.is_empty() && !far {
            return demanded;
        }
        let own = matches!(target, Target::Field(d, _) if *d == from);
        if strict && !noun.roles.is_empty() && !own && noun.of.is_none() {
            return Vec::new();
        }
        if let Some(owned) = self.owned(from, to, noun) {
            return owned;
        }
        let into = self.roles_into(from, to);
        if into.len() > 1 {
            return into;
        }
        match self.graph.way(from, to, &[], Steps::Any) {
            Ok(way) => vec![(Vec::new(), cost(&way))],
            Err(NoWay::Ambiguous(ways)) => {
                let shared: BTreeSet<&String> =
                    ways[0].iter().filter(|name| ways.iter().all(|way| way.contains(name))).collect();
                ways.iter()
                    .filter_map(|names| {
                        let own: Vec<String> = names.iter().filter(|name| !shared.contains(name)).cloned().collect();
                        let via = if own.is_empty() { names.clone() } else { own };
                        let way = self.graph.way(from, to, &via, Steps::Any).ok()?;
                        Some((via, cost(&way)))
                    })
                    .collect()
            }
            Err(_) => Vec::new(),
        }
    }

    /// Whether a time may be said of rows: their own, that of what each of them has one of, or that of what was done
    /// with them. What is no more than joined with that, which has a time itself, must be named for it.
    pub(super) fn is_time_of(&self, from: usize, target: &Target, via: &[String]) -> bool {
        let Some(to) = self.dataset_of(target) else { return true };
        let Ok(way) = self.graph.way(from, to, via, Steps::Any) else { return true };
        let said = self.sketch.nouns.iter().flat_map(|noun| &noun.entries);
        if said.filter_map(|entry| self.thing(&entry.sense)).any(|thing| thing == to) {
            return true;
        }
        let done = way.iter().take_while(|step| step.to_many).count();
        let beyond = way.get(done..).unwrap_or_default();
        let own_time = |step: &Step| {
            let entity = self.ontology.datasets.get(step.to);
            entity.is_some_and(|entity| entity.fields.iter().any(|field| field.datatype.is_calendar() && !field.hidden))
        };
        let timed = way.get(..done).unwrap_or_default().last().is_some_and(own_time);
        beyond.iter().all(|step| !step.to_many) && (beyond.is_empty() || !timed)
    }

    /// The roles that stand beside a noun or are the noun, and whether one of them must hold: a preposition may be one
    /// by chance.
    pub(super) fn roles(noun: &Noun) -> (Vec<usize>, bool) {
        let own = noun.entries.iter().filter_map(|entry| match entry.sense {
            Sense::Role(role) if entry.quality > 0.9 || noun.corrected.is_some() => Some(role),
            _ => None,
        });
        let roles: Vec<usize> = noun.roles.iter().copied().chain(own).collect();
        (roles, noun.want != Want::Value)
    }

    pub(super) fn by_role(&self, from: usize, to: usize, target: &Target, role: usize) -> Option<(Vec<String>, f32)> {
        let relationship = self.ontology.relationships.get(role)?;
        // The key of a row that is referred to stands in the referring row too.
        if let Target::Value(d, f, _) = target
            && *d == from
            && self.position(&relationship.from) == Some(from)
        {
            let field = &self.ontology.datasets[*d].fields[*f];
            let is =
                |name: &String| name.eq_ignore_ascii_case(&field.name) || name.eq_ignore_ascii_case(&field.expression);
            if relationship.from_columns.iter().any(is) {
                return Some((Vec::new(), -0.3));
            }
            if self.position(&relationship.to) != Some(from) {
                return None;
            }
        }
        let via = vec![relationship.name.clone()];
        let near = self.position(&relationship.to)?;
        if near != to {
            if matches!(target, Target::Value(..)) {
                return None;
            }
            // "customer region": the region of what plays that part.
            self.graph.way(near, to, &[], Steps::ToOne).ok()?;
            let way = self.graph.way(from, to, &via, Steps::Any).ok()?;
            return Some((via, cost(&way) + 0.05));
        }
        let way = self.graph.way(from, to, &via, Steps::Any).ok()?;
        let said = if matches!(target, Target::Value(..)) { 0.3 } else { 0.0 };
        Some((via, cost(&way) - said))
    }

    /// The ways to what belongs to a dataset that was named with it: the town of the shop.
    pub(super) fn owned(&self, from: usize, to: usize, noun: &Noun) -> Option<Vec<(Vec<String>, f32)>> {
        let owner = noun.of.or(noun.near).filter(|_| noun.want != Want::Value || noun.near.is_some())?;
        let owners: Vec<usize> = self
            .sketch
            .nouns
            .get(owner)?
            .entries
            .iter()
            .filter_map(|entry| match entry.sense {
                Sense::Entity(dataset) => Some(dataset),
                _ => None,
            })
            .collect();
        if owners.contains(&to) || owners.contains(&from) && noun.of.is_none() && self.roles_into(from, to).len() < 2 {
            return None;
        }
        let ways: Vec<(Vec<String>, f32)> = self
            .ontology
            .relationships
            .iter()
            .filter(|relationship| {
                self.position(&relationship.to) == Some(to)
                    && self.position(&relationship.from).is_some_and(|from| owners.contains(&from))
            })
            .filter_map(|relationship| {
                let via = vec![relationship.name.clone()];
                let way = self.graph.way(from, to, &via, Steps::Any).ok()?;
                Some((via, cost(&way)))
            })
            .collect();
        if !ways.is_empty() {
            return Some(ways);
        }
        // "the region of the customer", where the customer's town has one.
        let ways: Vec<(Vec<String>, f32)> = owners
            .iter()
            .filter_map(|owner| {
                let steps = self.graph.way(*owner, to, &[], Steps::ToOne).ok()?;
                let via = vec![self.ontology.relationships.get(steps.first()?.relationship)?.name.clone()];
                let way = self.graph.way(from, to, &via, Steps::Any).ok()?;
                Some((via, cost(&way)))
            })
            .collect();
        (!ways.is_empty()).then_some(ways)
    }

    /// Where a dataset plays several parts for another ("origin" and "destination"): a way for each. Those that are
    /// preferred are the only ones.
    pub(super) fn roles_into(&self, from: usize, to: usize) -> Vec<(Vec<String>, f32)> {
        let upward: Vec<usize> =
            self.graph.upward(from).into_iter().map(|(dataset, _)| dataset).filter(|dataset| *dataset != to).collect();
        let into = self.ontology.relationships.iter().filter(|relationship| {
            from != to
                && self.position(&relationship.to) == Some(to)
                && self.position(&relationship.from).is_some_and(|dataset| upward.contains(&dataset))
        });
        let mut ways: Vec<(Vec<String>, f32, bool, bool, bool)> = into
            .filter_map(|relationship| {
                let via = vec![relationship.name.clone()];
                let way = self.graph.way(from, to, &via, Steps::ToOne).ok()?;
                Some((via, cost(&way).min(0.05), relationship.preferred, way.len() == 1, relationship.role.is_some()))
            })
            .collect();
        let direct = ways.iter().any(|(_, _, _, direct, _)| *direct);
        ways.retain(|(_, _, _, own, role)| if direct { *own } else { *role });
        let mut ways: Vec<(Vec<String>, f32, bool)> =
            ways.into_iter().map(|(via, cost, preferred, _, _)| (via, cost, preferred)).collect();
        if ways.iter().filter(|(_, _, preferred)| *preferred).count() == 1 {
            ways.retain(|(_, _, preferred)| *preferred);
            return Vec::new();
        }
        ways.into_iter().map(|(via, cost, _)| (via, cost)).collect()
    }

    /// The way that is taken from one dataset to another, and the others that lead there, in words:
    /// those that arrive by another relationship in as many steps to many.
    pub(in super::super) fn competing(&self, from: usize, to: usize, via: &[String]) -> Option<(String, String)> {
        let way = self.graph.way(from, to, via, Steps::Any).ok().filter(|_| from != to)?;
        let many = way.iter().filter(|step| step.to_many).count();
        let upward: Vec<usize> = self.graph.upward(from).into_iter().map(|(dataset, _)| dataset).collect();
        // By what the ways differ: the step that arrives, or parallel ones anywhere on the way.
        let parallel = |relationship: &crate::model::ontology::Relationship| {
            way.iter().find_map(|step| {
                let own = &self.ontology.relationships[step.relationship];
                let same = own.from.eq_ignore_ascii_case(&relationship.from)
                    && own.to.eq_ignore_ascii_case(&relationship.to)
                    && own.name != relationship.name;
                same.then_some(step.relationship)
            })
        };
        let arrives = |relationship: &crate::model::ontology::Relationship| {
            many == 0
                && relationship.role.is_some()
                && self.position(&relationship.to) == Some(to)
                && self.position(&relationship.from).is_some_and(|dataset| upward.contains(&dataset) && dataset != to)
        };
        let mut taken = None;
        let mut others = Vec::new();
        for (at, relationship) in self.ontology.relationships.iter().enumerate() {
            if way.iter().any(|step| step.relationship == at) {
                continue;
            }
            let via = [relationship.name.clone()];
            let own = parallel(relationship).or_else(|| way.last().map(|step| step.relationship));
            let (Some(own), true) = (own, parallel(relationship).is_some() || arrives(relationship)) else { continue };
            let known = self.graph.way(from, to, &via, Steps::Any);
            if !known.is_ok_and(|other| other.iter().filter(|step| step.to_many).count() == many) {
                continue;
            }
            let words = self.part(at);
            if taken.is_none() {
                taken = Some(self.part(own));
            }
            if !others.contains(&words) && taken.as_ref() != Some(&words) {
                others.push(words);
            }
        }
        (!others.is_empty()).then(|| (taken.unwrap_or_default(), others.join(" or ")))
    }

    /// What the one side of a relationship is to the other, in words.
    fn part(&self, relationship: usize) -> String {
        let relationship = &self.ontology.relationships[relationship];
        format!("“{}”", relationship.role.clone().unwrap_or_else(|| in_words(&relationship.name)))
    }

    /// Whether a preposition points to it: "from" to origins, "to" to destinations.
    pub(super) fn direction(&self, noun: &Noun, target: &Target, via: &[String]) -> f32 {
        let words = vocabulary::direction(&noun.before);
        if words.is_empty() {
            return 0.0;
        }
        let other = vocabulary::direction(if words.contains(&"origin") { "to" } else { "from" });
        let mut names: Vec<String> = Vec::new();
        for relationship in via.iter().filter_map(|name| self.ontology.relationship(name)) {
            names.extend(relationship.role.iter().map(|role| in_words(role)));
            names.push(in_words(&relationship.name));
            names.extend(relationship.ai.synonyms.iter().map(|synonym| in_words(synonym)));
        }
        if let Target::Field(d, f) | Target::Value(d, f, _) = target
            && let Some(field) = self.ontology.datasets.get(*d).and_then(|entity| entity.fields.get(*f))
            && via.is_empty()
        {
            names.push(in_words(&field.name));
            names.push(field.words().to_lowercase());
            names.extend(field.ai.synonyms.iter().map(|synonym| synonym.to_lowercase()));
        }
        let has = |words: &[&str]| names.iter().any(|name| name.split(' ').any(|word| words.contains(&word)));
        match (has(words), has(other)) {
            (true, false) => 0.25,
            (false, true) => -0.25,
            _ => 0.0,
        }
    }

    /// Whether a dataset has fields or roles that a preposition points to.
    pub(super) fn leads(&self, from: usize, preposition: &str) -> bool {
        let words = vocabulary::direction(preposition);
        let Some(entity) = self.ontology.datasets.get(from) else { return false };
        let says = |name: &str| in_words(name).split(' ').any(|word| words.contains(&word));
        let fields = entity.fields.iter().any(|field| says(&field.name) || says(&field.words()));
        fields
            || self.ontology.relationships.iter().any(|relationship| {
                relationship.from.eq_ignore_ascii_case(&entity.name)
                    && (says(&relationship.name) || relationship.role.as_deref().is_some_and(says))
            })
    }
}
