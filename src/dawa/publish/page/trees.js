// Variances by trees of intervals over the buckets.
//
// Nodes come depth first, parents before children; skip[i] is the first node after i that is not below it. Let c be a
// node's weight over the resolution, and s the sum of its children's m. Then m = s / (1 + c² s) is the variance of the
// node's total, from what was measured at the node and below; a single bucket has m = 1 / c².
const trees = (() => {
  function strategy({ start, stop, skip, weight }, resolution) {
    const count = start.length;
    const [m, s, square] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
    const parent = new Int32Array(count).fill(-1);
    for (let i = 0; i < count; i += 1) {
      for (let child = i + 1; child < skip[i]; child = skip[child]) {
        parent[child] = i;
      }
    }
    let deepest = 0;
    const depth = new Int32Array(count);
    for (let i = 0; i < count; i += 1) {
      depth[i] = parent[i] < 0 ? 1 : depth[parent[i]] + 1;
      deepest = Math.max(deepest, depth[i]);
    }
    for (let i = count - 1; i >= 0; i -= 1) {
      square[i] = (weight[i] / resolution) ** 2;
      m[i] = skip[i] === i + 1 ? 1 / square[i] : s[i] / (1 + square[i] * s[i]);
      if (parent[i] >= 0) {
        s[parent[i]] += m[i];
      }
    }
    const open = new Int32Array(deepest + 2);
    const [dot, variance] = [new Float64Array(deepest + 2), new Float64Array(deepest + 2)];

    /** Only the children of nodes that a query cuts are visited; the open nodes are on a stack. */
    return (query) => {
      let [level, run] = [0, 0];
      dot[0] = variance[0] = 0;
      const closeUpTo = (i) => {
        while (level > 0 && skip[open[level]] <= i) {
          const node = open[level];
          const factor = 1 + square[node] * s[node];
          variance[level - 1] += variance[level] - (square[node] / factor) * dot[level] ** 2;
          dot[level - 1] += dot[level] / factor;
          level -= 1;
        }
      };
      for (let i = 0; i < count; ) {
        closeUpTo(i);
        while (run < query.hi.length && query.hi[run] <= start[i]) {
          run += 1;
        }
        if (run === query.hi.length) {
          break;
        }
        if (query.lo[run] >= stop[i]) {
          i = skip[i];
        } else if (query.lo[run] <= start[i] && stop[i] <= query.hi[run]) {
          dot[level] += query.weight[run] * m[i];
          variance[level] += query.weight[run] ** 2 * m[i];
          i = skip[i];
        } else {
          level += 1;
          open[level] = i;
          dot[level] = variance[level] = 0;
          i += 1;
        }
      }
      closeUpTo(count);
      return variance[0];
    };
  }

  const emptyNodes = (count) => ({
    start: new Float64Array(count),
    stop: new Float64Array(count),
    skip: new Int32Array(count),
    weight: new Float64Array(count),
  });

  /** A tree with this many children per node, whose weights come level by level, leaves first. */
  function even({ branching, buckets: k, weights }) {
    const offset = [0];
    for (let nodes = k; ; nodes = Math.ceil(nodes / branching)) {
      offset.push(offset[offset.length - 1] + nodes);
      if (nodes === 1) {
        break;
      }
    }
    const count = weights.length;
    const nodes = emptyNodes(count);
    let at = 0;
    const lay = (level, i, width) => {
      const here = at;
      at += 1;
      nodes.start[here] = i * width;
      nodes.stop[here] = Math.min((i + 1) * width, k);
      nodes.weight[here] = weights[offset[level] + i];
      if (level > 0) {
        const last = Math.min((i + 1) * branching, offset[level] - offset[level - 1]);
        for (let child = i * branching; child < last; child += 1) {
          lay(level - 1, child, width / branching);
        }
      }
      nodes.skip[here] = at;
    };
    const top = offset.length - 2;
    lay(top, 0, branching ** top);
    return nodes;
  }

  /** Nested intervals with their own weights, and every bucket below the narrowest interval around it. */
  function nested({ leaf, start, stop, weights }) {
    const count = leaf.length + start.length;
    const nodes = emptyNodes(count);
    const open = [];
    let [at, next] = [0, 0];
    const add = (from, to, weight) => {
      nodes.start[at] = from;
      nodes.stop[at] = to;
      nodes.weight[at] = weight;
      at += 1;
    };
    const closeUpTo = (bucket) => {
      while (open.length && nodes.stop[open[open.length - 1]] <= bucket) {
        nodes.skip[open.pop()] = at;
      }
    };
    for (let bucket = 0; bucket < leaf.length; bucket += 1) {
      closeUpTo(bucket);
      for (; next < start.length && start[next] === bucket; next += 1) {
        open.push(at);
        add(start[next], stop[next], weights[next]);
      }
      nodes.skip[at] = at + 1;
      add(bucket, bucket + 1, leaf[bucket]);
    }
    closeUpTo(Infinity);
    return nodes;
  }

  return {
    tree: (data, resolution) => strategy(even(data), resolution),
    nested: (data, resolution) => strategy(nested(data), resolution),
  };
})();
