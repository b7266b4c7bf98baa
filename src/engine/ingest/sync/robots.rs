//! What a site lets us read: its robots.txt (RFC 9309), and `Crawl-delay`, which many sites write there.

use std::time::Duration;

/// Rules for us that are looked at. A site with more is closed as a whole: which of them it means is not for us to choose.
const RULES: usize = 1_000;

/// The rules of a site for one crawler; without any, all is open.
#[derive(Debug, Default)]
pub struct Robots {
    rules: Vec<Rule>,
    /// The pause between two requests that it asks for.
    pub delay: Option<Duration>,
}

#[derive(Debug)]
struct Rule {
    allows: bool,
    /// Octets as the comparison has them, with `*` and a `$` at the end.
    pattern: String,
}

/// What one group says.
#[derive(Default)]
struct Group {
    agents: Vec<String>,
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

impl Robots {
    /// Reads a file for the crawler whose product token is `agent`, in lower case: the groups that name it, or else those of
    /// all (RFC 9309 §2.2.1).
    pub fn read(text: &str, agent: &str) -> Self {
        let mut groups: Vec<Group> = vec![Group::default()];
        let mut is_named = true;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split_once('#').map_or(line, |(line, _)| line);
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if !is_named {
                    groups.push(Group::default());
                }
                is_named = true;
            }
            let Some(group) = groups.last_mut() else { continue };
            match key.as_str() {
                "user-agent" => group.agents.push(product(value)),
                "allow" | "disallow" => {
                    is_named = false;
                    // An empty one closes nothing.
                    if !value.is_empty() {
                        group.rules.push(Rule { allows: key == "allow", pattern: octets(value) });
                    }
                }
                "crawl-delay" => {
                    is_named = false;
                    let seconds = value.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
                    group.delay = seconds.map(Duration::from_secs_f64);
                }
                // Other lines belong to no group (§2.2.4).
                _ => {}
            }
        }
        let of = |name: &str| groups.iter().any(|group| group.agents.iter().any(|agent| agent == name));
        let name = if of(agent) { agent } else { "*" };
        let mut robots = Self::default();
        for group in groups.into_iter().filter(|group| group.agents.iter().any(|agent| agent == name)) {
            robots.rules.extend(group.rules);
            robots.delay = robots.delay.max(group.delay);
        }
        robots
    }

    /// Whether an address may be read, by its path and query: the longest rule that fits decides, and of two equally long
    /// ones that which allows (§2.2.2).
    pub fn allows(&self, path: &str) -> bool {
        if self.rules.len() > RULES {
            return false;
        }
        let path = octets(path);
        let fits = self.rules.iter().filter(|rule| fits(&rule.pattern, &path));
        fits.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }
}

/// A product token in lower case, without a version or what else stands behind it.
fn product(value: &str) -> String {
    let is_of_it = |c: &char| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '*');
    value.chars().take_while(is_of_it).collect::<String>().to_ascii_lowercase()
}

/// Octets as they are compared: what need not be escaped is not, what must be is, in capitals (§2.2.2).
fn octets(text: &str) -> String {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let escaped = hex(bytes.get(at + 1)).zip(hex(bytes.get(at + 2))).filter(|_| *byte == b'%');
        let (octet, is_escaped) =
            escaped.map_or((*byte, false), |(high, low)| (u8::try_from(high * 16 + low).unwrap_or_default(), true));
        let is_unreserved = octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
        match is_unreserved || (!is_escaped && octet.is_ascii_graphic()) {
            true => plain.push(char::from(octet)),
            false => plain.push_str(&format!("%{octet:02X}")),
        }
        at += if is_escaped { 3 } else { 1 };
    }
    plain
}

/// Whether a pattern fits the beginning of a path, or all of it where it ends in `$`. Each part between two `*` is looked for
/// once, from where the one before ended: that takes no longer than both are long, whatever the pattern.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            match rest.split_once(before) {
                Some((_, behind)) => rest = behind,
                None => return false,
            }
        }
    }
    match (last, is_whole) {
        (None, true) => rest.is_empty(),
        (None, false) => true,
        (Some(last), true) => rest.ends_with(last),
        (Some(last), false) => rest.contains(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\u{feff}# ours\nUser-agent: *\nDisallow: /\n\nUser-Agent: OtherBot\nuser-agent: Dragoman/1.0 # us\n\
        Disallow: /private\nAllow: /private/open$\nDisallow: /*.php\nSitemap: https://e.com/s.xml\nDisallow: /a*b*c$\n\
        Crawl-delay: 2.5\n\nUser-agent: dragoman\nDisallow: /caf\u{e9}\nDisallow: /%7Ebob\nDisallow:\n";

    #[test]
    fn the_groups_of_a_crawler_hold_for_it_and_the_longest_rule_decides() {
        let robots = Robots::read(FILE, "dragoman");
        for (path, allowed) in [
            ("/", true),
            ("/private/x", false),
            ("/private/open", true),
            ("/private/open/more", false),
            ("/index.php?x=1", false),
            ("/a-b-c", false),
            ("/a-c-b", true),
            ("/abcd", true),
            ("/abc-abc", false),
            ("/caf%C3%A9/menu", false),
            ("/~bob", false),
        ] {
            assert_eq!(robots.allows(path), allowed, "{path}");
        }
        assert_eq!(robots.delay, Some(Duration::from_millis(2_500)));
        assert!(!Robots::read(FILE, "third").allows("/x"), "the group of all");
    }

    #[test]
    fn what_says_nothing_to_us_closes_nothing_and_too_many_rules_close_all() {
        for text in ["", "Disallow: /", "User-agent: other\nDisallow: /", "User-agent: *\nDisallow:\n", "<html>: x"] {
            assert!(Robots::read(text, "dragoman").allows("/x"), "{text}");
        }
        assert_eq!(Robots::read("User-agent: *\nCrawl-delay: -1\n", "dragoman").delay, None);
        let many = format!("User-agent: *\n{}", "Disallow: /y\n".repeat(RULES + 1));
        assert!(!Robots::read(&many, "dragoman").allows("/x"));
        let same = Robots::read("User-agent: *\nDisallow: /a\nAllow: /a\n", "dragoman");
        assert!(same.allows("/a"), "of two that are equally long");
    }
}
