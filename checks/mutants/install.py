"""How a mutant takes the place of the code, without a file being written."""

import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from checks.mutants.mutant import Mutant, mutated

Key = tuple[str, str, int]
"""A function: its file, its name in full, and its first line."""


class Loaded:
    """The functions of a package that is loaded, and what they have remembered."""

    def __init__(self, root: Path) -> None:
        """Look for all functions that there are: some are reached through decorators alone."""
        self._root = root
        self._functions: dict[Key, list[FunctionType]] = defaultdict(list)
        self._remembered: list[Any] = []
        gc.unfreeze()
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(root)):
                code = one.__code__
                self._functions[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
            elif isinstance(one, functools._lru_cache_wrapper):  # noqa: SLF001
                origin = getattr(getattr(inspect.unwrap(one), "__code__", None), "co_filename", "")
                if origin.startswith(str(root)):
                    self._remembered.append(one)
        gc.freeze()

    def put(self, mutant: Mutant, text: str) -> None:
        """Give functions other code, and let all functions forget what they have computed."""
        pairs = self._pairs(mutant, text)
        if not pairs:
            raise LookupError(f"No function of {mutant.path} that is loaded has a place for {mutant}.")
        for function, code in pairs:
            function.__code__ = code
        for one in self._remembered:
            one.cache_clear()

    def _pairs(self, mutant: Mutant, text: str) -> list[tuple[FunctionType, CodeType]]:
        path = str(self._root / mutant.path)
        place = mutant.lines[0]
        return [
            (function, code)
            for code in _codes(_compiled(text, mutant, path))
            if code.co_qualname == mutant.outermost and code.co_firstlineno <= place.start
            for function in self._functions.get((path, code.co_qualname, code.co_firstlineno), ())
            if place.start <= max(line for *_, line in function.__code__.co_lines() if line)
        ]


class Finder(importlib.abc.MetaPathFinder):
    """Lets an import of one module load a mutant instead."""

    def __init__(self, root: Path, package: str, mutant: Mutant, text: str) -> None:
        """Remember the mutant's code, and the name of the module."""
        own = mutant.path.removeprefix(f"{Path(package).parent.as_posix()}/").removesuffix(".py")
        self._name = own.removesuffix("/__init__").replace("/", ".")
        self._path = str(root / mutant.path)
        self._code = _compiled(text, mutant, self._path)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where the module comes from, if it is this one."""
        del path, target
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=_Loader(fullname, self._path, self._code)
        )

    def install(self) -> None:
        """From now on; the module must not be loaded yet."""
        sys.meta_path.insert(0, self)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, code: CodeType) -> None:
        super().__init__(fullname, path)
        self._mutated = code

    def get_code(self, fullname: str) -> CodeType:
        """The mutant's."""
        del fullname
        return self._mutated


def _compiled(text: str, mutant: Mutant, path: str) -> CodeType:
    return compile(mutated(text, mutant), path, "exec", dont_inherit=True)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The functions and methods of a module; those inside of functions are parts of these."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & inspect.CO_OPTIMIZED:
                yield one
            else:
                yield from _codes(one)
