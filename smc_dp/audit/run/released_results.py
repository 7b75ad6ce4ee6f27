"""Results of the checks of protocols' code that the package ships, and the conditions for citing one.

Each result was computed when this version was made (`code_checks.py`). It is bound to the digest of the role code
(`smc_dp.leakage.role_code`) and to the parameters of the small session. The code of the checks is no part of the
digest: the version of the package stands for it. `smc-dp lab check` computes all results anew. A slow test computes
those of one session of each protocol, and fails if one differs. Anybody who can change this file could change the
program as well, so it bears no signature.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from protocols.programs import PROTOCOLS, Protocol
from smc_dp.audit.run.check import CheckOutcome, Status, make_fault, not_possible
from smc_dp.core import reading
from smc_dp.core.documents import Document, validate_document
from smc_dp.leakage import role_code

RESULTS_FILE = Path(__file__).with_name("code_checks.json")
_MAX_BYTES = 1 << 22
ResultKey: TypeAlias = tuple[str, int, str, str]


class CodeCheckResult(Document):
    """Result of one check of a protocol's code in one small session; `code` is the digest of that code."""

    protocol: str
    protocol_version: int
    parameters: dict[str, Any]
    check: str
    code: str
    status: Status
    detail: str

    @property
    def key(self) -> ResultKey:
        """Key of the result: protocol, version, small session and check."""
        return self.protocol, self.protocol_version, _text(self.parameters), self.check

    @property
    def name(self) -> str:
        """Name of the result for a reader: protocol, check and the numbers and words of its small session."""
        said = (f"{name} {value}" for name, value in self.parameters.items() if value and not isinstance(value, list))
        return f"{self.protocol}, {self.check} ({', '.join(said)})"


class ReleasedResults(Document):
    """Results that one version of the package ships."""

    version: str
    results: list[CodeCheckResult]

    @property
    def by_key(self) -> Mapping[ResultKey, CodeCheckResult]:
        """Results by their keys."""
        return {result.key: result for result in self.results}


def load_results(file: Path = RESULTS_FILE) -> ReleasedResults:
    """Return the results in the file; raise InputError, in one line, for any other content."""
    content = reading.read_file(file, _MAX_BYTES, links=True)
    return validate_document(ReleasedResults, reading.parse_object(content, file.name), file.name)


def results_text(results: ReleasedResults) -> str:
    """Return the file of these results."""
    return json.dumps(results.model_dump(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def cite_result(protocol: Protocol, p: Any, check: str, known: ReleasedResults | None = None) -> CheckOutcome:
    """Return the shipped outcome of a check in the small session p, if it was computed for the installed code."""
    known = _shipped() if known is None else known
    program = protocol.program
    result = known.by_key.get((program.name, program.version, _text(p.as_dict()), check))
    if result is None:
        return not_possible("role_code.no_result", version=known.version)
    if result.code != role_code.code_digest(protocol):
        return not_possible("role_code.differs", version=known.version, name=program.name)
    cited = make_fault("role_code.cited", version=known.version, found=result.detail)
    return CheckOutcome(result.status, cited, inapplicable=result.status == "not possible")


def result_differences(computed: ReleasedResults, shipped: ReleasedResults) -> dict[ResultKey, str]:
    """Return how each result differs from the shipped one; a shipped result that was not computed differs as well."""
    made, known = computed.by_key, shipped.by_key
    computed_protocols = {result.protocol for result in computed.results}
    said = {key: _difference(result, known.get(key), shipped.version) for key, result in made.items()}
    said |= {
        key: f"{result.name}: smc-dp {shipped.version} ships it, and this code has no such check"
        for key, result in known.items()
        if key not in made and (result.protocol in computed_protocols or result.protocol not in PROTOCOLS)
    }
    return {key: text for key, text in said.items() if text}


def _difference(result: CodeCheckResult, other: CodeCheckResult | None, version: str) -> str:
    if other is None:
        return f"smc-dp {version} ships no such result"
    if (result.status, result.detail) != (other.status, other.detail):
        return f"differs from the result that smc-dp {version} ships: {other.status}, {other.detail}"
    return "" if result.code == other.code else f"the same as in smc-dp {version}, whose role code differs"


@cache
def _shipped() -> ReleasedResults:
    return load_results()


def _text(parameters: Mapping[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True)
