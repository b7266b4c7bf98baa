"""Holds drafts against what is known of their tables."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import yaml


def drafted(program, folder):
    """The draft of the tables of a folder, and how long it took."""
    with tempfile.TemporaryDirectory() as data:
        def dragoman(*arguments):
            done = subprocess.run([program, "--data", data, *arguments], capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"dragoman {' '.join(arguments)}: {done.stderr}")
            return done.stdout
        dragoman("admin", "workspace", "create", "bench", "--name", "Bench")
        names = {}
        for at, file in enumerate(sorted(glob.glob(f"{folder}/*.csv"))):
            table = os.path.basename(file)[:-4]
            name = "".join(c if c.isascii() and c.isalnum() else "_" for c in table).lower()
            name = name if name[0].isalpha() else f"t{name}"
            name = f"{name}_{at}" if name in names else name
            names[name] = table
            dragoman("import", file, "--workspace", "bench", "--name", name)
        start = time.monotonic()
        text = dragoman("ontology", "draft", "--workspace", "bench", "--name", "bench")
        return yaml.safe_load(text), names, time.monotonic() - start


def extension(node):
    """What only our documents say of a node."""
    found = {}
    for one in node.get("custom_extensions") or []:
        data = one.get("data")
        found.update(json.loads(data) if isinstance(data, str) else data or {})
    return found


def plain(column):
    """The name of a column as an import writes it, in lower case."""
    return re.sub("[^a-z0-9]+", "_", column.lower()).strip("_")


def join(source, columns, target, keys):
    pairs = sorted((plain(a), plain(b)) for a, b in zip(columns, keys))
    return (source.lower(), tuple(a for a, _ in pairs), target.lower(), tuple(b for _, b in pairs))


def turned(one):
    pairs = sorted(zip(one[3], one[1]))
    return (one[2], tuple(a for a, _ in pairs), one[0], tuple(b for _, b in pairs))


def judge(draft, names, truth):
    tables = {dataset["name"]: names[dataset["source"]] for dataset in draft["datasets"]}
    wanted, allowed = [], []
    for one in truth["joins"]:
        made = join(one["from"], one["columns"], one["to"], one["to_columns"])
        (allowed if one.get("needed") is False else wanted).append(made)
    found = [
        join(tables[one["from"]], one["from_columns"], tables[one["to"]], one["to_columns"])
        for one in draft.get("relationships") or []
    ]
    either = set(found) | {turned(one) for one in found}
    right = set(wanted + allowed)
    joined = {(one[0], c) for one in wanted + allowed for c in one[1]} | {(one[2], c) for one in wanted + allowed for c in one[3]}
    counts = dict(needed=len(wanted), found=sum(one in either for one in wanted), drafted=len(found), wrong=0, keys=0, measures=0, right=0, expected=0, labels=0, labelled=0)
    wrong = [one for one in found if one not in right and turned(one) not in right]
    counts["wrong"] = len(wrong)
    missed = [one for one in wanted if one not in either]
    counted, others, silent = [], [], []
    for dataset in draft["datasets"]:
        table = tables[dataset["name"]]
        known = truth["tables"].get(table) or {}
        keys = {plain(column) for key in known.get("keys") or [] for column in key}
        measures = {plain(name) for name in known.get("measures") or []}
        counts["expected"] += len(measures)
        silent.extend((table, [name]) for name in measures)
        for field in dataset.get("fields") or []:
            more = extension(field)
            if more.get("role") != "measure" or more.get("hidden"):
                continue
            counts["measures"] += 1
            name = plain(field["name"])
            if name in measures:
                counts["right"] += 1
                silent.remove((table, [name]))
            elif name in keys or (table.lower(), name) in joined:
                counts["keys"] += 1
                counted.append((table, [name]))
            else:
                others.append((table, [name]))
        label = known.get("label") or []
        if label:
            counts["labels"] += 1
            own = extension(dataset).get("label_field")
            counts["labelled"] += plain(own or "") in map(plain, label) or (own == "full_name" and len(label) > 1)
    told = [("missed", missed), ("wrong", wrong), ("key as a measure", counted), ("no measure", others), ("missed measure", silent)]
    return counts, told


def main():
    program, folder = sys.argv[1:3]
    total = {}
    print(f"{'schema':28} {'needed':>7} {'found':>6} {'drafted':>8} {'wrong':>6} {'keys as measures':>17} {'measures':>15} {'labels':>8} {'s':>5}")
    for path in sorted(glob.glob(f"{folder}/*/truth.json")):
        schema = os.path.dirname(path)
        truth = json.load(open(path))
        draft, names, seconds = drafted(program, schema)
        counts, told = judge(draft, names, truth)
        for key, value in counts.items():
            total[key] = total.get(key, 0) + value
        show(os.path.basename(schema), counts, seconds)
        if "--quiet" not in sys.argv:
            for kind, places in told:
                for table, columns, *to in places:
                    target = f" to {to[0]}.{', '.join(to[1])}" if to else ""
                    print(f"  {kind} {table}.{', '.join(columns)}{target}")
    show("all", total, 0)


def show(name, c, seconds):
    labels = f"{c['labelled']}/{c['labels']}"
    measures = f"{c['right']}/{c['measures']} of {c['expected']}"
    print(f"{name:28} {c['needed']:>7} {c['found']:>6} {c['drafted']:>8} {c['wrong']:>6} {c['keys']:>17} {measures:>15} {labels:>8} {seconds:>5.1f}", flush=True)


main()
