"""`compute_gram.py FOLDER [CLUSTER]`: a Gram matrix, plainly or on a cluster.

Uses one core, as the workers of these tests do, so that sums are cut alike.
"""

import os
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import cluster_problem  # noqa: E402

import tangentlab as tl  # noqa: E402

if __name__ == "__main__":
    folder, *cluster = sys.argv[1:]
    params, x = cluster_problem.problem()
    tl.gram(
        cluster_problem.apply,
        params,
        x,
        memory=cluster_problem.MEMORY,
        store=folder,
        cluster=cluster[0] if cluster else None,
    )
