"""An own data folder and an own PostgreSQL for each test session, set before settings load.

Loaded by `-p tests.support.environment` in pyproject.toml. xdist's workers inherit the folder.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

_NAME = "MEMORYHUB_TEST_DIR"
_mine = _NAME not in os.environ
# Compiled modules are kept, also where the machine says otherwise: each of a hundred processes that
# tests start would compile all of the house by itself, and each worker all of the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Each worker has a core: two threads of each for one product of matrices would wait for one another
# at full speed, five times as long as the product takes. Read when numpy and torch are imported.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
if _mine:
    os.environ[_NAME] = tempfile.mkdtemp(prefix="memoryhub-test-")
    for _variable in ("DATABASE_URL", "DATABASE_OWNER_URL", "CELERY_BROKER_URL", "OPENAI_BASE_URL"):
        os.environ.pop(_variable, None)
    os.environ["MEMORYHUB_DATA_DIR"] = os.environ[_NAME]
    # Tests write down by hand what was recalled: a thread would not see their transactions.
    os.environ["MEMORYHUB_FLUSH_SECONDS"] = "0"


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _mine:
        return
    from memoryhub.embedded import EmbeddedPostgres

    folder = Path(os.environ[_NAME])
    EmbeddedPostgres(folder).erase()  # a root's cluster may lie elsewhere
    shutil.rmtree(folder, ignore_errors=True)
