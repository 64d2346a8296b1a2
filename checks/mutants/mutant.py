"""All mutants of a module: where each is, what it is called, and the module with it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from checks.mutants.variations import Place, skipped, variations

Step = tuple[str, int | None]
"""From a piece of code to one inside it: a field, and which of several."""

SHOWN = 200
"""Texts of mutants are cut here."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """A change of one place.

    Attributes:
        path: The file, from the root of the project.
        function: The functions and classes around the place; empty in the module itself.
        outermost: The function whose code is another one then; empty if that does not do, as where the place is run on
            import.
        lines: The lines of the place, and of the statement around it.
        original: What is written there.
        mutated: What is written there instead.
        steps: The way to the place.
        number: Which of the variations of the place this is.
    """

    path: str
    function: str
    outermost: str
    lines: tuple[range, range]
    original: str
    mutated: str
    steps: tuple[Step, ...]
    number: int

    @property
    def line(self) -> int:
        """The first line of the place."""
        return self.lines[0].start

    @property
    def change(self) -> str:
        """What is written instead of what."""
        return f"{self.original} → {self.mutated}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function or 'module'}: {self.change}"


@dataclass(frozen=True)
class _Around:
    """What is known of a place from what is around it."""

    steps: tuple[Step, ...] = ()
    names: tuple[str, ...] = ()
    outermost: str = ""
    statement: range = range(0)
    shown: tuple[Step, ...] = ()


def found(path: str, text: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    tree = ast.parse(text)
    return list(_inside(tree, path, tree, _Around()))


def mutated(text: str, mutant: Mutant) -> ast.Module:
    """The module with the change."""
    tree = ast.parse(text)
    parent, step = _at(tree, mutant.steps[:-1]), mutant.steps[-1]
    node = _at(parent, (step,))
    other = list(variations(Place(node, parent, step[0])))[mutant.number]
    _put(parent, step, ast.copy_location(other, node))
    return ast.fix_missing_locations(tree)


def _inside(tree: ast.Module, path: str, node: ast.AST, around: _Around) -> Iterator[Mutant]:
    for field, value in ast.iter_fields(node):
        several = value if isinstance(value, list) else [value]
        for at, one in enumerate(several):
            place = Place(one, node, field)
            if not isinstance(one, ast.AST) or skipped(place):
                continue
            here = _entered(place, around, (field, at if isinstance(value, list) else None))
            lines = range(getattr(one, "lineno", 0), (getattr(one, "end_lineno", 0) or 0) + 1)
            for number, other in enumerate(list(variations(place))):
                original, instead = _texts(tree, place, here, other)
                yield Mutant(
                    path, ".".join(here.names), here.outermost, (lines, here.statement), original, instead,
                    here.steps, number,
                )  # fmt: skip
            yield from _inside(tree, path, one, here)


def _entered(place: Place, around: _Around, step: Step) -> _Around:
    """What is around the pieces of a piece of code."""
    node, parent = place.node, place.parent
    steps = (*around.steps, step)
    names, outermost, statement, shown = around.names, around.outermost, around.statement, around.shown
    if isinstance(parent, FUNCTIONS) and place.field == "body" and not outermost and not _has_super(parent):
        outermost = ".".join(names)
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        names = (*names, node.name)
    if isinstance(node, ast.stmt):
        statement = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        shown = steps
    elif isinstance(node, ast.expr) and isinstance(parent, (ast.If, ast.While, ast.For, ast.With, *FUNCTIONS)):
        shown = steps
        statement = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    elif isinstance(node, ast.expr) and not isinstance(node, (ast.Constant, ast.UnaryOp, ast.Slice, ast.Tuple)):
        shown = steps if not isinstance(parent, ast.stmt) else shown
    return _Around(steps, names, outermost, statement, shown)


def _has_super(function: ast.AST) -> bool:
    """Whether a function knows its class: then the code of another function does not fit."""
    return any(isinstance(one, ast.Name) and one.id in {"super", "__class__"} for one in ast.walk(function))


def _texts(tree: ast.Module, place: Place, here: _Around, other: ast.AST) -> tuple[str, str]:
    """What is written around the place, before and after the change."""
    before = _written(_at(tree, here.shown))
    _put(place.parent, here.steps[-1], other)
    after = _written(_at(tree, here.shown))
    _put(place.parent, here.steps[-1], place.node)
    return before, after


def _written(node: ast.AST) -> str:
    """A piece of code in one line; of a statement with a body only its head."""
    return " ".join(ast.unparse(node).split("\n")[0].split())[:SHOWN]


def _at(tree: ast.AST, steps: tuple[Step, ...]) -> ast.AST:
    for field, at in steps:
        value = getattr(tree, field)
        tree = value if at is None else value[at]
    return tree


def _put(parent: ast.AST, step: Step, node: ast.AST) -> None:
    """Put a piece of code where another one is."""
    field, at = step
    if at is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[at] = node
