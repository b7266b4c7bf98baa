//! What people say around a question: that they would like to know it, for whom, what for, and thanks. Also a second
//! sentence that names columns: "Which planes have four engines? Tail number and model are enough."

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};

use super::super::vocabulary;

/// Words of which sentences about asking are made.
const ASKING: &str = "\
    i we you he she they it my our your the a an boss colleague colleagues ceo cfo director team management somebody \
    someone anyone anybody everybody everyone folks guys can could would will may might must shall do does did please \
    kindly just quickly briefly really also need needs needed want wants wanted like liked love to have has had been \
    was were am be being is are able help helping hi hello hey there good morning afternoon evening day dear sorry \
    bother bothering disturb excuse pardon thanks thank asking ask wonder curious interested trying try happy glad \
    grateful question questions quick short small little simple one thing more another favor favour me us then again \
    this moment minute ok okay well so right let lets see go id im ive weve ill possible possibly perhaps maybe if of \
    for here first all know hiya howdy greetings any chance wed youd";

/// Words that end a sentence about asking: the question itself comes next.
const KNOWING: &[&[&str]] = &[
    &["know"],
    &["asked"],
    &["wondering"],
    &["wonder"],
    &["check"],
    &["see"],
    &["tell", "me"],
    &["tell", "us"],
    &["remind", "me"],
    &["remind", "us"],
    &["find", "out"],
    &["look", "up"],
    &["figure", "out"],
    &["work", "out"],
    &["learn"],
    &["understand"],
];

/// How a question begins that somebody wants to know.
const BEGINS: &[&str] = &[
    "how", "what", "which", "who", "whose", "when", "where", "the", "our", "all", "if", "whether", "list", "number",
    "total", "average", "names", "every", "each",
];

/// What follows a question and says nothing of it, without signs.
const ENDS: &[&str] = &[
    "thanks", "thank you", "thank you very much", "thank you so much", "thanks a lot", "thanks very much",
    "many thanks", "thanks in advance", "thank you in advance", "cheers", "please", "pls", "if possible", "if you can",
    "if you could", "if you have time", "when you have time", "when you can", "that would be great",
    "that would be nice", "that would be helpful", "would be great", "would be nice", "much appreciated", "asap",
    "best regards", "kind regards", "for me", "for us", "that is all i need", "thats all i need", "thats all",
    "please and thank you", "in one table", "side by side", "next to each other", "beside each other",
    "next to one another", "altogether", "all in all", "all together",
];

/// How a part of a sentence ends in which columns are named: "…, name and town are enough".
const ENOUGH: &[&str] = &[
    "is enough", "are enough", "would be enough", "is sufficient", "are sufficient", "suffice", "suffices", "will do",
    "is fine", "are fine",
];

/// What a question may be asked for.
const PURPOSES: &[&str] = &[
    "report", "presentation", "meeting", "newsletter", "slides", "slide", "dashboard", "audit", "mailing", "review",
    "planning", "talk", "call", "briefing", "board", "boss", "records", "files",
];

/// Words for the number that things are ranked by.
const NUMBER: &[&str] =
    &["amount", "amounts", "number", "numbers", "count", "total", "totals", "value", "values", "quantity", "figure"];

/// Words before a list of columns in a sentence of its own, and behind one.
const LEADS: &[&str] = &[
    "show", "list", "give", "include", "add", "put", "display", "print", "return", "also", "and", "just", "only",
    "please", "i", "we", "you", "want", "need", "would", "like", "id", "to", "see", "have", "with", "me", "us", "the",
    "their", "its", "plus", "all", "my", "our", "can", "could",
];
const TAILS: &[&str] = &[
    "too", "as", "well", "also", "please", "pls", "is", "are", "enough", "will", "do", "suffice", "suffices", "would",
    "sufficient", "fine", "only", "be", "good", "great", "ok", "needed", "it", "for", "me", "us",
];

/// The question alone.
pub(super) fn bare(question: &str, on: &Lexicon) -> Option<String> {
    let mut text = question.to_owned();
    for rule in [ended, enough, purpose, begun, which_ones, columns] {
        // Several may stand around it: "Hello! … Thanks. Best regards".
        for _ in 0..3 {
            let Some(other) = rule(&text, on) else { break };
            text = other;
        }
    }
    (text != question).then_some(text)
}

fn folded(token: &Token) -> String {
    match token.text.as_str() {
        _ if token.kind == TokenKind::Quoted => String::new(),
        // It names a country.
        "US" => token.text.clone(),
        text => words::split(text).join(""),
    }
}

/// Whether a word is the name of something here that is no value: some song is called "You".
fn is_name(word: &str, on: &Lexicon) -> bool {
    let named = |sense: &Sense| !matches!(sense, Sense::Role(_) | Sense::Value { .. });
    on.matches(&[word], &[false])
        .iter()
        .any(|found| found.entries.iter().any(|entry| !entry.partial && named(&entry.sense)))
}

/// "My boss wants to know how many …": what is left of it.
fn begun(text: &str, on: &Lexicon) -> Option<String> {
    static SET: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let asking = SET.get_or_init(|| ASKING.split_whitespace().collect());
    let all = tokens(text);
    let list: Vec<String> = all.iter().map(folded).collect();
    let mut at = 0;
    let mut end = 0;
    let mut said = false;
    while at < all.len() {
        let verb = KNOWING.iter().find(|verb| {
            verb.iter().enumerate().all(|(ahead, word)| list.get(at + ahead).is_some_and(|it| it == word))
        });
        if all[at].kind == TokenKind::Punct && matches!(all[at].norm.as_str(), "," | ":" | "." | "!" | "-" | "–") {
            at += 1;
            end = if said { at } else { end };
        } else if let Some(verb) = verb {
            at += verb.len();
            said = true;
            // "asked me how many", "check for me how many"
            while list
                .get(at)
                .is_some_and(|word| matches!(word.as_str(), "me" | "us" | "for" | "you" | "please" | "quickly"))
            {
                at += 1;
            }
            if list.get(at).is_some_and(|next| BEGINS.contains(&next.as_str()) || list.get(at).is_none()) {
                end = at;
            }
        } else if asking.contains(list[at].as_str()) && (all[at].text.contains(['\'', '’']) || !is_name(&list[at], on))
        {
            said |= matches!(
                list[at].as_str(),
                "sorry"
                    | "question"
                    | "questions"
                    | "morning"
                    | "afternoon"
                    | "evening"
                    | "day"
                    | "excuse"
                    | "pardon"
                    | "hi"
                    | "hello"
                    | "hey"
                    | "thanks"
                    | "thank"
                    | "favor"
                    | "favour"
            );
            at += 1;
        } else {
            break;
        }
    }
    while matches!(list.get(end).map(String::as_str), Some("if" | "whether" | "but")) && end > 0 {
        end += 1;
    }
    let rest = text.get(all.get(end)?.start..)?;
    (end > 0 && !rest.trim().is_empty()).then(|| rest.to_owned())
}

/// "…, so that we can write to them. Thanks!": what is before it.
fn ended(text: &str, _: &Lexicon) -> Option<String> {
    let all = tokens(text);
    let list: Vec<String> = all.iter().map(folded).collect();
    let sign = |token: &Token| token.kind == TokenKind::Punct && matches!(token.norm.as_str(), "?" | "." | "!" | ",");
    let so = (1..all.len()).find(|at| {
        let who = list.get(at + 1).map_or("", String::as_str);
        let can = list.get(at + 2).map_or("", String::as_str);
        list[*at] == "so"
            && (who == "that" || matches!(who, "i" | "we") && matches!(can, "can" | "could" | "may" | "will" | "know"))
    });
    if let Some(at) = so {
        return text.get(..all[at].start).map(|head| head.trim_end_matches([' ', ',']).to_owned());
    }
    let end = all.iter().rposition(|token| !sign(token))? + 1;
    let from = ENDS.iter().filter_map(|phrase| ends_with(&list[..end], phrase));
    let from = from.min()?;
    // "what about Monday? Thanks!" keeps its own sign.
    let head = text.get(..all[from].start)?.trim_end_matches([' ', ',', '-', '–', '!']);
    (!head.is_empty()).then(|| head.to_owned())
}

/// Where a phrase begins that ends the words, with something before it.
fn ends_with(list: &[String], phrase: &str) -> Option<usize> {
    let words: Vec<&str> = phrase.split(' ').collect();
    let from = list.len().checked_sub(words.len()).filter(|from| *from > 0)?;
    list[from..].iter().map(String::as_str).eq(words).then_some(from)
}

/// "…, name and town are enough": the columns alone.
fn enough(text: &str, on: &Lexicon) -> Option<String> {
    let all = tokens(text);
    let list: Vec<String> = all.iter().map(folded).collect();
    let sign = |token: &Token| token.kind == TokenKind::Punct && token.norm != "%";
    let end = all.iter().rposition(|token| !sign(token))? + 1;
    let from = ENOUGH.iter().find_map(|phrase| ends_with(&list[..end], phrase))?;
    let begin =
        all[..from].iter().rposition(|token| matches!(token.norm.as_str(), "," | "-" | "–" | "—" | ":" | ";"))?;
    let columns = list[begin + 1..from].iter().skip_while(|word| matches!(word.as_str(), "the" | "their" | "just"));
    let columns: Vec<String> = columns.cloned().collect();
    (!columns.is_empty() && named(&columns, on)).then(|| text.get(..all[from - 1].end).map(str::to_owned))?
}

/// "For my report: …", "… for next week's meeting": what is left of it.
fn purpose(text: &str, on: &Lexicon) -> Option<String> {
    let all = tokens(text);
    let list: Vec<String> = all.iter().map(folded).collect();
    let from = (0..all.len()).find(|at| {
        list[*at] == "for" && matches!(list.get(at + 1).map(String::as_str), Some("my" | "our" | "the" | "a" | "an"))
    })?;
    let to = (from + 2..all.len().min(from + 4))
        .find(|at| PURPOSES.contains(&list[*at].as_str()) && !is_name(&list[*at], on))?;
    let next = all.get(to + 1);
    let closes = next.is_none_or(|next| next.kind == TokenKind::Punct);
    let head = text.get(..all[from].start)?.trim_end_matches([' ', ',']);
    if from > 0 {
        let tail = next.map_or("", |next| text.get(next.start..).unwrap_or_default());
        return closes.then(|| format!("{head}{tail}"));
    }
    let says = closes || matches!(list.get(to + 1).map(String::as_str), Some("i" | "we"));
    let begin = if closes { to + 2 } else { to + 1 };
    says.then(|| text.get(all.get(begin)?.start..).map(str::to_owned))?
}

/// "… Tail number and model are enough.": the columns behind the question itself.
fn columns(text: &str, on: &Lexicon) -> Option<String> {
    let all = tokens(text);
    let list: Vec<String> = all.iter().map(folded).collect();
    let mark = (1..all.len()).rev().find(|at| {
        all[*at].kind == TokenKind::Punct && matches!(all[*at].norm.as_str(), "?" | "." | "!") && at + 1 < all.len()
    })?;
    let counted = ["many", "much", "total", "number", "average", "sum", "count", "share", "percentage"];
    if list[..mark].iter().any(|word| counted.contains(&word.as_str())) {
        return None;
    }
    let ranked = list[..mark].iter().any(|word| vocabulary::superlative(word).is_some());
    let is_end = |token: &Token| token.kind == TokenKind::Punct && matches!(token.norm.as_str(), "." | "!" | "?");
    let end = all.iter().rposition(|token| !is_end(token))? + 1;
    let mut parts: Vec<&str> = Vec::new();
    let mut at = mark + 1;
    while at < end {
        let stop = (at..end).find(|at| all[*at].norm == ",").unwrap_or(end);
        let (mut from, mut to) = (at, stop);
        while from < to && LEADS.contains(&list[from].as_str()) {
            from += 1;
        }
        let order = to > from && matches!(list[to - 1].as_str(), "first" | "last" | "top");
        while !order && to > from && TAILS.contains(&list[to - 1].as_str()) {
            to -= 1;
        }
        // "I want the quantity as well": the number by which they were ranked.
        let number = to == from + 1 && ranked && NUMBER.contains(&list[from].as_str());
        if from < to && !number {
            if !order && !named(&list[from..to], on) {
                return None;
            }
            parts.push(text.get(all[from].start..all[to - 1].end)?);
        }
        at = stop + 1;
    }
    let head = text.get(..all[mark].start)?.trim_end();
    // Without any column all of it says that the number is wanted.
    let tail = parts.iter().map(|part| format!(", {part}")).collect::<String>();
    (!tail.is_empty() || ranked).then(|| format!("{head}{tail}"))
}

/// Whether words are names of fields and things, with nothing but "and" between.
fn named(list: &[String], on: &Lexicon) -> bool {
    let mut at = 0;
    while at < list.len() {
        if matches!(list[at].as_str(), "and" | "&" | "the" | "their" | "its" | "also" | "+" | "/" | "") {
            at += 1;
            continue;
        }
        let said: Vec<&str> = list[at..].iter().map(String::as_str).take_while(|word| !word.is_empty()).collect();
        let found = on.matches(&said, &vec![false; said.len()]).into_iter().rev().find(|found| {
            found.entries.iter().any(|entry| {
                let generic = matches!(said[0], "name" | "names" | "number" | "numbers" | "id" | "ids" | "date");
                (!entry.partial || generic) && !matches!(entry.sense, Sense::Value { .. } | Sense::Role(_))
            })
        });
        match found {
            Some(found) => at += found.words,
            None => return false,
        }
    }
    true
}

/// "Are there empty shelves? Which ones?": which there are.
fn which_ones(text: &str, _: &Lexicon) -> Option<String> {
    const ASKS: &[&[&str]] = &[
        &["are", "there"],
        &["is", "there"],
        &["were", "there"],
        &["do", "we", "have"],
        &["did", "we", "have"],
        &["have", "we", "got"],
        &["have", "we"],
    ];
    const ENDS: &[&[&str]] = &[
        &["which"],
        &["which", "ones"],
        &["which", "one"],
        &["which", "are", "they"],
        &["which", "ones", "are", "they"],
        &["what", "are", "they"],
        &["who"],
        &["who", "are", "they"],
        &["list", "them"],
        &["name", "them"],
        &["show", "them"],
        &["please", "list", "them"],
        &["please", "name", "them"],
    ];
    let all = tokens(text);
    let list: Vec<String> = all.iter().map(folded).collect();
    let has = |from: usize, words: &[&str]| {
        words.iter().enumerate().all(|(ahead, word)| list.get(from + ahead).is_some_and(|it| it == word))
    };
    let asks = ASKS.iter().find(|asks| has(0, asks))?.len();
    let sign = |token: &Token| token.kind == TokenKind::Punct && !matches!(token.norm.as_str(), "\"" | "'" | "%");
    let end = all.iter().rposition(|token| !sign(token))? + 1;
    let last = ENDS.iter().filter(|last| end > last.len() + asks).map(|last| (end - last.len(), last));
    let (from, _) = last.into_iter().find(|(from, last)| has(*from, last) && sign(&all[from - 1]))?;
    let from = from - 1;
    let begin = asks + usize::from(matches!(list.get(asks).map(String::as_str), Some("any" | "some" | "a" | "an")));
    let what = text.get(all.get(begin)?.start..all.get(from.checked_sub(1)?)?.end)?;
    Some(format!("which {what}"))
}
