"""What may stand in the place of a piece of code: mistakes as people make them, one at a time."""

import ast
from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""A border moved to the other side, and the opposite."""

COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.MatMult: ast.Mult,
}

UNORDERED = frozenset({"max", "min", "maximum", "minimum", "gcd", "lcm", "isclose", "array_equal"})
"""Functions that do not mind the order of their arguments."""

UNCHANGED = frozenset({"annotation", "returns", "decorator_list", "bases"})
"""Fields of code that say what it is, not what it does."""

ASSERTED = frozenset({"strict", "repr"})
"""Arguments of ``zip`` and ``field`` that say what holds anyway, and what readers see."""

TEXTS = frozenset({"__repr__", "__str__"})
"""Methods that make texts for readers."""


class Place(NamedTuple):
    """Where a piece of code stands: in which field of what."""

    node: ast.AST
    parent: ast.AST
    field: str


def skipped(place: Place) -> bool:
    """Whether nothing in a piece of code is changed: texts of errors, annotations, names that a module lists."""
    return (
        place.field in UNCHANGED
        or isinstance(place.parent, ast.Raise)
        or _is_for_readers(place.node)
        or _is_alias(place)
        or (place.field == "left" and _is_power(place.parent))
    )


def _is_for_readers(node: ast.AST) -> bool:
    """Texts, and what is read by other programs alone."""
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Assign(targets=[ast.Name(id="__all__" | "hint")]):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return True
        case ast.Call(func=function):
            return _name(function).endswith(("Error", "Warning"))
        case ast.keyword(arg=name):
            return name in ASSERTED
        case _:
            return isinstance(node, ast.FunctionDef) and node.name in TEXTS


def _is_alias(place: Place) -> bool:
    """A name for several types: ``Scale = Fraction | int``."""
    match place:
        case Place(ast.BinOp(op=ast.BitOr()), ast.Assign(targets=[ast.Name(id=name)])):
            return name[0].isupper() and not name.isupper()
        case _:
            return False


def variations(place: Place) -> Iterator[ast.AST]:
    """All that may stand in this place instead, in a fixed order; no two of them are written alike."""
    seen = {ast.dump(place.node)}
    for other in _all(place):
        if (written := ast.dump(other)) not in seen:
            seen.add(written)
            yield other


def _all(place: Place) -> Iterator[ast.AST]:
    if isinstance(place.node, ast.stmt):
        yield from _statements(place.node)
    elif isinstance(place.node, ast.expr):
        yield from _forced(place)
        yield from _operators(place.node)
        yield from _values(place)


def _statements(node: ast.stmt) -> Iterator[ast.AST]:
    """What is not done, or not given back."""
    match node:
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield ast.Pass()
        case ast.AugAssign(op=op):
            yield _with(node, op=COMPUTED[type(op)]())
            yield ast.Pass()


def _forced(place: Place) -> Iterator[ast.AST]:
    """A condition that always holds, or never; a loop that never ends would say nothing."""
    match place.parent:
        case ast.If() | ast.IfExp() if place.field == "test":
            yield ast.Constant(value=True)
            yield ast.Constant(value=False)
        case ast.While() if place.field == "test":
            yield ast.Constant(value=False)
        case ast.comprehension() if place.field == "ifs":
            yield ast.Constant(value=True)
            yield ast.Constant(value=False)


def _operators(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for other in COMPARED[type(op)]:
                    yield _with(node, ops=[*ops[:at], other(), *ops[at + 1 :]])
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=op, right=right) if not (_is_text(left) or _is_text(right) or _is_power(node)):
            yield _with(node, op=COMPUTED[type(op)]())


def _values(place: Place) -> Iterator[ast.AST]:
    match place.node:
        case ast.Constant(value=value) if not _is_fraction(place.parent):
            yield from (ast.Constant(value=other) for other in _constants(value))
        case ast.Call() as call if _is_fraction(call):
            yield from (_with(call, args=args) for args in _fractions(call.args))
        case ast.Call(func=function, args=args) if _name(function) not in UNORDERED:
            for at in range(len(args) - 1):
                if not any(isinstance(one, ast.Starred) for one in args[at : at + 2]):
                    yield _with(place.node, args=[*args[:at], args[at + 1], args[at], *args[at + 2 :]])
        case ast.Slice():
            ends = (name for name in ("lower", "upper", "step") if getattr(place.node, name) is not None)
            yield from (_with(place.node, **{name: None}) for name in ends)


def _constants(value: object) -> list[bool | int | float]:
    """Other numbers, near this one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1] if value else [1]
    if isinstance(value, float):
        return [2 * value if value else 1.0, value / 2]
    return []


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """The same with other fields."""
    other = copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _name(function: ast.expr) -> str:
    """The last part of the name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_fraction(node: ast.AST) -> bool:
    """An exact number that is written in the code: twice and half of it are mistakes enough."""
    return (
        isinstance(node, ast.Call)
        and _name(node.func) == "Fraction"
        and bool(node.args)
        and all(isinstance(one, ast.Constant) and type(one.value) is int for one in node.args)
    )


def _fractions(args: list[ast.expr]) -> Iterator[list[ast.Constant]]:
    """Twice and half of a fraction; one and minus one instead of none."""
    over, under = (one.value if isinstance(one, ast.Constant) else 1 for one in (*args, ast.Constant(value=1))[:2])
    if not isinstance(over, int) or not isinstance(under, int):
        return
    pairs = ((2 * over, under), (over, 2 * under)) if over else ((1, under), (-1, under))
    for pair in pairs:
        yield [ast.Constant(value=one) for one in pair][: max(len(args), 1 + (pair[1] != 1))]


def _is_power(node: ast.AST) -> bool:
    """A power of two that is written as such: half and twice of it are mistakes enough."""
    match node:
        case ast.BinOp(left=ast.Constant(), op=ast.Pow(), right=ast.Constant()):
            return True
        case _:
            return False


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
