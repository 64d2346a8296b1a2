"""The source of a package, read and never imported: its modules, classes and functions, and what names stand for."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from checks.values import NOTHING, Value, joined

PROPERTIES = frozenset({"property", "functools.cached_property"})
CONTAINERS = frozenset(
    {"list", "set", "frozenset", "Sequence", "Iterable", "Iterator", "Generator", "deque", "ClassVar"}
)
REAL = frozenset({"float", "complex", "FloatArray", "float64", "float32", "complex128"})


@dataclass(frozen=True, eq=False)
class Module:
    """A module.

    Attributes:
        name: Its name in full.
        path: Its file, for findings.
        names: What its names stand for, in full.
        assigned: The expressions and annotations of its variables.
    """

    name: str
    path: str
    names: dict[str, str] = field(default_factory=dict)
    assigned: dict[str, tuple[ast.expr | None, ast.expr | None]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method, with the class that it belongs to."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: Module
    owner: str | None

    @cached_property
    def decorators(self) -> frozenset[str]:
        """What it is decorated with, in full."""
        plain = (one.func if isinstance(one, ast.Call) else one for one in self.node.decorator_list)
        first = (ast.unparse(one).partition(".") for one in plain)
        return frozenset(self.module.names.get(name, name) + dot + rest for name, dot, rest in first)


@dataclass(frozen=True, eq=False)
class Class:
    """A class, with the annotations of its fields and its methods by name."""

    name: str
    module: Module
    bases: tuple[str, ...]
    fields: dict[str, ast.expr]
    methods: dict[str, Function]


class Package:
    """All modules of a package.

    Attributes:
        modules: By name.
        functions: By name in full; methods among them.
        classes: By name in full.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Read the texts of modules, by their paths: ``src/dawa/counts.py``."""
        self.modules: dict[str, Module] = {}
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        for path in sorted(texts):  # a stub comes after the module that it describes
            self._read(path, parsed(texts[path]))

    def resolved(self, name: str) -> str:
        """What a name in full stands for, wherever it was imported from."""
        for _ in range(8):
            home, _, own = name.rpartition(".")
            module = self.modules.get(home)
            if name in self.modules or module is None or module.names.get(own, name) == name:
                break
            name = module.names[own]
        return name

    def lineage(self, name: str) -> list[Class]:
        """A class and those that it derives from, in order."""
        found, left = [], [name]
        while left:
            one = self.classes.get(self.resolved(left.pop(0)))
            if one is not None and one not in found:
                found.append(one)
                left.extend(one.bases)
        return found

    def derives(self, kind: str, base: str) -> bool:
        """Whether a class is another one, or derives from it."""
        return any(one.name == base for one in self.lineage(kind))

    def methods(self, kind: str, name: str) -> list[Function]:
        """What a call of a method may run: the class's own or inherited one, and those of classes below it.

        A protocol has every class below it that has such a method.
        """
        mine = next((one.methods[name] for one in self.lineage(kind) if name in one.methods), None)
        protocol = any(base.endswith("Protocol") for one in self.lineage(kind) for base in one.bases)
        below = [
            one.methods[name]
            for one in self.classes.values()
            if name in one.methods and (protocol or self.derives(one.name, self.resolved(kind)))
        ]
        return list(dict.fromkeys([mine, *below] if mine is not None else below))

    def called(self, name: str) -> list[Function]:
        """All methods of this name."""
        return [one.methods[name] for one in self.classes.values() if name in one.methods]

    def field(self, kind: str, name: str) -> Value | None:
        """What the annotation of a field says, if the class has such a field."""
        for one in self.lineage(kind):
            if name in one.fields:
                return self.annotated(one.module, one.fields[name])
        return None

    def annotated(self, module: Module, node: ast.expr | None) -> Value:
        """What an annotation says of a value."""
        match node:
            case ast.Constant(value=str(text)):
                return self.annotated(module, ast.parse(text, mode="eval").body)
            case ast.BinOp(left=left, right=right):
                return self.annotated(module, left).joined(self.annotated(module, right))
            case ast.Subscript(value=outer, slice=inner):
                return self._generic(module, ast.unparse(outer).rpartition(".")[2], inner)
            case ast.Name() | ast.Attribute():
                first, dot, rest = ast.unparse(node).partition(".")
                name = self.resolved(module.names.get(first, first) + dot + rest)
                if name.rpartition(".")[2] in REAL:
                    return Value(real=True)
                return Value(kinds=frozenset({name})) if name in self.classes or name.endswith("Fraction") else NOTHING
            case _:
                return NOTHING

    def _generic(self, module: Module, outer: str, inner: ast.expr) -> Value:
        """The same for an annotation with brackets."""
        inside = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if outer in {"Literal", "Callable", "type"}:
            return NOTHING
        if outer == "tuple" and not any(isinstance(one, ast.Constant) and one.value is Ellipsis for one in inside):
            return Value.of(self.annotated(module, one) for one in inside)
        if outer in {"tuple", "Annotated", "NDArray"} | CONTAINERS:
            return self.annotated(module, inside[0])
        return joined(self.annotated(module, one).element for one in inside)

    def _read(self, path: str, tree: ast.Module) -> None:
        package = path.endswith(("__init__.py", "__init__.pyi"))
        name = (
            path.removeprefix("src/").removesuffix("i").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        )
        module = self.modules.setdefault(name, Module(name, path))
        for node in _statements(tree.body):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(module, node, None)
                case ast.ClassDef():
                    self._class(module, node)
                case ast.Import() | ast.ImportFrom():
                    module.names.update(imported(node, name, package=package))
                case ast.Assign(targets=[ast.Name(id=own)], value=value):
                    module.assigned[own] = value, None
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    pairs = zip(targets, values, strict=True)
                    module.assigned.update({ast.unparse(one): (value, None) for one, value in pairs})
                case ast.AnnAssign(target=ast.Name(id=own), value=value, annotation=annotation):
                    module.assigned[own] = value, annotation

    def _function(self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str | None) -> Function:
        name = f"{owner or module.name}.{node.name}"
        self.functions[name] = found = Function(name, node, module, owner)
        if owner is None:
            module.names[node.name] = name
        return found

    def _class(self, module: Module, node: ast.ClassDef) -> None:
        name = f"{module.name}.{node.name}"
        module.names[node.name] = name
        bases = [ast.unparse(base).partition("[")[0].partition(".") for base in node.bases]
        self.classes[name] = Class(
            name,
            module,
            tuple(module.names.get(first, first) + dot + rest for first, dot, rest in bases),
            {
                one.target.id: one.annotation
                for one in node.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            },
            {
                one.name: self._function(module, one, name)
                for one in node.body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            },
        )


@cache
def parsed(text: str) -> ast.Module:
    """The tree of a module; tests read the same modules many times."""
    return ast.parse(text)


def imported(node: ast.Import | ast.ImportFrom, module: str, *, package: bool) -> Iterator[tuple[str, str]]:
    """The names that an import makes, and what they stand for in full."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (
                (alias.asname or alias.name.partition(".")[0]),
                (alias.name if alias.asname else alias.name.partition(".")[0]),
            )
        return
    above = module.split(".")
    home = ".".join(above[: len(above) - node.level + package]) if node.level else ""
    origin = ".".join(part for part in (home, node.module or "") if part)
    for alias in node.names:
        yield alias.asname or alias.name, f"{origin}.{alias.name}"


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under a condition among them."""
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements([*node.body, *getattr(node, "orelse", [])])
        else:
            yield node
