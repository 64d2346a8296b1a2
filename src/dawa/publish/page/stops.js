// What follows when the walk left a bucket whole: a bound on its unevenness that fails with a given chance. If the walk
// compared halves, also how far a bucket is from even up to a place in it.
const stops = (() => {
  const SMALLEST_STOP = 2 ** -24;
  const ROUNDING = 1e-6;
  const WORD = 2 ** 64;

  /** The chance of stopping at 0, 1, 2, … steps: each is the least that the chance before it allows. */
  function knots(least) {
    const found = [1 - least];
    while (found[found.length - 1] > SMALLEST_STOP) {
      const before = found[found.length - 1];
      let [low, high] = [0, before];
      for (let i = 0; i < 100; i += 1) {
        const middle = (low + high) / 2;
        const gain = Math.log1p(-middle) - Math.log1p(-before);
        if (middle > 0 && ((1 - middle) / middle) * gain <= Math.log1p(-middle) - Math.log(least)) {
          high = middle;
        } else {
          low = middle;
        }
      }
      found.push(high);
    }
    found[found.length - 1] = Math.max(found[found.length - 1], SMALLEST_STOP);
    return found.map((stop) => Math.log1p(-stop));
  }

  /** For each point of the table, an upper bound on the sum of the chances of stopping there, a step above, … */
  function chances({ loss, step }) {
    const allowed = numbers.float(numbers.read(loss)) * (1 - ROUNDING);
    const logs = knots(Math.exp(-allowed * step));
    const points = step * (logs.length - 1) + 1;
    const stop = (point) => {
      const j = Math.min(Math.floor(point / step), logs.length - 2);
      const log = logs[j] + (point / step - j) * (logs[j + 1] - logs[j]);
      return Math.round(-Math.expm1(log) * WORD) / WORD;
    };
    const last = stop(points - 1);
    const found = new Float64Array(Math.ceil(points / step) * step);
    for (let i = found.length - 1; i >= 0; i -= 1) {
      found[i] = (i < points ? stop(i) : last) + (i + step < found.length ? found[i + step] : 0);
    }
    return found.map((sum) => sum + 64 * last);
  }

  /** A function from a chance and a bucket to the bound. */
  function rule(data) {
    if (!data) {
      return null;
    }
    let table = null; // made when a bucket is first cut
    return (chance, bucket) => {
      const depth = data.depth[bucket];
      if (depth < 0) {
        return Infinity;
      }
      table = table || chances(data);
      let [low, high] = [0, table.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (table[middle] <= chance) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      const point = low < table.length ? low : Infinity;
      return Math.max(point - 1 + data.step * depth - data.offset, 0);
    };
  }

  const LEVELS = 24;

  /** How far a bucket is from even up to a place, for places beside this one: _beside in dawa.results.halved. */
  function beside(place, most, differ, moved) {
    let [part, held, steps, leaning] = [place, most, 0, 0];
    let [more, fewer] = [1 - place, place].map((side) => side * most + 2 * moved * most);
    for (let level = 1; level <= LEVELS; level += 1) {
      const upper = part >= 0.5;
      steps += upper ? 1 - part : part;
      leaning = (leaning + (upper ? -1 : 1)) / 2;
      part = 2 * part - (upper ? 1 : 0);
      held /= 2;
      const cells = 2 ** level * moved;
      if (2 * cells < 1) {
        const fixed = steps * differ + 4 * cells * differ + 2 * moved * most;
        more = Math.min(more, (1 - part) * (held + differ * leaning) + fixed);
        fewer = Math.min(fewer, part * (held - differ * leaning) + fixed);
      }
    }
    return Math.max(more, fewer, 0);
  }

  /** Whether an interval has equal halves, and halves of halves. Numbers above 2^31 have no bitwise operations. */
  function dyadic(start, stop) {
    const width = stop - start;
    return 2 ** Math.round(Math.log2(width)) === width && start % width === 0;
  }

  /** At most how far a cut bucket is from even where no two halves differ by more than this: dawa.results.halved. */
  function halved({ bucket, inside, ends }, bounds, most, differ) {
    const least = Math.min(differ, most);
    if (!dyadic(bounds[bucket], bounds[bucket + 1])) {
      return Math.max(inside, 1 - inside) * least;
    }
    const moved = 2 ** -48 * (bucket + 1);
    return ends.reduce((sum, place) => {
      if (place <= 0 || place >= 1) {
        return sum;
      }
      const near = [place - moved, place + moved].map((at) => Math.min(Math.max(at, 0), 1));
      return sum + Math.max(...near.map((at) => beside(at, most, least, moved)));
    }, 0);
  }

  return { rule, halved };
})();
