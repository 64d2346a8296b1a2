"""Calls of what is not of the package: Python's own functions, NumPy's, and the loops in C."""

import ast

from checks import rules
from checks.scope import Arguments, Scope
from checks.values import NOTHING, Value, joined


class Outside(Scope):
    """What they give back. Whatever is not known to keep whole numbers whole is refused what is private."""

    def target(self, node: ast.Call, name: str, given: Arguments) -> Value:
        """What a call gives back, of what has this name in full."""
        raise NotImplementedError

    def external(self, node: ast.Call, name: str, given: Arguments) -> Value:
        """What a function gives back that is not of the package."""
        library, _, own = name.partition(".")
        if library == "numpy" and name not in rules.FLOATS:
            return self._numpy(node, own, given)
        private = given.all.private and not (library == "builtins" and own in rules.NAMELESS_BUILTINS)
        if private and (name in rules.FLOATS or given.floats()):
            self.report(node, "private numbers become floats")
        elif private and own not in rules.WHOLE_BUILTINS and name not in rules.WHOLE_ELSEWHERE:
            self.report(node, f"nothing says that {own} keeps private numbers whole")
        elif library == "builtins":
            return self._builtin(node, own, given) if private == given.all.private else NOTHING
        elif name == "fractions.Fraction":
            return Value(private, kinds=frozenset({name}))
        elif private:
            return Value(private, given.numbers.real, kinds=given.numbers.kinds).joined(
                self.applied(node, given, given.numbers)
            )
        elif library == "math":
            return Value(real=name not in rules.WHOLE_ELSEWHERE and own not in {"floor", "ceil"})
        return Value(private)

    def _builtin(self, node: ast.Call, own: str, given: Arguments) -> Value:
        """What a builtin gives back."""
        if own == "len":
            return Value(any(value.sparse for value, _ in given.every))
        if own in {"int", "bool", "range"}:
            return Value(given.all.private)
        if own == "super" and self.owner is not None:
            return Value(kinds=frozenset(self.flow.package.classes[self.owner].bases))
        flat = given.numbers.joined(self.applied(node, given, given.numbers))
        return Value(flat.private, flat.real or own == "float", flat.refs, flat.kinds)

    def applied(self, node: ast.Call, given: Arguments, others: Value) -> Value:
        """What functions give back that are handed to another one, as to ``map``: they see all else that it sees."""
        named = sorted(name for value, _ in given.every for name in value.refs) if others.private else []
        return joined(self.target(node, name, Arguments(rest=others)) for name in named)

    def _numpy(self, node: ast.Call, own: str, given: Arguments) -> Value:
        """What a function of NumPy gives back."""
        private, numbers, floats = given.all.private, given.numbers, given.floats()
        if own in rules.NAMELESS_NUMPY:
            return NOTHING
        for name, _, place in given.named:
            if name == "out":
                self.fill(place, Value(private))
        if own in rules.FILLING_NUMPY or own.endswith(".at"):
            if given.ordered:
                self.fill(given.ordered[0][1], Value(private))
            if private and joined(value for value, _ in given.ordered[1:]).real:
                self.report(node, "private numbers become floats")
            return NOTHING
        if own in rules.REAL_NUMPY:
            return Value(private, floats or not given.has(1, "dtype"))
        if own == "bincount" and given.has(1, "weights"):
            return Value(private, real=True)
        if private and own not in rules.WHOLE_NUMPY:
            self.report(node, f"nothing says that numpy.{own} keeps private numbers whole")
            return Value(private)
        whole = any(value.refs and not value.refs & rules.FLOATS for value, _ in given.every) and not private
        real = numbers.real or own not in rules.WHOLE_NUMPY
        return Value(private, floats or (real and not whole))

    def loop(self, node: ast.Call, name: str, given: Arguments) -> Value:
        """A loop in C: what it writes to is private if anything is that it reads."""
        if not given.all.private:
            return NOTHING
        self.flow.loops.setdefault(name, f"{self.module.path}:{node.lineno}")
        writes = self.flow.written.get(name, ())
        exact = len(writes) == len(given.ordered) and given.rest == NOTHING
        for place, one in enumerate([place for _, place in given.ordered] if exact else node.args):
            if not exact or writes[place]:
                self.fill(one, Value(private=True))
        return Value(private=True)
