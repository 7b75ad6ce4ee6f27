"""The published schemas of documents, as JSON Schema: made of the types that read them, or that print them.

A schema says of what kind everything is; what of it fits together, whoever reads it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from smc_dp.audit.run.documents import AuditDocument
from smc_dp.core.documents import Document
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds_file import BoundsFile
from smc_dp.data.file_format import FileFormatDocument
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.study import JointStudy
from smc_dp.deploy.terms import OwnTerms
from smc_dp.run.documents import ReleaseFile, SharesFile

SCHEMAS: Mapping[str, type[Document]] = MappingProxyType(
    {
        "study": JointStudy,
        "approval": Approval,
        "terms": OwnTerms,
        "bounds": BoundsFile,
        "file": FileFormatDocument,
        "release": ReleaseFile,
        "shares": SharesFile,
        "audit": AuditDocument,
    }
)
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    """What looks like two kinds of a value at once is one of them: a date in TOML is a text in JSON."""

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        found = super().tagged_union_schema(schema)
        return {"anyOf": found.pop("oneOf"), **found}


def schema(name: str) -> dict[str, Any]:
    """The schema of this name; InputError for another."""
    if name not in SCHEMAS:
        raise InputError("schema.unknown_name", schemas=list(SCHEMAS), got=shown(name))
    return {"$schema": _DIALECT, **SCHEMAS[name].model_json_schema(by_alias=True, schema_generator=_Generator)}
