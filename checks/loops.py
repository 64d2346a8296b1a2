"""The loops in C: what each writes to, and whether there is a float in it or in what it calls.

No compiler is asked. A loop is text from its name to its last brace, and so is every function and macro that it may
call; a float is any name of a type of floats, of a function of them, or a number with a point.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

IGNORED = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'", re.DOTALL)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:.*\\\n)*.*)", re.MULTILINE)
PASTED = re.compile(r"^[ \t]*(\w+)\((\w+)\)[ \t]*$", re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*", re.MULTILINE)
KERNEL = re.compile(r"KERNEL\(\s*(?P<result>\w+),\s*(?P<name>\w+),(?P<takes>.*)\)\s*$", re.DOTALL)
PLAIN = re.compile(r"(?P<name>\w+)\s*\([^()]*\)\s*$")
FLOAT = re.compile(
    r"\b(?:f32|f64|float|double|INFINITY|NAN)\b"
    r"|\b(?:dmin|dmax|a?(?:sin|cos|tan)h?|sqrt|cbrt|pow|exp2?|expm1|log(?:2|10|1p)?|fabs|floor|ceil|l?l?round|l?l?rint"
    r"|trunc|fmod|fma|hypot)[fl]?(?=\s*\()"
    r"|(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?:\.\d*)?[eE][-+]?\d+)"
)


@dataclass(frozen=True)
class Loop:
    """A function or macro in C.

    Attributes:
        path: The file.
        line: Where its text begins.
        text: Its head and its body, without comments.
        writes: Which of its arguments it may write to; empty if it is not called from Python.
    """

    path: str
    line: int
    text: str
    writes: tuple[bool, ...] = ()


def read(texts: Mapping[str, str]) -> dict[str, dict[str, Loop]]:
    """All functions and macros, by file and name."""
    return {path: _read(path, text) for path, text in texts.items()}


def kernels(files: Mapping[str, Mapping[str, Loop]]) -> dict[str, tuple[bool, ...]]:
    """For every loop that Python can call, which of its arguments it may write to."""
    return {name: loop.writes for parts in files.values() for name, loop in parts.items() if loop.writes}


def floats(files: Mapping[str, Mapping[str, Loop]], name: str) -> list[tuple[str, int, str]]:
    """Where floats are in a loop and in all that it may call: file, line, and what is written there."""
    home = next((path for path, parts in files.items() if name in parts and parts[name].writes), None)
    if home is None:
        return [("?", 0, f"there is no loop {name}")]
    near = {one: loop for path, parts in files.items() if path.endswith(".h") for one, loop in parts.items()}
    near |= files[home]
    found: list[tuple[str, int, str]] = []
    seen, left = {"KERNEL", "NAMED", "SHOWN"}, [name]
    while left:
        loop = near[left.pop()]
        found.extend(
            (loop.path, loop.line + loop.text.count("\n", 0, match.start()), match[0])
            for match in FLOAT.finditer(loop.text)
        )
        for word in set(re.findall(r"\w+", loop.text)) & set(near) - seen:
            seen.add(word)
            left.append(word)
    return sorted(found)


@cache
def _read(path: str, text: str) -> dict[str, Loop]:
    return dict(_parts(path, text))


def _parts(path: str, text: str) -> Iterator[tuple[str, Loop]]:
    plain = IGNORED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for macro in MACRO.finditer(plain):
        yield macro[1], Loop(path, plain.count("\n", 0, macro.start()) + 1, macro[0])
    macros = {macro[1]: macro[2] for macro in MACRO.finditer(plain) if "##" in macro[2]}
    plain = DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), plain)
    plain = PASTED.sub(lambda use: _pasted(macros[use[1]], use[2]) if use[1] in macros else use[0], plain)
    depth, begin, head = 0, 0, ""
    for match in re.finditer(r"[{};]", plain):
        if match[0] == "{":
            head = plain[begin : match.start()] if depth == 0 else head
            depth += 1
        elif match[0] == "}":
            depth -= 1
        if depth > 0 or match[0] == "{":
            continue
        first = begin + len(plain[begin:]) - len(plain[begin:].lstrip())
        whole, line = plain[first : match.end()], plain.count("\n", 0, first) + 1
        kernel, other = KERNEL.search(head), PLAIN.search(head)
        if match[0] == "}" and kernel:
            takes = [] if kernel["takes"].strip() == "void" else kernel["takes"].split(",")
            writes = tuple("*" in one and "const" not in one for one in takes)
            yield kernel["name"], Loop(path, line, whole, writes)
        elif match[0] == "}" and other:
            yield other["name"], Loop(path, line, whole)
        begin, head = match.end(), ""


def _pasted(macro: str, given: str) -> str:
    """What a macro with one parameter stands for, on one line."""
    name, _, text = macro.replace("\\\n", " ").strip().removeprefix("(").partition(")")
    return re.sub(rf"(?:##)?\b{name.strip()}\b", given, text)
