"""Search beside mcp-server-qdrant: the same texts, the same model, the same questions in turns, over MCP.

  python tests/bench/search/peer.py PROGRAM COLLECTION MODEL [--rounds 3] [--pieces 128] [--made 10000]

PROGRAM is a release build; COLLECTION a test collection as tests/bench/search/run takes it; MODEL a folder with
all-MiniLM-L6-v2: model.safetensors for us, onnx/model.onnx for the other, and config.json, tokenizer.json,
tokenizer_config.json and special_tokens_map.json. Nothing is fetched. --pieces is how much of a text the other reads:
128 word pieces is what it reads with the files that it fetches by itself. --made asks both with so many texts that are made
up, too; their vectors are the built-in encoder's here and random there. --rounds 0 judges alone.

Needs Linux and a Python with `pip install mcp-server-qdrant==0.8.1 fastembed==0.9.1`, which brings the client of MCP that
asks both. The other runs as its manual says for local use, with its store in a folder; it knows neither who asks nor limits.
"""
import argparse
import asyncio
import collections
import contextlib
import functools
import os
import pathlib
import random
import re
import shutil
import statistics
import tempfile
import time

from judge import PAGE, PAGES, collection, mean, ndcg, recall
from sides import BOTH, MEANING, Ours, Theirs, connected, disk, megabytes, seconds, stop


async def asked(server, way, texts, callers):
    """Questions a second, the middle one's and the 99th's milliseconds, and milliseconds of the processors for each."""
    left, waits = iter(texts), []
    async with contextlib.AsyncExitStack() as stack:
        sessions = [await connected(stack, server) for _ in range(callers)]
        await way(sessions[0], "the first one opens what is closed")

        async def caller(session):
            for text in left:
                began = time.monotonic()
                if not await way(session, text):
                    raise SystemExit(f"{server.name} found nothing: {text}")
                waits.append((time.monotonic() - began) * 1_000)
        began, busy = time.monotonic(), seconds(server.pid)
        await asyncio.gather(*map(caller, sessions))
        took, busy = time.monotonic() - began, seconds(server.pid) - busy
    waits.sort()
    return len(texts) / took, statistics.median(waits), waits[int(len(waits) * 0.99)], busy / len(texts) * 1_000


async def turns(ways, texts, rounds):
    """All ways in turns, by one caller and by four; of each figure the middle one of the rounds. Then memory and disk."""
    figures, times = collections.defaultdict(list), 0
    for turn in range(rounds):
        for callers in [1, 4]:
            for name, server, way in ways[turn % len(ways):] + ways[:turn % len(ways)]:
                times += 1  # a question that was asked before may be known
                new = [f"{text[:900]} {times}" for text in texts]
                figures[callers, name].append(await asked(server, way, new, callers))
    print("\n| | callers | questions/s | p50 ms | p99 ms | CPU ms |\n|---|---|---|---|---|---|")
    for (callers, name), rows in sorted(figures.items(), key=lambda one: one[0][0]):
        rate, p50, p99, busy = map(statistics.median, zip(*rows))
        print(f"| {name} | {callers} | {rate:.0f} | {p50:.1f} | {p99:.1f} | {busy:.1f} |")
    print(f"\nload {os.getloadavg()[0]:.1f}\n\n| | memory, MB | disk, MB |\n|---|---|---|")
    for server in dict.fromkeys(server for _, server, _ in ways):
        print(f"| {server.name} | {megabytes(server.pid):.0f} | {disk(server.store):.1f} |", flush=True)


async def judged(name, server, way, known, questions, answers):
    async with contextlib.AsyncExitStack() as stack:
        session = await connected(stack, server)
        lists = {number: await way(session, questions[number][:1000]) for number in answers if number in questions}
    # One more text was put in.
    lists = {number: [one for one in found if one in known] for number, found in lists.items()}
    gain = mean([ndcg(found, answers[number]) for number, found in lists.items()])
    at = [mean([recall(found, answers[number], depth) for number, found in lists.items()]) for depth in [10, PAGE * PAGES]]
    print(f"| {name} | {gain:.3f} | {at[0]:.3f} | {at[1]:.3f} |", flush=True)


def written(folder, texts):
    folder.mkdir()
    for number, text in texts.items():
        (folder / f"{number}.md").write_text(text)
    return [folder / f"{number}.md" for number in texts]


def searches(*servers):
    return [(f"{server.name}, {name}", server, functools.partial(server.search, how))
            for server in servers for name, how in [("meaning", MEANING), ("both", BOTH)]]


async def compared(options, work, stack, documents, questions, answers):
    texts = {number: f"# {' '.join(title.split())}\n\n{text}\n"
             for number, (title, text) in documents.items() if text.strip()}
    files = written(work / "texts", texts)
    settings = {"DRAGOMAN_EMBEDDING_FOLDER": str(options.model.resolve())}
    ours = [Ours("Dragoman, MiniLM", options.program, work / "model", settings),
            Ours("Dragoman, built-in", options.program, work / "own", {})]
    theirs = Theirs(work, options.model, options.pieces)
    theirs.start()
    stack.callback(lambda: stop(theirs))
    waits, busy = await theirs.put(texts)
    print("| | texts/s | CPU ms a text | one more text, ms |\n|---|---|---|---|")
    print(f"| {theirs.name}, one by one | {len(texts) / sum(waits):.1f} | {busy / len(texts) * 1_000:.0f} "
          f"| {statistics.median(waits[-len(waits) // 10:]) * 1_000:.0f} |", flush=True)
    for server in ours:
        took, busy = server.put(files, "--publish")
        server.start()
        stack.callback(stop, server)
        one = work / f"{server.store.name}.md"
        shutil.copy(files[0], one)
        print(f"| {server.name}, one import | {len(texts) / took:.1f} | {busy / len(texts) * 1_000:.0f} "
              f"| {server.put([one], '--append')[0] * 1_000:.0f} |", flush=True)
    ways = [(theirs.name, theirs, theirs.find), *searches(*ours)]
    reading = [(f"{server.name}, both, then texts", server, functools.partial(server.search, BOTH, is_read=True))
               for server in ours]
    if options.rounds:
        await turns(ways + reading, list(questions.values()), options.rounds)
    stop(theirs)
    theirs.start(PAGE * PAGES)
    print(f"\n| | nDCG@10 | recall@10 | recall@{PAGE * PAGES} |\n|---|---|---|---|")
    for name, server, way in ways:
        pages = {} if server is theirs else {"k": PAGE, "pages": PAGES}
        await judged(name, server, functools.partial(way, **pages), texts, questions, answers)


async def made_up(options, work, stack, documents, questions):
    """Texts of the collection's words, each as often as it stands there, and about as long as a chunk."""
    counts = collections.Counter(word for _, text in documents.values() for word in re.findall(r"[a-z]+", text.lower()))
    some, words = random.Random(7), list(counts)
    texts = {f"n{at}": f"## {at}\n\n{' '.join(some.choices(words, counts.values(), k=42))}.\n\n"
             for at in range(options.made)}
    ours = Ours("Dragoman, built-in", options.program, work / "own", {})
    theirs = Theirs(work, options.model, options.pieces)
    parts = [list(texts.values())[at:at + 100] for at in range(0, len(texts), 100)]
    ours.put(written(work / "texts", {f"part{at}": "".join(part) for at, part in enumerate(parts)}), "--publish")
    ours.start()
    stack.callback(stop, ours)
    theirs.fill(texts)
    theirs.start()
    stack.callback(stop, theirs)
    print(f"\n{options.made} texts that are made up:")
    await turns([(theirs.name, theirs, theirs.find), *searches(ours)], list(questions.values()), options.rounds)


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["program", "collection", "model"]:
        parser.add_argument(name, type=pathlib.Path)
    for name, usual in [("--rounds", 3), ("--pieces", 128), ("--made", 0)]:
        parser.add_argument(name, type=int, default=usual)
    options = parser.parse_args()
    documents, questions, answers = collection(str(options.collection))
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        await compared(options, pathlib.Path(work), stack, documents, questions, answers)
    if options.made and options.rounds:
        with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
            await made_up(options, pathlib.Path(work), stack, documents, questions)


if __name__ == "__main__":
    asyncio.run(main())
