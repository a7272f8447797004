"""Libraries of machine code that are linked into their callers, and optimised and compiled with these alone.

Numba compiles each function that compiled code calls for itself, so that Python could call it, and once more
within each caller: for derivatives, which call dozens of small functions, that is half the time.
Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

__all__ = ["linked"]


class Linked(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function, which becomes machine code only if its address is asked for."""

    has_wrapper = False  # for calls by Python
    is_made = False

    def add_ir_module(self, ir_module: Any) -> None:
        self.has_wrapper |= ir_module.name == "wrapper"
        if ir_module.name != "cfunc_wrapper" or self.has_wrapper:
            super().add_ir_module(ir_module)

    def finalize(self) -> None:
        """Links what is called, so that callers can link this."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True
        names = (v.name for v in self._final_module.global_variables)
        if any(name.startswith(RuntimeLinker.PREFIX) for name in names):
            self.make()  # a recursive function, which calls itself by its address

    def make(self) -> None:
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()

    def _finalize_final_module(self) -> None:
        self.is_made = True
        super()._finalize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if not self.is_made and any(f.name == name for f in self.get_defined_functions()):
            self.make()
        found: int = super().get_pointer_to_function(name)
        return found


class Environments:
    """Sets the environments of functions, which are objects that their machine code refers to: of a function
    that is only linked, once the machine code of a caller is there.
    """

    def __init__(self, codegen: Any) -> None:
        self.set_now, self.engine = codegen.set_env, codegen._engine
        self.waiting: dict[str, Any] = {}

    def set_env(self, name: str, environment: Any) -> None:
        self.waiting[name] = environment
        for known in [n for n in self.waiting if self.engine.is_symbol_defined(n)]:
            self.set_now(known, self.waiting.pop(known))


@contextmanager
def linked() -> Iterator[None]:
    """A context in which functions that are compiled are only linked, but for those that Python calls."""
    with global_compiler_lock:
        codegen = cpu_target.target_context.codegen()
        if not hasattr(codegen, "environments"):
            codegen.environments = Environments(codegen)
            codegen.set_env = codegen.environments.set_env  # for good: others may link what is only linked
        before = codegen._library_class
        codegen._library_class = Linked
        try:
            yield
        finally:
            codegen._library_class = before
