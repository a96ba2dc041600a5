"""Files for batch systems parse, wherever there is no batch system to run them."""

import ast
import subprocess

import pytest
import yaml

from tangentlab.cli import main
from tangentlab.cluster import kubernetes_example, slurm_example


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_batch_file_for_slurm(gpus):
    text = slurm_example("/scratch/me/gram", workers=5, memory=32, gpus=gpus)
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    code = text.split("<<'PYTHON'\n")[1].split("\nPYTHON\n")[0]
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    named = {k.arg: ast.unparse(k.value) for call in calls for k in call.keywords}
    assert named["store"] == "'/scratch/me/gram'" and named["maximum"] == "5"
    assert named["job_extra_directives"] == ("['--gres=gpu:1']" if gpus else "[]")
    assert named["security"] == "True"
    assert "127.0.0.1" in named["scheduler_options"]


@pytest.mark.parametrize("gpus", [0, 1])
def test_manifests_for_kubernetes(gpus):
    text = kubernetes_example("/store/gram", workers=5, memory=32, gpus=gpus)
    claim, cluster, job = yaml.safe_load_all(text)
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    worker = cluster["spec"]["worker"]
    container = worker["spec"]["containers"][0]
    assert cluster["kind"] == "DaskCluster" and worker["replicas"] == 5
    assert container["resources"]["limits"]["memory"] == "32Gi"
    assert container["resources"]["limits"].get("nvidia.com/gpu", 0) == gpus
    assert container["args"][-2:] == ["--nthreads", "1"]
    assert cluster["spec"]["scheduler"]["service"]["type"] == "ClusterIP"
    client = job["spec"]["template"]["spec"]["containers"][0]
    words = client["command"][1:] + client["args"]
    assert words[words.index("--store") + 1] == "/store/gram"


def test_what_cannot_be_a_folder_is_refused():
    for store in ("gram", "/gram", '/a/"; rm -rf /', "/a/$HOME"):
        with pytest.raises(ValueError, match="`store` must be the full path"):
            slurm_example(store)
    with pytest.raises(ValueError, match="`workers` must be at least 1, got 0"):
        kubernetes_example(workers=0)
    with pytest.raises(ValueError, match="`gpus` must be 0 or 1, got 4: a worker uses"):
        slurm_example(gpus=4)


def test_the_command_prints_them(capsys):
    assert main(["cluster", "slurm", "--store", "/scratch/x", "--workers", "3"]) == 0
    assert (
        capsys.readouterr().out.strip() == slurm_example("/scratch/x", workers=3)[:-1]
    )
