"""One function gone through, statement by statement."""

import ast
from collections.abc import Callable

from checks.expressions import Expressions
from checks.package import imported
from checks.values import NOTHING, Env, Value


class Body(Expressions):
    """What is known inside a function while it is gone through."""

    def block(self, statements: list[ast.stmt]) -> bool:
        """Go through statements; true if what follows them is never reached."""
        ended = [self.statement(node) for node in statements]
        return any(ended)

    def statement(self, node: ast.stmt) -> bool:  # noqa: C901, PLR0912  one case for each kind of statement
        """Go through a statement; true if what follows it is never reached."""
        match node:
            case ast.Assign(targets=targets, value=expression):
                value = self.value(expression)
                for target in targets:
                    self.bind(target, value)
            case ast.AnnAssign(target=target, value=expression, annotation=annotation) if expression is not None:
                said = self.flow.package.annotated(self.module, annotation)
                self.bind(target, self.meant(expression, self.value(expression), said))
            case ast.AugAssign(target=target, op=op, value=expression):
                self.bind(
                    target, self.checked(node, self.operation(node, op, self.value(target), self.value(expression)))
                )
            case ast.Return(value=expression):
                if expression is not None:
                    self.result = self.result.joined(self.meant(expression, self.value(expression), self.returns))
                return True
            case ast.Raise(exc=error):
                if error is not None:
                    self.value(error)
                return True
            case ast.If(test=test, body=body, orelse=other):
                self.branch(test)
                return self.either(body, other)
            case (
                ast.For(target=target, iter=iterated, body=body, orelse=other)
                | ast.AsyncFor(target=target, iter=iterated, body=body, orelse=other)
            ):
                self.repeated(lambda: self.bind(target, self.taken(iterated)), body)
                self.block(other)
            case ast.While(test=test, body=body, orelse=other):
                self.repeated(lambda: self.branch(test), body)
                self.block(other)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    value = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, value)
                return self.block(body)
            case ast.Try(body=body, handlers=handlers, orelse=other, finalbody=final):
                before = dict(self.env)
                ended = self.block([*body, *other])
                self.env = self.merged(before, self.env)
                for handler in handlers:
                    ended &= self.either(handler.body, [])
                return self.block(final) or ended
            case ast.Match(subject=subject, cases=cases):
                self.branch(subject)
                for case in cases:
                    for part in ast.walk(case.pattern):
                        if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                            self.env[part.name] = self.value(subject).element
                    self.either(case.body, [])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.env[node.name] = self.made(node)
            case ast.Import() | ast.ImportFrom():
                for name, full in imported(node, self.module.name, package=False):
                    self.env[name] = self.flow.named(full)
            case ast.Assert(test=test):
                self.branch(test)
            case ast.Expr(value=expression):
                self.value(expression)
        return False

    def either(self, one: list[ast.stmt], other: list[ast.stmt]) -> bool:
        """Go both ways; what follows knows what either has learned, unless it ended there."""
        before = dict(self.env)
        first_ended = self.block(one)
        after, self.env = self.env, before
        second_ended = self.block(other)
        if second_ended:
            self.env = after
        elif not first_ended:
            self.env = self.merged(after, self.env)
        return first_ended and second_ended

    def repeated(self, begin: Callable[[], object], body: list[ast.stmt]) -> None:
        """Go through a loop until it learns nothing new."""
        while True:
            before = dict(self.env)
            begin()
            self.block(body)
            self.env = self.merged(before, self.env)
            if self.env == before:
                return

    @staticmethod
    def merged(one: Env, other: Env) -> Env:
        """What is known if either way was taken."""
        return {name: one.get(name, NOTHING).joined(other.get(name, NOTHING)) for name in one | other}

    def bind(self, target: ast.expr, value: Value) -> None:
        """Give names what they are assigned."""
        match target:
            case ast.Name(id=name):
                self.env[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                exact = value.parts is not None and len(value.parts) == len(targets)
                exact = exact and not any(isinstance(one, ast.Starred) for one in targets)
                parts = value.parts if exact and value.parts is not None else [value.element] * len(targets)
                for one, part in zip(targets, parts, strict=True):
                    self.bind(one, part)
            case ast.Starred(value=inner):
                self.bind(inner, value.element)
            case ast.Subscript() | ast.Attribute():
                if isinstance(target, ast.Attribute):
                    self.meant(target, value, self.attribute(self.value(target.value), target.attr))
                self.fill(target, value)
