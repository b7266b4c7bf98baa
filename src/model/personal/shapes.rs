//! What single values look like, with their checksums where the kind has one.

use std::net::IpAddr;

use super::{Content, Kind};

/// Kinds that values alone can tell, the surest first.
pub(super) const ALONE: [Kind; 6] =
    [Kind::Email, Kind::BankAccount, Kind::PaymentCard, Kind::NationalId, Kind::Phone, Kind::IpAddress];

/// Whether values of a kind can be told from others.
pub(super) fn has_shape(kind: Kind) -> bool {
    matches!(kind, Kind::Email | Kind::Phone | Kind::PaymentCard | Kind::IpAddress)
}

/// Whether a value has the shape of a kind. `hinted`: the column's name says the kind already, so that forms count
/// that would mean nothing elsewhere.
pub(super) fn fits(kind: Kind, value: &str, content: Content, hinted: bool) -> bool {
    match (kind, content) {
        (Kind::Email, _) => is_email(value) || holds_email(value),
        (_, Content::Nested | Content::Time | Content::Other) => false,
        // Numbers without signs between them: only what has a checksum, or a name, says something.
        (Kind::Phone, Content::Whole) => hinted && (7..=15).contains(&value.len()),
        (Kind::Phone, _) => {
            if hinted {
                is_any_phone(value)
            } else {
                is_phone(value)
            }
        }
        (Kind::PaymentCard, _) => is_card(value),
        (Kind::BankAccount, _) => is_iban(value),
        (Kind::NationalId, _) => is_ssn(value) || is_dni(value) || is_nir(value) || is_nino(value),
        (Kind::IpAddress, _) => value.parse::<IpAddr>().is_ok(),
        (Kind::PersonName | Kind::PostalAddress | Kind::DateOfBirth | Kind::Credential, _) => false,
    }
}

/// `local@domain.tld` as people have it (RFC 5321 lengths); no quoted locals, no addresses within the host.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let in_local = |c: char| c.is_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c);
    let label = |label: &str| {
        !label.is_empty()
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let top = domain.rsplit('.').next().unwrap_or_default();
    (1..=64).contains(&local.len())
        && local.chars().all(in_local)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && domain.len() <= 255
        && domain.contains('.')
        && domain.split('.').all(label)
        && top.len() >= 2
        && !top.chars().any(|c| c.is_ascii_digit())
}

/// An address somewhere in a text.
fn holds_email(text: &str) -> bool {
    text.contains('@')
        && text
            .split(|c: char| !(c.is_alphanumeric() || "@._+-%'".contains(c)))
            .any(|word| is_email(word.trim_matches(['.', '\'', '-'])))
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// International form (E.164: `+`, then 8 to 15 digits), or the written form of North America.
fn is_phone(text: &str) -> bool {
    let count = digits(text).len();
    if let Some(rest) = text.strip_prefix('+') {
        return (8..=15).contains(&count)
            && rest.starts_with(|c: char| ('1'..='9').contains(&c))
            && rest.chars().all(|c| c.is_ascii_digit() || " ().-/".contains(c));
    }
    is_north_american(text)
}

/// `(212) 555-0123`, `212-555-0123`, `212.555.0123`: area and exchange start with 2 to 9.
fn is_north_american(text: &str) -> bool {
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    let known = ["(999) 999-9999", "(999)999-9999", "999-999-9999", "999.999.9999"];
    let number = digits(text);
    known.contains(&form.as_str()) && [0, 3].into_iter().all(|at| number.get(at).is_some_and(|digit| *digit >= 2))
}

/// Any national form: 6 to 15 digits with what people write between them, and an extension.
fn is_any_phone(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let number =
        ["ext", "x"].iter().find_map(|mark| lower.split_once(mark)).map_or(lower.as_str(), |(number, _)| number);
    let number = number.trim();
    (6..=15).contains(&digits(number).len()) && number.chars().all(|c| c.is_ascii_digit() || " +().-/".contains(c))
}

/// 13 to 19 digits of a known network (ISO/IEC 7812) that pass the Luhn formula.
fn is_card(text: &str) -> bool {
    let number = digits(text);
    let written = text.chars().all(|c| c.is_ascii_digit() || c == ' ' || c == '-');
    let begins = |count: usize| number.iter().take(count).fold(0, |all, digit| all * 10 + digit);
    let (two, four) = (begins(2), begins(4));
    let network = match number.len() {
        13 | 19 => number.first() == Some(&4),
        14 => (30..=38).contains(&two),
        15 => two == 34 || two == 37,
        16 => {
            number.first() == Some(&4)
                || (51..=55).contains(&two)
                || (2221..=2720).contains(&four)
                || four == 6011
                || two == 65
                || two == 35
                || two == 62
        }
        _ => false,
    };
    written && network && luhn(&number) && number.iter().any(|digit| Some(digit) != number.first())
}

fn luhn(number: &[u32]) -> bool {
    let sum: u32 = number
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (0, _) => *digit,
            (_, twice) if twice > 9 => twice - 9,
            (_, twice) => twice,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// ISO 13616: country, two check digits, account; the whole is 1 modulo 97.
fn is_iban(text: &str) -> bool {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let bytes = text.as_bytes();
    if !(15..=34).contains(&bytes.len())
        || !bytes.iter().all(u8::is_ascii_alphanumeric)
        || !bytes.iter().take(2).all(u8::is_ascii_uppercase)
        || !bytes.iter().skip(2).take(2).all(u8::is_ascii_digit)
    {
        return false;
    }
    let turned = text.chars().skip(4).chain(text.chars().take(4));
    let rest = turned.filter_map(|c| c.to_digit(36)).fold(0_u32, |rest, value| {
        let shift = if value > 9 { 100 } else { 10 };
        (rest * shift + value) % 97
    });
    rest == 1
}

/// United States: `123-45-6789`; the areas 000, 666 and 900 to 999 are never given out, nor zeros in a group.
fn is_ssn(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [area, group, serial] = parts.as_slice() else { return false };
    let number = |part: &str, length: usize| {
        (part.len() == length && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u32>().ok()).flatten()
    };
    matches!(
        (number(area, 3), number(group, 2), number(serial, 4)),
        (Some(area), Some(1..), Some(1..)) if (1..900).contains(&area) && area != 666
    )
}

/// Spain: eight digits (or X, Y, Z and seven) and the letter that the number modulo 23 gives.
fn is_dni(text: &str) -> bool {
    const LETTERS: &[u8] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let text = text.replace('-', "");
    let (Some(number), Some(letter)) = (text.get(..8), text.get(8..)) else { return false };
    let first = match number.chars().next() {
        Some('X') => '0',
        Some('Y') => '1',
        Some('Z') => '2',
        Some(other) => other,
        None => return false,
    };
    let number = format!("{first}{}", number.get(1..).unwrap_or_default());
    let plain = number.bytes().all(|b| b.is_ascii_digit());
    let at = number.parse::<usize>().unwrap_or_default() % 23;
    plain && letter.as_bytes() == LETTERS.get(at..=at).unwrap_or_default()
}

/// France: 13 digits that begin with the sex and a month, and a key that makes the whole 0 modulo 97.
fn is_nir(text: &str) -> bool {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    if text.len() != 15 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let part =
        |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<u64>().ok()).unwrap_or_default();
    matches!(part(0, 1), 1 | 2) && (1..=12).contains(&part(3, 5)) && 97 - part(0, 13) % 97 == part(13, 15)
}

/// United Kingdom: two letters, six digits, A to D.
fn is_nino(text: &str) -> bool {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let bytes = text.as_bytes();
    let letter = |at: usize, not: &[u8]| bytes.get(at).is_some_and(|b| b.is_ascii_uppercase() && !not.contains(b));
    bytes.len() == 9
        && letter(0, b"DFIQUV")
        && letter(1, b"DFIOQUV")
        && bytes.iter().skip(2).take(6).all(u8::is_ascii_digit)
        && matches!(bytes.last(), Some(b'A'..=b'D'))
}
