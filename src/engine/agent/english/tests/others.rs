//! The readings that were looked at and not taken.

use super::*;

fn others(bakery: &Bakery, question: &str) -> Vec<String> {
    match bakery.ask(question) {
        Outcome::Plan(reading) => reading.candidates.into_iter().map(|candidate| candidate.reading).collect(),
        other => vec![shown::outcome(&other)],
    }
}

#[test]
fn what_words_may_have_meant_besides_is_told_with_why_not() {
    let mut bakery = bakery();
    assert_eq!(others(&bakery, "number of sales by customer"), [""; 0], "nothing else is called so");
    let customer = bakery.ontology.datasets.iter_mut().find(|entity| entity.name == "customer").unwrap();
    let name = customer.fields.iter_mut().find(|field| field.name == "full_name").unwrap();
    name.ai.synonyms = vec!["customer".into()];
    bakery.lexicon = Lexicon::build(&bakery.ontology, &Vec::new());
    assert_eq!(
        others(&bakery, "number of sales by customer"),
        ["“customer” as full name of the customer: another kind of thing is meant there"]
    );
}
