"""Published JSON Schemas of documents, generated from the types that read or print them.

A schema says of what kind everything is; readers check besides what fits together.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import override

from smc_dp.audit.run.documents import AuditDocument
from smc_dp.core.documents import Document
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds_file import BoundsFile
from smc_dp.data.format_sections import FileFormatDocument
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.deploy.study import JointStudy
from smc_dp.run.documents import ReleaseFile, SharesFile

SCHEMAS: Mapping[str, type[Document]] = MappingProxyType(
    {
        "study": JointStudy,
        "approval": Approval,
        "policy": SitePolicy,
        "bounds": BoundsFile,
        "file": FileFormatDocument,
        "release": ReleaseFile,
        "shares": SharesFile,
        "audit": AuditDocument,
    }
)
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    """Generator of `anyOf` for tagged unions: a date in TOML is a text in JSON, so two kinds can look the same."""

    @override
    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        found = super().tagged_union_schema(schema)
        return {"anyOf": found.pop("oneOf"), **found}


def json_schema(name: str) -> dict[str, Any]:
    """Return the schema of this name; InputError for another."""
    if name not in SCHEMAS:
        raise InputError("schema.unknown_name", schemas=list(SCHEMAS), got=shown(name))
    return {"$schema": _DIALECT, **SCHEMAS[name].model_json_schema(by_alias=True, schema_generator=_Generator)}
