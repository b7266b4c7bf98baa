use serde_json::json;

use super::measure::MOST;
use super::*;
use crate::base::clock::Clock;
use crate::engine::search::embed::Encoders;
use crate::engine::search::embed::local::tests::folder;
use crate::engine::search::tokens::count;
use crate::model::document::Markup;

fn document(markup: Markup, text: &str) -> ParsedDocument {
    ParsedDocument {
        title: "Title".into(),
        source_file: "f".into(),
        text: text.into(),
        markup,
        facts: Default::default(),
    }
}

/// All chunks of a document, handed out a few at a time.
fn split(id: Id<Document>, document: &ParsedDocument, most: usize) -> Vec<Chunk> {
    let mut cutter = Cutter::new(id, Arc::new(document.clone()), Measure::default());
    let mut chunks = vec![];
    while !cutter.is_at_end() {
        chunks.extend(cutter.next(most).unwrap());
    }
    assert!(cutter.next(most).unwrap().is_empty());
    chunks
}

fn chunks(markup: Markup, text: &str) -> Vec<Chunk> {
    split(Id::new(&Clock::manual(1)), &document(markup, text), 4)
}

fn prose(words: usize) -> String {
    (0..words).map(|n| format!("word{n}{}", if n % 12 == 11 { ". " } else { " " })).collect()
}

/// A rule for chance that anyone can repeat.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

#[test]
fn chunks_fit_keep_every_word_and_count_up() {
    for markup in [Markup::Plain, Markup::Markdown] {
        let chunks = chunks(markup, &prose(1_000));
        assert!(chunks.len() > 5);
        for (at, chunk) in chunks.iter().enumerate() {
            assert_eq!(chunk.index as usize, at);
            assert!(count("Title") + count(&chunk.text) <= MOST, "{}", chunk.text);
        }
        let all = chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>().join(" ");
        for n in 0..1_000 {
            assert!(all.contains(&format!("word{n}")), "word{n}");
        }
    }
}

#[tokio::test]
async fn what_fits_is_measured_by_the_word_pieces_of_the_encoder() {
    let (model, clock) = (folder("bert", json!({})), Clock::manual(1));
    let encoder = Encoders::in_folder(model.path().to_owned()).of_workspace(Id::new(&clock)).await.unwrap();
    let measure = encoder.model().measure().unwrap();
    // Each is one that it does not know, where the built-in encoder sees several pieces.
    assert_eq!((measure.count("xenoliths late"), count("xenoliths late") > 3), (2, true));
    assert_eq!(measure.count(&"late planes ".repeat(10)), 20, "what it does not read counts too");
    assert!(measure.count(&" ".repeat(20_000)) > measure.room);
    let text = "xenoliths ".repeat(100);
    let first = |measure| {
        let mut cutter = Cutter::new(Id::new(&clock), Arc::new(document(Markup::Plain, &text)), measure);
        cutter.next(1).unwrap()[0].text.split_whitespace().count()
    };
    assert_eq!(first(measure), LEAST, "it reads less");
    assert!(first(Measure::default()) < MOST / 3);
}

#[test]
fn headings_travel_with_their_text_and_do_not_mix() {
    let text = format!("# Shop\n\n## Returns\n\n{}\n\n## Delivery\n\nTwo days.\n\n## Empty end\n", prose(150));
    let chunks = chunks(Markup::Markdown, &text);
    let delivery: Vec<_> = chunks.iter().filter(|chunk| chunk.text.contains("Two days")).collect();
    assert_eq!(delivery.len(), 1);
    assert_eq!((delivery[0].heading.as_str(), delivery[0].text.as_str()), ("Shop > Delivery", "Two days."));
    assert!(chunks.iter().filter(|chunk| chunk.heading == "Shop > Returns").count() >= 2);
    assert_eq!(chunks.last().unwrap().text, "Empty end");
    assert!(chunks.iter().all(|chunk| chunk.heading != "Shop"), "a heading with sections below has no own chunk");
}

#[test]
fn a_table_is_kept_whole_or_each_part_has_its_head() {
    let row = |n: usize| format!("| item{n} | {n}.50 | in stock since spring |\n");
    let table = |rows: usize| {
        format!("| Name | Price | State |\n| --- | --- | --- |\n{}", (0..rows).map(row).collect::<String>())
    };
    let small = format!("Before.\n\n{}\n{}", table(3), prose(30));
    let found = chunks(Markup::Markdown, &small);
    assert!(found.iter().any(|chunk| chunk.text.contains("| Name") && chunk.text.contains("item2")), "{found:#?}");
    let large = chunks(Markup::Markdown, &table(60));
    assert!(large.len() > 3);
    for chunk in &large {
        assert!(chunk.text.starts_with("| Name | Price | State |\n| --- | --- | --- |\n| item"), "{}", chunk.text);
        assert!(count(&chunk.text) <= MOST);
    }
    for n in 0..60 {
        assert_eq!(large.iter().filter(|chunk| chunk.text.contains(&format!("item{n} "))).count(), 1, "row {n}");
    }
}

#[test]
fn a_long_table_whose_head_leaves_no_room_is_cut_at_its_rows() {
    let rows: String = (0..2_000).map(|n| format!("| item{n} | in stock |\n")).collect();
    assert!(rows.len() > 2 * PORTION);
    let found = chunks(Markup::Markdown, &format!("| {} |\n| --- |\n{rows}", "name ".repeat(MOST)));
    for n in 0..2_000 {
        let row = format!("| item{n} | in stock |");
        assert!(found.iter().any(|chunk| chunk.text.contains(&row)), "row {n}");
    }
}

#[test]
fn code_and_lists_are_cut_between_lines() {
    let line = |n: usize| format!("let value_{n} = compute(alpha, beta, {n});\n");
    let code = format!("```\n{}```\n", (0..40).map(line).collect::<String>());
    let list: String = (0..40).map(|n| format!("- item {n} of the list, with some words more\n")).collect();
    for (text, start) in [(code, "let value_"), (list, "- item")] {
        let found = chunks(Markup::Markdown, &text);
        assert!(found.len() > 2);
        assert!(found.iter().skip(1).all(|chunk| chunk.text.starts_with(start)), "{found:#?}");
    }
}

#[test]
fn a_chunk_knows_its_page_and_its_place() {
    let text = format!("# A\n\nFirst page.\n\u{c}\nSecond page.\n\u{c}\n\u{c}\n{}", prose(200));
    for markup in [Markup::Plain, Markup::Markdown] {
        let found = chunks(markup, &text);
        for chunk in &found {
            assert_eq!(text.get(chunk.spot.start..chunk.spot.end), Some(chunk.text.as_str()));
        }
        let page =
            |words: &str| found.iter().find(|chunk| chunk.text.contains(words)).and_then(|chunk| chunk.spot.page);
        assert_eq!([page("First"), page("Second"), page("word100 ")], [Some(1), Some(2), Some(4)]);
    }
    assert_eq!(chunks(Markup::Plain, "no pages")[0].spot.page, None);
}

#[test]
fn text_without_any_space_or_only_of_space_stays_bounded() {
    for text in ["x".repeat(20_000), "漢".repeat(5_000), format!("a{}b", " ".repeat(50_000)), "\u{1f600}".repeat(3_000)]
    {
        let chunks = chunks(Markup::Plain, &text);
        assert!(!chunks.is_empty());
        assert!(chunks.iter().all(|chunk| chunk.text.chars().count() <= 2_200), "{}", chunks[0].text.len());
    }
}

#[test]
fn any_text_is_cut_at_boundaries_of_its_letters_and_loses_none() {
    let pieces = [
        "word ",
        "Ende. ",
        "漢字",
        "é",
        "\u{1f469}\u{200d}\u{1f467}",
        "\n",
        "\n\n",
        "# H\n",
        "- item\n",
        "| a | b |\n",
        "| --- | --- |\n",
        "```\n",
        "\u{c}",
        " ",
        "ﬁ",
        "한국",
        "\u{301}",
        "1.5",
        "---\n",
        "\t",
        "ß. ",
        "مرحبا ",
    ];
    let mut chance = Chance(7);
    for _ in 0..300 {
        let length = 1 + chance.below(600);
        let text: String = (0..length).map(|_| pieces[chance.below(pieces.len())]).collect();
        for markup in [Markup::Plain, Markup::Markdown] {
            let found = chunks(markup, &text);
            let mut covered = vec![false; text.len()];
            for chunk in &found {
                let own = text.get(chunk.spot.start..chunk.spot.end).expect("boundaries of letters");
                // A part of a table has its head above it.
                assert!(
                    chunk.text.ends_with(own.trim_end()) || chunk.text == markdown::title(own),
                    "{own:?} {chunk:?}"
                );
                covered[chunk.spot.start..chunk.spot.end].fill(true);
            }
            if markup == Markup::Plain {
                let lost = text.char_indices().find(|(at, c)| !covered[*at] && !c.is_whitespace());
                assert_eq!(lost, None, "{text:?}");
            }
        }
    }
}

#[test]
fn a_sentence_on_the_border_is_whole_in_a_chunk() {
    let sentences: Vec<String> = (0..80).map(|n| format!("Sentence {n} is short.")).collect();
    let found = chunks(Markup::Plain, &sentences.join(" "));
    assert!(found.len() > 2);
    for sentence in &sentences {
        assert!(found.iter().any(|chunk| chunk.text.contains(sentence.as_str())), "{sentence}");
    }
    let repeats = found.windows(2).filter(|pair| pair[1].spot.start < pair[0].spot.end);
    assert_eq!(repeats.count(), found.len() - 1, "each begins with the end of the one before");
}

#[test]
fn the_same_document_is_cut_the_same_way() {
    let document = document(Markup::Markdown, &format!("# A\n\n{}\n\n- b\n- c\n", prose(400)));
    let id = Id::new(&Clock::manual(1));
    let whole = split(id, &document, usize::MAX);
    for most in [1, 4, usize::MAX] {
        assert_eq!(split(id, &document, most), whole, "in whatever portions");
    }
}

#[test]
fn what_was_handed_out_rises_from_nothing_to_the_whole() {
    let long = format!("# A\n\n{}\n\n# B\n\n{}", prose(4_000), prose(10));
    for text in [long, " ".repeat(50_000) + "end", "x".into()] {
        let document = Arc::new(document(Markup::Markdown, &text));
        let mut cutter = Cutter::new(Id::new(&Clock::manual(1)), document, Measure::default());
        let mut fractions = vec![cutter.fraction()];
        while !cutter.is_at_end() {
            cutter.next(3).unwrap();
            fractions.push(cutter.fraction());
        }
        assert!(fractions.is_sorted(), "{fractions:?}");
        assert_eq!((fractions[0], *fractions.last().unwrap()), (0.0, 1.0));
    }
}

#[test]
fn a_chunk_without_headings_is_read_below_the_title() {
    let document = document(Markup::Plain, "body");
    let chunk = &split(Id::new(&Clock::manual(1)), &document, 4)[0];
    assert_eq!(searchable(chunk, &document), "Title\nbody");
}
