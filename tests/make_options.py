"""Write the options of `run`, `study new` and `plan` from the fields of the settings.

`python tests/make_options.py` after a change of `smc_dp/run/settings.py`; `test_setting_options.py` compares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from smc_dp.run.settings import RunRequest, setting_fields

FILE = Path(__file__).resolve().parent.parent / "smc_dp" / "cli" / "setting_options.json"


def options(model: type[BaseModel] = RunRequest) -> Iterator[dict[str, Any]]:
    """Yield each setting that a command has as an option."""
    order = ("data", "method", "target", "protocol", "simulation", "")
    for section, key, field in sorted(setting_fields(model), key=lambda found: order.index(found[0])):
        extra: Any = field.json_schema_extra or {}
        if not extra.get("commands"):
            continue
        usual = f" [default: {extra['usual']}]." if "usual" in extra else "."
        said = {
            "name": {"lambda": "lam"}.get(key, key), "option": f"--{key.replace('_', '-')}",
            "section": section, "key": "name" if key == section else key,
            "kind": extra["kind"], "metavar": extra.get("metavar", ""),
            "variable": extra.get("variable", ""),
            "commands": {command: command in extra.get("short", ()) for command in extra["commands"]},
            "help": in_options(f"{(field.description or '').removesuffix('.')}{usual}"),
            "sentences": {command: in_options(said) for command, said in extra.get("sentences", {}).items()},
        }  # fmt: skip
        yield {name: value for name, value in said.items() if value}


def in_options(sentence: str) -> str:
    """Return the sentence with options for the parameters that it has in backquotes."""
    return re.sub("`([a-z_]+)`", lambda found: f"--{found[1].replace('_', '-')}", sentence)


def generated() -> str:
    """Return the text of the file."""
    lines = (json.dumps(option, ensure_ascii=False) for option in options())
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(generated(), encoding="utf-8")
