"""The run folder: written under a temporary name, renamed when whole, kept for good.

| file | holds |
|---|---|
| `config.json` | the experiment's name and every field of its config |
| `manifest.json` | versions, devices, git revision, times and the command |
| `NAME.npz` | arrays, without pickle |
| `metrics.jsonl` | one JSON object a line |
| `work/` | checkpoints and matrices, until the run ends |
| `figures/NAME.png`, `.csv` | drawn from these, at any time |
| `results.csv`, `results.tex`, `report.html` | likewise |
"""

from .folder import RunFolder as RunFolder
from .folder import create as create
from .report import ReportFiles as ReportFiles
from .report import write_figure as write_figure
from .report import write_report as write_report
from .run import Run as Run
from .run import open_run as open_run
from .unfinished import unfinished_path as unfinished_path
