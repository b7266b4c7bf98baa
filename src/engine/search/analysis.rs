//! Texts into weighted terms, the same way for chunks and for queries.
//!
//! A word is brought to one form (Unicode NFKC, lower case), stemmed, and freed of its accents. A Latin text's language
//! is found once a document; its stems carry the language's name, and a query asks for the stems of every language. So
//! nobody has to guess the language of three words, and what a text has as typed is found even where its language was
//! guessed wrong: both sides were stemmed alike. Words of other alphabets are stemmed by their alphabet.
//!
//! Chinese, Japanese, Korean and the scripts of South-East Asia write no spaces: each two neighbouring characters are a
//! term. Codes (`AB-123`, `8.0.35`, `C++`) are terms as a whole and by their parts. No word is left out: one that is
//! everywhere weighs next to nothing by its IDF, which the index multiplies in, and a query of such words alone is one.

use std::collections::BTreeMap;

use qdrant_edge::SparseVector;
use qdrant_rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use whatlang::{Detector, Lang};

/// Changes whenever the same text would yield other terms.
pub(super) const IDENTITY: &str = "bm25 k1=1.2 b=0.75 length=80 stems-of-languages bigrams codes v2";

/// How soon more of a word stops to count, and how much a chunk's length does (Robertson, Zaragoza: "The Probabilistic
/// Relevance Framework", 2009, §3.4).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Words of a usual chunk with its headings. It is a constant, since each chunk is weighed when it is written.
const USUAL_LENGTH: f64 = 80.0;
/// Bytes of a document that its language is told from.
const SAMPLE: usize = 4 << 10;
/// Characters of a word; what is longer is no word of a language, and is found by its beginning.
const WORD_CHARS: usize = 64;

/// The languages of the Latin alphabet that can be stemmed.
const LATIN: [(Lang, Algorithm); 14] = [
    (Lang::Eng, Algorithm::English),
    (Lang::Dan, Algorithm::Danish),
    (Lang::Nld, Algorithm::Dutch),
    (Lang::Fin, Algorithm::Finnish),
    (Lang::Fra, Algorithm::French),
    (Lang::Deu, Algorithm::German),
    (Lang::Hun, Algorithm::Hungarian),
    (Lang::Ita, Algorithm::Italian),
    (Lang::Nob, Algorithm::Norwegian),
    (Lang::Por, Algorithm::Portuguese),
    (Lang::Ron, Algorithm::Romanian),
    (Lang::Spa, Algorithm::Spanish),
    (Lang::Swe, Algorithm::Swedish),
    (Lang::Tur, Algorithm::Turkish),
];

/// What a document's Latin words are stemmed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Language(Algorithm);

impl Language {
    /// The language of a text, told from its beginning; English where it cannot be told.
    pub(super) fn of(text: &str) -> Self {
        let sample = text.get(..text.floor_char_boundary(SAMPLE)).unwrap_or(text);
        let detector = Detector::with_allowlist(LATIN.map(|(lang, _)| lang).to_vec());
        let told = detector.detect(sample).filter(whatlang::Info::is_reliable).map(|info| info.lang());
        let known = told.and_then(|told| LATIN.iter().find(|(lang, _)| *lang == told));
        Self(known.map_or(Algorithm::English, |(_, algorithm)| *algorithm))
    }
}

/// The terms of a chunk, each with BM25's weight but for its IDF.
pub(super) fn of_chunk(text: &str, language: Language) -> SparseVector {
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    let mut length = 0.0;
    let stemmer = Stemmer::create(language.0);
    pieces(text, |piece| {
        length += piece.length();
        *counts.entry(piece.term(|word| latin(word, language.0, &stemmer))).or_default() += 1.0;
    });
    let usual = K1 * (1.0 - B + B * length / USUAL_LENGTH);
    let weight = |count: f64| (count * (K1 + 1.0) / (count + usual)) as f32;
    let (indices, values) = counts.into_iter().map(|(term, count)| (term, weight(count))).unzip();
    SparseVector { indices, values }
}

/// The terms of a query, each once; `None` for one without letters and digits.
pub(super) fn of_query(text: &str) -> Option<SparseVector> {
    let stemmers = LATIN.map(|(_, algorithm)| (algorithm, Stemmer::create(algorithm)));
    let mut indices = Vec::new();
    pieces(text, |piece| match piece {
        Piece::Latin(word) => {
            indices.extend(stemmers.iter().map(|(language, stemmer)| hash(&latin(&word, *language, stemmer))));
        }
        other => indices.push(other.term(str::to_owned)),
    });
    indices.sort_unstable();
    indices.dedup();
    let values = vec![1.0; indices.len()];
    (!indices.is_empty()).then_some(SparseVector { indices, values })
}

/// The stem of a Latin word with its language before it, without accents.
fn latin(word: &str, language: Algorithm, stemmer: &Stemmer) -> String {
    format!("{language:?}:{}", folded(&stemmer.stem(word)))
}

/// A piece of a text that is one term.
enum Piece {
    /// A word of Latin letters, not stemmed yet.
    Latin(String),
    /// Any other word, a number, or two characters of a script without spaces.
    Other(String),
    /// A whole that was counted by its parts already.
    Whole(String),
}

impl Piece {
    /// How much it counts in a chunk's length.
    fn length(&self) -> f64 {
        if matches!(self, Self::Whole(_)) { 0.0 } else { 1.0 }
    }

    fn term(self, of_latin: impl FnOnce(&str) -> String) -> u32 {
        match self {
            Self::Latin(word) => hash(&of_latin(&word)),
            Self::Other(word) | Self::Whole(word) => hash(&word),
        }
    }
}

/// Cuts a text at white space, each part at its signs, and each of those where letters turn into digits or into another
/// kind of script.
fn pieces(text: &str, mut take: impl FnMut(Piece)) {
    let text: String = text.nfkc().flat_map(char::to_lowercase).collect();
    for part in text.split_whitespace() {
        let part = part.trim_matches(|c: char| !(is_word(c) || matches!(c, '+' | '#')));
        let mut words = 0;
        for word in part.split(|c| !is_word(c)).filter(|word| !word.is_empty()) {
            words += runs(word, &mut take);
        }
        if let Some(code) = code(part, words) {
            take(Piece::Whole(code));
        }
    }
}

/// The whole of a code: what has a digit beside letters or signs, or ends as `c++` and `c#` do. Its signs do not count
/// where it has letters, so that `AB-123` and `AB123` are the same; `8.0` is not `80`.
fn code(part: &str, words: usize) -> Option<String> {
    let part: String = part.chars().take(WORD_CHARS).collect();
    let has = |kind: fn(char) -> bool| part.chars().any(kind);
    let ends_in_signs = part.ends_with(['+', '#']);
    if !ends_in_signs && (words < 2 || !has(char::is_numeric)) {
        return None;
    }
    let code = match has(char::is_alphabetic) && !ends_in_signs {
        true => part.chars().filter(|c| is_word(*c)).collect(),
        false => part.trim_start_matches(['+', '#']).to_owned(),
    };
    (!code.is_empty()).then(|| format!("={code}"))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Digits,
    Latin,
    /// Alphabets that write spaces.
    Spaced,
    Unspaced,
}

impl Script {
    fn of(c: char) -> Self {
        match c {
            _ if c.is_numeric() => Self::Digits,
            // Latin with its extensions, and the signs that are put over letters.
            'a'..='z' | '\u{aa}'..='\u{24f}' | '\u{300}'..='\u{36f}' | '\u{1e00}'..='\u{1eff}' => Self::Latin,
            // Thai and Lao, Myanmar, Khmer; kana and ideographs; Hangul.
            '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}' => Self::Unspaced,
            _ => Self::Spaced,
        }
    }
}

/// Hands out the runs of one script of a word; returns how many there were.
fn runs(word: &str, take: &mut impl FnMut(Piece)) -> usize {
    let (mut count, mut rest) = (0, word);
    while let Some(script) = rest.chars().next().map(Script::of) {
        // A sign over a letter belongs to the letter, whatever its script.
        let end = rest.find(|c| !is_combining_mark(c) && Script::of(c) != script).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        (rest, count) = (after, count + 1);
        let short = || run.chars().take(WORD_CHARS).collect::<String>();
        match script {
            Script::Digits => take(Piece::Other(short())),
            Script::Latin => take(Piece::Latin(short())),
            Script::Spaced => take(Piece::Other(stem(&short()))),
            Script::Unspaced => pairs(run, take),
        }
    }
    count
}

/// Each two neighbours; one that is alone, as it is.
fn pairs(run: &str, take: &mut impl FnMut(Piece)) {
    let mut before = None;
    for (at, c) in run.chars().enumerate() {
        if let Some(before) = before {
            take(Piece::Other(String::from_iter([before, c])));
        } else if at == 0 && run.chars().nth(1).is_none() {
            take(Piece::Other(c.into()));
        }
        before = Some(c);
    }
}

/// The stem of a word of another alphabet than the Latin.
fn stem(word: &str) -> String {
    let algorithm = match word.chars().next() {
        Some('\u{370}'..='\u{3ff}') => Algorithm::Greek,
        Some('\u{400}'..='\u{4ff}') => Algorithm::Russian,
        Some('\u{530}'..='\u{58f}') => Algorithm::Armenian,
        Some('\u{600}'..='\u{6ff}') => Algorithm::Arabic,
        Some('\u{b80}'..='\u{bff}') => Algorithm::Tamil,
        _ => return word.to_owned(),
    };
    Stemmer::create(algorithm).stem(word).into_owned()
}

/// Without the accents and the special forms of Latin letters.
fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.nfd().filter(|c| !is_combining_mark(*c)) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ı' => folded.push('i'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'þ' => folded.push_str("th"),
            other => folded.push(other),
        }
    }
    folded
}

/// A term's number: FNV-1a over its bytes, folded to 32 bits. Two terms of one number are taken for the same, which among
/// a hundred thousand terms is one pair.
fn hash(term: &str) -> u32 {
    let long = term
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is folded into the lower")]
    let short = (long ^ (long >> 32)) as u32;
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: Language = Language(Algorithm::English);

    /// Whether every term of the query is one of the text.
    fn finds(text: &str, language: Language, query: &str) -> bool {
        let chunk = of_chunk(text, language);
        query.split_whitespace().all(|word| {
            of_query(word).is_some_and(|query| query.indices.iter().any(|term| chunk.indices.contains(term)))
        })
    }

    #[test]
    fn the_language_of_a_text_is_told_or_english() {
        for (text, language) in [
            ("The committee has decided that the building will be closed until further notice.", Algorithm::English),
            ("Der Ausschuss hat beschlossen, dass das Gebäude bis auf Weiteres geschlossen bleibt.", Algorithm::German),
            ("Le comité a décidé que le bâtiment resterait fermé. Personne ne doit y entrer.", Algorithm::French),
            ("ok", Algorithm::English),
            ("", Algorithm::English),
            ("漢字かな交じり文", Algorithm::English),
        ] {
            assert_eq!(Language::of(text), Language(language), "{text}");
        }
    }

    #[test]
    fn words_are_found_in_other_forms_of_them_in_their_language() {
        for (text, language, query) in [
            ("connected vehicles were delayed", Algorithm::English, "connection vehicle delays"),
            ("Die Häuser der Verträge", Algorithm::German, "haus vertrag Vertrages"),
            ("les remboursements annulés", Algorithm::French, "remboursement annuler"),
            ("las facturas pagadas", Algorithm::Spanish, "factura pagado"),
            ("договоры аренды", Algorithm::English, "договор аренда"),
            ("Straße in Zürich", Algorithm::German, "strasse zurich ZÜRICH"),
            ("re\u{301}sume\u{301}", Algorithm::French, "résumé"),
        ] {
            assert!(finds(text, Language(language), query), "{text}: {query}");
        }
        assert!(!finds("delayed", ENGLISH, "display"));
    }

    #[test]
    fn what_was_typed_is_found_whatever_language_the_text_was_taken_for() {
        for (_, algorithm) in LATIN {
            let text = "The quarterly statements of Müller und Söhne, naïve façades and 北京市";
            assert!(
                finds(text, Language(algorithm), "quarterly statements müller söhne naïve façades 北京"),
                "{algorithm:?}"
            );
        }
    }

    #[test]
    fn scripts_without_spaces_are_found_by_pairs() {
        for (text, query) in [
            ("东京都庁は新宿区にある", "東京 新宿区"),
            ("東京都庁は新宿区にある", "東京 新宿区"),
            ("서울특별시의 날씨", "서울 날씨"),
            ("水", "水"),
            ("กรุงเทพมหานคร", "กรุงเทพ"),
        ] {
            // Simplified characters are not the traditional ones.
            assert_eq!(finds(text, ENGLISH, query), !text.starts_with('东'), "{text}: {query}");
        }
        assert!(!finds("東京都庁", ENGLISH, "京東"), "the order counts");
    }

    #[test]
    fn codes_are_found_as_typed_and_by_their_parts() {
        let text = "Error AB-123 in (mysql_8.0.35), C++ and C#; version 8.0";
        assert!(finds(text, ENGLISH, "AB-123 ab123 AB 123 ab_123 mysql 8.0.35 c++ C# 8.0"));
        let (whole, other) = (of_query("AB-123").unwrap(), of_chunk("AB-124", ENGLISH));
        assert!(whole.indices.contains(&hash("=ab123")) && !other.indices.contains(&hash("=ab123")));
        let (number, plain) = (of_query("8.0").unwrap(), of_query("80").unwrap());
        assert!(number.indices.iter().all(|term| !plain.indices.contains(term)));
    }

    #[test]
    fn any_text_is_a_query_and_only_one_without_letters_has_no_terms() {
        for text in ["the", "what's up", "a:b NOT (\"", "-", "++", "\u{301}", "#", "DROP TABLE x;--", "\u{0}"] {
            let terms = of_query(text);
            assert_eq!(terms.is_some(), text.chars().any(is_word), "{text}");
            let Some(terms) = terms else { continue };
            assert!(terms.indices.is_sorted() && terms.values.len() == terms.indices.len(), "{text}");
        }
    }

    #[test]
    fn more_of_a_word_counts_more_and_never_without_end_and_in_a_longer_text_less() {
        let weight = |text: &str| {
            let (chunk, term) = (of_chunk(text, ENGLISH), hash("English:wing"));
            chunk.indices.iter().zip(&chunk.values).find(|(index, _)| **index == term).map(|(_, value)| *value).unwrap()
        };
        let filled = |wings: usize, words: usize| "wing ".repeat(wings) + &"air ".repeat(words - wings);
        assert!(weight(&filled(1, 80)) < weight(&filled(2, 80)));
        assert!(weight(&filled(80, 80)) < 2.2);
        assert!(weight(&filled(1, 80)) > weight(&filled(1, 160)));
        assert!((weight(&filled(1, 80)) - 1.0).abs() < 1e-6, "once in a usual chunk");
    }
}
