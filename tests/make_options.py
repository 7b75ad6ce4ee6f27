"""Write the options of `run`, `study new` and `plan` from the fields of the settings.

`python tests/make_options.py` after a change of `smc_dp/run/settings.py`; `test_options_of_settings.py` compares.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from smc_dp.run.settings import RunRequest

FILE = Path(__file__).resolve().parent.parent / "smc_dp" / "cli" / "generated_options.py"
HEAD = '''"""Options of the settings, made from the fields in `smc_dp/run/settings.py`.

Written by `python tests/make_options.py`; help reads this file and loads no model.
"""

# ruff: noqa: E501

from smc_dp.cli.setting_options import SettingOption

OPTIONS = (
'''


def fields_of(model: type[BaseModel]) -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield the section, the key and the field of every setting; "" for a setting outside all sections."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from ((name, inner.alias or key, inner) for key, inner in kind.model_fields.items())
        else:
            yield "", field.alias or name, field


def options(model: type[BaseModel] = RunRequest) -> Iterator[str]:
    """Yield the line of each setting that a command has as an option."""
    order = ("data", "method", "target", "protocol", "simulation", "")
    for section, key, field in sorted(fields_of(model), key=lambda found: order.index(found[0])):
        extra: Any = field.json_schema_extra or {}
        if not extra.get("commands"):
            continue
        option = extra.get("option", key)
        usual = f" [default: {extra['usual']}]." if "usual" in extra else "."
        said = {
            "name": {"lambda": "lam"}.get(option, option), "option": f"--{option.replace('_', '-')}",
            "section": section, "key": key, "kind": extra["kind"], "metavar": extra.get("metavar", ""),
            "variable": extra.get("variable", ""),
            "commands": {command: command in extra.get("short", ()) for command in extra["commands"]},
            "help": in_options(f"{(field.description or '').removesuffix('.')}{usual}"),
            "sentences": {command: in_options(said) for command, said in extra.get("sentences", {}).items()},
        }  # fmt: skip
        yield f"SettingOption({', '.join(f'{name}={value!r}' for name, value in said.items() if value)})"


def in_options(sentence: str) -> str:
    """Return the sentence with options for the parameters that it has in backquotes."""
    return re.sub("`([a-z_]+)`", lambda found: f"--{found[1].replace('_', '-')}", sentence)


def generated() -> str:
    """Return the text of the file."""
    text = f"{HEAD}{''.join(f'    {line},' for line in options())}\n)\n"
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FILE), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    FILE.write_text(generated(), encoding="utf-8")
