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
        self.command("admin", "workspace", "create", "acme")

    def command(self, *arguments):
        subprocess.run([self.binary, "--data", self.folder, *arguments], check=True, stdout=subprocess.DEVNULL)

    def start(self):
        log = open(self.folder / "log", "ab")
        rates = dict.fromkeys(RATES, "100000")
        env = os.environ | {"DRAGOMAN_ADMIN_LISTEN": "off", "DRAGOMAN_LOG": "warn"} | rates
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


def main():
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("--times", type=int, default=50)
    options.add_argument("--only", default="ingest,sync,renew")
    options.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = options.parse_args()
    print(f"seed {options.seed}")
    for name in options.only.split(","):
        service = Service(options.binary)
        try:
            began = time.monotonic()
            told = {"ingest": ingest, "sync": sync, "renew": renew}[name](service, options.times, random.Random(options.seed))
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
