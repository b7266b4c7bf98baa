//! Commands beside a running service, which does what they ask, through the socket in its data folder.

use std::os::unix::fs::PermissionsExt as _;

use dragoman::base::local::SocketPath;
use dragoman::base::outbound::behind_socket;
use serde_json::{Value, json};

use crate::stdio::Folder;
use crate::stopping::stopped;
use crate::support::program::command;
use crate::support::service::{Service, http, json_of};

const ENDLESS: &str = "SELECT count(*) FROM range(100000000000) a, range(1000) b";

impl Folder {
    /// What a command says: whether it worked, and both of its outputs.
    async fn said(&self, arguments: &[&str]) -> (bool, String) {
        let output = command(&self.data()).args(arguments).output().await.unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    }
}

/// The same commands with the same answers, whether a service has the folder or nobody.
#[tokio::test(flavor = "multi_thread")]
async fn commands_do_the_same_beside_a_running_service_as_without_one() {
    let world = Folder::new().await;
    let file = |name: &str, text: &str| {
        let path = world.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (csv, notes) =
        (file("Costs 2026.csv", "cost_id,area,amount\n1,a,2.5\n2,b,3.5\n"), file("notes.md", "# N\n\nText.\n"));
    let ragged = file("bad.csv", "a,b\n1,2\n3,4,5,6\n");
    let mut told = Vec::new();
    for running in [false, true] {
        let service = if running { Some(world.serve().await) } else { None };
        let imported =
            world.facts(&["import", &csv, "--workspace", "acme", "--publish", "--description", "What it cost"]).await;
        let (worked, texts) = world.said(&["import", &notes, "--workspace", "acme"]).await;
        assert!(worked && texts.contains("documents (documents, 1 passage"), "{texts}");
        let draft = ["ontology", "draft", "--workspace", "acme", "--name", "costs", "costs_2026"];
        let drafted = command(&world.data()).args(draft).output().await.unwrap();
        assert!(drafted.status.success(), "{}", String::from_utf8_lossy(&drafted.stderr));
        let document = file("costs.yaml", std::str::from_utf8(&drafted.stdout).unwrap());
        let saved = world.facts(&["ontology", "save", &document, "--workspace", "acme"]).await;
        let listed = world.facts(&["ontology", "list", "--workspace", "acme"]).await;
        let ask = |what: &'static str| ["ontology", what, "How many costs are there?", "--workspace", "acme"];
        let (answered, explained) = (world.facts(&ask("ask")).await, world.facts(&ask("explain")).await);
        assert!(explained["stages"].as_array().unwrap().len() > 3, "{explained}");
        let mut refused = Vec::new();
        for wrong in [
            &["import", &*csv, "--workspace", "nowhere"][..],
            &["import", &ragged, "--workspace", "acme"],
            &["import", "missing.csv", "--workspace", "acme"],
            &["ontology", "ask", "x", "--workspace", "acme", "--ontology", "none"],
            &["admin", "dataset", "delete", "none", "--workspace", "acme"],
        ] {
            let (worked, said) = world.said(wrong).await;
            assert!(!worked && !said.contains("panicked"), "{wrong:?}: {said}");
            refused.push(said);
        }
        let deleted = world.facts(&["admin", "dataset", "delete", "costs_2026", "--workspace", "acme"]).await;
        assert_eq!((&deleted["dataset_id"], &deleted["row_count"]), (&imported["dataset_id"], &json!(2)), "{deleted}");
        let facts = ["name", "type", "row_count", "published"].map(|key| imported[key].clone());
        told.push(json!([
            facts,
            [
                &saved["ontology"]["status"],
                &listed["ontologies"][0]["name"],
                &answered["narrative"],
                &explained["narrative"]
            ],
            refused.iter().map(|said| said.lines().last().unwrap_or_default()).collect::<Vec<_>>(),
        ]));
        if let Some((mut child, _)) = service {
            child.kill().await.unwrap();
        }
    }
    assert_eq!(told[0], told[1]);
    let record = world.facts(&["admin", "audit", "list", "--workspace", "acme"]).await;
    let kinds = |action: &str| {
        let rows = record.as_array().unwrap().iter().map(|row| &row["entry"]);
        rows.filter(|entry| entry["action"] == action && entry["principal"] == "local").count()
    };
    assert_eq!(kinds("admin.dataset.delete"), 2, "{record}");
    assert_eq!(kinds("rest.call"), 0, "the operator's calls are not a program's: {record}");
}

/// Nobody but the owner of the folder gets to the operator's door, and the network has none.
#[tokio::test(flavor = "multi_thread")]
async fn the_socket_is_its_owners_and_the_network_has_no_such_door() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let folder = &service.config.data_dir;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder), mode(&folder.join("service.sock"))), (0o700, 0o600));

    let list = "/local/api/v1/ext/datasets";
    let outside = service.http.get(service.url(list)).header("dragoman-workspace", "acme").send().await.unwrap();
    assert_eq!(outside.status(), 404);
    assert_eq!(service.http.get(service.url("/local/facts")).send().await.unwrap().status(), 404);

    let socket = SocketPath::of(folder).unwrap();
    let _tls = http();
    let inside = behind_socket(socket.path()).unwrap();
    let ask = async |workspace: &str| {
        let request = inside.get(format!("http://anything{list}")).header("dragoman-workspace", workspace);
        json_of(request.send().await.unwrap()).await
    };
    assert_eq!(ask("acme").await.0, 200);
    let (status, body) = ask("nowhere").await;
    assert_eq!((status, body["error"]["message"].as_str().unwrap().contains("nowhere")), (404, true), "{body}");
    // The doors of clients are there too, with their guards.
    let guarded = inside.post("http://anything/mcp").send().await.unwrap();
    assert_eq!(guarded.status(), 401);
    let facts: Value = inside.get("http://anything/local/facts").send().await.unwrap().json().await.unwrap();
    assert_eq!(facts["version"], env!("CARGO_PKG_VERSION"));

    // A command that is interrupted takes what it asked for along.
    let asked = inside.post("http://anything/local/api/v1/ext/sql").header("dragoman-workspace", "acme");
    let asked = tokio::spawn(asked.json(&json!({ "sql": ENDLESS })).send());
    service.answers_a_call().await;
    asked.abort();
    stopped(&service, &org, "dragoman_sql", 1).await;
    service.stop().await;
}
