"""Importing the package changes nothing: no file, no setting of the process, no output."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import mnlearn

ROOT = Path(mnlearn.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
)
# Imports every module, and reports what that has changed. An audit hook sees every file that is
# opened for writing and every folder that is created or removed, wherever it is.
PROCESS = """
import importlib, json, logging, os, pathlib, sys
import numba
# Sets two variables of OpenMP when it is imported; that is not of this package.
import sklearn

written = []
def watch(event, arguments):
    if event == "open" and arguments[0] != os.devnull:
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            written.append(str(path))
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link"):
        written.append(f"{event} {arguments[0]}")

OF_STUDIES = ("mnlearn_studies", "snakemake", "requests", "markdown")

def settings():
    return {name: repr(getattr(numba.config, name)) for name in dir(numba.config)
            if not name.startswith("__")}

def refuse(mask):
    raise AssertionError("the umask was changed")

own_umask, os.umask = os.umask, refuse
before = settings()
handlers = logging.getLogger().handlers[:]
environment = dict(os.environ)
sys.addaudithook(watch)
report, *names = sys.argv[1:]
for name in names:
    importlib.import_module(name)
found = json.dumps({
    "written": written,
    "numba": [name for name, value in settings().items() if before.get(name) != value],
    "umask": own_umask(0),
    "handlers": [repr(x) for x in logging.getLogger().handlers if x not in handlers],
    "level": logging.getLogger().level,
    "environment": [x for x in os.environ if environment.get(x) != os.environ[x]],
    "studies": [x for x in sys.modules if x.partition(".")[0] in OF_STUDIES],
})
pathlib.Path(report).write_text(found)
"""


def imported(modules, folder):
    """Import modules in a fresh process with empty folders; return what it reports."""
    for name in ("home", "tmp", "here"):
        (folder / name).mkdir()
        (folder / name).chmod(0o500)
    names = ("MPLCONFIGDIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {
        "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": str(ROOT.parent), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    report = folder / "report.json"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROCESS, str(report), *modules],
        cwd=folder / "here", env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for name in ("home", "tmp", "here"):
        assert list((folder / name).iterdir()) == []
    return json.loads(report.read_text())


def test_importing_everything_changes_nothing(tmp_path):
    assert "mnlearn.kernels.jit" in MODULES
    usual = os.umask(0o022)
    os.umask(usual)
    assert imported(MODULES, tmp_path) == {
        "written": [], "numba": [], "umask": usual, "handlers": [], "level": 30, "environment": [],
        "studies": [],
    }  # fmt: skip


# The command in a process that has no package of the extra `study`.
PLAIN = """
import contextlib, io, sys
for name in ("filelock", "markdown", "psutil", "requests", "snakemake", "urllib3"):
    sys.modules[name] = None
from mnlearn.cli import main
tried = ["--help", "methods", "demo", "study dtsl", "datasets", "step write dtsl page"]
for words in map(str.split, tried):
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        try:
            main(words)
        except SystemExit as ended:
            status = ended.code
    print(words[0], status, told.getvalue().strip())
"""


def test_without_the_extra_commands_of_studies_say_what_to_install():
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert done[:2] == ["--help 0 ", "methods 0 "]
    assert len(done) == 6
    for line in done[2:]:
        assert re.fullmatch(
            r"\w+ 2 mnlearn: this needs the package \w+; "
            r"install it with `pip install 'mnlearn\[study\]'`\.",
            line,
        ), line
