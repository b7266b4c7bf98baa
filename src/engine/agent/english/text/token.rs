//! Questions as tokens.

use unicode_normalization::UnicodeNormalization;

/// No question has more: what comes after is not read.
pub(crate) const MAX_TOKENS: usize = 2_000;

/// A piece of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// As written; of a quoted text what is inside the marks. Control characters are left out.
    pub text: String,
    /// The text in NFKC and lower case, with straight apostrophes.
    pub norm: String,
    /// Where it begins in the question, in bytes; with its quotation mark.
    pub start: usize,
    /// Where it ends, not included.
    pub end: usize,
    pub kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TokenKind {
    /// A word, a name or a code: `flights`, `AA-12`, `N14228`, `2013-01-31`, `10:30`, `7-day`, `2nd`.
    Word,
    /// Digits with what belongs to them: `31003000336`, `1,234.5`, `-3`, `$5k`, `40%`.
    Number,
    /// A text in quotation marks, whole.
    Quoted,
    /// Any other single character.
    Punct,
}

impl Token {
    fn new(text: String, start: usize, end: usize, kind: TokenKind) -> Self {
        let norm = normal(&text);
        Self { text, norm, start, end, kind }
    }

    /// Whether it is this punctuation mark or unquoted word, given in lower case.
    pub(crate) fn is(&self, norm: &str) -> bool {
        self.kind != TokenKind::Quoted && self.norm == norm
    }
}

/// A text in the form in which texts are compared: NFKC, lower case, straight apostrophes.
pub(crate) fn normal(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).map(|c| if c == '\u{2019}' { '\'' } else { c }).collect()
}

/// The tokens of a question, in order. White space and control characters are in none of them.
///
/// Texts in `"…"`, `“…”`, `„…“`, `«…»`, `'…'` and `‘…’` are one token each. A single quotation mark opens a text only
/// where a word could begin, and closes it only where a word could end, so that the apostrophes of "don't" and
/// "customers' orders" are none; a mark without a partner is punctuation.
pub(crate) fn tokens(question: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = question.char_indices().collect();
    let scan = Scan { question, chars };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = scan.char(at) {
        if found.len() == MAX_TOKENS {
            break;
        }
        if c.is_whitespace() || c.is_control() {
            at += 1;
            continue;
        }
        let (token, next) = scan.quoted(at).or_else(|| scan.word(at)).unwrap_or_else(|| scan.mark(at));
        found.push(token);
        at = next;
    }
    found
}

struct Scan<'a> {
    question: &'a str,
    chars: Vec<(usize, char)>,
}

impl Scan<'_> {
    fn char(&self, at: usize) -> Option<char> {
        self.chars.get(at).map(|(_, c)| *c)
    }

    fn byte(&self, at: usize) -> usize {
        self.chars.get(at).map_or(self.question.len(), |(byte, _)| *byte)
    }

    fn is(&self, at: usize, test: impl Fn(char) -> bool) -> bool {
        self.char(at).is_some_and(test)
    }

    fn before(&self, at: usize) -> Option<char> {
        self.char(at.checked_sub(1)?)
    }

    fn token(&self, from: usize, to: usize, inner: (usize, usize), kind: TokenKind) -> Token {
        let text = self.chars[inner.0..inner.1].iter().map(|(_, c)| *c).filter(|c| !c.is_control() || *c == '\t');
        Token::new(text.collect(), self.byte(from), self.byte(to), kind)
    }

    fn mark(&self, at: usize) -> (Token, usize) {
        (self.token(at, at + 1, (at, at + 1), TokenKind::Punct), at + 1)
    }

    fn quoted(&self, at: usize) -> Option<(Token, usize)> {
        let open = self.char(at)?;
        let single = matches!(open, '\'' | '\u{2018}');
        let closes: &[char] = match open {
            '"' => &['"'],
            '\u{201c}' => &['\u{201d}', '\u{201c}'],
            '\u{201e}' => &['\u{201c}', '\u{201d}'],
            '\u{00ab}' => &['\u{00bb}'],
            '\'' => &['\''],
            '\u{2018}' => &['\u{2019}'],
            _ => return None,
        };
        let begins = self.before(at).is_none_or(|c| !c.is_alphanumeric());
        if single && !begins || self.is(at + 1, char::is_whitespace) {
            return None;
        }
        let close = (at + 1..self.chars.len()).find(|&end| {
            let closing = self.is(end, |c| closes.contains(&c));
            closing && !(single && self.is(end + 1, char::is_alphanumeric))
        })?;
        let inner = (at + 1, close);
        (inner.0 < inner.1).then(|| (self.token(at, close + 1, inner, TokenKind::Quoted), close + 1))
    }

    /// A word or number that begins here.
    fn word(&self, from: usize) -> Option<(Token, usize)> {
        let mut at = from;
        // The year in "Jan '13".
        let short_year = self.is(at, |c| matches!(c, '\'' | '\u{2019}'))
            && self.before(at).is_none_or(|c| !c.is_alphanumeric())
            && (1..=2).all(|more| self.is(at + more, |c| c.is_ascii_digit()))
            && !self.is(at + 3, char::is_alphanumeric);
        if short_year {
            return Some((self.token(from, from + 3, (from, from + 3), TokenKind::Word), from + 3));
        }
        let free = self.before(from).is_none_or(|c| !c.is_alphanumeric());
        if free && self.is(at, |c| matches!(c, '-' | '+' | '\u{2212}')) {
            at += 1;
        }
        if free && self.is(at, is_currency) {
            at += 1;
        }
        // A sign or a currency belongs to digits only.
        let fraction = free && self.is(at, |c| c == '.') && self.is(at + 1, |c| c.is_ascii_digit());
        if at > from && !self.is(at, char::is_numeric) && !fraction {
            return None;
        }
        if fraction {
            at += 1;
        }
        if !self.is(at, is_word) {
            return None;
        }
        while self.is(at, is_word) || self.joins(from, at) {
            at += 1;
        }
        if self.is(at, |c| c == '%') && self.before(at).is_some_and(|c| c.is_ascii_digit()) {
            at += 1;
        }
        let mut token = self.token(from, at, (from, at), TokenKind::Word);
        if crate::engine::agent::english::text::number::is_plain(&token.norm) {
            token.kind = TokenKind::Number;
        }
        Some((token, at))
    }

    /// Whether a mark stands inside of one token.
    fn joins(&self, from: usize, at: usize) -> bool {
        let (Some(mark), Some(before), Some(after)) = (self.char(at), self.before(at), self.char(at + 1)) else {
            return false;
        };
        if at == from || !is_word(before) || !is_word(after) {
            // Control characters inside of a word are dropped, not a gap.
            return mark.is_control() && !mark.is_whitespace() && at > from && is_word(after);
        }
        let digits = before.is_ascii_digit() && after.is_ascii_digit();
        match mark {
            '-' | '.' | '&' | '@' | '\u{2010}' | '\u{2011}' => true,
            '\'' | '\u{2019}' => before.is_alphabetic() && after.is_alphabetic() || digits,
            ':' | '/' => digits,
            ',' => digits && self.is_thousands(from, at),
            _ => mark.is_control() && !mark.is_whitespace(),
        }
    }

    /// Whether a comma parts thousands: one to three digits before it, exactly three after.
    fn is_thousands(&self, from: usize, comma: usize) -> bool {
        let digits_before = (from..comma).rev().take_while(|&at| self.is(at, |c| c.is_ascii_digit())).count();
        let digits_after = (comma + 1..).take_while(|&at| self.is(at, |c| c.is_ascii_digit())).count();
        (1..=3).contains(&digits_before) && digits_after == 3
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || unicode_normalization::char::is_combining_mark(c)
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with `#` before numbers, `!` before punctuation, and quoted texts in angle brackets.
    fn shown(question: &str) -> String {
        let all = tokens(question);
        for token in &all {
            assert!(question.is_char_boundary(token.start) && question.is_char_boundary(token.end));
            assert!(token.start < token.end, "{token:?}");
        }
        let shown = all.iter().map(|token| match token.kind {
            TokenKind::Word => token.text.clone(),
            TokenKind::Number => format!("#{}", token.text),
            TokenKind::Quoted => format!("<{}>", token.text),
            TokenKind::Punct => format!("!{}", token.text),
        });
        shown.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn words_numbers_codes_and_quoted_texts_are_told_apart() {
        for (question, expected) in [
            ("How many flights?", "How|many|flights|!?"),
            ("don't show customers' orders", "don't|show|customers|!'|orders"),
            ("claim 31003000336, please", "claim|#31003000336|!,|please"),
            ("AA-12 and N14228", "AA-12|and|N14228"),
            ("on 2013-01-31 at 10:30", "on|2013-01-31|at|10:30"),
            ("3/4/2013 or and/or", "3/4/2013|or|and|!/|or"),
            ("over $5k or 40% or 1,234.5", "over|#$5k|or|#40%|or|#1,234.5"),
            ("in 2013,100 flights", "in|#2013|!,|#100|flights"),
            ("1,23 and 1,2345", "#1|!,|#23|and|#1|!,|#2345"),
            ("below -5 or x-5", "below|#-5|or|x-5"),
            (".5 or .NET", "#.5|or|!.|NET"),
            ("named \"Green Day\" now", "named|<Green Day>|now"),
            ("named “Green Day”.", "named|<Green Day>|!."),
            ("named 'Green Day', or ‘AC/DC’", "named|<Green Day>|!,|or|<AC/DC>"),
            ("called 'don't stop'", "called|<don't stop>"),
            ("O’Hare’s flights", "O’Hare’s|flights"),
            ("a 12\" record", "a|#12|!\"|record"),
            ("Jan '13 vs Q1'14", "Jan|'13|vs|Q1'14"),
            ("R&D at AT&T", "R&D|at|AT&T"),
            ("a@b.com wrote.", "a@b.com|wrote|!."),
            ("7-day month-over-month", "7-day|month-over-month"),
            ("Jan – Mar", "Jan|!–|Mar"),
            ("a\u{0}b \u{7}c", "ab|c"),
            ("naïve Zürich 東京", "naïve|Zürich|東京"),
            ("1.2m and 3bn", "#1.2m|and|#3bn"),
            ("(2nd)", "!(|2nd|!)"),
            ("\"\" and \"", "!\"|!\"|and|!\""),
            ("", ""),
        ] {
            assert_eq!(shown(question), expected, "{question:?}");
        }
    }

    #[test]
    fn places_are_bytes_of_the_question_with_the_marks() {
        let question = "é “Ab” c";
        let all = tokens(question);
        assert_eq!(&question[all[1].start..all[1].end], "“Ab”");
        assert_eq!((all[1].text.as_str(), all[1].norm.as_str()), ("Ab", "ab"));
        assert_eq!(&question[all[2].start..all[2].end], "c");
    }

    #[test]
    fn forms_of_the_same_letters_are_one() {
        // U+FB01 is the ligature fi, U+FF11 a full-width 1.
        assert_eq!(tokens("ﬁsh １０")[0].norm, "fish");
        assert_eq!(tokens("ﬁsh １０")[1].norm, "10");
        assert_eq!(tokens("don’t")[0].norm, "don't");
    }

    #[test]
    fn a_question_has_a_last_token() {
        assert_eq!(tokens(&"a ".repeat(3_000)).len(), MAX_TOKENS);
    }
}
