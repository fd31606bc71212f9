"""`keyfit study submit` on a real HyperQueue server with two real workers, one of which is killed halfway: `hq_test.py KEYFIT`.

The server and each worker are processes, which speak with each other by TCP as on a cluster. Where there is no command line `hq`, it is
stood in for, see there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support import SHARDS, Folder, children, demand, share, stop, variables, wait

HERE = Path(__file__).parent


def node(folder, role, *names):
    """Starts a node, and waits until it is there."""
    line = [sys.executable, HERE / "hq_node.py", role, *(folder.path / name for name in names)]
    process = subprocess.Popen(line, cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    nodes.append(process)
    # the server tells its address first
    demand("ready\n" in iter(process.stdout.readline, ""), f"the {role} did not start")
    return process


def tasks(worker):
    """Shard and number of the attempt of each task that a worker carries out."""
    found = [variables(child, ["HQ_TASK_ID", "HQ_INSTANCE_ID"]) for child in children(worker.pid)]
    return [tuple(int(word) for word in task) for task in found if task]


def halfway(folder, worker):
    """The shard that the worker has begun and not finished."""
    return next((shard for shard, _ in tasks(worker) if share() // 4 <= folder.finished(shard) <= share() // 2), None)


def command_line():
    """The folders in which `hq` is looked for: a real one comes first."""
    found = shutil.which("hq")
    if found is None:
        print("STAND-IN: there is no hq on the PATH; server and workers are HyperQueue's own, its command line is not", flush=True)
        return f"{HERE}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    version = subprocess.run([found, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    print(f"REAL: {found}, {version}", flush=True)
    return os.environ["PATH"]


def main(program):
    folder = Folder(program, "hq")
    node(folder, "server", "server")
    doomed, other = (node(folder, "worker", name, "server") for name in ["worker-1", "worker-2"])
    environment = {
        **os.environ,
        "HQ_SERVER_DIR": str(folder.path / "server"),
        "TQDM_DISABLE": "1",
        "PATH": command_line(),
    }
    submit = folder.submit("hq", environment)
    nodes.append(submit)
    wait("a task for each worker", lambda: tasks(doomed) and tasks(other))
    shard = wait("a shard halfway", lambda: halfway(folder, doomed))
    doomed.kill()
    doomed.wait()
    found = folder.finished(shard)
    print(f"killed the worker that had carried out {found} runs of shard {shard}", flush=True)
    demand(0 < found < share(), "the shard was not halfway")
    wait("the shard's second attempt", lambda: (shard, 1) in tasks(other))
    print("the other worker goes on with it", flush=True)
    demand(submit.wait() == 0, "submitting failed")
    kept = sum(folder.finished(k) for k in range(1, SHARDS + 1))
    print(f"{kept} runs are in the stores of {SHARDS} shards")
    folder.compare()


nodes = []
try:
    main(sys.argv[1])
finally:
    stop(nodes)
