"""What `smc_dp.deploy.flare.site` takes from NVIDIA FLARE, where that is not installed; with it, the real thing."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

SITE = "smc_dp.deploy.flare.site"
INSTALLED = importlib.util.find_spec("nvflare") is not None


class _Executor:
    """A component of FLARE's, as far as its logger goes: that is called by the module of its class."""

    def __init__(self) -> None:
        self.logger = logging.getLogger(f"{self.__class__.__module__}.{self.__class__.__qualname__}")


class _Message:
    def __init__(self, headers: Any = None, payload: Any = None) -> None:
        self.headers, self.payload = headers or {}, payload

    def get_header(self, key: str) -> object:
        return self.headers.get(key)


_OK = SimpleNamespace(OK="ok")
_DEFS = SimpleNamespace(MessageHeaderKey=SimpleNamespace(RETURN_CODE="rc"), ReturnCode=_OK)
_NAMES: dict[str, dict[str, object]] = {
    "apis.executor": {"Executor": _Executor},
    "apis.fl_constant": {"ReturnCode": _OK},
    "apis.fl_context": {"FLContext": object},
    "apis.shareable": {"Shareable": dict, "make_reply": lambda code: {"rc": code}},
    "apis.signal": {"Signal": object},
    "fuel.f3.cellnet": {"defs": _DEFS},
    "fuel.f3.cellnet.fqcn": {"FQCN": SimpleNamespace(ROOT_SERVER="server", join=".".join)},
    "fuel.f3.message": {"Message": _Message},
}


@contextmanager
def flare_site() -> Iterator[Any]:
    """The module of FLARE's job at a site; the loggers that it changes are as they were afterwards."""
    loggers = [logging.getLogger(name) for name in ("smc_dp", "protocols")]
    before = [(logger, logger.propagate, logger.handlers[:]) for logger in loggers]
    known = set(sys.modules)
    if not INSTALLED:
        for name, found in _NAMES.items():
            parts = f"nvflare.{name}".split(".")
            for n in range(1, len(parts) + 1):
                sys.modules.setdefault(".".join(parts[:n]), ModuleType(parts[n - 1]))
            vars(sys.modules[f"nvflare.{name}"]).update(found)
    try:
        yield importlib.import_module(SITE)
    finally:
        for name in set(sys.modules) - known:
            if not INSTALLED and name.partition(".")[0] == "nvflare":
                del sys.modules[name]
        if not INSTALLED:
            sys.modules.pop(SITE, None)
        for logger, propagate, handlers in before:
            logger.propagate, logger.handlers[:] = propagate, handlers
