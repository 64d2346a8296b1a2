"""Private numbers followed through a package: from counts to the gates, through calls, loops and containers.

Every function is gone through with what its parameters are known to be, once for each set of such knowledge, as if it
ran: a ``Value`` in the place of every value. Both ways of a condition are taken; a loop is gone through until nothing
new is learned. What a function puts into its arguments is known where it was called.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from checks import rules
from checks.body import Body
from checks.package import Function, Module, Package
from checks.scope import Inner, Scope
from checks.values import NOTHING, Env, Value

ROUNDS = 10
"""A recursion is gone through at most so often; what is private stays so, and twice is enough for that."""


@dataclass(frozen=True, order=True)
class Finding:
    """Something that is refused.

    Attributes:
        path: The file.
        line: The line in it.
        where: The function, in full.
        code: The code.
        why: What is wrong with it.
    """

    path: str
    line: int
    where: str
    code: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.why}: {self.code}"


@dataclass(frozen=True)
class Summary:
    """What a call gives back, and the parameters into which it put what is private."""

    value: Value = NOTHING
    filled: frozenset[str] = frozenset()


Key = tuple[int, tuple[tuple[str, Value], ...], tuple[tuple[str, Value], ...]]


@dataclass
class Flow:
    """A package that is gone through.

    Attributes:
        package: Its source.
        written: For each loop in C, which of its arguments it writes to.
        excused: What may stay, with its reason, by function and code.
        findings: What is refused.
        used: The excuses that were needed.
        loops: The loops in C that are given private numbers, each with a place where that happens.
        inner: Functions inside others, by the names that they have here, each with all that was known around it.
    """

    package: Package
    written: dict[str, tuple[bool, ...]]
    excused: Mapping[tuple[str, str], str]
    findings: set[Finding] = field(default_factory=set)
    used: set[tuple[str, str]] = field(default_factory=set)
    loops: dict[str, str] = field(default_factory=dict)
    inner: dict[str, list[tuple[Inner, Scope]]] = field(default_factory=dict)
    _known: dict[Key, Summary] = field(default_factory=dict)
    _open: set[Key] = field(default_factory=set)
    _again: set[Key] = field(default_factory=set)
    _variables: dict[str, Value] = field(default_factory=dict)

    def everything(self, begin: str = "") -> None:
        """Go through every function whose name begins so, with what its annotations say of its parameters."""
        for name, function in self.package.functions.items():
            if name.startswith(begin):
                self.called(function, {})

    def called(self, function: Function, given: Env) -> Summary:
        """What a call gives back; parameters that are not given are what their annotations and defaults say."""
        env = {}
        for name, annotation, default in parameters(function.node.args):
            said = self.package.annotated(function.module, annotation)
            value = given.get(name, self.evaluated(function.module, default) if default is not None else NOTHING)
            if name == "self" and function.owner:
                below = {kind for kind in value.kinds if self.package.derives(kind, function.owner)}
                value = replace(value, kinds=frozenset(below or {function.owner}))
            if name == "cls" and function.owner:
                value = Value(refs=value.refs or frozenset({function.owner}))
            if not value.kinds and not value.refs:
                real = value.real or (said.real and not value.private)
                value = replace(
                    value, real=real, kinds=said.kinds, parts=value.parts or (None if value.private else said.parts)
                )
            if said.kinds & rules.PRIVATE or name in rules.STARTS.get(function.name, ()):
                value = value.marked()
            env[name] = value
        returns = self.package.annotated(function.module, function.node.returns)
        summary = self.run(
            Body(self, function.module, function.name, env, None, function.owner, returns), function.node
        )
        value, public = summary.value, function.name in rules.GATES or function.name in rules.OPENED
        if public or returns.kinds & rules.SEALED:
            value = returns
        elif value.private:
            value = replace(value, kinds=value.kinds | returns.kinds)
        else:
            declared = function.node.returns is not None and ast.unparse(function.node.returns) != "Any"
            real, parts = returns.real if declared else value.real, value.parts or returns.parts
            value = replace(value, real=real, kinds=value.kinds | returns.kinds, parts=parts)
        return Summary(value, summary.filled)

    def run(self, body: Body, node: Inner) -> Summary:
        """Go through a function, unless that was done with the same knowledge."""
        key = id(node), _sorted(body.env), _sorted(body.around())
        if key in self._open:
            self._again.add(key)
        if key in self._open or key in self._known:
            return self._known[key]
        self._open.add(key)
        self._known[key] = Summary()
        start, known, findings = dict(body.env), len(self._known), set(self.findings)
        for _ in range(ROUNDS):
            body.env, body.result, body.filled = dict(start), NOTHING, set()
            if isinstance(node, ast.Lambda):
                body.result = body.value(node.body)
            else:
                body.block(node.body)
            before = self._known[key]
            value = body.result.marked() if before.value.private else body.result
            found = Summary(value, before.filled | (body.filled & set(start)))
            self._known[key] = found
            if key not in self._again or found == before:
                break
            for later in list(self._known)[known:]:  # they may rest on what was not known of this one yet
                del self._known[later]
            self.findings = set(findings)
        self._open.discard(key)
        return self._known[key]

    def evaluated(self, module: Module, node: ast.expr) -> Value:
        """An expression outside of all functions."""
        return Body(self, module, module.name, {}).value(node)

    def inside(self, node: Inner, outer: Scope, given: Env) -> Summary:
        """What a call of a function inside another one gives back."""
        env = {}
        for own, annotation, default in parameters(node.args):
            said = self.package.annotated(outer.module, annotation)
            value = given.get(own, outer.value(default) if default is not None else said)
            env[own] = value if value.kinds or value.refs else replace(value, kinds=said.kinds)
        returns = NOTHING if isinstance(node, ast.Lambda) else self.package.annotated(outer.module, node.returns)
        return self.run(Body(self, outer.module, outer.where, env, outer, outer.owner, returns), node)

    def report(self, module: Module, node: ast.AST, where: str, why: str) -> None:
        """Refuse what is written here, unless there is a reason to leave it."""
        code = " ".join(ast.unparse(node).split())
        for excuse in ((where, code), (where, rules.ALL)):
            if excuse in self.excused:
                self.used.add(excuse)
                return
        self.findings.add(Finding(module.path, getattr(node, "lineno", 0), where, code, why))

    def named(self, name: str) -> Value:
        """What a name in full stands for."""
        full = self.package.resolved(name)
        home, _, own = full.rpartition(".")
        module = self.package.modules.get(home)
        if module is None or own not in module.assigned or full in self.package.functions:
            return Value(refs=frozenset({full}))
        if full not in self._variables:
            self._variables[full] = NOTHING
            expression, annotation = module.assigned[own]
            found = self.evaluated(module, expression) if expression is not None else NOTHING
            self._variables[full] = found.joined(self.package.annotated(module, annotation))
        return self._variables[full]


def parameters(arguments: ast.arguments) -> Iterable[tuple[str, ast.expr | None, ast.expr | None]]:
    """The names of parameters, with annotations and defaults."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    for one, default in zip([*plain, *arguments.kwonlyargs], [*defaults, *arguments.kw_defaults], strict=True):
        yield one.arg, one.annotation, default
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            yield rest.arg, rest.annotation, None


def _sorted(env: Env) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(env.items(), key=lambda item: item[0]))
