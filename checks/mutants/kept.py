"""Verdicts that need no second trial.

A mutant that a test noticed is noticed as long as neither its module nor this test changes. A mutant that survived
does so until any test that may be asked changes.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping

from checks.mutants.mutant import Mutant
from checks.mutants.reach import test_digest, test_files
from checks.mutants.scopes import Project
from checks.mutants.trials import Outcome, Verdict

KEPT = "verdicts.json"
"""In the folder for what runs have found out; nobody commits it."""


class Kept:
    """Verdicts of earlier runs."""

    def __init__(self, project: Project, texts: Mapping[str, str], tests: Iterable[str]) -> None:
        """Read them, if there are any; these files and folders of tests may be asked."""
        self._root, self._texts, self._tests = project.root, texts, tuple(tests)
        self._path = project.root / project.kept / KEPT
        self._verdicts: dict[str, tuple[str, str, str]] = (
            json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}
        )
        self._digests: dict[str, str] = {}

    def verdict(self, mutant: Mutant) -> Verdict | None:
        """What became of a mutant, if that still holds."""
        outcome, test, digest = self._verdicts.get(self._name(mutant), ("", "", ""))
        return Verdict(mutant, Outcome(outcome), test) if outcome and self._digest(test) == digest else None

    def add(self, verdict: Verdict) -> None:
        """Keep a verdict."""
        self._verdicts[self._name(verdict.mutant)] = (verdict.outcome, verdict.test, self._digest(verdict.test))

    def save(self) -> None:
        """Write them."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(self._verdicts), encoding="utf-8")

    def _name(self, mutant: Mutant) -> str:
        text = f"{mutant.path}\0{self._texts[mutant.path]}\0{mutant.steps}\0{mutant.number}\0{mutant.change}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _digest(self, test: str) -> str:
        """Of the file of a test; without one, of all that may be asked."""
        file = test.partition("::")[0]
        if file not in self._digests:
            every = "".join(test_digest(self._root, one) for one in test_files(self._root, self._tests) if not file)
            self._digests[file] = test_digest(self._root, file) if file else hashlib.sha256(every.encode()).hexdigest()
        return self._digests[file]
