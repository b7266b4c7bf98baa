//! Formulas as text: `(a+b)/2` for a fraction, `x^2` and `x_i` for what is raised and lowered. MathML (3.0) and the markup of
//! Office (ECMA-376 part 1 §22.1) nest pieces alike, under other names.

/// Elements within elements; what is deeper is left out.
const DEPTH: usize = 200;

/// An element that is open, and the texts of what is within it.
struct Open {
    name: String,
    /// Of a sum, a product or an integral.
    sign: String,
    pieces: Vec<String>,
}

#[derive(Default)]
pub(super) struct Formula(Vec<Open>);

impl Formula {
    /// An element begins; `value` is what Office says of it.
    pub(super) fn open(&mut self, name: &str, value: Option<&str>) {
        if let ("chr", [.., sum, properties]) = (name, self.0.as_mut_slice())
            && properties.name == "naryPr"
        {
            value.unwrap_or_default().clone_into(&mut sum.sign);
        }
        self.0.push(Open { name: name.to_owned(), sign: "∫".to_owned(), pieces: Vec::new() });
    }

    pub(super) fn add(&mut self, text: &str) {
        // Some operators are there without being seen.
        let text = text.replace(['\u{2061}', '\u{2062}', '\u{2063}', '\u{2064}'], "");
        let is_taken = !text.trim().is_empty() && self.0.len() <= DEPTH;
        if let Some(open) = self.0.last_mut().filter(|_| is_taken) {
            open.pieces.push(text);
        }
    }

    /// An element ends; answers the text of the whole with the first that began.
    pub(super) fn close(&mut self) -> Option<String> {
        let is_left_out = self.0.len() > DEPTH;
        let done = self.0.pop()?;
        match self.0.last_mut() {
            // Properties, and the same in another notation, are no pieces.
            Some(above) if !done.name.ends_with("Pr") && !done.name.starts_with("annotation") => {
                above.pieces.push(if is_left_out { String::new() } else { done.text() });
                None
            }
            Some(_) => None,
            None => Some(done.text()),
        }
    }
}

impl Open {
    fn text(&self) -> String {
        let piece = |at: usize| self.pieces.get(at).map_or("", String::as_str);
        let [first, second, third] = [0, 1, 2].map(piece);
        match (self.name.as_str(), self.pieces.len()) {
            ("f" | "mfrac", 2) => format!("{}{}", grouped("", first), grouped("/", second)),
            ("sSup" | "msup" | "mover" | "limUpp", 2) => format!("{first}{}", grouped("^", second)),
            ("sSub" | "msub" | "munder" | "limLow", 2) => format!("{first}{}", grouped("_", second)),
            ("sSubSup" | "msubsup" | "munderover", 3) => {
                format!("{first}{}{}", grouped("_", second), grouped("^", third))
            }
            ("nary", 3) => format!("{}{}{} {third}", self.sign, grouped("_", first), grouped("^", second)),
            ("rad", 2) => format!("{first}{}", grouped("√", second)),
            ("mroot", 2) => format!("{second}{}", grouped("√", first)),
            ("msqrt", _) => grouped("√", &self.pieces.concat()),
            ("d" | "mfenced", _) => format!("({})", self.pieces.join(", ")),
            ("func" | "mr" | "mtr", _) => self.pieces.join(" "),
            ("m" | "mtable", _) => self.pieces.join("; "),
            _ => self.pieces.concat(),
        }
    }
}

/// A piece behind a sign; one that is more than a number or a name in brackets, and nothing without the sign.
fn grouped(sign: &str, text: &str) -> String {
    let text = text.trim();
    match text.chars().count() {
        0 => String::new(),
        1 => format!("{sign}{text}"),
        _ if text.chars().all(char::is_alphanumeric) => format!("{sign}{text}"),
        _ => format!("{sign}({text})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nested_too_deep_is_left_out() {
        let mut formula = Formula::default();
        (0..DEPTH * 10).for_each(|_| formula.open("mfenced", None));
        formula.add("x");
        let text = (0..DEPTH * 10).find_map(|_| formula.close()).unwrap();
        assert_eq!(text, "(".repeat(DEPTH) + &")".repeat(DEPTH));
    }
}
