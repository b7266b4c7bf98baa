"""Judges search by a test collection: documents, questions, and which of them answer which."""

import concurrent.futures
import glob
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

# A page of results is at most so many.
PAGE = 50
PAGES = 2
# Calls a minute, and at once, that the service takes.
UNBOUNDED = {f"DRAGOMAN_EXT_RATE_{name}": "1000000" for name in ["TOKEN", "WORKSPACE", "REQUESTS"]}
UNBOUNDED |= {"DRAGOMAN_EXT_IN_FLIGHT": "64", "DRAGOMAN_IN_FLIGHT": "256"}
MODES = [("words", "search_fts", "query"), ("meaning", "search_vector", "query_text"), ("both", "search_hybrid", "query")]


def cranfield(folder):
    """Texts by number with their titles, questions by number, and the numbers that answer each."""
    def text(name):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()

    def field(tag, of):
        found = re.search(f"<{tag}>(.*?)</{tag}>", of, re.S)
        return found[1].strip() if found else ""
    documents = {}
    for document in re.findall(r"<doc>(.*?)</doc>", text("cran.all.1400.xml"), re.S):
        documents[field("docno", document)] = (field("title", document), field("text", document))
    # Judgements count questions from 1, whatever number a question has.
    asked = re.findall(r"<title>(.*?)</title>", text("cran.qry.xml"), re.S)
    questions = {str(at + 1): one for at, one in enumerate(asked)}
    answers = {}
    for line in text("cranqrel.trec.txt").splitlines():
        row = line.split()
        # 1 to 4 are grades of relevance; 5 and -1 are none.
        if len(row) >= 4 and row[3] in "1234":
            answers.setdefault(row[0], set()).add(row[2])
    return documents, questions, answers


def smart(folder, name):
    """The same of a collection in the form of the SMART system."""
    def records(kind):
        with open(os.path.join(folder, f"{name}.{kind}"), encoding="latin-1") as file:
            for record in re.split(r"(?m)^\.I ", file.read())[1:]:
                number, _, rest = record.partition("\n")
                parts = re.split(r"(?m)^\.([A-Z])\s*$", rest)
                fields = {}
                for key, value in zip(parts[1::2], parts[2::2]):
                    fields[key] = (fields.get(key, "") + "\n" + value).strip()
                yield number.strip(), fields
    documents = {number: (fields.get("T", ""), fields.get("W", "")) for number, fields in records("ALL")}
    questions = {number: fields.get("W", "") for number, fields in records("QRY")}
    answers = {}
    with open(os.path.join(folder, f"{name}.REL"), encoding="latin-1") as file:
        for row in map(str.split, file):
            if len(row) >= 2:
                answers.setdefault(row[0], set()).add(row[1])
    return documents, questions, answers


def collection(folder):
    if os.path.exists(os.path.join(folder, "cran.all.1400.xml")):
        return cranfield(folder)
    found = glob.glob(os.path.join(folder, "*.ALL"))
    if len(found) != 1:
        raise SystemExit(f"{folder} has neither cran.all.1400.xml nor one NAME.ALL")
    return smart(folder, os.path.basename(found[0])[:-4])


def ndcg(ranked, answers, depth=10):
    gain = sum(1 / math.log2(at + 2) for at, one in enumerate(ranked[:depth]) if one in answers)
    return gain / sum(1 / math.log2(at + 2) for at in range(min(depth, len(answers))))


def recall(ranked, answers, depth=100):
    return len(set(ranked[:depth]) & answers) / len(answers)


def mean(values):
    return sum(values) / max(1, len(values))


class Service:
    def __init__(self, program, data, settings):
        self.program, self.data = program, data
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DRAGOMAN_")}
        self.environment = {**kept, "DRAGOMAN_ADMIN_LISTEN": "off", **UNBOUNDED, **settings}

    def command(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--json", "--data", self.data], capture_output=True, text=True,
                              env=self.environment)
        if done.returncode != 0:
            raise SystemExit(f"dragoman {' '.join(arguments)[:200]}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def start(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.environment["DRAGOMAN_LISTEN"] = f"127.0.0.1:{port}"
        self.process = subprocess.Popen([self.program, "serve", "--data", self.data], env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if "is up on" in line:
                return
        raise SystemExit("the service ended before it was up")

    def seconds(self):
        """Of the processors, by the service since it began."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self):
        """Memory of the service: its own, and with what it has mapped of files and of the program itself."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return [int(fields[name].split()[0]) // 1024 for name in ["RssAnon", "VmRSS"]]

    def post(self, path, body):
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = urllib.request.Request(f"{self.base}/api/v1/ext/{path}", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                reply = json.load(answer)
        except urllib.error.HTTPError as problem:
            raise SystemExit(f"POST {path}: {problem.code} {problem.read()[:500]}") from problem
        if reply.get("degraded"):
            raise SystemExit(f"POST {path}: {reply['degraded']}")
        return reply

    def ranked(self, operation, member, question):
        """The documents of an answer, each where its best chunk is."""
        found, cursor = [], None
        for _ in range(PAGES):
            body = {member: question[:1000], "k": PAGE, "group_by": "document"}
            reply = self.post(f"rag/{operation}", {**body, **({"cursor": cursor} if cursor else {})})
            found += [hit["metadata"]["source_file"].removesuffix(".md") for hit in reply["results"]]
            cursor = reply.get("next_cursor")
            if not cursor:
                break
        return found


def judged(service, questions, answers):
    asked = sorted((number for number in answers if number in questions), key=lambda it: (len(it), it))
    print(f"{'':8} {'nDCG@10':>8} {'1st half':>9} {'2nd half':>9} {'recall@100':>11}")
    for name, operation, member in MODES:
        lists = {number: service.ranked(operation, member, questions[number]) for number in asked}
        gains = [ndcg(lists[number], answers[number]) for number in asked]
        found = [recall(lists[number], answers[number]) for number in asked]
        # Neighbours are often of one kind: every other question makes a half.
        print(f"{name:8} {mean(gains):8.4f} {mean(gains[::2]):9.4f} {mean(gains[1::2]):9.4f} {mean(found):11.3f}")


def speed(service, questions):
    """New questions, some at a time: known ones would be answered by what is kept of them."""
    texts = [f"{text[:900]} {at}" for at, text in enumerate(questions.values())]
    begun, busy = time.monotonic(), service.seconds()
    with concurrent.futures.ThreadPoolExecutor(8) as at_once:
        list(at_once.map(lambda text: service.post("search", {"query": text, "top_k": 10}), texts))
    took, busy = time.monotonic() - begun, service.seconds() - busy
    print(f"{len(texts)} questions in {took:.1f} s, {len(texts) / took:.0f}/s; {busy:.1f} s of the processors")
    own, all = service.megabytes()
    print(f"{own} MB of memory, {all} MB with mapped files")


def main():
    program, folder, *settings = sys.argv[1:]
    documents, questions, answers = collection(folder)
    with tempfile.TemporaryDirectory() as work:
        texts = os.path.join(work, "texts")
        os.mkdir(texts)
        files = []
        for number, (title, text) in documents.items():
            if not text.strip():
                continue
            files.append(os.path.join(texts, f"{number}.md"))
            with open(files[-1], "w", encoding="utf-8") as file:
                file.write(f"# {' '.join(title.split())}\n\n{text}\n")
        service = Service(program, os.path.join(work, "data"), dict(one.split("=", 1) for one in settings))
        service.command("admin", "workspace", "create", "bench", "--name", "Bench")
        begun, busy = time.monotonic(), os.times()
        service.command("import", *files, "--workspace", "bench", "--name", "texts", "--publish")
        took, now = time.monotonic() - begun, os.times()
        busy = now.children_user + now.children_system - busy.children_user - busy.children_system
        print(f"{len(files)} texts in {took:.1f} s, {len(files) / took:.0f}/s; {busy:.1f} s of the processors")
        service.token = service.command("admin", "token", "create", "--workspace", "bench", "--label", "bench",
                                        "--scopes", "ext:search")["token"]
        service.command("admin", "workspace", "connectivity", "bench", "on")
        service.start()
        try:
            judged(service, questions, answers)
            speed(service, questions)
        finally:
            service.process.terminate()
            service.process.wait()


if __name__ == "__main__":
    main()
