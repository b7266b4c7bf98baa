//! What words may stand for, by the kind of thing that is wanted.

use super::*;

impl Resolver<'_> {
    /// Drops what is the same thing under another kind: a dataset's label or key beside the dataset itself, a metric
    /// that counts a dataset's rows, a field that a metric is made of.
    pub(super) fn prune(&self, noun: &Noun, found: &mut Vec<Found>) {
        let things: Vec<usize> = found
            .iter()
            .filter_map(|found| match found.target {
                Target::Entity(d) if found.whole => Some(d),
                _ => None,
            })
            .collect();
        let own = |d: usize| noun.entries.iter().any(|entry| entry.sense == Sense::Entity(d));
        if things.iter().any(|d| own(*d)) {
            found.retain(|found| match &found.target {
                Target::Entity(d) => own(*d),
                Target::Field(d, f) => {
                    !things.iter().any(|thing| thing == d && self.names(*d, *f) || self.refers(*d, *f, *thing))
                }
                Target::Metric(m) => !things.iter().any(|thing| self.counts(*m, *thing)),
                _ => true,
            });
        }
        let (metric, field) = (
            |found: &Found| matches!(found.target, Target::Metric(_)),
            |found: &Found| matches!(found.target, Target::Field(..)),
        );
        match noun.want {
            Want::Measure if found.iter().any(metric) => found.retain(metric),
            Want::Aggregated if found.iter().any(field) => found.retain(field),
            Want::Flag if found.iter().any(|found| matches!(found.target, Target::Segment(_))) => {
                found.retain(|found| matches!(found.target, Target::Segment(_)));
            }
            Want::Counted
                if found.iter().all(|found| !matches!(found.target, Target::Entity(_))) && found.iter().any(metric) =>
            {
                found.retain(metric);
            }
            Want::Counted if found.iter().any(|found| matches!(found.target, Target::Entity(_))) => {
                found.retain(|found| matches!(found.target, Target::Entity(_)));
            }
            _ => {}
        }
    }

    /// Whether two values of the same words are the key of a row and another field of that row: the code and the name
    /// of one place.
    pub(super) fn twins(&self, from: usize, one: &Found, other: &Found) -> bool {
        let (Target::Value(d, f, _), Target::Value(e, g, _)) = (&one.target, &other.target) else { return false };
        // The way that goes without saying is a way, too.
        let named = |found: &Found, to: usize| -> Vec<String> {
            if !found.via.is_empty() {
                return found.via.clone();
            }
            let way = self.graph.way(from, to, &[], Steps::ToOne).unwrap_or_default();
            way.iter().map(|step| self.ontology.relationships[step.relationship].name.clone()).collect()
        };
        let refers = |own: (usize, usize), far: usize, via: &[String]| {
            let field = &self.ontology.datasets[own.0].fields[own.1];
            let is =
                |name: &String| name.eq_ignore_ascii_case(&field.name) || name.eq_ignore_ascii_case(&field.expression);
            own.0 == from
                && via.iter().filter_map(|name| self.ontology.relationship(name)).any(|relationship| {
                    self.position(&relationship.from) == Some(from)
                        && self.position(&relationship.to) == Some(far)
                        && relationship.from_columns.iter().any(is)
                })
        };
        refers((*d, *f), *e, &named(other, *e)) || refers((*e, *g), *d, &named(one, *d))
    }

    /// Whether a field is what rows of its dataset are called or known by.
    pub(in super::super) fn names(&self, dataset: usize, field: usize) -> bool {
        let entity = &self.ontology.datasets[dataset];
        let field = &entity.fields[field];
        let is = |name: &String| name.eq_ignore_ascii_case(&field.name) || name.eq_ignore_ascii_case(&field.expression);
        entity.label_field.iter().any(is)
            || entity.primary_key.len() == 1 && entity.primary_key.iter().any(is)
            || entity.unique_keys.iter().any(|key| key.len() == 1 && is(&key[0]))
            || field.role == FieldRole::Key
            || entity.default_time_field.iter().any(is)
    }

    /// Whether words speak of a dataset by one of its names.
    pub(in super::super) fn names_dataset(&self, words: &str, dataset: usize) -> bool {
        use crate::engine::agent::english::lexicon::words::{singular, split};
        let plain = |text: &str| split(text).iter().map(|word| singular(word)).collect::<Vec<_>>();
        let said = plain(words);
        let entity = &self.ontology.datasets[dataset];
        let mut names = vec![plain(&entity.noun()), plain(&entity.name)];
        names.extend(entity.ai.synonyms.iter().map(|synonym| plain(synonym)));
        names.iter().any(|name| !name.is_empty() && said.windows(name.len()).any(|part| part == name.as_slice()))
    }

    /// Whether a field refers to a row of a dataset.
    pub(super) fn refers(&self, dataset: usize, field: usize, to: usize) -> bool {
        let (from, to) = (&self.ontology.datasets[dataset], &self.ontology.datasets[to]);
        let field = &from.fields[field];
        let is = |name: &String| name.eq_ignore_ascii_case(&field.name) || name.eq_ignore_ascii_case(&field.expression);
        self.ontology.relationships.iter().any(|relationship| {
            relationship.from.eq_ignore_ascii_case(&from.name)
                && relationship.to.eq_ignore_ascii_case(&to.name)
                && relationship.from_columns.iter().any(is)
        })
    }

    /// Whether a metric is the number of a dataset's rows.
    pub(in super::super) fn counts(&self, metric: usize, dataset: usize) -> bool {
        let metric = &self.ontology.metrics[metric];
        let counting = metric.expression.trim().to_lowercase().starts_with("count(");
        counting && metric.filters.is_empty() && self.metric_datasets_of(metric) == vec![dataset]
    }

    pub(in super::super) fn metric_datasets_of(&self, metric: &crate::model::ontology::Metric) -> Vec<usize> {
        let at = self.ontology.metrics.iter().position(|known| known.name == metric.name);
        at.map(|at| self.metric_datasets(at, 0)).unwrap_or_default()
    }

    /// The things of the wanted kind that a noun's words may stand for.
    pub(super) fn targets(&self, noun: &Noun, from: Option<usize>) -> Vec<(Target, f32, bool)> {
        let mut targets = Vec::new();
        let owner: Option<Vec<usize>> = noun
            .of
            .filter(|_| noun.want != Want::Value)
            .map(|of| self.sketch.nouns[of].entries.iter().filter_map(|entry| self.thing(&entry.sense)).collect());
        if !noun.hints.is_empty() || noun.entries.is_empty() && noun.unit.is_some() {
            if let Some(from) = from {
                return self.hinted(noun, from);
            }
            return targets;
        }
        if let Some(owners) = &owner {
            let own =
                noun.entries.iter().filter(|entry| matches!(entry.sense, Sense::Field(d, _) if owners.contains(&d)));
            for entry in own {
                if let Sense::Field(d, f) = entry.sense {
                    targets.push((Target::Field(d, f), entry.quality + 0.1, !entry.partial));
                }
            }
            let metric = noun
                .entries
                .iter()
                .any(|entry| matches!(entry.sense, Sense::Metric(_) | Sense::Entity(_)) && !entry.partial);
            if targets.is_empty() && !metric {
                for owner in owners {
                    targets.extend(
                        self.generic(*owner, &noun.norm).map(|field| (Target::Field(*owner, field), 0.95, true)),
                    );
                }
                if targets.is_empty() {
                    let named = owners.iter().flat_map(|owner| self.named_as(*owner, &noun.norm));
                    targets.extend(named.map(|(d, f)| (Target::Field(d, f), 0.9, true)));
                }
            }
            if !metric || !targets.is_empty() {
                return targets;
            }
        }
        // "by date" is by the usual time of what is asked for.
        if let (Want::Group | Want::Column, Some(from)) = (noun.want, from)
            && matches!(noun.norm.as_str(), "date" | "dates" | "time")
        {
            let entity = &self.ontology.datasets[from];
            let usual = entity
                .default_time_field
                .as_ref()
                .and_then(|name| entity.fields.iter().position(|field| field.name.eq_ignore_ascii_case(name)));
            if let Some(field) = usual {
                return vec![(Target::Field(from, field), 1.0, true)];
            }
        }
        for entry in &noun.entries {
            let target = match (&entry.sense, noun.want) {
                (Sense::Metric(m), Want::Measure | Want::Aggregated | Want::Number | Want::Counted | Want::Column) => {
                    Target::Metric(*m)
                }
                (Sense::Entity(d), Want::Group | Want::Column | Want::Thing | Want::Counted | Want::Bound) => {
                    Target::Entity(*d)
                }
                (Sense::Field(d, f), want) if self.suits(*d, *f, want) => Target::Field(*d, *f),
                (Sense::Role(_), Want::Group | Want::Column | Want::Thing | Want::Bound | Want::Counted) => {
                    match self.thing(&entry.sense) {
                        Some(dataset) => Target::Entity(dataset),
                        None => continue,
                    }
                }
                (Sense::Value { dataset, field, value }, Want::Value) => Target::Value(*dataset, *field, value.clone()),
                (Sense::Segment(s), Want::Flag | Want::Column | Want::Bound) => Target::Segment(*s),
                _ => continue,
            };
            targets.push((target, entry.quality, !entry.partial));
        }
        targets
    }

    pub(super) fn suits(&self, dataset: usize, field: usize, want: Want) -> bool {
        let Some(field) = self.ontology.datasets.get(dataset).and_then(|entity| entity.fields.get(field)) else {
            return false;
        };
        match want {
            Want::Measure => field.datatype.is_number() && field.role != FieldRole::Key,
            Want::Aggregated => {
                field.datatype.is_number() && field.role != FieldRole::Key || field.datatype.is_calendar()
            }
            Want::Number => field.datatype.is_number() || field.datatype.is_calendar(),
            Want::Group | Want::Column | Want::Counted | Want::Bound => true,
            Want::Time => field.datatype.is_calendar(),
            Want::Flag => field.datatype == DataType::Boolean,
            Want::Thing | Want::Value => false,
        }
    }

    /// A dataset's field by a word that all datasets have: its label for "name", its key for "id".
    pub(super) fn generic(&self, dataset: usize, norm: &str) -> Option<usize> {
        let entity = self.ontology.datasets.get(dataset)?;
        let last = norm.rsplit(' ').next().unwrap_or_default();
        let by_name = |name: &String| entity.fields.iter().position(|field| field.name.eq_ignore_ascii_case(name));
        let by_column = |column: &String| {
            by_name(column)
                .or_else(|| entity.fields.iter().position(|field| field.expression.eq_ignore_ascii_case(column)))
        };
        match last {
            "id" | "ids" | "identifier" | "identifiers" | "key" if entity.primary_key.len() == 1 => {
                by_column(&entity.primary_key[0])
            }
            "number" | "numbers" | "code" | "codes" => entity.label_field.as_ref().and_then(by_name),
            // A number that rows are known by is no name.
            "name" | "names" | "title" | "titles" => {
                let label = entity.label_field.as_ref().and_then(by_name)?;
                let called = &entity.fields[label];
                (called.role != FieldRole::Key || !called.datatype.is_number()).then_some(label)
            }
            _ => None,
        }
    }

    /// The names of those who play the part that a dataset is of: borrowers are people, who have names.
    fn named_as(&self, owner: usize, norm: &str) -> Vec<(usize, usize)> {
        let name = &self.ontology.datasets[owner].name;
        let parts = self
            .ontology
            .relationships
            .iter()
            .filter(|known| known.role.is_some() && known.from.eq_ignore_ascii_case(name));
        let ends: Vec<usize> = parts.filter_map(|known| self.position(&known.to)).collect();
        ends.into_iter().filter_map(|end| Some((end, self.generic(end, norm)?))).collect()
    }

    /// The fields that an adjective or a unit speaks of.
    pub(super) fn hinted(&self, noun: &Noun, from: usize) -> Vec<(Target, f32, bool)> {
        let mut targets = Vec::new();
        let Some(entity) = self.ontology.datasets.get(from) else { return targets };
        let kind = noun.unit.as_deref().and_then(vocabulary::unit).map(|(kind, _)| kind);
        let says = |field: &crate::model::ontology::Field, known: &[&str]| {
            let named = in_words(&field.name);
            let synonyms = field.ai.synonyms.iter().map(String::as_str);
            std::iter::once(named.as_str())
                .chain([field.label.as_str()])
                .chain(synonyms)
                .any(|name| name.to_lowercase().split(' ').any(|word| known.contains(&word)))
        };
        // "2 years" is no number of anything that is measured here.
        if noun.unit.is_some() && kind.is_none() {
            return targets;
        }
        // People are as old as they are, not as long as they are known here.
        let people = entity.fields.iter().any(|field| {
            says(field, &["birth", "birthday", "born", "birthdate", "surname", "gender", "firstname", "lastname"])
        });
        for (at, field) in entity.fields.iter().enumerate().filter(|(_, field)| !field.hidden) {
            let own = field.unit.as_deref().and_then(vocabulary::unit).map(|(kind, _)| kind);
            if let Some(kind) = kind {
                let number = field.datatype.is_number() && field.role != FieldRole::Key;
                let same = own == Some(kind)
                    || kind == "money"
                        && own.is_none()
                        && number
                        && self.ontology.currency.is_some()
                        && is_money(&field.words());
                if !same {
                    continue;
                }
            }
            if noun.hints == ["@time"] || noun.hints == ["@age"] && !people {
                if field.datatype.is_calendar() {
                    let default =
                        entity.default_time_field.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&field.name));
                    targets.push((Target::Field(from, at), if default { 1.0 } else { 0.8 }, true));
                } else if field.datatype.is_number() && in_words(&field.name).split(' ').any(|word| word == "year") {
                    targets.push((Target::Field(from, at), 0.75, true));
                }
                continue;
            }
            if noun.hints == ["@age"] {
                let born = says(field, &["birth", "birthday", "born", "birthdate"]) && field.datatype.is_calendar();
                targets.extend(born.then_some((Target::Field(from, at), 1.0, true)));
                continue;
            }
            let number = field.datatype.is_number() && field.role != FieldRole::Key;
            if !number {
                continue;
            }
            if noun.hints.is_empty() {
                targets.push((Target::Field(from, at), 0.8, true));
                continue;
            }
            let mut names: Vec<String> = vec![in_words(&field.name), field.words().to_lowercase()];
            names.extend(field.ai.synonyms.iter().map(|synonym| synonym.to_lowercase()));
            let rank = noun
                .hints
                .iter()
                .position(|hint| names.iter().any(|name| name.split(' ').any(|word| word == *hint) || name == hint));
            if let Some(rank) = rank {
                let step = f32::from(u8::try_from(rank).unwrap_or(u8::MAX));
                let whole = names.iter().any(|name| name == noun.hints[rank]);
                targets.push((Target::Field(from, at), 0.9 - 0.02 * step + if whole { 0.1 } else { 0.0 }, true));
            }
        }
        targets
    }

    /// The same text for things that give the same numbers: a key and what refers to it.
    pub(super) fn same(&self, target: &Target, via: &[String], from: usize) -> String {
        let (dataset, field, value) = match target {
            Target::Metric(m) => return format!("metric {m}"),
            Target::Segment(s) => return format!("segment {s}"),
            Target::Entity(d) => (*d, None, ""),
            Target::Field(d, f) => (*d, Some(*f), ""),
            Target::Value(d, f, value) => (*d, Some(*f), value.as_str()),
        };
        let entity = &self.ontology.datasets[dataset];
        let column = field
            .map(|field| entity.fields[field].name.clone())
            .or_else(|| (entity.primary_key.len() == 1).then(|| entity.primary_key[0].clone()));
        if let (Some(column), Some(anchor)) = (&column, self.ontology.datasets.get(from)) {
            for relationship in &self.ontology.relationships {
                let is = |key: &String| {
                    key.eq_ignore_ascii_case(column)
                        || field.is_some_and(|field| entity.fields[field].expression.eq_ignore_ascii_case(key))
                };
                let direct = relationship.from.eq_ignore_ascii_case(&anchor.name)
                    && relationship.to.eq_ignore_ascii_case(&entity.name)
                    && (via.is_empty() || via.contains(&relationship.name));
                let place = relationship.to_columns.iter().position(is).filter(|_| direct);
                if let Some(from) = place.and_then(|place| relationship.from_columns.get(place)) {
                    let own = anchor.fields.iter().find(|field| {
                        field.name.eq_ignore_ascii_case(from) || field.expression.eq_ignore_ascii_case(from)
                    });
                    let own = own.map_or(from.as_str(), |field| field.name.as_str());
                    return format!("{}.{own}={value}", anchor.name).to_lowercase();
                }
            }
        }
        let column = column.unwrap_or_default();
        format!("{}.{column}={value}{}", entity.name, via.iter().map(|name| format!(" via {name}")).collect::<String>())
            .to_lowercase()
    }
}
