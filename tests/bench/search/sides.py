"""Both servers of peer.py, what is asked of them over MCP, and what their processes use."""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import time
import uuid

from mcp import ClientSession, types
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from qdrant_client import QdrantClient, models

from judge import Service

REPOSITORY, REVISION = "models--Qdrant--all-MiniLM-L6-v2-onnx", "0" * 40
FILES = ["config.json", "tokenizer.json", "special_tokens_map.json", "onnx/model.onnx"]
VECTOR, SIZE = "fast-all-minilm-l6-v2", 384
START_SECONDS = 60
MEANING, BOTH = ("rag_search_vector", "query_text"), ("rag_search_hybrid", "query")


def family(pid):
    """A process and all that it started."""
    with contextlib.suppress(OSError):
        files = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
        children = [child for file in files for child in file.read_text().split()]
        return [pid, *(one for child in children for one in family(child))]
    return []


def over(pid, file, figure):
    total = 0
    for each in family(pid):
        with contextlib.suppress(OSError):
            total += figure(pathlib.Path(f"/proc/{each}/{file}").read_text())
    return total


def seconds(pid):
    """Of the processors, by a process and what it started, those that ended included."""
    ticks = over(pid, "stat", lambda text: sum(map(int, text.rpartition(")")[2].split()[11:15])))
    return ticks / os.sysconf("SC_CLK_TCK")


def megabytes(pid):
    """What a process and those that it started hold; what they share with others is divided."""
    return over(pid, "smaps_rollup", lambda text: int(re.search(r"(?m)^Pss:\s+(\d+)", text)[1])) / 1024


def disk(folder):
    return sum(file.lstat().st_blocks for file in pathlib.Path(folder).rglob("*")) * 512 / 1e6


async def connected(stack, server):
    client = await stack.enter_async_context(create_mcp_http_client(headers=server.headers))
    read, write, _ = await stack.enter_async_context(streamable_http_client(server.url, http_client=client))
    session = await stack.enter_async_context(ClientSession(read, write))
    await session.initialize()
    return session


async def call(session, tool, arguments):
    """A tool's answer, without the client's own look at the shape of it."""
    request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
    answer = await session.send_request(types.ClientRequest(request), types.CallToolResult)
    if answer.isError:
        raise SystemExit(f"{tool}: {str(answer.content)[:500]}")
    return answer


class Ours(Service):
    def __init__(self, name, program, data, settings):
        super().__init__(program, str(data), settings)
        self.name, self.store = name, data
        self.command("admin", "workspace", "create", "bench", "--name", "Bench")
        self.command("admin", "workspace", "connectivity", "bench", "on")
        made = self.command("admin", "token", "create", "--workspace", "bench", "--label", "bench", "--scopes", "ext:search")
        self.headers = {"authorization": f"Bearer {made['token']}"}

    def put(self, files, *how):
        """Imports; seconds that it takes, and of the processors by the command."""
        began, busy = time.monotonic(), os.times()
        self.command("import", *map(str, files), "--workspace", "bench", "--name", "texts", *how)
        took, now = time.monotonic() - began, os.times()
        return took, now.children_user + now.children_system - busy.children_user - busy.children_system

    def start(self):
        super().start()
        self.url, self.pid = f"{self.base}/mcp?toolsets=rag", self.process.pid

    async def search(self, how, session, text, k=10, pages=1, is_read=False):
        """The documents of an answer; where that is wanted, the texts of their chunks are read then."""
        (tool, member), found, more = how, [], {}
        for _ in range(pages):
            answer = (await call(session, tool, {member: text, "k": k, "group_by": "document", **more})).structuredContent
            if answer.get("degraded"):
                raise SystemExit(answer["degraded"])
            found += [hit["metadata"]["source_file"].removesuffix(".md") for hit in answer["results"]]
            if is_read:
                await call(session, "rag_get_chunks", {"chunk_ids": [hit["chunk_id"] for hit in answer["results"]]})
            if not answer.get("next_cursor"):
                break
            more = {"cursor": answer["next_cursor"]}
        return found


class Theirs:
    name, headers = "mcp-server-qdrant", {}

    def __init__(self, work, model, pieces):
        self.store, self.cache = work / "store", work / "cache"
        snapshot = self.cache / REPOSITORY / "snapshots" / REVISION
        snapshot.mkdir(parents=True)
        for name in FILES:
            shutil.copy(model / name, snapshot)
        tokenizer = json.loads((model / "tokenizer_config.json").read_text())
        (snapshot / "tokenizer_config.json").write_text(json.dumps({**tokenizer, "max_length": pieces}))
        (snapshot.parents[1] / "refs").mkdir()
        (snapshot.parents[1] / "refs" / "main").write_text(REVISION)

    def start(self, limit=10):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "FASTEMBED_CACHE_PATH": str(self.cache),
                       "COLLECTION_NAME": "bench", "QDRANT_LOCAL_PATH": str(self.store),
                       "QDRANT_SEARCH_LIMIT": str(limit), "FASTMCP_SERVER_PORT": str(port)}
        program = pathlib.Path(sys.executable).parent / "mcp-server-qdrant"
        self.process = subprocess.Popen([program, "--transport", "streamable-http"], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid, self.url = self.process.pid, f"http://127.0.0.1:{port}/mcp/"
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return
            time.sleep(0.1)  # it says nothing that could be waited for
        raise SystemExit("mcp-server-qdrant did not start")

    async def put(self, texts):
        """Stores; seconds that each text takes, and of the processors for all."""
        waits, busy = [], seconds(self.pid)
        async with contextlib.AsyncExitStack() as stack:
            session = await connected(stack, self)
            for number, text in texts.items():
                began = time.monotonic()
                await call(session, "qdrant-store", {"information": text, "metadata": {"number": number}})
                waits.append(time.monotonic() - began)
        return waits, seconds(self.pid) - busy

    def fill(self, texts):
        """Stores texts with vectors of random numbers, before the start."""
        with contextlib.closing(QdrantClient(path=str(self.store))) as client:
            client.create_collection("bench", {VECTOR: models.VectorParams(size=SIZE, distance=models.Distance.COSINE)})
            client.upsert("bench", [
                models.PointStruct(id=uuid.uuid4().hex, vector={VECTOR: [random.gauss(0, 1) for _ in range(SIZE)]},
                                   payload={"document": text, "metadata": {"number": number}})
                for number, text in texts.items()])

    async def find(self, session, text):
        answer = await call(session, "qdrant-find", {"query": text})
        return re.findall(r'<metadata>{\\*"number\\*": \\*"([^"\\]+)', "\n".join(part.text for part in answer.content))


def stop(server):
    server.process.terminate()
    server.process.wait()
