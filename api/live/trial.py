"""Tries api/openapi.yaml on live sandboxes: real processes, real buyers, schemathesis.

    check                          what CI runs, some two minutes
    check --examples 2000          a longer run
    check --seed 7                 another one
    check --keep                   leaves the folder with logs, data and the report

Two sandboxes are served by one process. On the first no limit is in the way, and every
answer is judged. The second takes one request a second, and every path with a limit has
to answer 429 at least once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from world import World

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "openapi.yaml"
RUNS = {
    "live": "examples,coverage,fuzzing,stateful",
    "narrow": "examples,fuzzing",
}


def run(world: World, tenant: str, options: argparse.Namespace, more: list[str]) -> int:
    """Runs schemathesis against one of the sandboxes."""
    examples = options.examples if tenant == "live" else NARROW_EXAMPLES
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / f"{tenant}.toml"),
        "run", str(DOCUMENT), "--url", world.addresses[tenant],
        "--phases", RUNS[tenant], "--max-examples", str(examples), "--seed", str(options.seed), *more,
    ]  # fmt: skip
    print(
        f"\n+ schemathesis on the sandbox {tenant!r}: {RUNS[tenant]}, seed {options.seed}, {examples} examples", flush=True
    )
    return subprocess.run(
        command,
        cwd=world.place,
        env={**os.environ, **world.environment(tenant), "LIVE_SEED": str(options.seed)},
        check=False,
    ).returncode


NARROW_EXAMPLES = 5  # of each operation; the second sandbox is there for its limits alone


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=120, help="examples of each operation (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of all chance (%(default)s)")
    parser.add_argument("--only", choices=sorted(RUNS), help="one of the two sandboxes")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs and data")
    options, more = parser.parse_known_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    place = Path(tempfile.mkdtemp(prefix="pingpost-live-"))
    try:
        with World(place, os.environ["PINGPOST_PROGRAM"]) as world:
            codes = [run(world, tenant, options, more) for tenant in RUNS if options.only in (None, tenant)]
            broken = world.complaints()
    finally:
        if options.keep:
            print(f"everything is kept in {place}")
        else:
            shutil.rmtree(place)
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if any(codes) or broken else 0


if __name__ == "__main__":
    sys.exit(main())
