"""What the expressions of a function may be."""

import ast
from dataclasses import replace

from checks import rules
from checks.calls import Calls
from checks.package import PROPERTIES
from checks.scope import Inner
from checks.values import NOTHING, Value, joined


class Expressions(Calls):
    """What an expression may be, by what its parts may be."""

    def bind(self, target: ast.expr, value: Value) -> None:
        """Give names what they are assigned."""
        raise NotImplementedError

    def branch(self, test: ast.expr) -> None:
        """Refuse a condition that depends on private numbers: what follows from it would not be marked."""
        if self.value(test).element.private:
            self.report(test, "a branch on private numbers")

    def taken(self, iterated: ast.expr) -> Value:
        """What a loop over an expression takes each time."""
        match iterated:
            case ast.Call(func=ast.Name(id="zip"), args=listed) if not any(
                isinstance(one, ast.Starred) for one in listed
            ):
                return Value.of(self.value(one).each() for one in listed)
            case ast.Call(func=ast.Name(id="enumerate"), args=[one, *_]):
                return Value.of((NOTHING, self.taken(one)))
        return self.value(iterated).each()

    def value(self, node: ast.expr) -> Value:
        """What an expression may be; a private float is refused."""
        return self.checked(node, self.expression(node))

    def checked(self, node: ast.AST, value: Value) -> Value:
        """The value, if it is no private float."""
        if value.parts is None and value.private and value.real:
            self.report(node, "private numbers become floats")
            return value.whole()
        return value

    def expression(self, node: ast.expr) -> Value:  # noqa: C901, PLR0911, PLR0912  one case for each kind of expression
        """The same, before it is looked at."""
        match node:
            case ast.Constant(value=constant):
                return Value(real=isinstance(constant, float | complex))
            case ast.Name(id=name):
                return self.lookup(name)
            case ast.Tuple(elts=elements) if not any(isinstance(one, ast.Starred) for one in elements):
                return Value.of(self.value(one) for one in elements)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return joined(self.value(one).element for one in elements)
            case ast.Dict(keys=keys, values=values):
                return joined(self.value(one).element for one in [*keys, *values] if one is not None)
            case ast.Starred(value=inner):
                return self.value(inner).element
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(node, op, self.value(left), self.value(right))
            case ast.UnaryOp(operand=operand):
                return self.value(operand)
            case ast.BoolOp(values=values):
                return joined(self.value(one) for one in values)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self.comparison(left, ops, others)
            case ast.IfExp(test=test, body=body, orelse=other):
                self.branch(test)
                return self.value(body).joined(self.value(other))
            case ast.Attribute(value=inner, attr=name):
                found = self.attribute(self.value(inner), name)
                return Value(found.private, real=True) if found.refs & rules.REALS else found
            case ast.Subscript(value=inner, slice=index):
                return self.element(self.value(inner), index)
            case ast.Slice():
                return joined(self.value(one) for one in (node.lower, node.upper, node.step) if one is not None)
            case ast.ListComp(elt=inner) | ast.SetComp(elt=inner) | ast.GeneratorExp(elt=inner):
                return self.comprehended(node.generators, [inner])
            case ast.DictComp(key=key, value=inner):
                return self.comprehended(node.generators, [key, inner]).element
            case ast.NamedExpr(target=target, value=inner):
                value = self.value(inner)
                self.bind(target, value)
                return value
            case ast.Lambda():
                return self.made(node)
            case ast.Call():
                return self.call(node)
            case ast.Yield(value=inner) | ast.YieldFrom(value=inner) if inner is not None:
                self.result = self.result.joined(self.value(inner))
            case ast.JoinedStr(values=values):
                for one in values:
                    self.value(one)
            case ast.FormattedValue(value=inner):
                self.value(inner)
            case ast.Await(value=inner):
                return self.value(inner)
        return NOTHING

    def comprehended(self, generators: list[ast.comprehension], elements: list[ast.expr]) -> Value:
        """What a comprehension holds. Its own names end with it."""
        names = {each.id for one in generators for each in ast.walk(one.target) if isinstance(each, ast.Name)}
        before = {name: self.env[name] for name in names & set(self.env)}
        for one in generators:
            self.bind(one.target, self.taken(one.iter))
            for test in one.ifs:
                self.branch(test)
        found = joined([self.value(one) for one in elements])
        self.env = {name: value for name, value in self.env.items() if name not in names} | before
        return found

    def comparison(self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]) -> Value:
        """Whether an object is another one says nothing of its numbers."""
        values = [self.value(one).element for one in (left, *others)]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in ops):
            return NOTHING
        found = joined(Value(value.private, value.real) for value in values)
        return found if found.private else NOTHING

    def operation(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """Arithmetic."""
        both = left.element.joined(right.element)
        exact = any(kind.endswith("Fraction") for kind in both.kinds) and not both.real
        found = Value(both.private, both.real, kinds=both.kinds if exact else frozenset())
        if isinstance(op, ast.Add | ast.Mult) and not exact:  # lists and tuples too
            found = both
        if isinstance(op, ast.Div):
            if both.private:
                self.report(node, "private numbers are divided with /")
                return found.whole()
            return found if exact else Value(real=True)
        if isinstance(op, ast.Pow):
            exponent = getattr(node, "right", getattr(node, "value", None))
            if both.private and not (isinstance(exponent, ast.Constant) and type(exponent.value) is int):
                self.report(node, "a power that may be a fraction")
                return found.whole()
            if isinstance(exponent, ast.UnaryOp) and not exact:
                return replace(found, real=True)
        return found

    def element(self, value: Value, index: ast.expr) -> Value:
        """What lies at a place."""
        place = self.value(index).element
        if value.parts is not None and isinstance(index, ast.Constant) and isinstance(index.value, int):
            found = value.parts[index.value] if -len(value.parts) <= index.value < len(value.parts) else value.element
        else:
            found = value.element
        return found.marked() if place.private else found

    def attribute(self, value: Value, name: str) -> Value:
        """What an attribute may be."""
        if name == "dtype":
            return Value(refs=frozenset({"builtins.float" if value.real else "builtins.int"}))
        if name in rules.PUBLIC_ATTRIBUTES:
            return NOTHING
        if name in rules.LENGTHS and value.private and not value.kinds:
            return Value(value.sparse)
        if self.spaces(value):
            return joined(self.of_name(one, name) for one in self.spaces(value))
        found = joined(self.of_instance(kind, name, value) for kind in sorted(value.kinds))
        sealed = value.kinds & rules.SEALED
        return found.marked() if value.private and not sealed else found

    def of_name(self, full: str, name: str) -> Value:
        """What an attribute of a module or a class may be."""
        for one in self.flow.package.lineage(full):
            if name in one.methods:
                return Value(refs=frozenset({one.methods[name].name}))
            if name in one.fields:
                return self.flow.package.annotated(one.module, one.fields[name])
        if full in self.flow.package.classes:
            return Value(kinds=frozenset({full}))
        return self.flow.named(f"{full}.{name}")

    def of_instance(self, kind: str, name: str, value: Value) -> Value:
        """What an attribute of an instance may be: what its field is annotated as, or what its property gives."""
        if f"{self.flow.package.resolved(kind)}.{name}" in rules.FETCHED:
            return Value(refs=frozenset({f"{kind}.{name}"}))
        found = self.flow.package.field(kind, name)
        if found is not None:
            if kind in rules.PRIVATE:
                return replace(found, private=True, sparse=True)
            return found.marked() if found.kinds & rules.PRIVATE else found
        methods = self.flow.package.methods(kind, name)
        properties = [one for one in methods if one.decorators & PROPERTIES]
        if properties:
            return joined(self.flow.called(one, {"self": value}).value for one in properties)
        owner = "private" if value.private else "public"
        return Value(refs=frozenset(f"bound:{owner}:{one.name}" for one in methods))

    def made(self, node: Inner) -> Value:
        """A function inside this one: it knows what this one knows."""
        name = f"inner:{self.module.path}:{node.lineno}:{node.col_offset}"
        value, known = Value(refs=frozenset({name})), self.flow.inner.setdefault(name, [])
        if not any(outer is self for _, outer in known):
            known.append((node, self))
        if not isinstance(node, ast.Lambda):
            self.env[node.name] = value
        self.flow.inside(node, self, {})
        return value
