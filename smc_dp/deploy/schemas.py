"""The published schemas of what a deployment reads and signs, as JSON Schema: made of the types that read them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from smc_dp.deploy.approval import Approval
from smc_dp.deploy.documents import Document
from smc_dp.deploy.study import JointStudy
from smc_dp.deploy.terms import OwnTerms
from smc_dp.errors import InputError, shown

SCHEMAS: Mapping[str, type[Document]] = MappingProxyType({"study": JointStudy, "approval": Approval, "terms": OwnTerms})
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(name: str) -> dict[str, Any]:
    """The schema of this name; InputError for another."""
    if name not in SCHEMAS:
        raise InputError(f"name: wanted one of {', '.join(SCHEMAS)}, got {shown(name)}")
    return {"$schema": _DIALECT, **SCHEMAS[name].model_json_schema(by_alias=True)}
