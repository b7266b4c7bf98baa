//! Colours: on either ground, lines and areas stand out at least 3 to 1 and texts at least 4.5 to 1, and neighbours in
//! the palette differ in lightness as well as in hue, for people who see few hues.

/// For which ground a chart is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
    /// As the viewer's system asks for, decided in the picture itself.
    #[default]
    Auto,
}

/// What something is painted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Ground,
    /// Titles and values.
    Ink,
    /// Labels of axes.
    Soft,
    Grid,
    /// The line of zero.
    Axis,
    /// A series or slice by its place; from the thirteenth on the colours come again, with dashes.
    Series(usize),
    /// What is left.
    Other,
}

/// Colours of series.
pub(crate) const HUES: usize = 12;

const LIGHT: [&str; HUES] = [
    "#1769aa", "#d4600a", "#0a7d62", "#b03a8c", "#8a7400", "#5145b8", "#c62828", "#0b8fae", "#7b4f25", "#5d8a00",
    "#d6336c", "#37474f",
];
const DARK: [&str; HUES] = [
    "#62b0f2", "#f4964a", "#45d0aa", "#ea8fcb", "#dcc94c", "#aaa0ff", "#ff8078", "#55d3ea", "#cfa37a", "#b9d957",
    "#ff9dbb", "#d5dde5",
];

#[expect(clippy::indexing_slicing, reason = "a rest is smaller than what was divided by")]
fn of_palette(colours: &'static [&'static str; HUES], at: usize) -> &'static str {
    colours[at % HUES]
}

impl Paint {
    /// The colour on light or on dark ground.
    pub(crate) fn colour(self, dark: bool) -> &'static str {
        match (self, dark) {
            (Paint::Ground, false) => "#ffffff",
            (Paint::Ground, true) => "#15191f",
            (Paint::Ink, false) => "#1b232d",
            (Paint::Ink, true) => "#eef2f6",
            (Paint::Soft, false) => "#55606e",
            (Paint::Soft, true) => "#a9b4c0",
            (Paint::Grid, false) => "#e4e8ed",
            (Paint::Grid, true) => "#2b323b",
            (Paint::Axis, false) => "#7c8794",
            (Paint::Axis, true) => "#7d8894",
            (Paint::Series(at), false) => of_palette(&LIGHT, at),
            (Paint::Series(at), true) => of_palette(&DARK, at),
            (Paint::Other, false) => "#7a8592",
            (Paint::Other, true) => "#97a3b0",
        }
    }

    /// The name of its style class, after what it paints.
    pub(crate) fn class(self) -> String {
        match self {
            Paint::Ground => "ground".into(),
            Paint::Ink => "ink".into(),
            Paint::Soft => "soft".into(),
            Paint::Grid => "grid".into(),
            Paint::Axis => "axis".into(),
            Paint::Series(at) => format!("s{}", at % HUES),
            Paint::Other => "other".into(),
        }
    }

    /// Of a series by its place and name.
    pub(crate) fn of(at: usize, label: &str) -> Self {
        if label == "Other" { Paint::Other } else { Paint::Series(at) }
    }

    /// Dashes of a line by its place, once the colours are used up.
    pub(crate) fn dashes(at: usize) -> &'static str {
        if at < HUES { "" } else { " stroke-dasharray=\"6 4\"" }
    }
}

/// Rules that turn a light picture into a dark one: for viewers whose system asks for it, and for pages that hold
/// pictures and have a theme of their own.
pub fn dark_rules() -> String {
    let paints = [Paint::Ground, Paint::Ink, Paint::Soft, Paint::Grid, Paint::Axis, Paint::Other];
    let series = (0..HUES).map(Paint::Series);
    let rule = |paint: Paint| {
        let (class, colour) = (paint.class(), paint.colour(true));
        format!(".dg-f-{class}{{fill:{colour}}}.dg-k-{class}{{stroke:{colour}}}")
    };
    paints.into_iter().chain(series).map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast by WCAG 2.
    fn contrast(one: &str, other: &str) -> f64 {
        let light = |colour: &str| {
            let part = |at: usize| {
                let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (light(one), light(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn everything_stands_out_from_its_ground() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 0.01);
        for dark in [false, true] {
            let ground = Paint::Ground.colour(dark);
            for text in [Paint::Ink, Paint::Soft] {
                assert!(contrast(text.colour(dark), ground) >= 4.5, "{text:?} {dark}");
            }
            for area in (0..HUES).map(Paint::Series).chain([Paint::Other, Paint::Axis]) {
                assert!(contrast(area.colour(dark), ground) >= 3.0, "{area:?} {dark}");
            }
        }
    }

    #[test]
    fn colours_come_again_with_dashes() {
        assert_eq!(Paint::Series(12).colour(false), Paint::Series(0).colour(false));
        assert_eq!((Paint::dashes(11), Paint::dashes(12)), ("", " stroke-dasharray=\"6 4\""));
    }
}
