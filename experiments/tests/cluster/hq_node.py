"""A node of a HyperQueue cluster, as a process of its own: `server FOLDER`, or `worker FOLDER SERVER`.

The package starts workers only beside a server of their own, and has them look up that server's address in its folder; a worker here is
shown the other server's address instead, and leaves its own server idle."""

import os
import signal
import sys

from hyperqueue.cluster import LocalCluster, WorkerConfig

role, folder, *server = sys.argv[1:]
os.makedirs(folder)
cluster = LocalCluster(server_dir=folder)
if role == "worker":
    address = os.path.join(folder, "hq-current")
    os.remove(address)
    os.symlink(os.path.join(server[0], "hq-current"), address)
    cluster.start_worker(WorkerConfig(cores=1))
print("ready", flush=True)
signal.pause()
