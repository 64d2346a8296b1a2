"""Calls of functions, methods and classes of the package."""

import ast

from checks import rules
from checks.outside import Outside
from checks.scope import Arguments, Given, Inner, Scope
from checks.values import NOTHING, Value, joined


class Calls(Outside):
    """What a call gives back, and what it puts into its arguments."""

    def call(self, node: ast.Call) -> Value:
        """What a call gives back."""
        given = self._given(node)
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value)
            if not self.spaces(receiver):
                return self._method(node, node.func, receiver, given)
            targets = self.attribute(receiver, node.func.attr).refs
        else:
            callee = self.value(node.func)
            targets = callee.refs
            methods = {one.name: one for kind in callee.kinds for one in self.flow.package.methods(kind, "__call__")}
            if methods:
                found = [self.enter(one, given, (callee, node.func)) for _, one in sorted(methods.items())]
                return joined([*found, *(self.target(node, one, given) for one in sorted(targets))])
        if given.all.private and not targets:
            self.report(node, "private numbers are given to what is not known")
        return joined(
            [Value(given.all.private and not targets), *(self.target(node, one, given) for one in sorted(targets))]
        )

    def target(self, node: ast.Call, name: str, given: Arguments) -> Value:
        """What a call gives back, of what has this name in full."""
        package = self.flow.package
        if name.startswith("loop:"):
            return self.loop(node, name.removeprefix("loop:"), given)
        if name.startswith("inner:"):
            return joined(self._inner(inner, outer, given) for inner, outer in list(self.flow.inner[name]))
        if name.startswith("bound:"):
            _, owner, method = name.split(":")
            function = package.functions[method]
            itself = Value(owner == "private", kinds=frozenset({function.owner or ""}))
            return self.enter(function, given, (itself, node.func))
        if name in rules.FETCHED:
            return Value(private=True)
        if name in package.functions:
            return self.enter(package.functions[name], given)
        return self._made(node, name, given) if name in package.classes else self.external(node, name, given)

    def _inner(self, node: Inner, outer: Scope, given: Arguments) -> Value:
        """What a function inside another one gives back."""
        return self.entered(node.args, (), given, lambda env: self.flow.inside(node, outer, env), outer.module)

    def _given(self, node: ast.Call) -> Arguments:
        """What a call is given."""
        ordered: list[Given] = []
        rest: list[Value] = [self.value(one.value).element for one in node.keywords if one.arg is None]
        exact = True
        for one in node.args:
            value = self.value(one.value if isinstance(one, ast.Starred) else one)
            if exact and not isinstance(one, ast.Starred):
                ordered.append((value, one))
            elif exact and isinstance(one, ast.Starred) and value.parts is not None:
                ordered.extend((part, one.value) for part in value.parts)
            else:
                exact = False
                rest.append(value.element)
        named = ((one.arg, self.value(one.value), one.value) for one in node.keywords if one.arg is not None)
        return Arguments(tuple(ordered), tuple(named), joined(rest))

    def _made(self, node: ast.Call, name: str, given: Arguments) -> Value:
        """An instance of a class: private as a whole if anything is that it is made of."""
        if name == rules.LOOP:
            first = given.ordered[0][1]
            return Value(refs=frozenset({f"loop:{first.value}"} if isinstance(first, ast.Constant) else ()))  # type: ignore[str-bytes-safe]  # a name
        lineage = self.flow.package.lineage(name)
        fields = list(dict.fromkeys(own for one in reversed(lineage) for own in one.fields))
        said = [(own, value, place) for own, (value, place) in zip(fields, given.ordered, strict=False)]
        for own, value, place in (*said, *given.named):
            self.meant(place, value, self.flow.package.field(name, own) or NOTHING)
        if name in rules.SEALED:
            return Value(kinds=frozenset({name}))
        itself = Value(given.all.private or name in rules.PRIVATE, kinds=frozenset({name}))
        for own, handed in (("__init__", given), ("__post_init__", Arguments())):
            for method in [one.methods[own] for one in lineage if own in one.methods][:1]:
                self.enter(method, handed, (itself, node))
        return itself

    def _method(self, node: ast.Call, func: ast.Attribute, receiver: Value, given: Arguments) -> Value:
        """What a method gives back, of an instance, an array, or whatever it belongs to."""
        name, package = func.attr, self.flow.package
        methods = {one.name: one for kind in receiver.kinds for one in package.methods(kind, name)}
        if methods:
            return joined(self.enter(methods[one], given, (receiver, func.value)) for one in sorted(methods))
        if receiver.kinds:
            targets = self.attribute(receiver, name).refs
            if targets:
                return joined(self.target(node, one, given) for one in sorted(targets))
        private = receiver.element.private or given.all.private
        if name in rules.KEEPERS:
            self.fill(func.value, given.all)
            return Value(private)
        if private and name not in rules.WHOLE_METHODS:
            return self._of_any(node, func, receiver, given)
        floats = given.floats(expected=name in rules.TYPING_METHODS)
        if name in rules.TYPING_METHODS:
            known = any(value.refs or isinstance(place, ast.Constant) for value, place in given.every)
            if private and given.every and not known:
                self.report(node, "private numbers take a type that is not known")
            return Value(private, floats)
        flat = receiver.element
        real = flat.real or given.numbers.real or floats or name == "mean"
        return Value(private, real, flat.refs, flat.kinds).joined(self.applied(node, given, flat))

    def _of_any(self, node: ast.Call, func: ast.Attribute, receiver: Value, given: Arguments) -> Value:
        """A method of what is not known: any of this name in the package."""
        methods = self.flow.package.called(func.attr)
        if not methods:
            self.report(node, f"nothing says that .{func.attr}() keeps private numbers whole")
            return Value(private=True)
        return joined(self.enter(one, given, (receiver, func.value)) for one in methods)
