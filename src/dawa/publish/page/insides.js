// Where records lie inside buckets, as dawa.results.insides places them: the same operations in the same order.
const insides = (() => {
  const ROUNDS = 30;
  const EQUAL = 1e-9;
  const STEEPER = 3;
  const UNLIKELY = 0.5;

  /** Along one axis: a cubic for the running sum through each bucket. */
  function line({ bounds, totals }, most) {
    const k = totals.length;
    const below = new Float64Array(k + 1);
    const [rise, fall] = [new Float64Array(k), new Float64Array(k)];
    const width = (b) => bounds[b + 1] - bounds[b];
    const height = (b) => totals[b] / width(b);
    const between = (b) => Math.sqrt(height(b)) * Math.sqrt(height(b + 1));

    /** The density at the end of the domain, from that at the inner bound of the last bucket. */
    function beyond(h, inner) {
      if (inner < h) {
        return inner > 0 ? h * (h / inner) : 3 * h;
      }
      return Math.max(2 * h - inner, 0);
    }

    for (let b = 0; b < k; b += 1) {
      below[b + 1] = below[b] + totals[b];
      if (k > 1 && width(b) > 1) {
        const h = height(b);
        const left = b > 0 ? between(b - 1) : beyond(h, between(0));
        const right = b < k - 1 ? between(b) : beyond(h, between(k - 2));
        const [low, high] = [left, right].map((side) => Math.min(side, 3 * h) - h);
        const least = Math.min(Math.abs(low), Math.abs(high));
        if (low * high < 0 && least > EQUAL * h) {
          const furthest = STEEPER * least;
          [rise[b], fall[b]] = [low, high].map((side) => Math.min(Math.max(side, -furthest), furthest) * width(b));
          const uneven = (Math.abs(rise[b]) + Math.abs(fall[b])) / 4;
          const kept = uneven > most(b) ? most(b) / uneven : 1;
          rise[b] *= kept;
          fall[b] *= kept;
        }
      }
    }

    function before(place) {
      const b = buckets.find(bounds, place);
      const t = (place - bounds[b]) / width(b);
      return below[b] + (totals[b] * t + t * (1 - t) * (rise[b] * (1 - t) - fall[b] * t));
    }

    /** Records per cell a part t of the way through a bucket. */
    function density(b, t) {
      const bend = rise[b] * (1 - t) * (1 - 3 * t) + fall[b] * t * (3 * t - 2);
      return Math.max(totals[b] + bend, 0) / width(b);
    }

    const bent = (b) => rise[b] !== 0 || fall[b] !== 0;

    return { before, density, bent, within: (lo, hi) => before(hi[0]) - before(lo[0]) };
  }

  /** The bucket of every cell, in row-major order. */
  function labels(data, shape, stride) {
    const found = new Int32Array(shape.reduce((all, n) => all * n, 1));
    const fill = (low, length, bucket, axis = 0, flat = 0) => {
      const last = axis === shape.length - 1;
      if (last) {
        found.fill(bucket, flat + low[axis], flat + low[axis] + length[axis]);
        return;
      }
      for (let at = low[axis]; at < low[axis] + length[axis]; at += 1) {
        fill(low, length, bucket, axis + 1, flat + at * stride[axis]);
      }
    };
    if (data.order === "rows") {
      return found.map((_, cell) => cell);
    }
    if (data.order === "boxes") {
      data.lo.forEach((low, b) => {
        const length = low.map((from, i) => data.hi[b][i] - from);
        fill(low, length, b);
      });
      return found;
    }
    let b = 0;
    hilbert.follow(shape, (place, volume, low, length) => {
      while (data.bounds[b + 1] <= place) {
        b += 1;
      }
      if (place + volume > data.bounds[b + 1]) {
        return true;
      }
      fill(low, length, b);
      return false;
    });
    return found;
  }

  /** Cells whose sums are the buckets' totals: averaged with their neighbours and scaled back, in turn. */
  function smoothed(label, totals, shape, stride, most) {
    const [n, k, dims] = [label.length, totals.length, shape.length];
    const [width, scale, sums] = [new Float64Array(k), new Float64Array(k), new Float64Array(k)];
    const [level, after] = [new Float64Array(n), new Float64Array(n)];
    for (let cell = 0; cell < n; cell += 1) {
      width[label[cell]] += 1;
    }
    for (let cell = 0; cell < n; cell += 1) {
      level[cell] = totals[label[cell]] / width[label[cell]];
    }
    const at = new Int32Array(dims);
    const parts = 2 * dims + 1;
    for (let round = 0; round < ROUNDS; round += 1) {
      sums.fill(0);
      at.fill(0);
      for (let cell = 0; cell < n; cell += 1) {
        let around = level[cell];
        for (let axis = 0; axis < dims; axis += 1) {
          around += at[axis] > 0 ? level[cell - stride[axis]] : level[cell];
          around += at[axis] < shape[axis] - 1 ? level[cell + stride[axis]] : level[cell];
        }
        after[cell] = around / parts;
        sums[label[cell]] += after[cell];
        for (let axis = dims - 1; axis >= 0; axis -= 1) {
          at[axis] += 1;
          if (at[axis] < shape[axis]) {
            break;
          }
          at[axis] = 0;
        }
      }
      for (let b = 0; b < k; b += 1) {
        scale[b] = sums[b] > 0 ? totals[b] / sums[b] : 0;
      }
      for (let cell = 0; cell < n; cell += 1) {
        level[cell] = after[cell] * scale[label[cell]];
      }
    }
    const uneven = new Float64Array(k);
    for (let cell = 0; cell < n; cell += 1) {
      const b = label[cell];
      uneven[b] += Math.abs(level[cell] - totals[b] / width[b]);
    }
    const limits = Float64Array.from(uneven, (_, b) => most(b));
    for (let cell = 0; cell < n; cell += 1) {
      const b = label[cell];
      if (uneven[b] > limits[b]) {
        const even = totals[b] / width[b];
        level[cell] = even + (limits[b] / uneven[b]) * (level[cell] - even);
      }
    }
    return level;
  }

  /** The records in all cells before each corner of the grid, which has a corner more than cells along each axis. */
  function summed(cells, shape, stride) {
    const steps = shape.map((_, axis) => shape.slice(axis + 1).reduce((all, n) => all * (n + 1), 1));
    const sums = new Float64Array(shape.reduce((all, n) => all * (n + 1), 1));
    const each = (visit, from, axis = 0, corner = 0, cell = 0) => {
      for (let at = from[axis]; at <= shape[axis]; at += 1) {
        const [here, inner] = [corner + at * steps[axis], cell + (at - 1) * stride[axis]];
        if (axis === shape.length - 1) {
          visit(here, inner);
        } else {
          each(visit, from, axis + 1, here, inner);
        }
      }
    };
    const inner = shape.map(() => 1);
    each((corner, cell) => {
      sums[corner] = cells[cell];
    }, inner);
    shape.forEach((_, axis) => {
      each((corner) => {
        sums[corner] += sums[corner - steps[axis]];
      }, inner);
    });
    return { sums, steps };
  }

  /** On several axes: every cell by itself. */
  function grid(data, shape, most) {
    const dims = shape.length;
    const stride = shape.map((_, axis) => shape.slice(axis + 1).reduce((all, n) => all * n, 1));
    const label = labels(data, shape, stride);
    const cells = smoothed(label, data.totals, shape, stride, most);
    const { sums, steps } = summed(cells, shape, stride);

    /** The records before a corner, linear along every axis inside cells. */
    function before(corner, axis = 0, flat = 0) {
      if (axis === dims) {
        return sums[flat];
      }
      const whole = Math.floor(corner[axis]);
      const part = corner[axis] - whole;
      const here = before(corner, axis + 1, flat + whole * steps[axis]);
      return part === 0 ? here : (1 - part) * here + part * before(corner, axis + 1, flat + (whole + 1) * steps[axis]);
    }

    function within(lo, hi) {
      let found = 0;
      for (let side = 0; side < 2 ** dims; side += 1) {
        const upper = lo.map((_, axis) => (side >> axis) % 2 === 1);
        const sign = upper.filter((up) => !up).length % 2 ? -1 : 1;
        found += sign * before(upper.map((up, axis) => (up ? hi[axis] : lo[axis])));
      }
      return found;
    }

    return { within, cells, label };
  }

  /** Where the records of these buckets lie; null if they lie evenly. uneven: how uneven the walk left them, or null. */
  function of(data, shape, uneven) {
    if (data.inside !== "smooth") {
      return null;
    }
    const most = (b) => (uneven ? uneven(UNLIKELY, b) : Infinity);
    return shape.length === 1 ? line(data, most) : grid(data, shape, most);
  }

  return { of };
})();
