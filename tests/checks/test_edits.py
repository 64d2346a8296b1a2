"""What is really in the package, changed as somebody might change it: every such float is found at its line."""

import pytest

from helpers.checking import WHOLE, parts, refused

EDITS = {
    "counts.py": ("np.diff(before[np.searchsorted(self.cells, bounds)])", "np.diff(before[bounds] * 1.0)"),
    "partition/buckets.py": ("totals = np.zeros(len(self), np.int64)\n        np.add.at(", None),
    "partition/filled.py": ("options.most(epsilon)).sum())", "options.most(epsilon)).mean())"),
    "partition/gauge.py": ("uneven = gates.noisy(scores, ", "uneven = gates.noisy(np.rint(scores), "),
    "partition/halves.py": (
        "height = _bits(cells[first] ^ highest)",
        "height = np.ceil(np.log2(cells[first] ^ highest))",
    ),
    "partition/kd_tree.py": ("-np.abs(2 * before[:-1] - before[-1])", "-np.abs(before[:-1] - before[-1] / 2)"),
    "partition/noisy_cost.py": ("costs[level, :number] = noisy + ", "costs[level, :number] = noisy / 1 + "),
    "partition/php.py": ("scores = -left_over", "scores = -left_over.astype(np.float32)"),
    "partition/privtree.py": (
        "np.searchsorted(exposed.cells, stop)] - before",
        "np.searchsorted(exposed.cells, stop)] / before",
    ),
    "partition/split.py": ("IntArray = scores - self.step * depth", "IntArray = scores - 0.5 * self.step * depth"),
    "partition/structure_first.py": (
        "return int((scores * np.diff(bounds)).sum())",
        "return float((scores * np.diff(bounds)).sum())",
    ),
    "partition/uniform_grid.py": ("np.array([exposed.counts.sum()])", "np.array([exposed.counts.sum()], float)"),
    "partition/walk.py": ("scores = score(exposed, before, ", "scores = score(exposed, before / 2, "),
    "measure.py": ("exact = strategy.apply(", "exact = RESOLUTION**-1 * strategy.apply("),
    "mechanisms/agrid.py": (
        "np.add.at(totals, labels, exposed.counts)",
        "np.add.at(totals, labels, np.sqrt(exposed.counts))",
    ),
    "mechanisms/dpcube.py": (
        "gates.noisy(exposed.grid(shape).ravel(), ",
        "gates.noisy(np.log1p(exposed.grid(shape).ravel()), ",
    ),
    "mechanisms/efpa.py": ("-math.isqrt(square // parameters.step**2)", "-math.isqrt(square / parameters.step**2)"),
    "mechanisms/mwem.py": ("np.abs(exact - queries.estimated(bounds, mass))", "np.abs(exact - mass)"),
    "strategy/bumps.py": ("np.concatenate((rows, self.leaf * exact))", "np.concatenate((rows, self.leaf / 2 * exact))"),
    "strategy/hats.py": ("exact = np.array(totals, np.int64)", "exact = np.array(totals, np.float64)"),
    "strategy/nested.py": (
        "(before[self.nodes.stop] - before[self.nodes.start])",
        "(before[self.nodes.stop] - before[self.nodes.start]) / 1",
    ),
    "strategy/product.py": (
        "answers: IntArray = self.weight * grid.ravel()",
        "answers: IntArray = float(self.weight) * grid.ravel()",
    ),
    "strategy/tree.py": ("answers: IntArray = self.weights * kernels", "answers: IntArray = self.weights / kernels"),
    "strategy/wavelet.py": ("answers[:, :-1] *= self.difference", "answers[:, :-1] /= self.difference"),
    "kernels/bisect.py": (
        "_bisections(size, counts, np.empty(3 * size + 1, np.int64), cost)",
        "_bisections(size, counts * 0.5, cost, cost)",
    ),
    "kernels/costs.py": ("values.astype(np.int64, copy=False)", "values.astype(float, copy=False)"),
    "kernels/tree.py": ("sums[:k] = totals", "sums[:k] = totals / t"),
    "noise/choice.py": ("behind = int(scores.max()) - scores", "behind = float(scores.max()) - scores"),
    "noise/gates.py": ("_whole(exact) + centre - discrete", "_whole(exact) + centre / 2 - discrete"),
    "sources/counting.py": (
        "np.append(seen[RECORDS], every - there)",
        "np.append(seen[RECORDS], (every - there) / 2)",
    ),
}
"""A place in each module, and what is written there instead."""
EDITS["partition/buckets.py"] = (EDITS["partition/buckets.py"][0], "totals = np.zeros(len(self)); np.add.at(")

LOOPS = {
    "bisect.c": ("i64 lower_sum = 0, upper_sum = 0;", "f64 lower_sum = 0, upper_sum = 0;"),
    "costs.c": ("for (i64 end = ends - 1; end > 0", "for (double end = ends - 1; end > 0"),
    "draw.c": ("const i64 digit = s->bytes[s->at++] >> 1", "const i64 digit = (i64)floor(s->bytes[s->at++] / 2)"),
    "fourier.c": ("i64 mask = ((i64)1 << low) - 1;", "i64 mask = (i64)pow(2, low) - 1;"),
    "hats.c": ("        i64 sum = 0;", "        float sum = 0;"),
    "walk.c": ("i64 median = selected(", "f64 median = selected("),
    "wavelet.c": ("i64 *sums, i64 *answers", "f64 *sums, i64 *answers"),
    "tree.c": ("tree_node_totals, i64 t, i64 levels", "tree_node_totals, f64 t, i64 levels"),
}
LOOPS = {f"kernels/c/{name}": edit for name, edit in LOOPS.items()}


@pytest.fixture(scope="module")
def found():
    """What is found, file and line, if all of it is changed at once."""
    changed = dict(WHOLE)
    for name, (old, new) in {**EDITS, **LOOPS}.items():
        path = f"src/dawa/{name}"
        assert WHOLE[path].count(old) == 1, name
        changed[path] = WHOLE[path].replace(old, new)
    kept = ("server", "publish", "plots", "cli", "results", "plan", "ledger", "spec", "pipeline", "paying")
    private = {path: text for path, text in changed.items() if path.split("/")[2].removesuffix(".py") not in kept}
    return {(one.path, one.line) for one in refused(private)}, changed


@pytest.mark.parametrize("name", [*EDITS, *LOOPS])
def test_a_change_is_found_where_it_is_made(name, found):
    places, changed = found
    old, new = {**EDITS, **LOOPS}[name]
    path = f"src/dawa/{name}"
    before, _, _ = WHOLE[path].partition(old)
    first = before.count("\n") + 1
    assert changed[path].startswith(before + new)
    assert places & {(path, line) for line in range(first, first + old.count("\n") + 1)}


def test_private_totals_do_not_reach_a_loop_of_floats():
    """The compiler would not mind, nor would the type checker where a type is not known."""
    path = "src/dawa/strategy/hats.py"
    changed = WHOLE[path].replace("kernels.hats.times_exactly(", "kernels.hats.times(")
    assert changed != WHOLE[path]
    found = refused(
        {
            **parts(
                "arrays", "counts", "errors", "layout/", "kernels/", "partition/", "strategy/", "measure", "noise/"
            ),
            path: changed,
        }
    )
    line = changed.split("kernels.hats.times(")[0].count("\n") + 1
    assert {(path, line)} < {(one.path, one.line) for one in found}
    assert "src/dawa/kernels/c/hats.c" in {one.path for one in found}
