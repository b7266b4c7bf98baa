//! A value that two fields on one way have. Where one of them is called like the other with a word more ("town" and
//! "pickup town"), who says only the value means the plain one; where both are one column
//! of one table under two names, the nearer one is meant.

use super::*;

impl Resolver<'_> {
    /// Leaves out the readings of a value by a field whose name says more than that of another on the same way, or that
    /// is the same column behind it.
    pub(super) fn without_qualified(&self, noun: &Noun, from: usize, candidates: &mut Vec<Found>) {
        if !self.is_open(noun, from) {
            return;
        }
        let all = candidates.clone();
        candidates.retain(|one| !all.iter().any(|plain| self.is_qualified(from, one, plain)));
    }

    /// The fields that a value could have been of as well, in words.
    pub(in super::super) fn qualified(&self, at: NounAt, from: usize, taken: &Found) -> Vec<String> {
        let noun = &self.sketch.nouns[at];
        if !self.is_open(noun, from) {
            return Vec::new();
        }
        let all = self.candidates(at, Some(from));
        all.iter().filter(|other| self.is_qualified(from, other, taken)).map(|other| self.words(other)).collect()
    }

    /// Whether nothing beside a value says of what it is.
    fn is_open(&self, noun: &Noun, from: usize) -> bool {
        let said = !noun.roles.is_empty() && !vocabulary::is_filler(&noun.before);
        let beside = noun.near.is_none_or(|near| {
            self.sketch.nouns[near].entries.iter().any(|entry| self.thing(&entry.sense) == Some(from))
        });
        noun.want == Want::Value && noun.of.is_none() && !said && beside
    }

    fn is_qualified(&self, from: usize, one: &Found, plain: &Found) -> bool {
        let (Target::Value(d, f, value), Target::Value(e, g, other)) = (&one.target, &plain.target) else {
            return false;
        };
        let name = |dataset: usize, field: usize| self.ontology.datasets[dataset].fields[field].words().to_lowercase();
        let more = |name: &str, than: &str| name.strip_suffix(than).is_some_and(|before| before.ends_with(' '));
        let (own, others) = (name(*d, *f), name(*e, *g));
        let way = |found: &Found, to: usize| self.graph.way(from, to, &found.via, Steps::ToOne).ok();
        let (Some(long), Some(short)) = (way(one, *d), way(plain, *e)) else { return false };
        let same_way = long.iter().zip(&short).all(|(a, b)| a.relationship == b.relationship);
        // Of names that say as much, the nearer thing is meant.
        // The same people, as teachers and as heads.
        let (entity, other_entity) = (&self.ontology.datasets[*d], &self.ontology.datasets[*e]);
        let alike = entity.source == other_entity.source
            && entity.fields[*f].expression.eq_ignore_ascii_case(&other_entity.fields[*g].expression);
        let far = alike && !more(&others, &own) && long.len() > short.len();
        (more(&own, &others) || far) && value == other && d != e && one.whole && plain.whole && same_way
    }
}
