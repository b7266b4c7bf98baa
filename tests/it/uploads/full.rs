//! A disk that is full: it is said in words, nothing half is left, and all is well again when there is room.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dragoman::base::local::SocketPath;
use dragoman::base::outbound::behind_socket;
use nix::sys::statvfs::statvfs;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::support::program::{command, free_port};
use crate::support::service::json_of;

/// In a namespace of its own: nobody else sees the disk, and it is gone with the program.
const MOUNT: &str = r#"mount -t tmpfs -o "size=$1,mode=700" disk "$2" && cp -a "$3/." "$2" && shift 3 && exec "$@""#;

/// The service over a small disk.
struct Disk {
    program: Child,
    /// The data folder as this process reaches it.
    place: PathBuf,
    client: Client,
    _socket: SocketPath,
    _folder: tempfile::TempDir,
}

impl Disk {
    /// Of which new data leave so many bytes free, or where it is not said, as much as by default.
    async fn of(size: &str, free: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let made = command(&at("made")).args(["admin", "workspace", "create", "acme"]).output().await.unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        std::fs::create_dir(at("disk")).unwrap();
        let mut serve = Command::new("unshare");
        serve.args(["--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh", size]);
        serve.args([at("disk"), at("made"), env!("CARGO_BIN_EXE_dragoman").into(), "--data".into(), at("disk")]);
        serve.args(["serve", "--listen", &format!("127.0.0.1:{}", free_port())]);
        serve.env("DRAGOMAN_ADMIN_LISTEN", "off").env("DRAGOMAN_DISK_FREE_BYTES", free);
        serve.kill_on_drop(true).stdout(Stdio::piped());
        let mut program = serve.stderr(File::create(at("said")).unwrap()).spawn().expect("unshare (util-linux)");
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let Some(_up) = lines.next_line().await.unwrap() else {
            let said = std::fs::read_to_string(at("said")).unwrap();
            panic!("the program is not up on a disk of its own, for which user namespaces or root are needed: {said}");
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let root = PathBuf::from(format!("/proc/{}/root", program.id().unwrap()));
        let place = root.join(at("disk").strip_prefix("/").unwrap());
        let socket = SocketPath::of(&place).unwrap();
        let client = behind_socket(socket.path()).unwrap();
        Self { program, place, client, _socket: socket, _folder: folder }
    }

    fn room(&self) -> u64 {
        let disk = statvfs(&self.place).unwrap();
        disk.blocks_available() * disk.fragment_size()
    }

    /// Fills it but for so many bytes.
    fn leave(&self, bytes: u64) {
        let mut filler = File::options().create(true).append(true).open(self.place.join("filler")).unwrap();
        let page = [1; 4096];
        while self.room() > bytes {
            filler.write_all(&page).unwrap();
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.place.join("filler")).unwrap();
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://disk/local/api/v1{path}")).header("dragoman-workspace", "acme")
    }

    async fn import(&self, name: &str, content: &[u8]) -> (u16, Value) {
        let file = Part::bytes(content.to_vec()).file_name(name.to_owned());
        let form = Form::new().part("file", file);
        json_of(self.request(Method::POST, "/datasets").multipart(form).send().await.unwrap()).await
    }

    fn tus(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path).header("tus-resumable", "1.0.0")
    }

    async fn begin(&self, size: usize) -> Response {
        let request = self.tus(Method::POST, "/uploads").header("upload-length", size);
        let name = format!("filename {}", STANDARD.encode("sent.csv"));
        request.header("upload-metadata", name).send().await.unwrap()
    }

    async fn send(&self, upload: &str, content: &[u8]) -> Response {
        let request = self.tus(Method::PATCH, upload).header("upload-offset", 0);
        request.header("content-type", "application/offset+octet-stream").body(content.to_vec()).send().await.unwrap()
    }

    /// What is kept of data.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = crate::datasets::files(&self.place.join("workspaces"));
        files.sort();
        files
    }
}

fn is_told((status, body): &(u16, Value)) -> bool {
    let error = &body["error"];
    let said = error["message"].as_str().unwrap_or_default();
    (*status, &error["details"]["limit"]) == (503, &json!("disk")) && said.contains("The disk of the service is full")
}

/// The address of an upload below the interface.
fn upload(begun: &Response) -> String {
    assert_eq!(begun.status(), 201);
    let address = begun.headers()["location"].to_str().unwrap();
    format!("/uploads/{}", address.rsplit('/').next().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn new_data_leave_room_in_which_others_are_answered_and_data_deleted() {
    let disk = Disk::of("150m", "").await;
    let (status, sales) = disk.import("sales.csv", b"n\n1\n").await;
    assert_eq!(status, 200, "{sales}");
    let before = disk.files();
    // Of a small disk a twentieth is kept free.
    disk.leave(6 << 20);
    for refused in [disk.import("more.csv", b"n\n2\n").await, json_of(disk.begin(1).await).await] {
        assert!(is_told(&refused), "{refused:?}");
    }
    assert_eq!(disk.files(), before);
    let asked = disk.request(Method::POST, "/ext/sql").json(&json!({ "sql": "SELECT n FROM sales" }));
    let (status, answer) = json_of(asked.send().await.unwrap()).await;
    assert_eq!((status, &answer["rows"]), (200, &json!([[1]])), "{answer}");
    let path = format!("/datasets/{}?name=sales", sales["dataset_id"].as_str().unwrap());
    let (status, gone) = json_of(disk.request(Method::DELETE, &path).send().await.unwrap()).await;
    assert_eq!(status, 200, "{gone}");
    disk.free();
    assert_eq!(disk.import("more.csv", b"n\n2\n").await.0, 200, "there is room again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_leaves_nothing_and_is_gone_on_after() {
    let mut disk = Disk::of("150m", "0").await;
    // Numbers that no engine makes smaller, in several of its groups of rows.
    let mut table = b"n,word\n".to_vec();
    let mut number = 1_u64;
    for _ in 0..200_000 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        table.extend(format!("{},{:x}\n", number >> 20, number).into_bytes());
    }
    let bytes = table.len() as u64;
    assert_eq!(disk.import("first.csv", b"a\n1\n").await.0, 200);
    let before = disk.files();

    // An upload that had room when it began, and has none any more.
    let begun = upload(&disk.begin(table.len()).await);
    disk.leave(bytes / 2);
    let answer = json_of(disk.send(&begun, &table).await).await;
    assert!(is_told(&answer), "{answer:?}");
    assert_eq!(disk.tus(Method::HEAD, &begun).send().await.unwrap().status(), 404, "nothing of it was kept");
    let refused = json_of(disk.begin(table.len()).await).await;
    assert!(is_told(&refused), "{refused:?}");
    let whole = disk.import("whole.csv", &table).await;
    assert!(is_told(&whole), "{whole:?}");
    assert_eq!(disk.files(), before);
    disk.free();

    // The file has room and its table has not: whatever the engine was about when it ran out of it.
    let mut told = 0;
    for room in (1..).map(|more| bytes + more * (512 << 10)) {
        disk.leave(room);
        let answer = disk.import("table.csv", &table).await;
        disk.free();
        if answer.0 == 200 {
            break;
        }
        assert!(is_told(&answer), "with {room} bytes: {answer:?}");
        assert_eq!(disk.files(), before, "with {room} bytes");
        told += 1;
    }
    assert!(told > 3, "{told}");
    let begun = upload(&disk.begin(table.len()).await);
    assert_eq!(disk.send(&begun, &table).await.status(), 204, "there is room again");

    // Texts: the engine that keeps them would take the whole program along.
    let before = disk.files();
    let notes = "# Notes\n\nThe pump leaks at the valve.\n".repeat(200);
    disk.leave(20 << 20);
    let answer = disk.import("notes.md", notes.as_bytes()).await;
    assert!(is_told(&answer), "{answer:?}");
    assert_eq!(disk.files(), before);
    disk.free();
    assert_eq!(disk.import("notes.md", notes.as_bytes()).await.0, 200);

    // Nor does the program end when it would open them; those that are open are searched on a disk that is full.
    let search = async || {
        let request = disk.request(Method::POST, "/ext/search").json(&json!({ "query": "pump" }));
        json_of(request.send().await.unwrap()).await
    };
    disk.leave(1 << 20);
    let answer = search().await;
    assert!(is_told(&answer), "{answer:?}");
    disk.free();
    for is_full in [false, true] {
        if is_full {
            disk.leave(1 << 20);
        }
        let (status, found) = search().await;
        assert!(status == 200 && !found["matches"].as_array().unwrap().is_empty(), "{is_full}: {found}");
    }
    assert_eq!(disk.program.try_wait().unwrap(), None);
}
