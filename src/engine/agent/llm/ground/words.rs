//! The words of a question: which carry meaning of their own, and what those of operations demand of a plan.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::engine::agent::llm::meant::occurs;
use crate::model::plan::Plan;
use crate::model::reading::Turn;

/// Words of English that carry no meaning of their own in a question about data.
const SMALL: &str = "a about across all along also am among an and any are as ask at available back be been being \
    breakdown broken but calculate can chart column columns compute could count data database did display do does doing \
    done down during end exactly fetch find for from further get give given had has have having he her here hers him his \
    how i if into is it its just know let list many may me might much my need number numbers occur of off often on one \
    only our out overall own please question record records report respective respectively result results return row \
    rows same see select several shall she should show so some start such sum table take tell that the their them then \
    there these they this those through time times to together total two up us use was we well were what when where \
    whether which while who whom whose why will with would yet you your zero three four five six seven eight nine ten \
    eleven twelve twenty by in";

/// Words of operations, and what a plan that understood them has one of. `metric` is any metric: its definition may be
/// what the word says.
const OPERATIONS: &[(&str, &str)] = &[
    ("average averages avg mean", "avg overall moving_average metric"),
    ("median", "median metric"),
    ("share shares percent percentage proportion fraction", "share ratio change_percent comparison metric"),
    ("ratio rate", "ratio metric avg"),
    (
        "top bottom highest lowest best worst largest smallest biggest longest shortest fewest greatest maximum minimum \
         max min",
        "order max min metric",
    ),
    ("most least", "order max min at_most at_least metric"),
    ("first earliest oldest latest newest recent last next", "order min max window"),
    ("second third fourth fifth", "skip limit"),
    (
        "more greater higher larger longer bigger exceed exceeds exceeding above over",
        "greater at_least order window grain over",
    ),
    ("less fewer lower smaller shorter below under", "less at_most order"),
    ("between", "window at_least greater all"),
    ("before after later earlier since until till", "window less at_most greater at_least"),
    ("today yesterday tomorrow now ago current currently past previous", "window comparison change change_percent"),
    ("day days daily", "day day_of_week day_of_month window"),
    ("week weeks weekly", "week window"),
    ("month months monthly", "month month_of_year window"),
    ("quarter quarters quarterly", "quarter quarter_of_year fiscal_quarter window"),
    ("year years yearly annually annual", "year fiscal_year window"),
    ("hour hours hourly", "hour hour_of_day window"),
    (
        "growth grow grew change changed changes increase increased decrease decreased",
        "change change_percent comparison difference",
    ),
    ("trend trends evolve evolved develop developed", "grain change change_percent"),
    ("cumulative cumulated running", "cumulative metric"),
    ("versus vs compare compared comparison than", "comparison in dimensions difference op against_overall"),
    ("distinct unique different", "distinct count_distinct dimensions metric"),
    ("per each every", "dimensions over ratio metric"),
    ("or either both", "in any dimensions sum"),
    ("not without except excluding never no none nobody neither", "negated not not_equal is_null false segment"),
    ("deviation stddev variance", "stddev metric"),
];

/// Lower-case words and numbers.
pub(super) fn tokens(text: &str) -> BTreeSet<String> {
    let mut text = text.replace(['’', '\''], " ").to_lowercase();
    // 1,000 is one number.
    while let Some(at) = text.match_indices(',').map(|(at, _)| at).find(|at| {
        let digit = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
        digit(at.checked_sub(1)) && (1..4).all(|after| digit(Some(at + after))) && !digit(Some(at + 4))
    }) {
        text.remove(at);
    }
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '.');
    parts.map(|word| word.trim_matches('.').to_owned()).filter(|word| !word.is_empty()).collect()
}

/// Words without their ends.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    let stem = |word: String| match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').map_or(word.clone(), str::to_owned),
    };
    tokens(text).into_iter().filter(|word| !is_small(word)).map(stem).collect()
}

fn is_small(word: &str) -> bool {
    // Of `don't` and `it's` the apostrophe parts a letter.
    word.len() == 1 && word.chars().all(char::is_alphabetic) || SMALL.split_whitespace().any(|small| small == word)
}

/// What of the question is not in the plan, and which numbers of the plan are not in the question. `covered` are the
/// words that were given for something.
pub(super) fn unread(plan: &Plan, question: &str, covered: &BTreeSet<String>, before: Option<&Turn>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut has = Marks::default();
    has.take(&serde_json::to_value(plan).unwrap_or_default());
    let earlier = before.map(|turn| turn.question.as_str()).unwrap_or_default();
    let mut in_time = BTreeSet::new();
    for phrase in &has.phrases {
        if occurs(phrase, question) {
            in_time.extend(tokens(phrase));
        } else if !occurs(phrase, earlier) {
            problems.push("time: its phrase does not stand in the question".into());
        }
    }
    if plan.time.is_some() && before.is_none() && in_time.is_empty() {
        problems.push("time: the question names none, or phrase does not say which words are meant".into());
    }
    let words = tokens(question);
    for word in words.iter().filter(|word| !in_time.contains(*word)) {
        let demanded = OPERATIONS.iter().find(|(said, _)| said.split_whitespace().any(|said| said == word));
        if let Some((_, marks)) = demanded {
            // A name may have such a word in it ("arrival rate"): then it was given for that.
            if !covered.contains(word) && !marks.split_whitespace().any(|mark| has.words.contains(mark)) {
                problems.push(format!("the question says “{word}”, and nothing in the plan does"));
            }
        } else if let Ok(number) = word.parse::<f64>() {
            // 40 % may be 0.4.
            let is_there = [number, number / 100.0].iter().any(|number| has.numbers.contains(&number.to_bits()));
            if !is_there && !has.texts.iter().any(|text| text.contains(word.as_str())) {
                problems.push(format!("the number {word} of the question is not in the plan"));
            }
        } else if !covered.contains(word) && !is_small(word) {
            problems.push(format!(
                "the word “{word}” of the question is not accounted for: use it in the plan and say in phrases what it \
                 stands for, or answer cannot"
            ));
        }
    }
    if let Some(limit) = &plan.limit
        && limit.rows > 1
        && before.is_none_or(|turn| turn.plan.limit.as_ref() != Some(limit))
        && !words.contains(&limit.rows.to_string())
        && !words.iter().any(|word| NUMBERS.iter().any(|(name, number)| name == word && *number == limit.rows))
    {
        problems.push(format!("limit: the question does not say {}", limit.rows));
    }
    problems
}

const NUMBERS: [(&str, u32); 12] = [
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("twenty", 20),
];

/// What a plan has in it: names of its members and its fixed words, numbers, and texts.
#[derive(Default)]
struct Marks {
    words: BTreeSet<String>,
    numbers: BTreeSet<u64>,
    texts: Vec<String>,
    /// The words that times were made from.
    phrases: Vec<String>,
}

impl Marks {
    fn take(&mut self, value: &Json) {
        match value {
            Json::Object(members) => {
                for (name, value) in members {
                    let is_empty = value.is_null()
                        || value.as_array().is_some_and(Vec::is_empty)
                        || value == &Json::Bool(false) && name != "value";
                    if !is_empty {
                        self.words.insert(name.clone());
                        self.phrases.extend(value.as_str().filter(|_| name == "phrase").map(str::to_owned));
                        self.take(value);
                    }
                }
            }
            Json::Array(values) => values.iter().for_each(|value| self.take(value)),
            Json::String(text) => {
                self.words.insert(text.clone());
                self.texts.push(text.to_lowercase());
            }
            Json::Number(number) => {
                self.numbers.insert(number.as_f64().unwrap_or_default().to_bits());
            }
            Json::Bool(false) => {
                self.words.insert("false".into());
            }
            Json::Bool(true) | Json::Null => {}
        }
    }
}
