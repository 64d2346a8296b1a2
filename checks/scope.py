"""What a function knows while it is gone through: its names, what it puts where, and what it refuses."""

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from checks import rules
from checks.package import Function, Module
from checks.values import NOTHING, Env, Value, joined

if TYPE_CHECKING:
    from checks.flow import Flow, Summary

Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
"""A function, wherever it is written."""

Given = tuple[Value, ast.expr]
"""What is handed over, and where that is written."""


@dataclass(frozen=True)
class Arguments:
    """What a call is given.

    Attributes:
        ordered: One after the other.
        named: By name.
        rest: What any of the others may be, of a ``*`` of unknown length or of ``**``.
    """

    ordered: tuple[Given, ...] = ()
    named: tuple[tuple[str, Value, ast.expr], ...] = ()
    rest: Value = NOTHING

    @property
    def every(self) -> list[Given]:
        """All that is given one by one."""
        return [*self.ordered, *((value, node) for _, value, node in self.named)]

    @property
    def all(self) -> Value:
        """What any of them may be."""
        return joined([*(value.element for value, _ in self.every), self.rest])

    @property
    def numbers(self) -> Value:
        """The same without functions and types."""
        return joined([*(value.element for value, _ in self.every if not value.refs), self.rest])

    def has(self, place: int, name: str) -> bool:
        """Whether there is an argument at this place, or of this name."""
        return len(self.ordered) > place or any(name == own for own, _, _ in self.named)

    def floats(self, *, expected: bool = False) -> bool:
        """Whether a type of floats is among them; as text it counts where a type is expected."""
        if any(value.refs & rules.FLOATS for value, _ in self.every):
            return True
        nodes = [node for name, _, node in self.named if name == "dtype"]
        nodes += [node for _, node in self.ordered] if expected else []
        return any(
            isinstance(node, ast.Constant) and isinstance(node.value, str) and rules.FLOAT_NAME.fullmatch(node.value)
            for node in nodes
        )


class Scope:
    """The names of a function, with what each may be.

    Attributes:
        flow: The package that is gone through.
        module: Where the function is.
        where: What it is called in findings.
        env: Its own names.
        outer: The function around it.
        owner: The class around it.
        returns: What it is annotated to return.
        result: What it has returned so far.
        filled: Its names into which something private was put.
    """

    def __init__(
        self,
        flow: "Flow",
        module: Module,
        where: str,
        env: Env,
        outer: "Scope | None" = None,
        owner: str | None = None,
        returns: Value = NOTHING,
    ) -> None:
        self.flow, self.module, self.where, self.env = flow, module, where, env
        self.outer, self.owner, self.returns = outer, owner, returns
        self.result = NOTHING
        self.filled: set[str] = set()

    def value(self, node: ast.expr) -> Value:
        """What an expression may be."""
        raise NotImplementedError

    def attribute(self, value: Value, name: str) -> Value:
        """What an attribute may be."""
        raise NotImplementedError

    def report(self, node: ast.AST, why: str) -> None:
        """Refuse what is written here."""
        self.flow.report(self.module, node, self.where, why)

    def lookup(self, name: str) -> Value:
        """What a name stands for."""
        if name in self.env:
            return self.env[name]
        if self.outer is not None:
            return self.outer.lookup(name)
        if name in self.module.names or name in self.module.assigned:
            return self.flow.named(f"{self.module.name}.{name}")
        return Value(refs=frozenset({f"builtins.{name}"})) if hasattr(builtins, name) else NOTHING

    def around(self) -> Env:
        """What the functions around this one know."""
        return {} if self.outer is None else {**self.outer.around(), **self.outer.env}

    def spaces(self, value: Value) -> list[str]:
        """Modules, classes and what is not of the package: their attributes have names in full."""
        own = self.flow.package.functions
        return sorted(name for name in value.refs if ":" not in name and name not in own)

    def meant(self, node: ast.AST, value: Value, said: Value) -> Value:
        """A value that is annotated: what is private is not annotated as a float either."""
        if value.parts is not None and said.parts is not None and len(value.parts) == len(said.parts):
            for part, kind in zip(value.parts, said.parts, strict=True):
                self.meant(node, part, kind)
        elif value.element.private and said.real and said.parts is None:
            self.report(node, "private numbers are declared as floats")
        return value if value.parts is not None else replace(value, kinds=value.kinds | said.kinds)

    def fill(self, target: ast.expr, value: Value) -> None:
        """Something is put into what a name holds."""
        node, field = target, False
        while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
            field |= isinstance(node, ast.Attribute)
            node = node.value
        if not isinstance(node, ast.Name):
            return
        old, new = self.lookup(node.id), value.element
        if new.private and old.element.real and not field:
            self.report(target, "private numbers are put among floats")
            old = old.whole()
        if not old.refs and not old.kinds & rules.SEALED:
            kept = old.marked() if new.private else old.joined(replace(new, real=False))
            self._keep(node.id, kept, private=new.private)

    def _keep(self, name: str, value: Value, *, private: bool) -> None:
        if name in self.env or self.outer is None:
            self.env[name] = value
            self.filled |= {name} if private else set()
        else:
            self.outer._keep(name, value, private=private)  # noqa: SLF001  of the same class

    def entered(
        self,
        arguments: ast.arguments,
        bound: tuple[Given, ...],
        given: Arguments,
        run: "Callable[[Env], Summary]",
        module: Module,
    ) -> Value:
        """Hand arguments to the parameters of a function; ``bound`` is what comes before them."""
        ordered = (*bound, *given.ordered)
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        said = {one.arg: one.annotation for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        handed = dict(zip(names, ordered, strict=False)) | {
            name: (value, node) for name, value, node in given.named if name in said
        }
        env = {name: value for name, (value, _) in handed.items()}
        if given.rest != NOTHING:
            env |= {name: given.rest for name in said if name not in env}
        beyond = [value.element for value, _ in ordered[len(names) :]]
        beyond += [value.element for name, value, _ in given.named if name not in said]
        env |= {
            more.arg: joined([*beyond, given.rest]) for more in (arguments.vararg, arguments.kwarg) if more is not None
        }
        for name, (value, node) in handed.items():
            self.meant(node, value, self.flow.package.annotated(module, said[name]))
        summary = run(env)
        for name in summary.filled & set(handed):
            self.fill(handed[name][1], Value(private=True))
        return summary.value

    def enter(self, function: Function, given: Arguments, own: Given | None = None) -> Value:
        """What a function or a method of the package gives back; ``own`` is what a method belongs to."""
        bound = () if own is None or "staticmethod" in function.decorators else (own,)
        if "classmethod" in function.decorators:
            bound = ((Value(refs=frozenset({function.owner or ""})), ast.Constant(None)),)
        return self.entered(
            function.node.args, bound, given, lambda env: self.flow.called(function, env), function.module
        )
