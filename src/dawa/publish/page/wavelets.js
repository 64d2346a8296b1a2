// Variances by Haar wavelets, along a line or along every axis of a grid.
//
// Rows of whole nodes are orthogonal, so a query's variance is a sum over nodes. An end that lies t buckets into a node
// of width W adds min(t, W - t) / W there: upper ends plus, lower ends minus. The total, and the nodes that are partly
// padding, concern only the totals of blocks, whose widths are the binary digits of k; "top" holds their part.
const wavelets = (() => {
  /** What all variances of one line need: the unit, the blocks' edges, and top at each edge. */
  function line(k, difference, total, resolution) {
    const digits = [];
    for (let level = 0; 2 ** level <= k; level += 1) {
      if (Math.floor(k / 2 ** level) % 2) {
        digits.unshift(level);
      }
    }
    const rows = [digits.map(() => total)];
    for (let level = 1; 2 ** (level - 1) < k; level += 1) {
      if (k % 2 ** level) {
        const rest = Math.floor(k / 2 ** (level - 1)) % 2 ? -difference : difference;
        rows.push(digits.map((at) => (at >= level ? 0 : at === level - 1 ? difference : rest)));
      }
    }
    const product_ = (a, b) => rows.reduce((sum, row) => sum + (row[a] / resolution) * (row[b] / resolution), 0);
    const gram = digits.map((_, a) => digits.map((__, b) => product_(a, b)));
    const inverse = inverseFactor(gram);
    const edges = [0];
    const top = [digits.map(() => 0)];
    digits.forEach((level, b) => {
      edges.push(edges[b] + 2 ** level);
      top.push(top[b].map((before, r) => before + inverse[r][b]));
    });
    return { k, unit: (resolution / difference) ** 2, edges, top };
  }

  /** L⁻¹ where the matrix is LLᵀ. */
  function inverseFactor(matrix) {
    const n = matrix.length;
    const [lower, inverse] = [0, 1].map(() => matrix.map(() => new Array(n).fill(0)));
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        let sum = matrix[i][j];
        for (let h = 0; h < j; h += 1) {
          sum -= lower[i][h] * lower[j][h];
        }
        lower[i][j] = i === j ? Math.sqrt(sum) : sum / lower[j][j];
      }
      for (let j = 0; j <= i; j += 1) {
        let sum = i === j ? 1 : 0;
        for (let h = j; h < i; h += 1) {
          sum -= lower[i][h] * inverse[h][j];
        }
        inverse[i][j] = sum / lower[i][i];
      }
    }
    return inverse;
  }

  /** Add what an end contributes to the rows above all blocks. */
  function addTop({ edges, top }, x, sign, out) {
    let b = 0;
    while (b + 2 < edges.length && edges[b + 1] <= x) {
      b += 1;
    }
    const inside = (x - edges[b]) / (edges[b + 1] - edges[b]);
    for (let r = 0; r < out.length; r += 1) {
      out[r] += sign * ((1 - inside) * top[b][r] + inside * top[b + 1][r]);
    }
  }

  /** The variance of weighted stretches, whose ends may lie inside buckets. */
  function variance(on, { lo, hi, weight }) {
    const above = new Float64Array(on.edges.length - 1);
    for (let r = 0; r < lo.length; r += 1) {
      addTop(on, lo[r], -weight[r], above);
      addTop(on, hi[r], weight[r], above);
    }
    let total = above.reduce((sum, part) => sum + part * part, 0);
    for (let width = 2; width <= on.k; width *= 2) {
      const nodes = Math.floor(on.k / width);
      let [at, part, squares] = [0, 0, 0];
      for (let end = 0; end < 2 * lo.length; end += 1) {
        const r = end >> 1;
        const [x, sign] = end % 2 ? [hi[r], weight[r]] : [lo[r], -weight[r]];
        const node = Math.floor(x / width);
        if (node < nodes) {
          if (node !== at) {
            squares += part * part;
            [at, part] = [node, 0];
          }
          const inside = x - node * width;
          part += (sign * Math.min(inside, width - inside)) / width;
        }
      }
      total += on.unit * (squares + part * part);
    }
    return total;
  }

  /** The rows to which a single cell contributes, and how much: the square root of the variance, row by row. */
  function rowsOf(on, cell) {
    const found = [];
    let first = 0;
    for (let width = 2; width <= on.k; width *= 2) {
      const [node, nodes] = [Math.floor(cell / width), Math.floor(on.k / width)];
      if (node < nodes) {
        const sign = cell - node * width < width / 2 ? 1 : -1;
        found.push([first + node, (sign * Math.sqrt(on.unit)) / width]);
      }
      first += nodes;
    }
    const above = new Float64Array(on.edges.length - 1);
    addTop(on, cell, -1, above);
    addTop(on, cell + 1, 1, above);
    above.forEach((part, r) => {
      found.push([first + r, part]);
    });
    return { found, rows: first + above.length };
  }

  function wavelet({ buckets: k, difference, total }, resolution) {
    const on = line(k, difference, total, resolution);
    return (query) => variance(on, query);
  }

  /** Products of wavelets: a box's variance is the product of its sides' variances; others are summed row by row. */
  function product({ shape, weight }, resolution) {
    const sides = shape.map((k) => line(k, 1, 1, 1));
    const unit = (resolution / weight) ** 2;
    return (query) => {
      if (query.box) {
        const [lo, hi] = query.box;
        return sides.reduce((all, on, i) => all * variance(on, { lo: [lo[i]], hi: [hi[i]], weight: [1] }), unit);
      }
      const sums = new Map();
      query.lo.forEach((from, run) => {
        for (let cell = from; cell < query.hi[run]; cell += 1) {
          let [rest, terms] = [cell, [[0, query.weight[run]]]];
          for (let i = shape.length - 1; i >= 0; i -= 1) {
            const { found, rows } = rowsOf(sides[i], rest % shape[i]);
            rest = Math.floor(rest / shape[i]);
            terms = terms.flatMap(([row, part]) => found.map(([other, share]) => [row * rows + other, part * share]));
          }
          for (const [row, part] of terms) {
            sums.set(row, (sums.get(row) || 0) + part);
          }
        }
      });
      let total = 0;
      sums.forEach((part) => {
        total += part * part;
      });
      return unit * total;
    };
  }

  return { wavelet, product };
})();
