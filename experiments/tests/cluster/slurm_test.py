"""`keyfit study submit` on a real Slurm of this machine, a task of whose array is killed halfway: `slurm_test.py KEYFIT`.

Controller, node and authentication are daemons of our own, with their files in a folder of their own; none of the machine is touched."""

import os
import pwd
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from support import SHARDS, Folder, demand, share, stop, wait

CONFIGURATION = """
ClusterName=keyfit
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [own.getsockname()[1] for own in sockets]
    for own in sockets:
        own.close()
    return ports


def daemon(logs, *line, **more):
    with open(logs / f"{Path(line[0]).name}.log", "w") as log:
        daemons.append(subprocess.Popen([str(word) for word in line], stdout=log, stderr=log, **more))


def start(folder, logs):
    """Starts the daemons, and gives the environment in which Slurm's commands find them."""
    folder.chmod(0o755)
    for name in ["state", "spool"]:
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    own = {name: folder / f"munge.{name}" for name in ["socket", "pid", "seed", "log"]}
    paths = [f"--{name}-file={own[name]}" for name in ["pid", "seed", "log"]]
    daemon(logs, "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={own['socket']}", *paths)
    host = socket.gethostname().split(".")[0]
    user = pwd.getpwuid(os.getuid()).pw_name
    text = CONFIGURATION.format(host=host, user=user, folder=folder, ports=free_ports(2))
    (folder / "slurm.conf").write_text(text)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    wait("munged's start", own["socket"].exists, 10)
    daemon(logs, "slurmctld", "-D", "-c", env=environment)
    daemon(logs, "slurmd", "-D", "-N", host, env=environment)
    wait("the node's start", lambda: said(environment, "sinfo", "-h", "-o", "%t").strip() == "idle", 60)
    return environment


def said(environment, *line):
    return subprocess.run(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def halfway(folder, environment):
    """Job and shard of a task of the array that has begun and not finished."""
    for line in said(environment, "squeue", "-h", "-r", "-t", "running", "-o", "%F %K").splitlines():
        job, shard = line.split()
        if share() // 4 <= folder.finished(int(shard)) <= share() // 2:
            return job, int(shard)
    return None


def kill_halfway(folder, environment):
    submit = folder.submit("slurm", environment)
    job, shard = wait("a shard halfway", lambda: halfway(folder, environment))
    subprocess.run(["scancel", "--signal=KILL", "--full", f"{job}_{shard}"], env=environment, check=True)
    demand(submit.wait() == 2, "submitting did not tell that a task had failed")
    found = folder.finished(shard)
    print(f"killed the task that had carried out {found} runs of shard {shard}", flush=True)
    demand(0 < found < share(), "the shard was not halfway")


def main(program, own):
    folder = Folder(program, "slurm")
    environment = start(own, folder.path)
    print(said(environment, "sinfo", "--version").strip(), flush=True)
    try:
        kill_halfway(folder, environment)
        demand(folder.submit("slurm", environment).wait() == 0, "submitting again failed")
    finally:
        # tasks outlive the daemons
        said(environment, "scancel", "--signal=KILL", "--full", "--partition=all")
    kept = sum(folder.finished(k) for k in range(1, SHARDS + 1))
    print(f"{kept} runs are in the stores of {SHARDS} shards")
    folder.compare()


daemons = []
with tempfile.TemporaryDirectory() as own:
    try:
        main(sys.argv[1], Path(own))
    finally:
        stop(reversed(daemons))
