//! Who does what a verb says: the "manager" and "managed by" of "manages". What an ontology calls those who do something
//! is mostly a noun made of the verb, or its passive.

use super::{Entry, Lexicon, Sense, words};

/// Verbs whose past follows no rule: base, past, participle.
const VERBS: &[[&str; 3]] = &[
    ["bear", "bore", "born"],
    ["bring", "brought", "brought"],
    ["build", "built", "built"],
    ["buy", "bought", "bought"],
    ["catch", "caught", "caught"],
    ["choose", "chose", "chosen"],
    ["draw", "drew", "drawn"],
    ["drive", "drove", "driven"],
    ["find", "found", "found"],
    ["fly", "flew", "flown"],
    ["get", "got", "got"],
    ["give", "gave", "given"],
    ["grow", "grew", "grown"],
    ["hold", "held", "held"],
    ["keep", "kept", "kept"],
    ["lead", "led", "led"],
    ["lend", "lent", "lent"],
    ["make", "made", "made"],
    ["pay", "paid", "paid"],
    ["ride", "rode", "ridden"],
    ["run", "ran", "run"],
    ["see", "saw", "seen"],
    ["sell", "sold", "sold"],
    ["send", "sent", "sent"],
    ["sing", "sang", "sung"],
    ["spend", "spent", "spent"],
    ["take", "took", "taken"],
    ["teach", "taught", "taught"],
    ["win", "won", "won"],
    ["write", "wrote", "written"],
];

/// What a verb of the table may begin with: "underwrite", "oversee".
const BEFORE: &[&str] = &["", "under", "over", "re", "out", "with", "up"];

/// Words that belong to a verb before them: "looks after".
pub(crate) const PARTICLES: &[&str] = &["after", "out", "up", "off", "on", "for", "over", "down", "in", "with"];

impl Lexicon {
    /// What stands for those who do what a verb says, in any of its forms; empty where nothing does. With the word that
    /// belongs to it, as in "looks after", only what has that word too.
    pub(crate) fn agents(&self, verb: &str, particle: Option<&str>) -> Vec<Entry> {
        let mut found: Vec<Entry> = Vec::new();
        for base in bases(verb) {
            let mut phrases: Vec<Vec<String>> = Vec::new();
            if particle.is_none() {
                phrases.extend(agent_nouns(&base).into_iter().map(|noun| vec![noun]));
            }
            for participle in participles(&base) {
                let said = [Some(participle.as_str()), particle, Some("by")];
                phrases.push(said.into_iter().flatten().map(str::to_owned).collect());
            }
            for phrase in phrases {
                let list: Vec<&str> = phrase.iter().map(String::as_str).collect();
                let known = self.matches(&list, &vec![false; list.len()]);
                let whole = known.into_iter().filter(|known| known.words == list.len()).flat_map(|known| known.entries);
                for entry in whole {
                    let names = matches!(entry.sense, Sense::Entity(_) | Sense::Role(_) | Sense::Field(..));
                    let own = names && !entry.partial && entry.quality > 0.95;
                    if own && found.iter().all(|other| other.sense != entry.sense) {
                        found.push(entry);
                    }
                }
            }
        }
        found
    }
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// What a form of a verb may be one of.
fn bases(verb: &str) -> Vec<String> {
    if verb.len() < 3 || !verb.chars().all(|c| c.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let mut bases: Vec<String> = Vec::new();
    for [base, past, participle] in VERBS {
        for form in [base, past, participle] {
            if let Some(before) = verb.strip_suffix(form).filter(|before| BEFORE.contains(before)) {
                bases.push(format!("{before}{base}"));
            }
        }
    }
    let ending = |(form, cost): (String, f32)| (cost < words::FAMILY).then_some(form);
    bases.extend(words::forms(verb).into_iter().filter_map(ending));
    bases.retain(|base| base.len() > 2);
    bases.dedup();
    bases
}

/// Whether the last letter of a short verb is said twice: "run", "runner".
fn doubles(base: &str) -> Option<char> {
    let mut back = base.chars().rev();
    let (last, vowel, before) = (back.next()?, back.next()?, back.next()?);
    let once = !is_vowel(last) && is_vowel(vowel) && !is_vowel(before) && !matches!(last, 'w' | 'x' | 'y');
    once.then_some(last)
}

/// Nouns for those who do it: "manager", "assessor", "supplier", "runner".
fn agent_nouns(base: &str) -> Vec<String> {
    let mut nouns = Vec::new();
    match base.strip_suffix('e') {
        Some(stem) => nouns.extend([format!("{base}r"), format!("{stem}or")]),
        None => nouns.extend([format!("{base}er"), format!("{base}or")]),
    }
    if let Some(stem) = base.strip_suffix('y').filter(|stem| !stem.ends_with(is_vowel)) {
        nouns.push(format!("{stem}ier"));
    }
    nouns.extend(doubles(base).map(|last| format!("{base}{last}er")));
    nouns
}

/// "managed", "held", "supplied", "planned".
fn participles(base: &str) -> Vec<String> {
    for [known, _, participle] in VERBS {
        if let Some(before) = base.strip_suffix(known).filter(|before| BEFORE.contains(before)) {
            return vec![format!("{before}{participle}")];
        }
    }
    let mut forms = vec![if base.ends_with('e') { format!("{base}d") } else { format!("{base}ed") }];
    if let Some(stem) = base.strip_suffix('y').filter(|stem| !stem.ends_with(is_vowel)) {
        forms.push(format!("{stem}ied"));
    }
    forms.extend(doubles(base).map(|last| format!("{base}{last}ed")));
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_it_is_called_by_the_verb() {
        for (verb, noun) in [
            ("manages", "manager"),
            ("managed", "manager"),
            ("assess", "assessor"),
            ("supplies", "supplier"),
            ("holds", "holder"),
            ("held", "holder"),
            ("underwrote", "underwriter"),
            ("underwritten", "underwriter"),
            ("runs", "runner"),
            ("operating", "operator"),
            ("taught", "teacher"),
        ] {
            let nouns: Vec<String> = bases(verb).iter().flat_map(|base| agent_nouns(base)).collect();
            assert!(nouns.iter().any(|known| known == noun), "{verb}: {nouns:?}");
        }
    }

    #[test]
    fn what_is_done_is_said_by_the_participle() {
        for (verb, participle) in
            [("looks", "looked"), ("sells", "sold"), ("carry", "carried"), ("plans", "planned"), ("takes", "taken")]
        {
            let all: Vec<String> = bases(verb).iter().flat_map(|base| participles(base)).collect();
            assert!(all.iter().any(|known| known == participle), "{verb}: {all:?}");
        }
    }
}
