//! Column names as words: `firstName`, `FIRST_NAME` and `First name` are the same two. Words are compared whole, so that
//! `emaille_total` holds no e-mail; English, German, French and Spanish, and the commonest of Italian, Portuguese, Dutch and
//! Polish.

use unicode_normalization::UnicodeNormalization as _;

use super::{Content, Kind};

/// Words after or before which a name speaks about a value instead of holding it: `address_id`, `email_sent_at`.
const ABOUT: &[&str] = &[
    "id", "ids", "key", "type", "typ", "kind", "count", "cnt", "total", "flag", "status", "state", "is", "has", "sent",
    "opened", "clicked", "verified", "confirmed", "valid", "domain", "template", "campaign", "subject", "format",
    "length", "len", "rate", "ratio", "pct", "percent", "price", "cost", "plan", "model", "brand", "hash", "at", "on",
    "anzahl", "cantidad", "url", "link", "provider", "preference", "optin", "optout", "enabled",
];

/// Words of names whose numbers are no person's, whatever they look like.
const TECHNICAL: &[&str] = &[
    "version", "ver", "build", "release", "sku", "ean", "gtin", "isbn", "upc", "barcode", "uuid", "guid", "hash",
    "checksum", "serial", "tracking", "order", "invoice", "bestellung", "rechnung", "commande", "facture", "pedido",
    "factura", "oid", "mac",
];

/// Whose names `… name` are: of persons, likely.
const PEOPLE: &[&str] = &[
    "customer", "client", "contact", "employee", "patient", "passenger", "person", "member", "student", "teacher",
    "owner", "tenant", "applicant", "candidate", "recipient", "subscriber", "guest", "donor", "holder", "cardholder",
    "spouse", "parent", "child", "emergency", "kunde", "kunden", "mitarbeiter", "personen", "ansprechpartner",
    "empfanger", "cliente", "empleado", "paciente", "persona", "usuario", "alumno", "employe", "salarie", "personne",
    "utilisateur", "eleve", "user", "beneficiary", "manager", "salesperson", "driver", "voter", "physician", "doctor",
    "nurse", "instructor", "professor", "worker", "resident", "visitor", "coach", "trainer",
];

/// Addresses of other things than houses.
const NOT_POSTAL: &[&str] =
    &["ip", "mac", "web", "wallet", "memory", "host", "server", "network", "email", "mail", "e"];

/// Sequences of words that name a kind, whatever stands around them.
const SAID: &[(&str, Kind)] = &[
    ("password hash", Kind::Credential),
    ("password", Kind::Credential),
    ("hashed password", Kind::Credential),
    ("passwd", Kind::Credential),
    ("pwd", Kind::Credential),
    ("pass hash", Kind::Credential),
    ("pass crypted", Kind::Credential),
    ("user pass", Kind::Credential),
    ("passwort", Kind::Credential),
    ("kennwort", Kind::Credential),
    ("mot de passe", Kind::Credential),
    ("contrasena", Kind::Credential),
    ("clave acceso", Kind::Credential),
    ("senha", Kind::Credential),
    ("wachtwoord", Kind::Credential),
    ("haslo", Kind::Credential),
    ("secret", Kind::Credential),
    ("api key", Kind::Credential),
    ("apikey", Kind::Credential),
    ("private key", Kind::Credential),
    ("access token", Kind::Credential),
    ("refresh token", Kind::Credential),
    ("auth token", Kind::Credential),
    ("api token", Kind::Credential),
    ("ip", Kind::IpAddress),
    ("ipaddress", Kind::IpAddress),
    ("ipaddr", Kind::IpAddress),
    ("ipv4", Kind::IpAddress),
    ("ipv6", Kind::IpAddress),
    ("remote addr", Kind::IpAddress),
    ("email", Kind::Email),
    ("e mail", Kind::Email),
    ("mail", Kind::Email),
    ("mailadresse", Kind::Email),
    ("emailadresse", Kind::Email),
    ("emailaddress", Kind::Email),
    ("courriel", Kind::Email),
    ("correo", Kind::Email),
    ("phone", Kind::Phone),
    ("phonenumber", Kind::Phone),
    ("telephone", Kind::Phone),
    ("tel", Kind::Phone),
    ("mobile", Kind::Phone),
    ("cell", Kind::Phone),
    ("cellphone", Kind::Phone),
    ("fax", Kind::Phone),
    ("msisdn", Kind::Phone),
    ("contact no", Kind::Phone),
    ("contact number", Kind::Phone),
    ("telefon", Kind::Phone),
    ("telefonnummer", Kind::Phone),
    ("handy", Kind::Phone),
    ("handynummer", Kind::Phone),
    ("mobilnummer", Kind::Phone),
    ("mobil", Kind::Phone),
    ("rufnummer", Kind::Phone),
    ("portable", Kind::Phone),
    ("telefono", Kind::Phone),
    ("movil", Kind::Phone),
    ("celular", Kind::Phone),
    ("cellulare", Kind::Phone),
    ("telefone", Kind::Phone),
    ("telemovel", Kind::Phone),
    ("telefoon", Kind::Phone),
    ("telefoonnummer", Kind::Phone),
    ("first name", Kind::PersonName),
    ("last name", Kind::PersonName),
    ("middle name", Kind::PersonName),
    ("given name", Kind::PersonName),
    ("family name", Kind::PersonName),
    ("full name", Kind::PersonName),
    ("maiden name", Kind::PersonName),
    ("firstname", Kind::PersonName),
    ("lastname", Kind::PersonName),
    ("fullname", Kind::PersonName),
    ("middlename", Kind::PersonName),
    ("login name", Kind::PersonName),
    ("loginname", Kind::PersonName),
    ("surname", Kind::PersonName),
    ("forename", Kind::PersonName),
    ("vorname", Kind::PersonName),
    ("nachname", Kind::PersonName),
    ("familienname", Kind::PersonName),
    ("geburtsname", Kind::PersonName),
    ("kundenname", Kind::PersonName),
    ("mitarbeitername", Kind::PersonName),
    ("prenom", Kind::PersonName),
    ("nom famille", Kind::PersonName),
    ("nom de famille", Kind::PersonName),
    ("apellido", Kind::PersonName),
    ("apellidos", Kind::PersonName),
    ("cognome", Kind::PersonName),
    ("sobrenome", Kind::PersonName),
    ("voornaam", Kind::PersonName),
    ("achternaam", Kind::PersonName),
    ("imie", Kind::PersonName),
    ("nazwisko", Kind::PersonName),
    ("street", Kind::PostalAddress),
    ("strasse", Kind::PostalAddress),
    ("hausnummer", Kind::PostalAddress),
    ("anschrift", Kind::PostalAddress),
    ("wohnadresse", Kind::PostalAddress),
    ("rue", Kind::PostalAddress),
    ("calle", Kind::PostalAddress),
    ("domicilio", Kind::PostalAddress),
    ("direccion", Kind::PostalAddress),
    ("indirizzo", Kind::PostalAddress),
    ("endereco", Kind::PostalAddress),
    ("morada", Kind::PostalAddress),
    ("straat", Kind::PostalAddress),
    ("ulica", Kind::PostalAddress),
    ("dob", Kind::DateOfBirth),
    ("birthdate", Kind::DateOfBirth),
    ("birthday", Kind::DateOfBirth),
    ("birth date", Kind::DateOfBirth),
    ("birth day", Kind::DateOfBirth),
    ("birth year", Kind::DateOfBirth),
    ("date of birth", Kind::DateOfBirth),
    ("year of birth", Kind::DateOfBirth),
    ("geburtsdatum", Kind::DateOfBirth),
    ("geburtstag", Kind::DateOfBirth),
    ("geburtsjahr", Kind::DateOfBirth),
    ("gebdat", Kind::DateOfBirth),
    ("naissance", Kind::DateOfBirth),
    ("nacimiento", Kind::DateOfBirth),
    ("nascita", Kind::DateOfBirth),
    ("nascimento", Kind::DateOfBirth),
    ("geboortedatum", Kind::DateOfBirth),
    ("urodzenia", Kind::DateOfBirth),
    ("ssn", Kind::NationalId),
    ("social security", Kind::NationalId),
    ("nino", Kind::NationalId),
    ("national insurance", Kind::NationalId),
    ("national id", Kind::NationalId),
    ("passport", Kind::NationalId),
    ("passeport", Kind::NationalId),
    ("pasaporte", Kind::NationalId),
    ("reisepass", Kind::NationalId),
    ("personalausweis", Kind::NationalId),
    ("ausweisnummer", Kind::NationalId),
    ("driver license", Kind::NationalId),
    ("drivers license", Kind::NationalId),
    ("driving licence", Kind::NationalId),
    ("fuhrerschein", Kind::NationalId),
    ("steuer id", Kind::NationalId),
    ("steuernummer", Kind::NationalId),
    ("sozialversicherungsnummer", Kind::NationalId),
    ("svnr", Kind::NationalId),
    ("securite sociale", Kind::NationalId),
    ("nir", Kind::NationalId),
    ("dni", Kind::NationalId),
    ("codice fiscale", Kind::NationalId),
    ("cpf", Kind::NationalId),
    ("pesel", Kind::NationalId),
    ("bsn", Kind::NationalId),
    ("curp", Kind::NationalId),
    ("seguridad social", Kind::NationalId),
    ("iban", Kind::BankAccount),
    ("bank account", Kind::BankAccount),
    ("kontonummer", Kind::BankAccount),
    ("compte bancaire", Kind::BankAccount),
    ("cuenta bancaria", Kind::BankAccount),
    ("credit card", Kind::PaymentCard),
    ("creditcard", Kind::PaymentCard),
    ("card number", Kind::PaymentCard),
    ("cc number", Kind::PaymentCard),
    ("kreditkarte", Kind::PaymentCard),
    ("kreditkartennummer", Kind::PaymentCard),
    ("carte bancaire", Kind::PaymentCard),
    ("carte credit", Kind::PaymentCard),
    ("tarjeta credito", Kind::PaymentCard),
    ("tarjeta de credito", Kind::PaymentCard),
];

/// The kind that a column's name says, if its type can hold it.
pub(super) fn kind(name: &str, content: Content) -> Option<Kind> {
    let mut words = words(name);
    // CUST_FIRST_NM
    if let [_, .., last] = words.as_mut_slice()
        && last.as_str() == "nm"
    {
        *last = "name".to_owned();
    }
    let has = |sequence: &str| {
        let wanted: Vec<&str> = sequence.split(' ').collect();
        words.windows(wanted.len()).any(|some| some.iter().eq(&wanted))
    };
    let among = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let said = SAID.iter().find(|(sequence, _)| has(sequence));
    // What is about a value is not the value; "national id" and "steuer id" end in a word that is part of them.
    let sentence = said.map_or("", |(sequence, _)| *sequence);
    let about = |word: &String| ABOUT.contains(&word.as_str()) && !sentence.split(' ').any(|part| part == word);
    if words.iter().any(about) {
        return None;
    }
    let kind = match said {
        Some((_, kind)) => *kind,
        None if among(&["name", "nom", "nombre"]) && among(PEOPLE) || words.iter().any(|word| run_together(word)) => {
            Kind::PersonName
        }
        None if matches!(words.as_slice(), [only] if only == "pass") => Kind::Credential,
        None if among(&["address", "addr", "adresse"]) && !among(NOT_POSTAL) => Kind::PostalAddress,
        None => return None,
    };
    let possible = match kind {
        Kind::DateOfBirth => matches!(content, Content::Text | Content::Time | Content::Whole | Content::Nested),
        Kind::Phone | Kind::NationalId | Kind::BankAccount | Kind::PaymentCard => {
            matches!(content, Content::Text | Content::Whole | Content::Nested)
        }
        _ => matches!(content, Content::Text | Content::Nested),
    };
    possible.then_some(kind)
}

/// "ownername"
fn run_together(word: &str) -> bool {
    word.strip_suffix("name").is_some_and(|whose| PEOPLE.contains(&whose))
}

/// Whether a name says that its numbers are those of things.
pub(super) fn is_technical(name: &str) -> bool {
    words(name).iter().any(|word| TECHNICAL.contains(&word.as_str()))
}

/// Lower-case words without accents; a change from small to large letters parts two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let parts = before.is_lowercase() && c.is_uppercase() || !c.is_alphanumeric();
        if parts || before.is_ascii_digit() && c.is_alphabetic() && words.last().is_some_and(|word| word.len() > 3) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            match c {
                'ß' => word.push_str("ss"),
                c => word.extend(c.to_lowercase().nfd().filter(|c| c.is_alphanumeric())),
            }
        }
        before = c;
    }
    // `address1` and `email2` are numbered, `ipv4` is a word.
    let plain = |word: String| match word.as_str() {
        "ipv4" | "ipv6" => word,
        _ => word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
    };
    words.into_iter().map(plain).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_are_parted_into_words() {
        for (name, expected) in [
            ("firstName", vec!["first", "name"]),
            ("FIRST_NAME", vec!["first", "name"]),
            ("Straße 1", vec!["strasse"]),
            ("Prénom", vec!["prenom"]),
            ("email2", vec!["email"]),
            ("ipv4", vec!["ipv4"]),
            ("teléfono-móvil", vec!["telefono", "movil"]),
            ("__", vec![]),
            ("2013", vec![]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }
}
