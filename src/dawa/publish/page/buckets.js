// Boxes of cells in terms of buckets: sorted stretches [lo, hi) of whole buckets, with the part that is covered.
const buckets = (() => {
  const BLOCK = 32;

  /** The last bucket that begins at or before a position. */
  function find(bounds, place) {
    let [low, high] = [0, bounds.length - 2];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (bounds[middle] <= place) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Gathers covered positions, in increasing order, into stretches. */
  function gatherer(bounds) {
    const [lo, hi, weight] = [[], [], []];
    let [open, covered] = [-1, 0];

    function push(from, to, part) {
      const end = hi.length - 1;
      if (end >= 0 && hi[end] === from && weight[end] === part) {
        hi[end] = to;
      } else {
        lo.push(from);
        hi.push(to);
        weight.push(part);
      }
    }

    function close() {
      if (open >= 0) {
        push(open, open + 1, covered / (bounds[open + 1] - bounds[open]));
        open = -1;
      }
    }

    /** Add this volume of one bucket. */
    function part(bucket, volume) {
      if (bucket !== open) {
        close();
        [open, covered] = [bucket, 0];
      }
      covered += volume;
    }

    /** Add everything from one position to another. */
    function run(from, to) {
      let bucket = find(bounds, from);
      if (bounds[bucket] < from || to < bounds[bucket + 1] || bucket === open) {
        const until = Math.min(to, bounds[bucket + 1]);
        part(bucket, until - from);
        if (until >= to) {
          return;
        }
        bucket += 1;
      }
      const beyond = to >= bounds[bounds.length - 1] ? bounds.length - 1 : find(bounds, to);
      if (beyond > bucket) {
        close();
        push(bucket, beyond, 1);
      }
      if (beyond < bounds.length - 1 && to > bounds[beyond]) {
        part(beyond, to - bounds[beyond]);
      }
    }

    function done() {
      close();
      return { lo, hi, weight };
    }

    return { part, run, push, done };
  }

  /** A function from the corners of a box to its stretches. */
  function asker(data, shape) {
    const { bounds } = data;
    if (shape.length === 1 && data.order !== "boxes") {
      return (lo, hi) => {
        const found = gatherer(bounds);
        found.run(lo[0], hi[0]);
        return found.done();
      };
    }
    return { boxes: byBoxes, rows: byRows, hilbert: byCurve }[data.order](data, shape);
  }

  /** Along the curve: a box that is partly covered is split, unless it lies in one bucket. */
  const byCurve =
    ({ bounds }, shape) =>
    (lo, hi) => {
      const found = gatherer(bounds);
      hilbert.follow(shape, (place, volume, low, length) => {
        let [cover, whole] = [1, true];
        for (let i = 0; i < shape.length; i += 1) {
          const inside = Math.min(hi[i], low[i] + length[i]) - Math.max(lo[i], low[i]);
          if (inside <= 0) {
            return false;
          }
          whole = whole && inside === length[i];
          cover *= inside;
        }
        if (whole) {
          found.run(place, place + volume);
          return false;
        }
        const bucket = find(bounds, place);
        if (place + volume > bounds[bucket + 1]) {
          return true;
        }
        found.part(bucket, cover);
        return false;
      });
      return found.done();
    };

  /** Buckets are cells, row by row. */
  const byRows =
    ({ bounds }, shape) =>
    (lo, hi) => {
      const found = gatherer(bounds);
      const last = shape.length - 1;
      const lines = (axis, flat, weight) => {
        if (axis < last) {
          for (let at = Math.floor(lo[axis]); at < hi[axis]; at += 1) {
            const part = Math.min(hi[axis], at + 1) - Math.max(lo[axis], at);
            lines(axis + 1, (flat + at) * shape[axis + 1], weight * part);
          }
        } else if (weight === 1) {
          found.run(flat + lo[last], flat + hi[last]);
        } else {
          for (let at = Math.floor(lo[last]); at < hi[last]; at += 1) {
            found.part(flat + at, weight * (Math.min(hi[last], at + 1) - Math.max(lo[last], at)));
          }
        }
      };
      lines(0, 0, 1);
      return found.done();
    };

  /** Buckets are boxes; blocks of buckets that lie outside, or inside, are not searched. */
  function byBoxes(data, shape) {
    const [dims, k] = [shape.length, data.lo.length];
    const around = [];
    for (let begin = 0; begin < k; begin += BLOCK) {
      const members = [data.lo.slice(begin, begin + BLOCK), data.hi.slice(begin, begin + BLOCK)];
      around.push([
        shape.map((_, i) => Math.min(...members[0].map((corner) => corner[i]))),
        shape.map((_, i) => Math.max(...members[1].map((corner) => corner[i]))),
      ]);
    }
    const part = (low, high, lo, hi) => {
      let share = 1;
      for (let i = 0; i < dims; i += 1) {
        const inside = Math.min(hi[i], high[i]) - Math.max(lo[i], low[i]);
        if (inside <= 0) {
          return 0;
        }
        share *= inside / (high[i] - low[i]);
      }
      return share;
    };
    return (lo, hi) => {
      const found = gatherer(data.bounds);
      around.forEach(([low, high], block) => {
        const share = part(low, high, lo, hi);
        const [begin, end] = [block * BLOCK, Math.min((block + 1) * BLOCK, k)];
        if (share === 1) {
          found.push(begin, end, 1);
        }
        for (let b = begin; share > 0 && share < 1 && b < end; b += 1) {
          const covered = part(data.lo[b], data.hi[b], lo, hi);
          if (covered > 0) {
            found.push(b, b + 1, covered);
          }
        }
      });
      return found.done();
    };
  }

  return { find, asker };
})();
