// Variances by bumps: about √k dense rows over the buckets of a map. The formula is that of hats.
//
// Computing the factor takes time cubic in the number of rows, so it is done in slices, and the page keeps responding.
const bumps = (() => {
  /** The dot product of two stretches of an array, in four sums that a processor computes in parallel. */
  function dot(array, a, b, length) {
    let [s0, s1, s2, s3, h] = [0, 0, 0, 0, 0];
    for (; h + 3 < length; h += 4) {
      s0 += array[a + h] * array[b + h];
      s1 += array[a + h + 1] * array[b + h + 1];
      s2 += array[a + h + 2] * array[b + h + 2];
      s3 += array[a + h + 3] * array[b + h + 3];
    }
    for (; h < length; h += 1) {
      s0 += array[a + h] * array[b + h];
    }
    return s0 + s1 + (s2 + s3);
  }

  /** Returns {prepare, variances}; call prepare(milliseconds) until it returns true. */
  function strategy(data, resolution) {
    const { leaf, ptr, column, weights } = data;
    const [rows, k] = [ptr.length - 1, leaf.length];
    const scale = Float64Array.from(leaf, (f) => resolution / f);
    const squares = hats.squaresOf(scale);
    const counts = new Array(k).fill(0);
    column.forEach((bucket) => {
      counts[bucket] += 1;
    });
    const begin = hats.offsets(counts);
    const next = begin.slice();
    const [row, entry] = [new Int32Array(column.length), new Float64Array(column.length)]; // bucket by bucket
    for (let r = 0; r < rows; r += 1) {
      for (let e = ptr[r]; e < ptr[r + 1]; e += 1) {
        const place = next[column[e]];
        next[column[e]] += 1;
        row[place] = r;
        entry[place] = weights[e] / leaf[column[e]];
      }
    }
    const lower = new Float64Array(rows * rows);
    for (let j = 0; j < k; j += 1) {
      for (let a = begin[j]; a < begin[j + 1]; a += 1) {
        for (let b = begin[j]; b <= a; b += 1) {
          lower[row[a] * rows + row[b]] += entry[a] * entry[b];
        }
      }
    }
    let done = 0;
    const three = [0, 1, 2].map(() => new Float64Array(rows));

    function factorRow(i) {
      for (let j = 0; j <= i; j += 1) {
        const sum = lower[i * rows + j] + (i === j ? 1 : 0) - dot(lower, i * rows, j * rows, j);
        lower[i * rows + j] = i === j ? Math.sqrt(sum) : sum / lower[j * rows + j];
      }
    }

    function prepare(milliseconds) {
      const until = performance.now() + milliseconds;
      for (; done < rows && performance.now() < until; done += 1) {
        factorRow(done);
      }
      return done === rows;
    }

    /** B diag(s) w of a query. */
    function fill(sums, query) {
      sums.fill(0);
      for (let run = 0; run < query.lo.length; run += 1) {
        const weight = query.weight[run];
        for (let j = query.lo[run]; j < query.hi[run]; j += 1) {
          const part = scale[j] * weight;
          for (let e = begin[j]; e < begin[j + 1]; e += 1) {
            sums[row[e]] += entry[e] * part;
          }
        }
      }
    }

    /** The variances of up to three queries: the large factor is read once for all of them. */
    function variances(queries) {
      const [one, two, other] = three;
      three.forEach((sums, i) => {
        if (i < queries.length) {
          fill(sums, queries[i]);
        } else {
          sums.fill(0);
        }
      });
      const energy = [0, 0, 0];
      for (let i = 0; i < rows; i += 1) {
        let [a, b, c] = [one[i], two[i], other[i]];
        for (let h = 0, at = i * rows; h < i; h += 1) {
          const entry_ = lower[at + h];
          a -= entry_ * one[h];
          b -= entry_ * two[h];
          c -= entry_ * other[h];
        }
        const pivot = lower[i * rows + i];
        [one[i], two[i], other[i]] = [a / pivot, b / pivot, c / pivot];
        energy[0] += one[i] ** 2;
        energy[1] += two[i] ** 2;
        energy[2] += other[i] ** 2;
      }
      return queries.map((query, i) => squares(query) - energy[i]);
    }

    return { prepare, variances };
  }

  return { strategy };
})();
