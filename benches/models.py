"""Models of the generator beside the project, and what a command costs. For the scripts in this folder."""
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(os.environ.get("IOLITE_MODELS", "/dev/shm/iolite-models"))


def iolite():
    """The command that is measured: IOLITE, or the release build of this tree."""
    path = os.environ.get("IOLITE", str(ROOT / "target/release/iolite"))
    if not pathlib.Path(path).exists():
        sys.exit(f"{path}: build it first, `cargo build --release -p iolite-cli`")
    return path


def make(name, *args):
    """The model with this name, made by these arguments of the generator, once."""
    generator = os.environ.get("IOLITE_GEN_LTS", str(ROOT.parent / "shared/tools/gen_lts.py"))
    if not pathlib.Path(generator).exists():
        sys.exit(f"no model generator at {generator}; name one in IOLITE_GEN_LTS")
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.aut"
    if not path.exists():
        subprocess.run([sys.executable, generator, *args, "-o", path], check=True)
    return str(path)


def random(transitions):
    """A random model: states = transitions / 3, 8 inputs, 8 outputs, 5% internal moves."""
    return make(
        f"random{transitions}", "random", "--states", str(transitions // 3), "--trans", str(transitions),
        "--inputs", "8", "--outputs", "8", "--tau", "0.05",
    )


def mealy(transitions):
    """A complete machine with so many transitions."""
    return make(
        f"mealy{transitions}", "mealy", "--states", str(transitions // 16), "--inputs", "8", "--outputs", "8",
        "--format", "aut",
    )


def cost(command, codes=(0,)):
    """Seconds of the clock, and user and system seconds, of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    clock = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in codes:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr.decode()}")
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def together(commands):
    """Seconds of the clock until several commands, begun at once, have ended."""
    begin = time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
    for process in running:
        process.wait()
    return time.perf_counter() - begin
