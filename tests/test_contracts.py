"""What may know what, and what the screen's process never loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent

NATIVE = {"xllamacpp", "gguf", "numpy", "torch", "triton", "sglang", "transformers", "safetensors"}
"""Never in the screen's process."""
LATER = {"sqlite3", "tomlkit", "tomli_w", "psutil", "click", "pygments", "spark_chat.driver.driver",
         "spark_chat.models", "spark_chat.history.journal", "msgspec", "spark_chat.engine.protocol",
         "spark_chat.prompts.slots", "spark_chat.pull", "spark_chat.prepare", "spark_chat.lab"}  # fmt: skip
"""Not needed to draw the first screen."""


def test_the_import_contracts_hold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    broken = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, verbose=False)
    assert broken == 0, capsys.readouterr().out


def test_a_broken_contract_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The linter reads our package, and says so where a contract does not hold."""
    config = tmp_path / "pyproject.toml"
    config.write_text(
        '[tool.importlinter]\nroot_package = "spark_chat"\n[[tool.importlinter.contracts]]\nname = "x"\n'
        'type = "forbidden"\nsource_modules = ["spark_chat.driver"]\nforbidden_modules = ["spark_chat.meters"]\n'
    )
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename=str(config), no_cache=True, verbose=False) != 0


def loaded(statement: str) -> set[str]:
    """All modules that a fresh interpreter holds after `statement`."""
    code = f"import sys, json\n{statement}\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "statement",
    [
        "import spark_chat.tui.app",
        "import spark_chat.driver.driver, spark_chat.driver.library",
        "import spark_chat.headless.check, spark_chat.headless.report, spark_chat.headless.doctor",
    ],
)
def test_nothing_native_in_the_screens_process(statement: str) -> None:
    modules = loaded(statement)
    assert not {name.partition(".")[0] for name in modules} & NATIVE
    assert not modules & {"spark_chat.engine.llama", "spark_chat.engine.sglang", "spark_chat.engine.worker"}


def test_the_first_screen_loads_only_what_it_draws_with() -> None:
    modules = loaded("import spark_chat.tui.app")
    assert not modules & LATER
