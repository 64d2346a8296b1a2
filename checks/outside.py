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
        elif (
            private
            and name not in rules.WHOLE_ELSEWHERE
            and not (library == "builtins" and own in rules.WHOLE_BUILTINS)
        ):
            self.report(node, f"nothing says that {own} keeps private numbers whole")
        elif library == "builtins":
            return self._builtin(node, own, given) if private == given.all.private else NOTHING
        elif name == "fractions.Fraction":
            return Value(private, kinds=frozenset({name}))
        elif private:
            return Value(private, given.numbers.real, kinds=given.numbers.kinds).joined(
                self.applied(node, given, given.numbers)
            )
        else:
            return Value(real=name not in rules.WHOLE_ELSEWHERE and name not in rules.NAMELESS_ELSEWHERE)
        return Value(private)

    def _builtin(self, node: ast.Call, own: str, given: Arguments) -> Value:
        """What a builtin gives back."""
        if own == "len":
            return Value(any(value.sparse for value, _ in given.every))
        if own == "getattr" and given.ordered[1:] and isinstance(given.ordered[1][1], ast.Constant):
            return self.attribute(given.ordered[0][0], str(given.ordered[1][1].value))
        if own in {"int", "bool", "range"}:
            return Value(given.all.private)
        if own == "super" and self.owner is not None:
            return Value(kinds=frozenset(self.flow.package.classes[self.owner].bases))
        flat = given.numbers.joined(self.applied(node, given, given.numbers))
        return Value(
            given.all.private or flat.private, flat.real or own in {"float", "complex", "pow"}, flat.refs, flat.kinds
        )

    def applied(self, node: ast.Call, given: Arguments, others: Value) -> Value:
        """What functions give back that are handed to another one, as to ``map``: they see all else that it sees."""
        named = sorted(name for value, _ in given.every for name in value.refs) if others.private else []
        return joined(self.target(node, name, Arguments(rest=others)) for name in named)

    def _numpy(self, node: ast.Call, own: str, given: Arguments) -> Value:
        """What a function of NumPy gives back."""
        private, numbers, floats = given.all.private, given.numbers, given.floats(expected=True)
        if own in rules.NAMELESS_NUMPY:
            return NOTHING
        if own in rules.TYPED_NUMPY:
            return Value(refs=frozenset({"builtins.float" if floats or numbers.real else "builtins.int"}))
        self._put(node, own, given)
        whole, real = own in rules.WHOLE_NUMPY, numbers.real
        if own in {"append", "concatenate", "hstack"}:
            real |= any(isinstance(one, ast.List) and not one.elts for one in ast.walk(node))  # an array of floats
        if own in rules.REAL_NUMPY:
            real = not given.has(1, "dtype")
        elif own == "bincount" and given.has(1, "weights"):
            real = True
        elif private and not whole and not own.endswith(".at") and own not in rules.FILLING_NUMPY:
            self.report(node, f"nothing says that numpy.{own} keeps private numbers whole")
            return Value(private)
        elif not private:
            typed = any(value.refs and not value.refs & rules.FLOATS for value, _ in given.every)
            real = (real or not whole) and not typed
        return Value(private, floats or real)

    def _put(self, node: ast.Call, own: str, given: Arguments) -> None:
        """What a function of NumPy puts into its arguments, and the type that it is told to use."""
        private = given.all.private
        for name, value, place in given.named:
            if name == "out":
                self.fill(place, Value(private))
            if name == "dtype" and private and not value.refs and not isinstance(place, ast.Constant):
                self.report(node, "private numbers take a type that is not known")
        if given.ordered and (own in rules.FILLING_NUMPY or own.endswith(".at")):
            self.fill(given.ordered[0][1], Value(private))

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
