# SPDX-License-Identifier: GPL-2.0
"""The steps of scripts/report.sh."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from longfat.arena import cards, keep
from longfat.build.modules import ROOT
from longfat.core import process
from longfat.core.errors import LabError
from longfat.pages import catalogue, cost, page, tables, work
from longfat.pages.data import DOCS, RESULTS
from longfat.pages.verdict import Verdict
from longfat.run.runner import terminable


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m longfat.pages", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    for name, about in (
        ("where", "name the directory of a profile's runs and report"),
        ("plan", "say which runs there are to be, and how long they take"),
        ("run", "carry out one run"),
        ("beside", "carry out the runs on other backends; nothing else must go on"),
        ("gather", "summarise what is there of the runs"),
        ("html", "write the report"),
        ("platform", "write down which kernel, programs and modules published results are of"),
        ("keep", "take complete results into docs/results"),
        ("list", "name the figures of these pages of which there are runs"),
        ("measure", "what these pages show that is not of runs"),
        ("pages", "renew docs/results.md, docs/figures and the pages' tables from docs/results"),
    ):
        step = steps.add_parser(name, help=about)
        step.add_argument("--profile", default="full")
        step.add_argument("--timeout", type=float, default=6 * 3600, help="wall seconds for a run")
        step.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
        step.add_argument("--out", type=Path)
        step.add_argument("--again", action="store_true", help="plan: what is there, too")
        step.add_argument(
            "--older", action="store_true", help="plan, beside: only what is older or missing"
        )
        step.add_argument("--dry", action="store_true", help="plan, beside: name the runs")
        step.add_argument("--partial", action="store_true", help="keep: what is not complete, too")
        step.add_argument("names", nargs="*", help="figures (run: a run; list, measure: pages)")
    return parser.parse_args(words)


def _status(found: list[page.Section]) -> int:
    """1 if something failed or cannot be judged, and say what."""
    failed = [one for one in found if one.verdict is Verdict.FAILED]
    for one in failed:
        print(f"report: {one.figure.id}: {' '.join(one.reasons)}", file=sys.stderr)
    return 1 if failed else 0


def main(words: list[str]) -> int:
    """One step; its exit status."""
    given = _arguments(words)
    try:
        how = work.profile(given.profile)
        of_pages = given.step in ("list", "measure")
        figures = catalogue.choose([] if given.step == "run" or of_pages else given.names)
        only = work.not_current(figures) if given.older else None
        if given.step == "where":
            print(how.out)
        elif given.step == "list":
            print(*(figure.id for figure in catalogue.on_pages(given.names)[0]), sep="\n")
        elif given.step == "measure":
            _, rest = catalogue.on_pages(given.names)
            with terminable():
                for one in rest:
                    for command in (f"scripts/deps.sh {one.needs}", *one.commands):
                        print(f"results: {command}", file=sys.stderr)
                        done = process.call(
                            ["sh", "-c", command], cwd=ROOT, output=sys.stderr.buffer
                        )
                        if done.returncode:
                            raise LabError(f"{command}: exit status {done.returncode}")
        elif given.step == "plan":
            runs = work.plan(figures, how, again=given.again, only=only)
            print(cost.total(runs, given.cores), file=sys.stderr)
            jobs = work.left_beside(figures, how, again=given.again, only=only)
            if jobs:
                print(cost.beside([(of, job.scenario) for of, job in jobs]), file=sys.stderr)
            if given.dry:
                for entry in runs:
                    if not entry["done"]:
                        print(f"{entry['cpu_s']:8.1f} s  {entry['name']}")
                return 0
            work.clear(runs, jobs, how)
            if given.out:
                given.out.parent.mkdir(parents=True, exist_ok=True)
                given.out.write_text(
                    json.dumps({"where": str(how.runs), "runs": runs}, indent=1) + "\n"
                )
        elif given.step == "run":
            with terminable():
                for name in given.names:
                    work.run(name, figures, how, timeout=given.timeout)
        elif given.step == "beside":
            jobs = work.left_beside(figures, how, only=only)
            if given.dry:
                for _, job in jobs:
                    print(job.path.stem)
                return 0
            with terminable():
                failed = work.beside(jobs, timeout=given.timeout)
            for said in failed:
                print(f"failed: {said}", file=sys.stderr)
            return 1 if failed else 0
        elif given.step == "gather":
            work.gather(figures, how)
        elif given.step == "html":
            # The page is of all figures, whichever were run.
            found = page.sections(catalogue.load().figure, how)
            out = given.out or how.out / "report.html"
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(page.html(found, how))
            found = [one for one in found if one.figure in figures]
            for verdict in dict.fromkeys(one.verdict for one in found):
                ids = [one.figure.id for one in found if one.verdict is verdict]
                print(f"{verdict}: {', '.join(ids)}")
            print(out)
            return _status(found)
        elif given.step == "platform":
            print(work.renew_platform())
        elif given.step == "keep":
            # What is taken is of this machine's.
            work.renew_platform()
            for name in work.keep(figures, how, partial=given.partial):
                print(f"not complete{'' if given.partial else ', not taken'}: {name}")
        else:
            how = work.profile(work.COMMITTED)
            found = page.sections(catalogue.load().figure, how)
            made = page.markdown(found, how) | cards.cards(RESULTS / f"{keep.NAME}.json")
            kinds = ("img/report-*.svg", "figures/*.md", f"results/{keep.NAME}/*.md")
            for path in [path for kind in kinds for path in DOCS.glob(kind)]:
                if path not in made:
                    path.unlink()
            for path, text in made.items():
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            tables.renew()
            print(ROOT / "docs/results.md")
            return _status(found)
    except LabError as error:
        print(f"report: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever reads has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as stopped:
        # As of a program that the signal ended: the Snakefile looks which it was.
        return 128 + (stopped.args[0] if stopped.args else signal.SIGINT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
