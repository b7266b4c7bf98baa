//! Words: how they are spelled alike, and which forms are one word. A small morphology of English of our own; both the
//! ontology's words and the question's go through it, so what counts is that it is consistent.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Lower case, compatibility forms made plain, accents and apostrophes gone.
pub(crate) fn fold(text: &str) -> String {
    let text: String = text.nfkd().filter(|c| !is_combining_mark(*c)).collect();
    let text = text.to_lowercase().replace(['’', 'ʼ', '`'], "'");
    text.strip_suffix("'s").or_else(|| text.strip_suffix("s'")).map_or_else(
        || text.replace('\'', ""),
        |stem| {
            let plural = text.ends_with("s'");
            format!("{}{}", stem.replace('\'', ""), if plural { "s" } else { "" })
        },
    )
}

/// The words of a name or a value: what stands between signs, folded.
pub(crate) fn split(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '\'' | '’' | 'ʼ' | '`')))
        .map(fold)
        .filter(|word| !word.is_empty())
        .collect()
}

const PLURALS: &[(&str, &str)] = &[
    ("people", "person"),
    ("children", "child"),
    ("men", "man"),
    ("women", "woman"),
    ("feet", "foot"),
    ("mice", "mouse"),
    ("geese", "goose"),
    ("teeth", "tooth"),
    ("lives", "life"),
    ("wives", "wife"),
    ("knives", "knife"),
    ("shelves", "shelf"),
    ("leaves", "leaf"),
    ("halves", "half"),
    ("wolves", "wolf"),
    ("thieves", "thief"),
    ("loaves", "loaf"),
    ("movies", "movie"),
    ("cookies", "cookie"),
    ("calories", "calorie"),
    ("shoes", "shoe"),
    ("ties", "tie"),
    ("pies", "pie"),
    ("buses", "bus"),
    ("statuses", "status"),
    ("viruses", "virus"),
    ("bonuses", "bonus"),
    ("campuses", "campus"),
    ("gases", "gas"),
    ("criteria", "criterion"),
    ("phenomena", "phenomenon"),
    ("indices", "index"),
    ("indexes", "index"),
    ("vertices", "vertex"),
    ("matrices", "matrix"),
    ("analyses", "analysis"),
    ("bases", "base"),
    ("diagnoses", "diagnosis"),
    ("causes", "cause"),
    ("houses", "house"),
    ("warehouses", "warehouse"),
    ("purchases", "purchase"),
    ("expenses", "expense"),
    ("licenses", "license"),
    ("leases", "lease"),
    ("releases", "release"),
    ("databases", "database"),
    ("phases", "phase"),
    ("cases", "case"),
    ("responses", "response"),
    ("courses", "course"),
    ("nurses", "nurse"),
    ("horses", "horse"),
    ("uses", "use"),
    ("causes", "cause"),
    ("increases", "increase"),
    ("decreases", "decrease"),
];

/// Words in -s that are no plurals.
const SINGULAR: &[&str] = &[
    "series", "species", "news", "sales", "always", "less", "yes", "as", "is", "was", "has", "does", "its", "us",
    "this",
];

/// The one form under which a noun is kept: its singular.
pub(in crate::engine::agent::english) fn singular(word: &str) -> String {
    if let Some((_, one)) = PLURALS.iter().find(|(many, _)| *many == word) {
        return (*one).into();
    }
    if word == "sales" {
        return "sale".into();
    }
    if word.len() < 4 || SINGULAR.contains(&word) || word.chars().any(|c| c.is_ascii_digit()) {
        return word.into();
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes", "zzes", "oes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].into();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.into(),
        _ => word.into(),
    }
}

/// Verbs whose forms follow no rule, and nouns made of verbs: the first of each row is what the others come from.
const FAMILIES: &[&[&str]] = &[
    &["pay", "paid", "paying", "payment", "payed"],
    &["sell", "sold", "selling", "sale", "seller"],
    &["buy", "bought", "buying", "buyer", "purchase"],
    &["spend", "spent", "spending"],
    &["rent", "rented", "renting", "rental"],
    &["ship", "shipped", "shipping", "shipment"],
    &["arrive", "arrived", "arriving", "arrival"],
    &["depart", "departed", "departing", "departure"],
    &["deliver", "delivered", "delivering", "delivery"],
    &["fly", "flew", "flown", "flying", "flight"],
    &["lend", "lent", "lending", "loan"],
    &["borrow", "borrowed", "borrowing", "borrower"],
    &["write", "wrote", "written", "writing", "writer"],
    &["make", "made", "making", "maker"],
    &["build", "built", "building"],
    &["earn", "earned", "earning", "earnings"],
    &["cancel", "cancelled", "canceled", "cancelling", "canceling", "cancellation"],
    &["bear", "born", "birth"],
    &["die", "died", "death"],
    &["begin", "began", "begun", "beginning", "start", "started"],
    &["leave", "left", "leaving"],
    &["give", "gave", "given"],
    &["take", "took", "taken"],
    &["hold", "held", "holding", "holder"],
    &["lose", "lost", "losing", "loss"],
    &["grow", "grew", "grown", "growth"],
    &["teach", "taught", "teaching", "teacher"],
    &["send", "sent", "sending", "sender"],
    &["employ", "employed", "employee"],
    &["manufacture", "manufactured", "manufacturing", "manufacturer"],
    &["produce", "produced", "producing", "producer", "production"],
    &["register", "registered", "registration"],
    &["subscribe", "subscribed", "subscription"],
    &["reserve", "reserved", "reservation"],
    &["book", "booked", "booking"],
    &["invoice", "invoiced", "invoicing"],
    &["bill", "billed", "billing"],
    &["withdraw", "withdrew", "withdrawn", "withdrawal"],
    &["transact", "transacted", "transaction"],
    &["appoint", "appointed", "appointment"],
    &["treat", "treated", "treatment"],
    &["prescribe", "prescribed", "prescription"],
    &["diagnose", "diagnosed", "diagnosis"],
    &["enrol", "enroll", "enrolled", "enrolling", "enrolment", "enrollment"],
    &["admit", "admitted", "admission"],
    &["delay", "delayed"],
];

/// What it costs to come from a verb by its ending: "rating" may be from "rate".
pub(crate) const ENDING: f32 = 0.03;

/// What it costs to be another word of the same verb: "sold" and "sale".
pub(crate) const FAMILY: f32 = 0.05;

/// Past forms that do not end in -ed.
const IRREGULAR: &[&str] = &[
    "paid", "sold", "bought", "spent", "flew", "flown", "lent", "wrote", "written", "made", "built", "born", "began",
    "begun", "left", "gave", "given", "took", "taken", "held", "lost", "grew", "grown", "taught", "sent", "withdrew",
    "withdrawn", "brought", "came", "got", "kept", "ran", "went",
];

/// Whether a word is a past form of a verb that does not end in -ed.
pub(crate) fn is_irregular(word: &str) -> bool {
    IRREGULAR.contains(&word)
}

/// Whether a word has the form of what was done: "returned", "paid".
pub(crate) fn is_past(word: &str) -> bool {
    word.ends_with("ed") || is_irregular(word)
}

/// What a word of a question may be a form of, the likeliest first, each with what that costs. The word itself is the
/// first.
pub(crate) fn forms(word: &str) -> Vec<(String, f32)> {
    let mut forms = vec![(word.to_owned(), 0.0_f32)];
    let mut add = |form: String, cost: f32| {
        if form.len() > 1 && forms.iter().all(|(known, _)| *known != form) {
            forms.push((form, cost));
        }
    };
    let one = singular(word);
    add(one.clone(), 0.0);
    if word.chars().any(|c| !c.is_alphabetic()) {
        return forms;
    }
    // A noun says less than its verb: "payments" are not what was "paid".
    let is_verb = |family: &[&str]| {
        let verb = |form: &str| {
            form == family[0] || form.ends_with("ed") || form.ends_with("ing") || IRREGULAR.contains(&form)
        };
        family.contains(&word) && verb(word) || family.contains(&one.as_str()) && one == family[0]
    };
    for family in FAMILIES.iter().filter(|family| is_verb(family)) {
        add(family[0].to_owned(), FAMILY);
        for other in &family[1..] {
            add((*other).to_owned(), FAMILY);
        }
    }
    for ending in ["ed", "ing"] {
        let Some(stem) = word.strip_suffix(ending) else { continue };
        if stem.len() < 3 || !stem.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            continue;
        }
        add(stem.to_owned(), ENDING);
        // "landed in" is "landing in".
        add(format!("{stem}{}", if ending == "ed" { "ing" } else { "ed" }), ENDING);
        add(format!("{stem}e"), ENDING);
        let twice = stem.chars().last().filter(|last| stem[..stem.len() - last.len_utf8()].ends_with(*last));
        if let Some(last) = twice {
            add(stem[..stem.len() - last.len_utf8()].to_owned(), ENDING);
        }
        if let Some(stem) = stem.strip_suffix('i') {
            add(format!("{stem}y"), ENDING);
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_split() {
        for (text, words) in [
            ("Crème brûlée", vec!["creme", "brulee"]),
            ("AC/DC", vec!["ac", "dc"]),
            ("O'Brien", vec!["obrien"]),
            ("customer's", vec!["customer"]),
            ("customers’", vec!["customers"]),
            ("United Air Lines Inc.", vec!["united", "air", "lines", "inc"]),
            ("…", vec![]),
        ] {
            assert_eq!(split(text), words, "{text}");
        }
    }

    #[test]
    fn plurals_become_singular() {
        for (many, one) in [
            ("claims", "claim"),
            ("policies", "policy"),
            ("addresses", "address"),
            ("branches", "branch"),
            ("boxes", "box"),
            ("status", "status"),
            ("movies", "movie"),
            ("people", "person"),
            ("sizes", "size"),
            ("gas", "gas"),
            ("analyses", "analysis"),
            ("sales", "sale"),
            ("warehouses", "warehouse"),
        ] {
            assert_eq!(singular(many), one);
        }
    }

    #[test]
    fn what_was_done_has_a_form_of_its_own() {
        assert!(["returned", "paid", "left", "came"].into_iter().all(is_past));
        assert!(!["return", "payment", "leave", "unpaid"].into_iter().any(is_past));
    }

    #[test]
    fn verbs_find_their_base_and_their_noun() {
        for (form, base) in [
            ("ordered", "order"),
            ("closed", "close"),
            ("shipped", "ship"),
            ("paid", "payment"),
            ("sold", "sale"),
            ("rented", "rental"),
            ("ordering", "order"),
            ("carried", "carry"),
            ("loans", "loan"),
        ] {
            assert!(forms(form).iter().any(|(known, _)| known == base), "{form}: {:?}", forms(form));
        }
        assert_eq!(forms("N14228").len(), 1);
    }
}
