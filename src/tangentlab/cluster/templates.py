"""What to hand to SLURM or Kubernetes: files to begin with, and to change.

Both let the batch system start workers again that die: dask-jobqueue resubmits jobs,
the operator of dask-kubernetes replaces pods, and so the scheduler.
"""

from pathlib import PurePosixPath
from string import Template

_SLURM = Template("""\
#!/usr/bin/env bash
# Submit with: sbatch gram.slurm
# This job is the client and the scheduler; dask-jobqueue submits the workers.
#SBATCH --job-name=tangentlab-gram
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=24:00:00
set -euo pipefail

# pip install 'tangentlab[cluster]' dask-jobqueue cryptography
python - <<'PYTHON'
import jax
import tangentlab as tl
from dask.distributed import Client
from dask_jobqueue import SLURMCluster

cluster = SLURMCluster(
    cores=1,  # threads of a worker: tiles are alike to the bit where these are
    processes=1,
    memory="${memory}GB",
    walltime="04:00:00",
    interface="ib0",  # the network that the nodes share; not the one to the world
    security=True,  # TLS: certificates are made for this cluster and its jobs alone
    protocol="tls://",
    scheduler_options={"dashboard_address": "127.0.0.1:0"},  # not encrypted
    shared_temp_directory="${scratch}",
    job_extra_directives=[${directives}],
)
cluster.adapt(minimum=${workers}, maximum=${workers})  # submits those again that end

data = tl.data.normalize(tl.data.load("cifar10"))
model = tl.models.lenet(data.shape)
params = model.init(jax.random.key(42))
client = Client(cluster)
K = tl.gram(model.apply, params, data.x, store="${store}", cluster=client)
print(K)
PYTHON
# Killed, or out of time? Submit it again: it goes on from the folder.
""")

_KUBERNETES = Template("""\
# kubectl apply -f gram.yaml, with the operator of dask-kubernetes installed.
# The claim is a disk that all pods see. Scheduler and workers are inside the cluster
# only; reach them with: kubectl port-forward service/tangentlab-scheduler 8786
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: tangentlab-store
spec:
  accessModes: [ReadWriteMany]
  resources:
    requests:
      storage: ${storage}Gi
---
apiVersion: kubernetes.dask.org/v1
kind: DaskCluster
metadata:
  name: tangentlab
spec:
  idleTimeout: 600
  worker:
    replicas: ${workers}
    spec:
      restartPolicy: Always
      containers:
        - name: worker
          image: ${image}
          args: [dask, worker, --name, $$(DASK_WORKER_NAME), --nthreads, "1"]
          resources:
            limits: ${limits}
          volumeMounts:
            - {name: store, mountPath: ${mount}}
      volumes:
        - name: store
          persistentVolumeClaim: {claimName: tangentlab-store}
  scheduler:
    spec:
      containers:
        - name: scheduler
          image: ${image}
          args: [dask, scheduler]
          ports:
            - {name: tcp-comm, containerPort: 8786, protocol: TCP}
            - {name: http-dashboard, containerPort: 8787, protocol: TCP}
          readinessProbe:
            httpGet: {port: http-dashboard, path: /health}
      restartPolicy: Always
    service:
      type: ClusterIP
      selector:
        dask.org/cluster-name: tangentlab
        dask.org/component: scheduler
      ports:
        - {name: tcp-comm, protocol: TCP, port: 8786, targetPort: tcp-comm}
        - {name: http-dashboard, protocol: TCP, port: 8787, targetPort: http-dashboard}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: tangentlab-client
spec:
  backoffLimit: 100  # started again, it goes on from the folder
  template:
    spec:
      restartPolicy: OnFailure
      containers:
        - name: client
          image: ${image}
          command: [tangentlab, gram, run, --data, cifar10, --model, lenet]
          args: [--store, ${store}, --cluster, "tcp://tangentlab-scheduler:8786"]
          volumeMounts:
            - {name: store, mountPath: ${mount}}
      volumes:
        - name: store
          persistentVolumeClaim: {claimName: tangentlab-store}
""")


def slurm_example(
    store: str = "/scratch/gram", *, workers: int = 8, memory: int = 16, gpus: int = 0
) -> str:
    """A batch file for SLURM, with workers that dask-jobqueue submits.

    Args:
        store: Folder of the tiles, on the file system of all nodes.
        workers: The most workers.
        memory: Of each, in GB.
        gpus: Of each, 0 or 1.

    Returns:
        The file; hand it to `sbatch`.
    """
    _check(store, workers, gpus)
    directives = f'"--gres=gpu:{gpus}"' if gpus else ""
    scratch = str(PurePosixPath(store).parent)
    return _SLURM.substitute(
        store=store,
        workers=workers,
        memory=memory,
        directives=directives,
        scratch=scratch,
    )


def kubernetes_example(
    store: str = "/store/gram",
    *,
    workers: int = 8,
    memory: int = 16,
    gpus: int = 0,
    storage: int = 100,
    image: str = "tangentlab:latest",
) -> str:
    """Manifests for Kubernetes: a disk, a Dask cluster, and a job that is the client.

    Args:
        store: Folder of the tiles, below where the disk is mounted.
        workers: Number of workers.
        memory: Of each, in GiB.
        gpus: Of each, 0 or 1.
        storage: Of the disk, in GiB.
        image: Container with `tangentlab[cluster]` in it.

    Returns:
        The file; hand it to `kubectl apply -f`.
    """
    _check(store, workers, gpus)
    limits = {"memory": f"{memory}Gi"} | ({"nvidia.com/gpu": gpus} if gpus else {})
    listed = ", ".join(f"{name}: {value}" for name, value in limits.items())
    return _KUBERNETES.substitute(
        store=store,
        mount=str(PurePosixPath(store).parent),
        workers=workers,
        storage=storage,
        image=image,
        limits="{" + listed + "}",
    )


def _check(store: str, workers: int, gpus: int) -> None:
    plain = all(c.isalnum() or c in "/._-" for c in store)
    if not store.startswith("/") or not plain or PurePosixPath(store).parent.name == "":
        raise ValueError(
            "`store` must be the full path of a folder inside another, of letters, "
            f"digits and ._- alone, as in /scratch/gram, got {store!r}."
        )
    if workers < 1:
        raise ValueError(f"`workers` must be at least 1, got {workers}.")
    if gpus not in (0, 1):
        raise ValueError(
            f"`gpus` must be 0 or 1, got {gpus}: a worker uses one. Ask for as many "
            "`workers` as there are GPUs; several of them may share a host."
        )
