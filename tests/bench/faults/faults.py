"""Kill -9 in the midst of work on documents. See run."""

import argparse
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

# Limits that are not what is looked at here.
RATES = ["DRAGOMAN_RATE_MANAGE", "DRAGOMAN_EXT_RATE_REQUESTS", "DRAGOMAN_EXT_RATE_WORKSPACE", "DRAGOMAN_CLIENT_RATE_CALLS"]
PATIENCE = 180  # seconds until the service is up, or has caught up


class Lost(Exception):
    """Something that was acknowledged is not there, or something is there by half."""


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("dragoman", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Service:
    """The program over a data folder, asked as its operator at the socket there."""

    def __init__(self, binary):
        self.binary, self.folder = binary, Path(tempfile.mkdtemp(prefix="faults-", dir="/tmp"))
        self.settings = {}
        self.command("admin", "workspace", "create", "acme")

    def command(self, *arguments):
        subprocess.run([self.binary, "--data", self.folder, *arguments], check=True, stdout=subprocess.DEVNULL)

    def start(self):
        log = open(self.folder / "log", "ab")
        rates = dict.fromkeys(RATES, "100000")
        env = os.environ | {"DRAGOMAN_ADMIN_LISTEN": "off", "DRAGOMAN_LOG": "warn"} | rates | self.settings
        self.process = subprocess.Popen(
            [self.binary, "--data", self.folder, "serve", "--listen", f"127.0.0.1:{free_port()}"],
            env=env,
            stdout=log,
            stderr=log,
        )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self.ask("GET", "/api/v1/ext/datasets")
            except (OSError, http.client.HTTPException):
                if self.process.poll() is not None or time.monotonic() > end:
                    raise Lost(f"the service does not start: see {self.folder}/log") from None
                time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def send(self, method, path, body=None, kind="application/json"):
        wire = Unix(str(self.folder / "service.sock"))
        try:
            head = {"dragoman-workspace": "acme"} | ({"content-type": kind} if body is not None else {})
            wire.request(method, "/local" + path, body, head)
            answer = wire.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            wire.close()

    def ask(self, method, path, arguments=None):
        status, reply = self.send(method, path, None if arguments is None else json.dumps(arguments))
        if status != 200:
            raise Lost(f"{method} {path}: {status} {reply}")
        return reply

    def bring(self, name, how, files):
        """An import; returns when it is acknowledged."""
        border = uuid.uuid4().hex
        fields = {"name": name, "if_exists": how, "publish": "true"}
        parts = [f'name="{key}"\r\n\r\n{value}' for key, value in fields.items()]
        parts += [f'name="file"; filename="{file}"\r\n\r\n{text}' for file, text in files.items()]
        body = "".join(f"--{border}\r\ncontent-disposition: form-data; {part}\r\n" for part in parts) + f"--{border}--\r\n"
        status, reply = self.send("POST", "/api/v1/datasets", body.encode(), f"multipart/form-data; boundary={border}")
        if status != 200:
            raise Lost(f"an import is refused: {status} {reply}")

    def rag(self, tool, arguments):
        return self.ask("POST", f"/api/v1/ext/rag/{tool}", arguments)

    def hits(self, query):
        """What a word finds, page after page; nothing may be degraded in the end."""
        end = time.monotonic() + PATIENCE
        while True:
            found = self.rag("search_fts", {"query": query, "k": 50})
            if found.get("degraded") is None:
                return found["results"]
            if time.monotonic() > end:
                raise Lost(f"not searched: {found['degraded']}")
            time.sleep(0.05)

    def text(self, document):
        docs = self.rag("get_docs", {"doc_ids": [document]})["docs"]
        return docs[0]["body"] if docs else None


def word(*numbers):
    """A word that means nothing, has no ending, and is no other's."""
    return "zq" + "q".join("".join("bdfghjklmp"[int(digit)] for digit in str(number)) for number in numbers) + "x"


def document(name, sections):
    """A text of which every section is one passage with the document's own word in it."""
    lines = [f"## Part {at}\n\nThe {name} says {at} things of planes and bread.\n" for at in range(sections)]
    return "\n".join(lines)


def interrupted(service, work, seconds, dice):
    """Does the work and kills the service within it, or a little after; whether it was acknowledged."""
    done = []

    def run():
        try:
            work()
            done.append(True)
        except (OSError, http.client.HTTPException, ValueError, Lost):
            pass

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(dice.uniform(0, seconds * 1.2))
    service.kill()
    thread.join()
    return bool(done)


def timed(work):
    began = time.monotonic()
    work()
    return time.monotonic() - began


def ingest(service, times, dice):
    sections, together = 12, 3
    batch = lambda at: {f"{word(at, n)}.md": document(word(at, n), sections) for n in range(together)}
    service.start()
    seconds = timed(lambda: service.bring("notes", "append", batch(0)))
    acknowledged, there = {0}, {0}
    for at in range(1, times + 1):
        done = interrupted(service, lambda: service.bring("notes", "append", batch(at)), seconds, dice)
        # So that about as many end as do not, whatever else the machine does.
        seconds *= 0.9 if done else 1.1
        acknowledged |= {at} if done else set()
        service.start()
        for known in range(at + 1) if at == times else {at, dice.randrange(at)}:
            whole = 0
            for file, text in batch(known).items():
                hits = service.hits(file.removesuffix(".md"))
                if hits and (len(hits) != sections or service.text(hits[0]["doc_id"]) != text):
                    raise Lost(f"{file} is there by half: {len(hits)} of {sections} passages")
                whole += bool(hits)
            if whole not in (0, together):
                raise Lost(f"{whole} of the {together} documents of import {known} are there")
            if not whole and known in acknowledged | (there - {at}):
                raise Lost(f"import {known} was acknowledged, and is gone")
            if whole:
                there.add(known)
    return f"{len(acknowledged) - 1} acknowledged, {len(there) - len(acknowledged)} there that were not"


def sync(service, times, dice):
    rows = 60
    table = lambda at: "id,body\n" + "".join(
        f"{n},the {word(at if n % 3 == 0 else 0, n)} flies\n" for n in range(at % 2, rows + at % 2)
    )
    service.start()
    service.bring("posts", "replace", {"posts.csv": table(0)})

    def follow():
        service.ask("POST", "/api/v1/ext/rag/admin_sync", {"source_names": ["texts"]})
        caught_up()

    def caught_up():
        end = time.monotonic() + PATIENCE
        while True:
            (of,) = service.ask("GET", "/api/v1/document-syncs")["syncs"]
            if of["run"]["state"] == "done":
                return
            if of["run"]["state"] == "failed" or time.monotonic() > end:
                raise Lost(f"the run of before does not end: {of['run']}")
            time.sleep(0.02)

    service.ask("POST", "/api/v1/document-syncs", {"name": "texts", "table": "posts", "key": "id", "text": ["body"]})
    seconds = timed(caught_up)
    ended = 0
    for at in range(1, times + 1):
        service.bring("posts", "replace", {"posts.csv": table(at)})
        done = interrupted(service, follow, seconds, dice)
        seconds, ended = seconds * (0.9 if done else 1.1), ended + done
        service.start()
        caught_up()
        # The call itself may not have arrived.
        follow()
        expected = {line.split(",")[1] for line in table(at).splitlines()[1:]}
        (of,) = [one for one in service.ask("GET", "/api/v1/ext/rag/admin_stats")["sources"] if one["source_name"] == "texts"]
        if of["docs"] != len(expected):
            raise Lost(f"{of['docs']} documents of {len(expected)} rows")
        for text in dice.sample(sorted(expected), 10):
            hits = service.hits(text.split()[1])
            if len(hits) != 1 or service.text(hits[0]["doc_id"]) != text:
                raise Lost(f"{len(hits)} documents say {text!r}")
    return f"{ended} runs ended before, {times - ended} went on after"


def renew(service, times, dice):
    sections, documents = 8, 8
    service.start()
    service.bring("notes", "append", {f"{word(n)}.md": document(word(n), sections) for n in range(documents)})
    service.kill()
    (manifest,) = (service.folder / "workspaces").rglob("manifest.json")

    def age(member):
        """As another encoder, or an earlier release that cuts otherwise, would have left it."""
        known = json.loads(manifest.read_bytes())
        manifest.write_text(json.dumps(known | {member: "an earlier one"}))

    def caught_up(member):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if json.loads(manifest.read_bytes())[member] != "an earlier one":
                    return
            except FileNotFoundError:
                pass
            if time.monotonic() > end:
                raise Lost("the index is not made anew")
            time.sleep(0.02)

    age("encoder")
    service.start()
    seconds = timed(lambda: caught_up("encoder"))
    service.kill()
    ended = 0
    for at in range(times):
        member = ("encoder", "cutter")[at % 2]
        age(member)
        service.start()
        time.sleep(dice.uniform(0, seconds * 1.2))
        service.kill()
        done = json.loads(manifest.read_bytes())[member] != "an earlier one"
        seconds, ended = seconds * (0.9 if done else 1.1), ended + done
        service.start()
        for n in dice.sample(range(documents), 4):
            hits = service.hits(word(n))
            if len(hits) != sections:
                raise Lost(f"{word(n)} has {len(hits)} of {sections} passages while its index is made anew")
        caught_up(member)
        found = service.rag("search_vector", {"query_text": "planes and bread", "k": 50})
        if found.get("degraded") or len(found["results"]) != 50:
            raise Lost(f"by meaning {len(found['results'])} are found: {found.get('degraded')}")
        service.kill()
    return f"{ended} had ended before, {times - ended} were begun again"


def alike(one, other):
    """Whether two answers find the same, worth the same but for rounding."""
    same = lambda a, b: a == b if isinstance(a, str) else abs(a - b) < 1e-3
    return one.keys() == other.keys() and all(same(worth, other[what]) for what, worth in one.items())


def compaction(service, times, dice):
    # 86 times 48 passages stay: more than the 4,096 from which on the next version of an index is a copy, written anew as
    # one part without the documents that are gone. Three others change from state to state: two get other texts, one is
    # deleted, and all become what they were.
    still, long, short = 86, 48, 6
    states = [{86: 0, 87: 0, 88: 0}, {86: 1, 87: 1, 88: 0}, {86: 1, 87: 1}]
    # The version before is removed as soon as nobody reads it.
    service.settings = {"DRAGOMAN_VERSIONS": "1"}
    erased = []

    def text(n, variant):
        return "\n".join(f"## {at}\n\n{word(n, variant)} flies {at}\n" for at in range(long if n < still else short))

    def bring(documents):
        service.bring("notes", "append", {f"{n}.md": text(n, variant) for n, variant in documents.items()})

    def change(before, after):
        gone = before.keys() - after.keys()
        for n in gone:
            document = service.hits(word(n, before[n]))[0]["doc_id"]
            erased.append((document, n))
            service.ask("DELETE", f"/api/v1/datasets/{dataset}/documents/{document}")
        if not gone:
            bring({n: variant for n, variant in after.items() if before.get(n) != variant})

    def answers():
        """What words find among all, and meaning in single documents, with its worth; and the texts of these."""
        said, documents = {}, {}
        for n in [0, any_other, *states[0]]:
            asked = [("search_fts", "score_fts_raw", {"query": word(n, variant)}) for variant in (0, 1)]
            of_file = {"query_text": "bread flies", "filters": {"source_files": [f"{n}.md"]}}
            for tool, worth, query in [*asked, ("search_vector", "score_vec_raw", of_file)]:
                found = service.rag(tool, query | {"k": 50})
                # Nothing is waited for: an index that has to be made anew was left by half.
                if found.get("degraded"):
                    raise Lost(f"{tool} {query}: {found['degraded']}")
                for hit in found["results"]:
                    file = hit["metadata"]["source_file"]
                    said[tool, str(query), file, hit["metadata"]["heading"]] = hit[worth]
                    documents[file] = hit["doc_id"]
        return said | {file: service.text(document) for file, document in documents.items()}

    def is_tidy(state):
        """Nothing is left of versions that are kept no longer, of unfinished work, and of texts that are gone."""
        (place,) = (service.folder / "workspaces").glob("*/vectors/*")
        kept = service.ask("GET", f"/api/v1/datasets/{dataset}/versions")["versions"]
        there = {one.name for one in place.iterdir()}
        if there != {one["version"] for one in kept} or any((service.folder / "workspaces").glob("*/staging/*")):
            raise Lost(f"versions {there} are in the folder, or unfinished work")
        files = [file.read_bytes() for file in place.rglob("*") if file.is_file()]
        for n in states[0]:
            for variant in (0, 1):
                if any(word(n, variant).encode() in file for file in files) != (state.get(n) == variant):
                    raise Lost(f"{n}.md: {word(n, variant)} is in files of the index and should not be, or the reverse")
        for document, n in erased:
            if n not in state and service.text(document) is not None:
                raise Lost(f"{n}.md is deleted, and can be read")

    service.start()
    everything = dict.fromkeys(range(still), 0) | states[0]
    for first in range(0, len(everything), 30):
        bring({n: everything[n] for n in range(first, min(first + 30, len(everything)))})
    dataset = service.hits(word(0, 0))[0]["source_id"]
    any_other = dice.randrange(1, still)
    expected, seconds = [answers()], []
    for at in range(3):
        # Half as long again, so that from the beginning about as many end as do not.
        seconds.append(1.5 * timed(lambda: change(states[at], states[(at + 1) % 3])))
        expected.append(answers())
    if not alike(expected.pop(), expected[0]) or alike(expected[1], expected[2]):
        raise Lost("without a kill the same documents are not found alike")
    state = acknowledged = there = within = 0
    for _ in range(times):
        after = (state + 1) % 3
        done = interrupted(service, lambda: change(states[state], states[after]), seconds[state], dice)
        seconds[state] *= 0.9 if done else 1.1
        within += any((service.folder / "workspaces").glob("*/staging/*/vectors"))
        service.start()
        now = answers()
        is_there = alike(now, expected[after])
        if not is_there and (done or not alike(now, expected[state])):
            what = "was acknowledged, and is not there as it was" if done else "is there by half, or something is lost"
            raise Lost(f"the change to {states[after]} {what}")
        acknowledged += done
        there += is_there and not done
        state = after if is_there else state
        is_tidy(states[state])
    told = f"{acknowledged} acknowledged, {there} there that were not"
    return f"{told}; {within} ended while the copy was written"


KINDS = {"ingest": ingest, "sync": sync, "renew": renew, "compaction": compaction}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("--times", type=int, default=50)
    options.add_argument("--only", default=",".join(KINDS))
    options.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = options.parse_args()
    print(f"seed {options.seed}")
    for name in options.only.split(","):
        service = Service(options.binary)
        try:
            began = time.monotonic()
            told = KINDS[name](service, options.times, random.Random(options.seed))
            print(f"{name}: killed {options.times} times in {time.monotonic() - began:.0f} s, nothing lost: {told}", flush=True)
        except Lost as lost:
            print(f"{name}: {lost} (data: {service.folder})", file=sys.stderr)
            return 1
        finally:
            service.process.kill()
            service.process.wait()
        shutil.rmtree(service.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
