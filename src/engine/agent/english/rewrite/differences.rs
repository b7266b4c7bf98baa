//! Two numbers held against each other, and means of what each thing has, said with clauses: "how much higher is A than
//! B", "the difference between A and B", "how many A are on a B on average".

use crate::engine::agent::english::lexicon::{Lexicon, Sense};
use crate::model::ontology::{Additivity, Ontology};

use super::Words;

/// The question with the two numbers as one less the other, or with the mean of each thing.
pub(super) fn plainly(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let usual = usually(question);
    let question = usual.as_deref().unwrap_or(question);
    numbers(question, on, ontology).or(usual)
}

/// "…, typically?": on average.
fn usually(question: &str) -> Option<String> {
    let words = Words::of(question);
    let last = words.len().checked_sub(1).filter(|last| *last > 2)?;
    let usual = matches!(words.at(last), "typically" | "usually" | "normally" | "generally");
    let end = last - usize::from(words.at(last - 1) == ",");
    usual.then(|| format!("{} on average", words.text(0, end)))
}

fn numbers(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let words = Words::of(question);
    higher(&words, on, ontology)
        .or_else(|| exceeds(&words, on, ontology))
        .or_else(|| difference(&words, on, ontology))
        .or_else(|| contained(&words, on))
        .or_else(|| of_each(&words, on, ontology))
}

/// How many words from here on are the name of a number, in its longest form.
fn number(words: &Words<'_>, at: usize, on: &Lexicon, ontology: &Ontology) -> Option<usize> {
    named(words, at, on, |sense| match sense {
        Sense::Metric(_) => true,
        Sense::Field(d, f) => {
            let field = ontology.datasets.get(*d).and_then(|entity| entity.fields.get(*f));
            field.is_some_and(|field| field.datatype.is_number())
        }
        _ => false,
    })
}

fn thing(words: &Words<'_>, at: usize, on: &Lexicon) -> Option<usize> {
    named(words, at, on, |sense| matches!(sense, Sense::Entity(_)))
}

fn named(words: &Words<'_>, at: usize, on: &Lexicon, fits: impl Fn(&Sense) -> bool) -> Option<usize> {
    let said: Vec<&str> =
        (at..words.len().min(at + 6)).map(|at| words.at(at)).take_while(|word| is_word(word)).collect();
    let found = on.matches(&said, &vec![false; said.len()]);
    found
        .into_iter()
        .filter(|found| found.entries.iter().any(|entry| !entry.partial && fits(&entry.sense)))
        .map(|found| found.words)
        .max()
}

fn is_word(word: &str) -> bool {
    word.chars().all(char::is_alphanumeric)
}

fn skip_article(words: &Words<'_>, at: usize) -> usize {
    at + usize::from(matches!(words.at(at), "the" | "a" | "an" | "our" | "its" | "their"))
}

/// The words of a number, with "average" and the like before it, and where it ends.
fn amount<'q>(words: &Words<'q>, at: usize, on: &Lexicon, ontology: &Ontology) -> Option<(&'q str, usize)> {
    let from = skip_article(words, at);
    let whole = number(words, from, on, ontology).map(|count| from + count);
    let end = whole.or_else(|| {
        let mean = matches!(words.at(from), "average" | "mean" | "total" | "median" | "maximum" | "minimum");
        mean.then(|| number(words, from + 1, on, ontology).map(|count| from + 1 + count)).flatten()
    })?;
    Some((words.text(from, end), end))
}

/// "how much higher is A than B": A less B.
fn higher(words: &Words<'_>, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let at = words.find("how much")?;
    let up = match words.at(at + 2) {
        "higher" | "more" | "larger" | "bigger" | "greater" | "longer" => true,
        "lower" | "less" | "smaller" | "shorter" => false,
        _ => return None,
    };
    if !matches!(words.at(at + 3), "is" | "are" | "was" | "were") {
        return None;
    }
    let (first, end) = amount(words, at + 4, on, ontology)?;
    if words.at(end) != "than" {
        return None;
    }
    let (second, end) = amount(words, end + 1, on, ontology)?;
    let (first, second) = if up { (first, second) } else { (second, first) };
    Some(joined(words, (0, at), &format!("{first} minus {second}"), end))
}

/// "by how much does A exceed B": A less B.
fn exceeds(words: &Words<'_>, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let at = words.find("by how much")?;
    if !matches!(words.at(at + 3), "does" | "do" | "did") {
        return None;
    }
    let (first, end) = amount(words, at + 4, on, ontology)?;
    if !matches!(words.at(end), "exceed" | "surpass") {
        return None;
    }
    let (second, end) = amount(words, end + 1, on, ontology)?;
    Some(joined(words, (0, at), &format!("{first} minus {second}"), end))
}

/// "the difference between A and B", where both are numbers.
fn difference(words: &Words<'_>, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let at = ["difference between", "gap between", "difference of"].iter().find_map(|phrase| words.find(phrase))?;
    let from = skip_article(words, at + 2);
    // "A and B" may have a name of its own as well: the numbers meant are on either side of "and".
    let and = (from + 1..words.len().min(from + 7)).find(|at| words.at(*at) == "and")?;
    let (first, end) = amount_until(words, from, and, on, ontology)?;
    let (second, last) = amount(words, end + 1, on, ontology)?;
    Some(joined(words, (0, at), &format!("{first} minus {second}"), last))
}

fn amount_until<'q>(
    words: &Words<'q>,
    from: usize,
    end: usize,
    on: &Lexicon,
    ontology: &Ontology,
) -> Option<(&'q str, usize)> {
    let text = words.text(from, end);
    let (own, used) = amount(&Words::of(text), 0, on, ontology)?;
    (used == end - from && own == text).then_some((text, end))
}

fn joined(words: &Words<'_>, (begin, at): (usize, usize), what: &str, end: usize) -> String {
    // "what is the difference …", "show the difference …"
    let mut head = at;
    while head > begin && matches!(words.at(head - 1), "the" | "is" | "what" | "was" | "are" | "show" | "me" | "s") {
        head -= 1;
    }
    format!("{} {what} {}", words.text(begin, head), words.text(end, words.len())).trim().to_owned()
}

const ON_AVERAGE: &[&str] = &["on average", "on an average", "typically", "usually", "normally"];

/// Where "on average" stands, and how many words it has.
fn on_average(words: &Words<'_>) -> Option<(usize, usize)> {
    ON_AVERAGE.iter().find_map(|phrase| Some((words.find(phrase)?, phrase.split(' ').count())))
}

/// "how many loaves are in a sale on average": the average number of loaves per sale.
fn contained(words: &Words<'_>, on: &Lexicon) -> Option<String> {
    if !words.has(0, "how many") {
        return None;
    }
    let (mean, length) = on_average(words)?;
    let count = thing(words, 2, on)?;
    let at = 2 + count;
    let is = |at: usize| matches!(words.at(at), "are" | "is" | "were" | "was" | "go" | "come" | "fit" | "belong");
    if !is(at) {
        return None;
    }
    let mut at = at + 1;
    at += usize::from(words.at(at) == "there");
    // "how many loaves are usually in a sale"
    if at == mean {
        at += length;
    }
    at += usize::from(matches!(words.at(at), "listed" | "contained" | "included" | "sold" | "found"));
    if !matches!(words.at(at), "on" | "in" | "to" | "per" | "under" | "within" | "at" | "for" | "with") {
        return None;
    }
    let one = matches!(words.at(at + 1), "a" | "an" | "each" | "every" | "one" | "the");
    let per = words.at(at) == "per";
    let owner = at + 1 + usize::from(one);
    if !(one || per) {
        return None;
    }
    let owned = thing(words, owner, on)?;
    let end = owner + owned;
    // What stands behind is left in, so that it is read, or not understood.
    let rest = words.text(end, words.len());
    let left = if mean >= end { rest.replacen(words.text(mean, mean + length), "", 1) } else { rest.to_owned() };
    let (what, each) = (words.text(2, 2 + count), words.text(owner, end));
    Some(format!("average number of {what} per {each} {}", left.trim()).trim().to_owned())
}

/// "how much does a guest spend on average", "what does a trip cost on average": the mean of what each has.
fn of_each(words: &Words<'_>, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let from = if words.has(0, "how much") {
        2
    } else if words.has(0, "what") {
        1
    } else {
        return None;
    };
    let (mean, length) = on_average(words)?;
    if !matches!(words.at(from), "does" | "do" | "did")
        || !matches!(words.at(from + 1), "a" | "an" | "each" | "every" | "one")
    {
        return None;
    }
    let own = from + 2;
    let count = thing(words, own, on)?;
    let verb = own + count;
    let verb = if verb == mean { mean + length } else { verb };
    let what = words.text(own, own + count);
    let adds = |sense: &Sense| matches!(sense, Sense::Metric(m) if ontology.metrics.get(*m).is_some_and(|metric| metric.additivity == Additivity::Additive));
    let said = words.at(verb);
    // The verb may be the number's name, or a part of it with the thing: "cost of trips".
    let names =
        [said.to_owned(), format!("{what} {said}"), format!("{said} of {what}"), format!("total {what} {said}")];
    let name = names.iter().find(|name| {
        let name = Words::of(name);
        named(&name, 0, on, adds) == Some(name.len())
    })?;
    let rest = verb + 1 + usize::from(matches!(words.at(verb + 1), "us" | "me" | "in" | "out"));
    let left = words.text(rest, words.len()).replacen(words.text(mean, mean + length), "", 1);
    Some(format!("average {name} per {what} {}", left.trim()).trim().to_owned())
}
