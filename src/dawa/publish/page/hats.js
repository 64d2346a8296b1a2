// Variances by overlapping rows: hats, whose supports are intervals, and bumps, whose entries are scattered.
//
// With leaf weights f, entries B = weight / leaf and scales s = Q / leaf, a query w has the variance
// Σ s² w² - gᵀ D⁻¹ g, where L g = B diag(s) w and I + BBᵀ = L D Lᵀ.
const hats = (() => {
  /** Σ weight² s², from running sums of s². */
  function squaresOf(scale) {
    const before = new Float64Array(scale.length + 1);
    let lost = 0; // compensated: variances are small differences of these
    for (let j = 0; j < scale.length; j += 1) {
      const more = scale[j] ** 2 - lost;
      before[j + 1] = before[j] + more;
      lost = before[j + 1] - before[j] - more;
    }
    return ({ lo, hi, weight }) =>
      lo.reduce((sum, from, r) => sum + weight[r] ** 2 * (before[hi[r]] - before[from]), 0);
  }

  function offsets(lengths) {
    const found = new Int32Array(lengths.length + 1);
    lengths.forEach((length, i) => {
      found[i + 1] = found[i] + length;
    });
    return found;
  }

  /** Rows sorted by right end: each overlaps the rows from near[r] up to itself, so the factor has no fill. */
  function strategy(data, resolution) {
    const { leaf, start, stop, weights } = data;
    const rows = start.length;
    const scale = Float64Array.from(leaf, (f) => resolution / f);
    const squares = squaresOf(scale);
    const ptr = offsets(start.map((from, r) => stop[r] - from));
    const entries = new Float64Array(weights.length);
    const sums = new Float64Array(weights.length + rows); // running sums of B diag(s), row r's from ptr[r] + r on
    for (let r = 0; r < rows; r += 1) {
      for (let e = ptr[r]; e < ptr[r + 1]; e += 1) {
        const bucket = start[r] + e - ptr[r];
        entries[e] = weights[e] / leaf[bucket];
        sums[e + r + 1] = sums[e + r] + entries[e] * scale[bucket];
      }
    }
    const near = new Int32Array(rows);
    for (let r = 0; r < rows; r += 1) {
      let [low, high] = [0, r];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (stop[middle] > start[r]) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      near[r] = low;
    }
    const at = offsets(Array.from(near, (first, r) => r - first));
    const [pivot, lower] = [new Float64Array(rows), new Float64Array(at[rows])];
    for (let r = 0; r < rows; r += 1) {
      const mine = at[r] - near[r];
      let total = 1;
      for (let e = ptr[r]; e < ptr[r + 1]; e += 1) {
        total += entries[e] ** 2;
      }
      for (let q = near[r]; q < r; q += 1) {
        const theirs = at[q] - near[q];
        let entry = 0;
        for (let j = Math.max(start[r], start[q]); j < Math.min(stop[r], stop[q]); j += 1) {
          entry += entries[ptr[r] + j - start[r]] * entries[ptr[q] + j - start[q]];
        }
        for (let h = Math.max(near[r], near[q]); h < q; h += 1) {
          entry -= lower[mine + h] * lower[theirs + h];
        }
        lower[mine + q] = entry;
      }
      for (let q = near[r]; q < r; q += 1) {
        const entry = lower[mine + q] / pivot[q];
        total -= entry * lower[mine + q];
        lower[mine + q] = entry;
      }
      pivot[r] = total;
    }
    const g = new Float64Array(rows);

    return (query) => {
      const { lo, hi, weight } = query;
      const runs = lo.length;
      let [first, energy] = [0, 0];
      while (first < rows && stop[first] <= lo[0]) {
        first += 1;
      }
      for (let r = first; r < rows; r += 1) {
        const [from, to, base] = [start[r], stop[r], ptr[r] + r - start[r]];
        let [low, high] = [0, runs];
        while (low < high) {
          const middle = (low + high) >> 1;
          if (hi[middle] > from) {
            high = middle;
          } else {
            low = middle + 1;
          }
        }
        let answer = 0;
        for (let run = low; run < runs && lo[run] < to; run += 1) {
          answer += weight[run] * (sums[base + Math.min(hi[run], to)] - sums[base + Math.max(lo[run], from)]);
        }
        const mine = at[r] - near[r];
        for (let q = Math.max(near[r], first); q < r; q += 1) {
          answer -= lower[mine + q] * g[q];
        }
        g[r] = answer;
        energy += (answer * answer) / pivot[r];
      }
      return squares(query) - energy;
    };
  }

  return { strategy, squaresOf, offsets };
})();
