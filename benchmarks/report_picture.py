"""Take a screenshot of the report on `results/paper` for docs/guides/studies.md.

    python benchmarks/report_picture.py

Writes the report to `out/report.html`, which takes a few minutes. Needs Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hcpinn.study.picture import small_png

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "out" / "report.html"
PICTURE = ROOT / "docs" / "images" / "report.png"
_SIZE = "1400,1420"
_QUIETLY = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("There is no Chromium here. Install it, as in `apt-get install chromium`.")
    report = ["-m", "hcpinn.cli", "report", "results/paper", "--out", str(PAGE)]
    subprocess.run([sys.executable, *report], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "page.png"
        asked = [f"--user-data-dir={folder}/profile", f"--window-size={_SIZE}", f"--screenshot={taken}"]
        subprocess.run(
            [browser, *_QUIETLY, *asked, PAGE.as_uri()], check=True, stderr=subprocess.DEVNULL, timeout=120
        )
        PICTURE.write_bytes(small_png(taken.read_bytes()))
    print(f"written to {PICTURE}")


if __name__ == "__main__":
    main()
