# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.pages.docs import READ, RESULTS
from longfat.run import result, runner, scenario

PAGES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
OBSERVING = [
    page for page in PAGES if hasattr(import_module(f"longfat.pages.docs.{page}"), "observe")
]


def pages() -> None:
    """Renew the generated parts of every page."""
    for page in PAGES:
        for name, parts in import_module(f"longfat.pages.docs.{page}").PARTS.items():
            path = ROOT / name
            text = path.read_text()
            READ.clear()
            for part, make in parts.items():
                pattern = re.compile(
                    rf"(<!-- begin {part} -->\n).*?(<!-- end {part} -->)", flags=re.DOTALL
                )
                if not pattern.search(text):
                    raise LabError(f"{name} has no part {part}")
                try:
                    table = make().replace("\\", "\\\\")
                except FileNotFoundError as error:
                    table = f"Not measured yet: {Path(error.filename).name} is missing."
                text = pattern.sub(rf"\g<1>{table}\n\g<2>", text)
            path.write_text(text)


def keep(page: str, name: str, directory: str) -> None:
    """Summaries of the results of a scenario file, and what the page's module observes in
    them, in docs/results.  Every run must be there, measured with the sources as they are."""
    observe = import_module(f"longfat.pages.docs.{page}").observe
    scenarios = scenario.load(ROOT / f"tests/scenarios/{name}.toml")
    lines = []
    for job in runner.jobs_for(scenarios, None, Path(directory)):
        if not result.current(job.path, job.scenario):
            raise LabError(f"{job.path}: is missing, or of other sources: run {name}.toml again")
        run = result.read(job.path)
        small = result.summarise(run) | {"observed": observe(run)}
        lines.append(json.dumps(small, separators=(",", ":"), sort_keys=True))
    (RESULTS / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


def main(words: list[str]) -> int:
    try:
        if words == ["pages"]:
            pages()
        elif len(words) == 4 and words[0] == "keep" and words[1] in OBSERVING:
            keep(words[1], words[2], words[3])
        else:
            print(
                "usage: python -m longfat.pages.docs pages | keep PAGE NAME DIRECTORY\n"
                f"PAGE is one of {', '.join(OBSERVING)}",
                file=sys.stderr,
            )
            return 2
    except LabError as error:
        print(f"figures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
