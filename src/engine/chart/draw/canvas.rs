//! Elements of a picture.

use super::paint::Paint;
use super::text::escaped;

/// Collects elements. Every text goes through it, and is escaped there.
pub(crate) struct Canvas {
    body: String,
    dark: bool,
    /// Whether marks have the full text of what they show.
    tips: bool,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text and how it looks.
pub(crate) struct Text<'a> {
    pub at: (f64, f64),
    pub text: &'a str,
    pub size: f64,
    pub anchor: Anchor,
    pub paint: Paint,
    pub bold: bool,
    /// Degrees around its place.
    pub turn: f64,
    /// What is shown when it is pointed at, where the text is cut.
    pub full: Option<&'a str>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(at: (f64, f64), text: &'a str, anchor: Anchor) -> Self {
        Self { at, text, size: 12.0, anchor, paint: Paint::Soft, bold: false, turn: 0.0, full: None }
    }
}

impl Canvas {
    pub(crate) fn new(dark: bool, tips: bool) -> Self {
        Self { body: String::new(), dark, tips }
    }

    pub(crate) fn into_body(self) -> String {
        self.body
    }

    fn fill(&self, paint: Paint) -> String {
        format!("class=\"dg-f-{}\" fill=\"{}\"", paint.class(), paint.colour(self.dark))
    }

    fn stroke(&self, paint: Paint) -> String {
        format!("class=\"dg-k-{}\" stroke=\"{}\"", paint.class(), paint.colour(self.dark))
    }

    fn element(&mut self, open: &str, name: &str, tip: &str) {
        match self.tips && !tip.is_empty() {
            true => self.body.push_str(&format!("{open}><title>{}</title></{name}>\n", escaped(tip))),
            false => self.body.push_str(&format!("{open}/>\n")),
        }
    }

    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), paint: Paint, tip: &str) {
        let (width, height) = (size.0.max(0.0), size.1.max(0.0));
        let round = if width >= 6.0 && height >= 6.0 { " rx=\"1.5\"" } else { "" };
        let (x, y, w, h) = (number(at.0), number(at.1), number(width), number(height));
        let open = format!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"{round} {}", self.fill(paint));
        self.element(&open, "rect", tip);
    }

    /// A box with an edge and round corners.
    pub(crate) fn card(&mut self, at: (f64, f64), size: (f64, f64), edge: Paint, dashes: &str, tip: &str) {
        let ground = Paint::Ground;
        let (x, y, w, h) = (number(at.0), number(at.1), number(size.0), number(size.1));
        let open = format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"8\"{dashes} class=\"dg-f-{} dg-k-{}\" fill=\"{}\" \
             stroke=\"{}\" stroke-width=\"1.4\"",
            ground.class(),
            edge.class(),
            ground.colour(self.dark),
            edge.colour(self.dark)
        );
        self.element(&open, "rect", tip);
    }

    /// A curve between two points that leaves and arrives level.
    pub(crate) fn curve(&mut self, from: (f64, f64), to: (f64, f64), bend: f64, paint: Paint, dashes: &str, tip: &str) {
        let (a, b) = ((from.0 + bend, from.1), (to.0 - bend, to.1));
        let points: Vec<String> = [a, b, to].iter().map(|(x, y)| format!("{} {}", number(*x), number(*y))).collect();
        let open = format!(
            "<path d=\"M{} {}C{}\" fill=\"none\" stroke-width=\"1.4\"{dashes} {}",
            number(from.0),
            number(from.1),
            points.join(" "),
            self.stroke(paint)
        );
        self.element(&open, "path", tip);
    }

    /// What is drawn inside leads to a place on the same page.
    pub(crate) fn link(&mut self, place: &str, draw: impl FnOnce(&mut Self)) {
        self.body.push_str(&format!("<a href=\"#{}\">\n", escaped(place)));
        draw(self);
        self.body.push_str("</a>\n");
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint, width: f64) {
        let (x1, y1, x2, y2) = (number(from.0), number(from.1), number(to.0), number(to.1));
        let open = format!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke-width=\"{}\" {}",
            number(width),
            self.stroke(paint)
        );
        self.element(&open, "line", "");
    }

    /// A line through points.
    pub(crate) fn way(&mut self, points: &[(f64, f64)], paint: Paint, width: f64, dashes: &str, tip: &str) {
        let mut d = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            d.push_str(&format!("{}{} {}", if at == 0 { "M" } else { "L" }, number(*x), number(*y)));
        }
        let open = format!(
            "<path d=\"{d}\" fill=\"none\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dashes} {}",
            number(width),
            self.stroke(paint)
        );
        self.element(&open, "path", tip);
    }

    pub(crate) fn dot(&mut self, at: (f64, f64), radius: f64, paint: Paint, opacity: f64, tip: &str) {
        let clear = if opacity < 1.0 { format!(" fill-opacity=\"{}\"", number(opacity)) } else { String::new() };
        let (x, y, r) = (number(at.0), number(at.1), number(radius));
        let open = format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{clear} {}", self.fill(paint));
        self.element(&open, "circle", tip);
    }

    /// A filled shape with an edge in the colour of the ground.
    pub(crate) fn shape(&mut self, d: &str, paint: Paint, tip: &str) {
        let edge = Paint::Ground;
        let open = format!(
            "<path d=\"{d}\" class=\"dg-f-{} dg-k-{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"",
            paint.class(),
            edge.class(),
            paint.colour(self.dark),
            edge.colour(self.dark)
        );
        self.element(&open, "path", tip);
    }

    pub(crate) fn text(&mut self, text: &Text<'_>) {
        let (x, y) = (number(text.at.0), number(text.at.1));
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if text.bold { " font-weight=\"600\"" } else { "" };
        let turn = match text.turn == 0.0 {
            true => String::new(),
            false => format!(" transform=\"rotate({} {x} {y})\"", number(text.turn)),
        };
        let full = match text.full.filter(|full| *full != text.text && self.tips) {
            Some(full) => format!("<title>{}</title>", escaped(full)),
            None => String::new(),
        };
        self.body.push_str(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{bold}{turn} {}>{full}{}</text>\n",
            number(text.size),
            self.fill(text.paint),
            escaped(text.text)
        ));
    }
}

/// A coordinate: one place after the point is as fine as anybody sees.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.to_owned() }
}
