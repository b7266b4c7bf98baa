//! Connecting AI clients to a workspace: the switch, the guides, what is seen of a client on its way in, and a test of
//! the whole way. What makes and ends tokens is in [`super::tokens`].

pub mod checkpoints;
pub mod guide;
pub mod guides;
mod pieces;
pub mod place;
mod probe;
pub mod report;
pub mod setup;
pub mod status;
pub mod switch;
pub mod test;
mod words;

use self::guide::Guide;
use self::guides::GUIDES;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::error::{Error, Result};
use crate::model::user::User;

/// For whom a guide is, and whose client is waited for.
fn person(job: &Job<'_>) -> Result<Id<User>> {
    let nobody = "A connectivity token belongs to no person, and connects nobody. Sign in, or connect with OAuth.";
    job.pass.user().ok_or_else(|| Error::forbidden("person", nobody))
}

/// A guide by its id, or another name of it; `_` and `-` are the same.
///
/// # Errors
/// `invalid_argument` with the names that there are.
pub fn named(name: &str) -> Result<&'static Guide> {
    let asked = name.to_ascii_lowercase().replace('_', "-");
    let is = |guide: &&Guide| guide.id == asked || guide.also.contains(&asked.as_str());
    GUIDES.iter().find(is).ok_or_else(|| {
        let names: Vec<&str> = GUIDES.iter().map(|guide| guide.id).collect();
        Error::invalid("platform", format!("There is no such platform here. Choose one of {}.", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::place::Place;
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_guide_is_found_by_every_name_of_it_and_by_no_other() {
        for guide in GUIDES {
            for name in guide.also.iter().chain([&guide.id]) {
                assert_eq!(named(name).unwrap().id, guide.id, "{name}");
            }
        }
        assert_eq!(named("Claude_Code").unwrap().id, "claude-code");
        let refused = named("netscape").err().unwrap();
        assert!(refused.message.contains("cursor"), "{}", refused.message);
    }

    /// What clients say of themselves, as servers have seen it: each is one of one kind alone.
    #[test]
    fn no_client_is_taken_for_another() {
        for (said, expected) in [
            ("https://claude.ai/api/mcp/auth_callback", "claude"),
            ("https://claude.ai/oauth/mcp-oauth-client-metadata", "claude"),
            ("Anthropic/ClaudeAI", "claude"),
            ("claude-ai", "desktop"),
            ("https://claude.ai/oauth/claude-code-client-metadata", "claude-code"),
            ("Claude Code (dragoman)", "claude-code"),
            ("https://chatgpt.com/connector/oauth/abc", "chatgpt"),
            ("openai-mcp", "chatgpt"),
            ("cursor-vscode", "cursor"),
            ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor"),
            ("Visual Studio Code - Insiders", "vscode"),
            ("https://vscode.dev/redirect", "vscode"),
            ("gemini-cli-mcp-client", "gemini"),
            ("inspector-client", "inspector"),
        ] {
            let found: Vec<&str> = GUIDES.iter().filter(|guide| guide.is_called(said)).map(|guide| guide.id).collect();
            assert_eq!(found, [expected], "{said}");
        }
    }

    #[test]
    fn every_placeholder_is_filled_and_no_token_is_ever_written() {
        let https = |name: &str| (name == "DRAGOMAN_PUBLIC_URL").then(|| "https://data.example.com".to_owned());
        let place = Place::new(&Config::read(https).unwrap(), Some("acme"), Some("Abc12345"));
        for guide in GUIDES {
            let text = guide.filled(&place).text();
            for name in ["{base}", "{mcp}", "{hosted}", "{clients}", "{token}"] {
                assert!(!text.contains(name), "{}: {name}", guide.id);
            }
            // The prefix alone is named, to say how a token looks; whatever follows it is the placeholder.
            for rest in text.split("dgmcp_").skip(1).filter(|rest| rest.starts_with(char::is_alphanumeric)) {
                assert!(rest.starts_with("Abc12345_YOUR_SECRET"), "{}: {rest}", guide.id);
            }
        }
    }
}
