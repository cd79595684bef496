"""Put the report on the paper's study into the site, as paper/report.html: a hook of MkDocs.

It is the page that `hcpinn report results/paper` writes, without its figures, which take minutes to draw.
"""

import subprocess
import sys
from pathlib import Path

_COMMAND = [sys.executable, "-m", "hcpinn.cli", "report", "results/paper", "--no-figures", "--out"]
_serving = []


def on_startup(command: str, **_) -> None:
    """Note whether pages are built once, or again at every change."""
    _serving[:] = [command == "serve"]


def on_post_build(config, **_) -> None:
    """Write the report, unless pages are served while they are written."""
    page = Path(config.site_dir) / "paper" / "report.html"
    if _serving != [True]:
        root = Path(config.config_file_path).parent
        subprocess.run([*_COMMAND, page], cwd=root, check=True, stdout=subprocess.DEVNULL)
