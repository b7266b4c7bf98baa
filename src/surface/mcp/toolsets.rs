//! Which tools an address offers: `/mcp?toolsets=data,ask` those of the sets that it names, `/mcp` all but
//! [`Toolset::Chatgpt`], and to ChatGPT itself that one too. A tool of no offered set is neither listed nor called: who
//! narrows an address means it. Where nobody chose, the tools of [`Toolset::Rag`] alone can be called and are not
//! listed: a list is read before every conversation. Resources and prompts stay. A session keeps what its `initialize` was offered, whatever
//! later addresses in it say; in the revision without sessions each request says it for itself.

use url::form_urlencoded;

use crate::base::nearest::nearest;
use crate::gateway::operation::Toolset;
use crate::identity::clients::verified_host;
use crate::model::audit::clip;
use crate::model::caller::{Caller, Proof};
use crate::model::error::{Error, Result};

/// The word in an address.
const PARAMETER: &str = "toolsets";

/// Where the clients are published that look for `search` and `fetch`: these hosts, and those below them.
const OPENAI: [&str; 2] = ["chatgpt.com", "openai.com"];

/// The bit of who named no set.
const UNCHOSEN: u8 = 1 << 7;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Offered(u8);

impl Offered {
    /// What a request is offered, by the query of its address and by whose client sends it.
    ///
    /// # Errors
    /// `invalid_argument` for a set that there is not.
    pub(super) fn to(caller: &Caller, query: Option<&str>) -> Result<Self> {
        let mut named = None;
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if key == PARAMETER {
                named = Some(Self::read(&value)?.with(named.unwrap_or_default()));
            }
        }
        Ok(named.unwrap_or_else(|| Self::by_default(is_of_openai(caller))))
    }

    /// Whether a tool of some sets is offered.
    pub(super) fn any(self, of: &[Toolset]) -> bool {
        of.iter().any(|one| self.0 & Self::bit(*one) != 0)
    }

    /// Whether a tool of some sets is listed.
    pub(super) fn lists(self, of: &[Toolset]) -> bool {
        let is_rag_alone = of.iter().all(|one| *one == Toolset::Rag);
        self.any(of) && !(self.0 & UNCHOSEN != 0 && is_rag_alone)
    }

    /// Why there is no such tool; `known` are the sets of one that is there, and not offered.
    pub(super) fn refusal(self, known: Option<&[Toolset]>) -> Error {
        let message = match known.and_then(<[Toolset]>::first) {
            Some(set) => format!(
                "This address does not offer the toolset {}, which this tool is in, but {}. List the tools, or connect \
                 anew and name that one too in ?{PARAMETER}= at the end of the address.",
                set.name(),
                self.names(),
            ),
            None => "There is no such tool. List the tools.".to_owned(),
        };
        Error::invalid("name", message)
    }

    pub(super) fn by_default(of_openai: bool) -> Self {
        let sets = Toolset::ALL.into_iter().filter(|set| of_openai || *set != Toolset::Chatgpt);
        sets.fold(Self(UNCHOSEN), |all, set| all.with(Self(Self::bit(set))))
    }

    /// Names with commas between them.
    fn read(text: &str) -> Result<Self> {
        let mut all = Self::default();
        for name in text.split(',').map(str::trim) {
            let found = Toolset::ALL.into_iter().find(|set| set.name().eq_ignore_ascii_case(name));
            all = all.with(Self(Self::bit(found.ok_or_else(|| unknown(name))?)));
        }
        Ok(all)
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn bit(set: Toolset) -> u8 {
        1 << (set as u8)
    }

    fn names(self) -> String {
        let named: Vec<&str> = Toolset::ALL.into_iter().filter(|set| self.any(&[*set])).map(Toolset::name).collect();
        named.join(", ")
    }
}

fn unknown(name: &str) -> Error {
    let all = Toolset::ALL.map(Toolset::name);
    let what = match name {
        "" => "A toolset has a name.".to_owned(),
        name => format!("There is no toolset {}.", clip(name)),
    };
    let near = nearest(name, all).map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
    let message = format!(
        "{what}{near} Name some of {} with commas between them, or leave {PARAMETER} out of the address.",
        all.join(", ")
    );
    Error::invalid(PARAMETER, message)
}

/// Whether the client is one of OpenAI's: known to the authorization server by a document at an address of theirs. What
/// it calls itself, and the label of a connectivity token, prove nothing. (A toolset is no right: what a credential may
/// do is the same at every address.)
fn is_of_openai(caller: &Caller) -> bool {
    let Proof::AccessToken { .. } = caller.proof else { return false };
    let host = verified_host(&caller.client.id);
    host.is_some_and(|host| {
        OPENAI.iter().any(|own| host.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::Code;

    fn names(text: &str) -> String {
        Offered::read(text).map_or_else(|error| error.message, Offered::names)
    }

    #[test]
    fn an_address_names_sets_in_any_order_and_spelling() {
        assert_eq!(names("data"), "data");
        assert_eq!(names("chatgpt, RAG,rag"), "rag, chatgpt");
        assert_eq!(Offered::by_default(false).names(), "data, rag, ask, rlm");
        assert_eq!(Offered::by_default(true).names(), "data, rag, ask, rlm, chatgpt");
    }

    #[test]
    fn what_is_no_set_is_told_with_those_that_there_are() {
        for (wrong, part) in [
            ("dta", "There is no toolset dta. Did you mean data? Name some of data, rag, ask, rlm, chatgpt"),
            ("data,chatgtp", "Did you mean chatgpt?"),
            ("sql", "There is no toolset sql. Name some of"),
            ("", "A toolset has a name."),
            ("data,", "A toolset has a name."),
        ] {
            let error = Offered::read(wrong).unwrap_err();
            assert_eq!(error.code, Code::InvalidArgument, "{wrong}");
            assert!(error.message.contains(part), "{wrong}: {}", error.message);
        }
        assert!(Offered::read(&"x".repeat(1 << 20)).unwrap_err().message.len() < 1_000);
    }

    #[test]
    fn what_is_for_agents_that_search_on_their_own_is_listed_where_its_set_is_named() {
        let (rag, both) = ([Toolset::Rag], [Toolset::Data, Toolset::Rag]);
        let plain = Offered::by_default(false);
        assert!(plain.any(&rag) && !plain.lists(&rag) && plain.lists(&both));
        assert!(!plain.lists(&[Toolset::Chatgpt]) && Offered::by_default(true).lists(&[Toolset::Chatgpt]));
        let named = Offered::read("rag").unwrap();
        assert!(named.any(&rag) && named.lists(&rag) && named.lists(&both));
        assert!(!Offered::read("data").unwrap().any(&rag), "who narrows an address means it");
    }

    #[test]
    fn a_tool_of_several_sets_is_offered_by_each() {
        let offered = Offered::read("rag").unwrap();
        assert!(offered.any(&[Toolset::Data, Toolset::Rag]) && !offered.any(&[Toolset::Data]) && !offered.any(&[]));
        assert!(offered.refusal(Some(&[Toolset::Data])).message.contains("the toolset data"), "says why");
    }
}
