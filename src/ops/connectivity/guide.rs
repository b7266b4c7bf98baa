//! What a guide is: how one AI client is connected, in the words of its own screens. The texts are in `guides.rs`; here
//! they become the guide of one workspace, with its addresses, and with configuration that was written by a serialiser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::Place;

/// How far a guide was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The tests of this program connect this very client, or its maker's own library, as the guide says.
    Tested,
    /// Written from what its maker publishes; the configuration is checked against that, the client was not run.
    BestEffort,
    /// Needs nothing but what every client of its kind can do.
    Universal,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Class::Tested => "tested",
            Class::BestEffort => "best effort",
            Class::Universal => "universal",
        }
    }

    /// For people.
    pub fn meaning(self) -> &'static str {
        match self {
            Class::Tested => "The tests of this service connect it as this guide says.",
            Class::BestEffort => "Written from what its maker publishes; names on its screens may have changed.",
            Class::Universal => "Needs nothing that any client of its kind could lack.",
        }
    }
}

/// What a client shows, and to which door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// MCP; a person signs in and approves it (OAuth 2.1).
    Approval,
    /// MCP with a connectivity token.
    Token,
    /// REST with a connectivity token.
    Rest,
}

/// What is seen of a client on its way in, in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoint {
    /// It asked at the address, and was told where to sign in.
    Discovered,
    /// It is known here, and has brought the person to the page that asks for their approval.
    Registered,
    /// The person approved, and the client fetched its token.
    Approved,
    /// A connectivity token that is in force.
    TokenMade,
    /// It asked which tools there are.
    ListedTools,
    /// It asked about data, and was answered.
    FirstCall,
}

impl Checkpoint {
    pub fn title(self) -> &'static str {
        match self {
            Checkpoint::Discovered => "Found the address",
            Checkpoint::Registered => "Registered, and brought you to the approval",
            Checkpoint::Approved => "Approved",
            Checkpoint::TokenMade => "A token is there",
            Checkpoint::ListedTools => "Listed the tools",
            Checkpoint::FirstCall => "Asked and was answered",
        }
    }

    /// What to do when it does not come.
    fn mend(self) -> &'static str {
        match self {
            Checkpoint::Discovered => {
                "The client has not asked here yet. Compare the address in it letter by letter, without a slash at its \
                 end, and run the test beside this guide in the console."
            }
            Checkpoint::Registered => {
                "It found the address and did not come back. Take it out of the client and add it again; a firewall or \
                 a proxy must let /.well-known/ and /api/oauth/ through as well as /mcp."
            }
            Checkpoint::Approved => {
                "Nobody has approved it yet, or the browser window was closed. Connect again in the client, sign in \
                 with the account that you use here, and choose Approve."
            }
            Checkpoint::TokenMade => {
                "Make a token beside this guide in the console, or ask an admin of the workspace for one."
            }
            Checkpoint::ListedTools => {
                "It is let in and has not looked at the tools. Start a new conversation, and see that Dragoman is \
                 switched on among its tools; some clients have to be started again."
            }
            Checkpoint::FirstCall => {
                "It knows the tools and has not used one. Ask: What data do I have in Dragoman? If it refuses, publish \
                 a dataset first: a client sees published ones alone."
            }
        }
    }
}

impl Way {
    /// What is seen of it.
    pub fn checkpoints(self) -> &'static [Checkpoint] {
        match self {
            Way::Approval => &[
                Checkpoint::Discovered,
                Checkpoint::Registered,
                Checkpoint::Approved,
                Checkpoint::ListedTools,
                Checkpoint::FirstCall,
            ],
            Way::Token => &[Checkpoint::TokenMade, Checkpoint::ListedTools, Checkpoint::FirstCall],
            Way::Rest => &[Checkpoint::TokenMade, Checkpoint::FirstCall],
        }
    }
}

/// How a piece of configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// An address, or one line for a field of a form.
    Text,
    Json,
    /// Commands for a POSIX shell.
    Sh,
    Python,
}

/// Something to copy.
pub struct Piece {
    /// The file that it belongs into, or the field of a form; empty for commands.
    pub file: &'static str,
    pub format: Format,
    pub make: fn(&Place) -> String,
}

/// What a link is called, and its address for a place.
pub type Link = (&'static str, fn(&Place) -> String);

/// One step, with what is to be copied and what can be clicked in it.
pub struct Step {
    /// `{mcp}` and its like are filled in: see [`Place::fill`].
    pub text: &'static str,
    pub piece: Option<Piece>,
    /// A link that does the step, with what it is called.
    pub link: Option<Link>,
    /// What is seen when it worked; empty where nothing is.
    pub then: &'static str,
}

/// A symptom, and what mends it.
pub struct Trouble {
    pub symptom: &'static str,
    pub mend: &'static str,
}

/// See the module.
pub struct Guide {
    /// In addresses and arguments.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// Other names that it is asked for by.
    pub also: &'static [&'static str],
    pub class: Class,
    /// Whether its maker's cloud asks, and not the person's own machine.
    pub from_cloud: bool,
    pub way: Way,
    /// One line for lists.
    pub about: &'static str,
    pub steps: &'static [Step],
    /// Parts, in small letters, of what it calls itself: its name, or the address that it is sent back to.
    pub calls_itself: &'static [&'static str],
    pub troubles: &'static [Trouble],
}

impl Guide {
    /// Whether a client that says this of itself (a name, an id, an address) is one of these.
    pub fn is_called(&self, said: &str) -> bool {
        let said = said.to_lowercase();
        self.calls_itself.iter().any(|part| said.contains(part))
    }

    /// What to do when a checkpoint does not come. A client of a cloud asks at the address that all workspaces have in
    /// common, where nobody can be told from others: there, the first is seen with the second.
    pub fn mend(&self, checkpoint: Checkpoint) -> &'static str {
        match checkpoint {
            Checkpoint::Discovered if self.from_cloud => {
                "Of this client it shows together with the next. Its cloud needs a public https address: run the test \
                 beside this guide in the console, and compare the address in the client letter by letter, without a slash at its end."
            }
            other => other.mend(),
        }
    }

    /// For one place.
    pub fn filled(&self, place: &Place) -> Setup {
        let step = |step: &Step| SetupStep {
            text: place.fill(step.text),
            configuration: step.piece.as_ref().map(|piece| Configuration {
                file: place.fill(piece.file),
                format: piece.format,
                content: (piece.make)(place),
            }),
            link: step.link.map(|(label, make)| SetupLink { label: label.to_owned(), href: make(place) }),
            then: place.fill(step.then),
        };
        let checkpoint = |it: &Checkpoint| SetupCheckpoint { id: *it, title: it.title(), mend: self.mend(*it) };
        let trouble =
            |trouble: &Trouble| SetupTrouble { symptom: place.fill(trouble.symptom), mend: place.fill(trouble.mend) };
        let has_token = self.way != Way::Approval;
        Setup {
            platform: self.id,
            name: self.name,
            class: self.class,
            about: self.about,
            needs_public_address: self.from_cloud,
            reachable: !self.from_cloud || place.is_public,
            address: if self.from_cloud { place.hosted.clone() } else { place.mcp.clone() },
            token: has_token.then(|| place.token.clone()),
            steps: self.steps.iter().map(step).collect(),
            checkpoints: self.way.checkpoints().iter().map(checkpoint).collect(),
            troubleshooting: self.troubles.iter().map(trouble).collect(),
            page: format!("{}/docs/connect/{}", place.base, self.id),
        }
    }
}

/// A guide for one workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Setup {
    pub platform: &'static str,
    pub name: &'static str,
    pub class: Class,
    pub about: &'static str,
    /// Whether the client asks from its maker's cloud, which reaches public https addresses alone.
    pub needs_public_address: bool,
    /// Whether the service's address fits that, as far as the address itself says.
    pub reachable: bool,
    /// The address to give to the client.
    pub address: String,
    /// What stands in the configuration where the token belongs; absent for a client that needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub steps: Vec<SetupStep>,
    pub checkpoints: Vec<SetupCheckpoint>,
    pub troubleshooting: Vec<SetupTrouble>,
    /// The guide as a page of the documentation, which needs no sign-in.
    pub page: String,
}

/// One step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetupStep {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<SetupLink>,
    /// What is seen when it worked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub then: String,
}

/// Something to copy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Configuration {
    /// The file, or the field of a form; empty for commands.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    pub format: Format,
    pub content: String,
}

/// Something to click.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetupLink {
    pub label: String,
    pub href: String,
}

/// What will be seen of the client.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetupCheckpoint {
    pub id: Checkpoint,
    pub title: &'static str,
    /// What to do when it does not come.
    pub mend: &'static str,
}

/// A symptom, and what mends it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetupTrouble {
    pub symptom: String,
    pub mend: String,
}

impl Setup {
    /// As one text (Markdown).
    pub fn text(&self) -> String {
        let mut lines = vec![format!("# Connect {}", self.name), String::new(), self.about.to_owned(), String::new()];
        if !self.reachable {
            lines.push(format!(
                "Note: this client asks from its maker's cloud, which cannot reach {}. The service needs a public https \
                 address first.\n",
                self.address
            ));
        }
        for (number, step) in self.steps.iter().enumerate() {
            lines.push(format!("{}. {}", number + 1, step.text));
            lines.extend(step.link.iter().map(|link| format!("   {}: {}", link.label, link.href)));
            if let Some(piece) = &step.configuration {
                let kind = serde_json::to_value(piece.format).ok();
                let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
                let file = if piece.file.is_empty() { String::new() } else { format!("   {}:\n", piece.file) };
                lines.push(format!("\n{file}```{kind}\n{}\n```\n", piece.content));
            }
            if !step.then.is_empty() {
                lines.push(format!("   → {}", step.then));
            }
        }
        if !self.troubleshooting.is_empty() {
            lines.push("\nIf something goes wrong:".to_owned());
            lines.extend(self.troubleshooting.iter().map(|it| format!("- {} {}", it.symptom, it.mend)));
        }
        lines.join("\n")
    }
}
