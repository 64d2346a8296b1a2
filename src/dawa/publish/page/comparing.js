// Two ranges: how many more records lie in one, and how many times as many, as in dawa.results.comparing and statistics.
const comparing = (() => {
  const NONE = "There seem to be no records to compare with, so there is no ratio.";

  /** Where a border lies among the buckets of a line; 2.5 is the middle of the third. */
  function coordinate(bounds, border) {
    const bucket = buckets.find(bounds, border);
    return bucket + (border - bounds[bucket]) / (bounds[bucket + 1] - bounds[bucket]);
  }

  /** Both queries as one, whose stretches do not overlap. */
  function together(queries) {
    const steps = new Map();
    const step = (at, by) => steps.set(at, (steps.get(at) || 0) + by);
    for (const { lo, hi, weight } of queries) {
      lo.forEach((from, run) => {
        step(from, weight[run]);
        step(hi[run], -weight[run]);
      });
    }
    const found = { lo: [], hi: [], weight: [] };
    let [level, from] = [0, 0];
    for (const at of [...steps.keys()].sort((a, b) => a - b)) {
      if (Math.abs(level) > 1e-12 && at > from) {
        found.lo.push(from);
        found.hi.push(at);
        found.weight.push(level);
      }
      level += steps.get(at);
      from = at;
    }
    return found;
  }

  /** How two ranges of a line cut a bucket, and at most how far its records are from lying evenly. */
  function cutBucket(bucket, reach, ends) {
    const held = ends.map((pair) => pair.map((end) => Math.min(Math.max(end - bucket, 0), 1)));
    const places = [...new Set([0, 1, ...held[0], ...held[1]])].sort((a, b) => a - b);
    const kinds = places.slice(1).map((high, i) => {
      const at = (places[i] + high) / 2;
      return held.map(([low, top]) => (low < at && at < top ? 1 : 0));
    });
    return { reach, inside: held.map(([low, top]) => top - low), kinds };
  }

  /** The buckets of a line that either range cuts. */
  function shared(answers, all, level) {
    const { bounds } = answers;
    const ends = all.map(([{ lo, hi }]) => [coordinate(bounds, lo), coordinate(bounds, hi)]);
    const reach = new Map();
    all.forEach((spans, i) => {
      for (const bucket of new Set(ends[i].filter((end) => !Number.isInteger(end)).map(Math.floor))) {
        reach.set(bucket, Math.min(answers.reach(bucket, spans, level), reach.get(bucket) ?? Infinity));
      }
    });
    return [...reach].map(([bucket, most]) => cutBucket(bucket, most, ends));
  }

  /** What is known about the records in two ranges together; whole is for what covers everything. */
  function pair(answers, shape, all, level) {
    const outer = (spans) => spans.every(({ lo, hi }, i) => lo <= 0 && hi >= shape[i]);
    const both = all.every((spans) => !outer(spans));
    const sharper = both ? { ...level, chance: level.chance / 2, total: level.both } : level;
    const sums = all.map((spans) => answers.records(spans, sharper));
    const holds = (one, other) => one.every(({ lo, hi }, i) => lo <= other[i].lo && other[i].hi <= hi);
    return {
      first: sums[0],
      second: sums[1],
      covariance: answers.covariance(sums.map((sum) => sum.query).concat([together(sums.map((sum) => sum.query))])),
      factor: sums.some((sum) => sum.cuts.length) ? level.cut : level.whole,
      shared: shape.length === 1 ? shared(answers, all, sharper) : null,
      least: holds(all[0], all[1]) ? 1 : 0,
      most: holds(all[1], all[0]) ? 1 : Infinity,
    };
  }

  function noiseOf({ first, second, covariance, factor }, x) {
    const [a, b] = [first.deviation, second.deviation];
    const rounding = first.rounding + Math.abs(x) * second.rounding;
    return covariance === null
      ? factor * (a + Math.abs(x) * b) + rounding
      : factor * Math.sqrt(Math.max(a * a - 2 * x * covariance + x * x * b * b, 0)) + rounding;
  }

  function biasOf({ first, second, shared: cut }, x) {
    if (!cut) {
      return first.bias + Math.abs(x) * second.bias;
    }
    return cut.reduce((sum, { reach, inside, kinds }) => {
      const even = inside[0] - x * inside[1];
      return sum + reach * Math.max(...kinds.map(([one, other]) => Math.abs(one - x * other - even)));
    }, 0);
  }

  const biasOfSecond = ({ second, shared: cut }) =>
    cut
      ? cut.reduce(
          (sum, { reach, inside, kinds }) =>
            sum + reach * Math.max(...kinds.map(([, other]) => Math.abs(other - inside[1]))),
          0,
        )
      : second.bias;

  const within = (x, least, most) => Math.min(Math.max(x, least), most);

  /** The first sum minus the second: value, low and high. */
  function difference(found) {
    const { first, second, least, most } = found;
    if (least === most) {
      return [0, 0, 0];
    }
    const [value, centre] = [first.value - second.value, first.centre - second.centre];
    const away = [noiseOf(found, 1), biasOf(found, 1)];
    const ends = [centre - away[0] - away[1], centre + away[0] + away[1]];
    const limits = [least ? 0 : -Infinity, Number.isFinite(most) ? 0 : Infinity];
    return [value, Math.min(ends[0], value), Math.max(ends[1], value)].map((x) => within(x, ...limits));
  }

  /** Where a function changes its sign for good, rounded away from what is plausible. */
  function root(excess, rising) {
    let [low, high] = [0, 1];
    while (excess(high) <= 0 === rising && high < 1e300) {
      [low, high] = [high, 2 * high];
    }
    for (let i = 0; i < 100; i += 1) {
      const middle = (low + high) / 2;
      [low, high] = excess(middle) <= 0 === rising ? [middle, high] : [low, middle];
    }
    return rising ? high : low;
  }

  /** The first sum as a part of the second: value, low and high; null if the second seems to be nothing. */
  function ratio(found) {
    const { first, second, factor, least, most } = found;
    if (second.value <= 0) {
      return null;
    }
    const value = within(first.value / second.value, least, most);
    if (least === most) {
      return [value, value, value];
    }
    const [a, b] = [first.centre, second.centre];
    const spread = factor * second.deviation + second.rounding + biasOfSecond(found);
    const above = (x) => x * b - a - noiseOf(found, x) - biasOf(found, x);
    const below = (x) => a - x * b - noiseOf(found, x) - biasOf(found, x);
    const high = b - spread <= 0 ? Infinity : above(0) > 0 ? 0 : root(above, true);
    const low = below(0) > 0 && b + spread > 0 ? root(below, false) : 0;
    return [value, Math.min(Math.max(low, least), value), Math.max(Math.min(high, most), value)];
  }

  /** Value, low and high as Python's Statistic writes them, with two digits of what is not known. */
  function texts([value, low, high]) {
    const ends = [high - value, value - low].filter((end) => end < Infinity);
    const spread = Math.max(0, ...ends);
    const known = spread <= 1e-6 * Math.max(Math.abs(value), 1e-300);
    const places = known ? 0 : Math.min(Math.max(1 - Math.floor(Math.log10(spread)), 0), 12);
    const short = known && Math.abs(value) < 1e6;
    return [value, low, high].map((x) =>
      Number.isFinite(x) ? numbers.plain(short ? Number(x.toPrecision(7)) : x, short ? null : places) : "no limit",
    );
  }

  function said(name, told, level, note) {
    const [value, low, high] = texts(told);
    const sure = `between ${low} and ${high} with ${numbers.sure(level.confidence)} confidence`;
    return `${name} ${value} (${sure})${note && "; "}${note}`;
  }

  /** page: { answers(), shape(), current(): { spans, said, note }, level() } */
  function make(page) {
    const { by } = panel;
    let pinned = null;

    function show() {
      by("compared").hidden = by("unpin").hidden = pinned === null;
      if (pinned === null) {
        return;
      }
      const [now, level] = [page.current(), page.level()];
      const note = [...new Set([now.note, pinned.note])].filter(Boolean).join("; ");
      const found = pair(page.answers(), page.shape(), [now.spans, pinned.spans], level);
      const times = ratio(found);
      by("compared-with").textContent = `${now.said}, compared with ${pinned.said}`;
      by("difference").textContent = said("difference", difference(found), level, note);
      by("ratio").textContent = times ? said("ratio", times, level, note) : NONE;
    }

    by("pin").addEventListener("click", () => {
      pinned = page.current();
      show();
    });
    /** Forget the range that others are compared with. */
    function clear() {
      pinned = null;
      show();
    }

    by("unpin").addEventListener("click", () => {
      clear();
      by("pin").focus();
    });
    return { show, clear };
  }

  return { make };
})();
