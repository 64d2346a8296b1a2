// Answers and their two errors, as in dawa.results.answers: from noise, and from not knowing where records lie inside buckets.
const answering = (() => {
  const ROUNDING = 2 ** -48;
  const KINDS = {
    tree: trees.tree,
    nested: trees.nested,
    hats: hats.strategy,
    wavelet: wavelets.wavelet,
    product: wavelets.product,
  };

  /** Running sums, each right to about its last digit: what each addition loses is added up beside (dawa.arrays.running). */
  function before(totals) {
    const sums = new Float64Array(totals.length + 1);
    let [sum, lost] = [0, 0];
    for (let b = 0; b < totals.length; b += 1) {
      const next = sum + totals[b];
      const grown = next - sum;
      lost += sum - (next - grown) + (totals[b] - grown);
      sum = next;
      sums[b + 1] = sum + lost;
    }
    return sums;
  }

  /** How far floats may have moved the records in a run of buckets, besides noise (dawa.results.estimate). */
  const roundingOf = (unbiased) => ROUNDING * before(unbiased.map((sum) => Math.abs(sum) + 1))[unbiased.length];

  const summed = (sums, { lo, hi, weight }) =>
    lo.reduce((all, from, r) => all + weight[r] * (sums[hi[r]] - sums[from]), 0);

  /** A bound on how many cells of a box have a neighbour outside it. */
  function borderCells(lo, hi, shape) {
    const widths = lo.map((from, i) => Math.ceil(hi[i]) - Math.floor(from));
    const volume = widths.reduce((all, width) => all * width, 1);
    const faces = (i) => (lo[i] > 0) + (hi[i] < shape[i]);
    return Math.max(
      widths.reduce((all, width, i) => all + (faces(i) * volume) / width, 0),
      1,
    );
  }

  /** The buckets that a query covers only in part. */
  function cutBuckets(query) {
    const found = [];
    query.weight.forEach((weight, r) => {
      for (let bucket = query.lo[r]; weight !== 1 && bucket < query.hi[r]; bucket += 1) {
        found.push({ bucket, inside: weight });
      }
    });
    return found;
  }

  /**
   * Answers from a release. prepare(milliseconds) must have returned true before answers have error bars;
   * ask(spans, level) answers, where level is one of the confidences with its margins.
   */
  function of(release, shape) {
    const { totals, unbiased } = release.buckets;
    const [published, plain, every] = [before(totals), before(unbiased), roundingOf(unbiased)];
    const stretches = buckets.asker(release.buckets, shape);
    const { bounds } = release.buckets;
    const { halves } = release; // such a walk says nothing about single cells
    const uneven = stops.rule(release.stops);
    const differ = stops.rule(halves);
    const inside = insides.of(release.buckets, shape, uneven);
    const { resolution, unit_variance: unit } = release.noise;
    const { kind } = release.strategy;
    let [form, slow] = [null, null];

    function prepare(milliseconds) {
      if (kind === "bumps") {
        slow = slow || bumps.strategy(release.strategy, resolution);
        form = slow.prepare(milliseconds) ? slow.variances : null;
      } else if (!form) {
        const variance = KINDS[kind](release.strategy, resolution);
        form = (queries) => queries.map(variance);
      }
      return form !== null;
    }

    const deviations = (queries) => form(queries).map((variance) => Math.sqrt(Math.max(unit * variance, 0)));
    const single = (bucket) => ({ lo: [bucket], hi: [bucket + 1], weight: [1] });

    /** How far floats may have moved what was measured in a range. */
    function rounding({ lo }, cuts) {
      if (shape.length > 1) {
        return every * lo.length;
      }
      const places = cuts.reduce((sum, { bucket }) => sum + (bucket + 1) * Math.abs(unbiased[bucket]), 0);
      return every + ROUNDING * places;
    }

    /** The queries that the bias bound needs for the cut buckets: each alone if one or two, otherwise all together. */
    function partsOf(cuts) {
      if (cuts.length <= 2) {
        return cuts.map(({ bucket }) => single(bucket));
      }
      const [lo, hi] = [cuts.map((cut) => cut.bucket), cuts.map((cut) => cut.bucket + 1)];
      return [
        { lo, hi, weight: cuts.map((cut) => cut.inside) },
        { lo, hi, weight: cuts.map((cut) => 1 - cut.inside) },
      ];
    }

    /** What the walk says of one cut bucket; most: the most that it can hold, if that is known. */
    function walked({ bucket, inside: part }, [lo, hi], chance, most = Infinity) {
      if (uneven) {
        return Math.max(part, 1 - part) * uneven(chance, bucket);
      }
      if (!halves || shape.length > 1 || most === Infinity) {
        return Infinity;
      }
      const width = bounds[bucket + 1] - bounds[bucket];
      const ends = [lo[0], hi[0]].map((end) => (end - bounds[bucket]) / width);
      return stops.halved({ bucket, inside: part, ends }, bounds, most, differ(chance, bucket) + halves.tolerated);
    }

    function biasBound(cuts, query, parts, spreads, border, whole, level) {
      const chance = level.chance / 4 / border;
      const byWalk = (cut, most) => (whole ? walked(cut, query.box, chance, most) : Infinity);
      if (cuts.length <= 2) {
        return cuts.reduce((sum, cut, i) => {
          const most = Math.max(unbiased[cut.bucket] + every + level.total * spreads[i], 0);
          return sum + Math.min(Math.max(cut.inside, 1 - cut.inside) * most, byWalk(cut, most));
        }, 0);
      }
      const most = parts.map((query, i) =>
        Math.max(summed(plain, query) + every * query.lo.length + level.total * spreads[i], 0),
      );
      const together = cuts.reduce((sum, cut) => sum + byWalk(cut), 0);
      return Math.min(Math.max(...most), together);
    }

    /** The value of a range, with records where they are thought to lie inside the buckets that it cuts. */
    const valued = (query) => (inside ? inside.within(...query.box) : summed(published, query));

    function ask(spans, level) {
      const [lo, hi] = [spans.map((span) => span.lo), spans.map((span) => span.hi)];
      const query = stretches(lo, hi);
      query.box = [lo, hi];
      const value = valued(query);
      const cuts = cutBuckets(query);
      if (!form) {
        return { value, cuts, share: value / published[totals.length] };
      }
      const parts = partsOf(cuts);
      const [spread, ...spreads] = deviations([query, ...parts]);
      const noise = (cuts.length ? level.cut : level.whole) * spread + rounding(query, cuts);
      const bias = biasBound(
        cuts,
        query,
        parts,
        spreads,
        borderCells(lo, hi, shape),
        spans.every((span) => span.whole),
        level,
      );
      const centre = summed(plain, query);
      return {
        value,
        noise,
        bias,
        measured: centre,
        low: Math.min(Math.max(centre - noise - bias, 0), value),
        high: Math.max(Math.max(centre + noise + bias, 0), value),
        cuts,
        share: value / published[totals.length],
      };
    }

    /** The records in a range, for comparisons; level has the chances that they leave to each of two. */
    function records(spans, level) {
      const [lo, hi] = [spans.map((span) => span.lo), spans.map((span) => span.hi)];
      const query = Object.assign(stretches(lo, hi), { box: [lo, hi] });
      const cuts = cutBuckets(query);
      const parts = partsOf(cuts);
      const [deviation, ...spreads] = deviations([query, ...parts]);
      const whole = spans.every((span) => span.whole);
      const bias = biasBound(cuts, query, parts, spreads, borderCells(lo, hi, shape), whole, level);
      return {
        value: valued(query),
        centre: summed(plain, query),
        deviation,
        bias,
        rounding: rounding(query, cuts),
        cuts,
        query,
      };
    }

    /** At most how far a bucket that a range cuts is from even. */
    function reach(bucket, spans, level) {
      const [lo, hi] = [spans.map((span) => span.lo), spans.map((span) => span.hi)];
      const most = Math.max(unbiased[bucket] + every + level.total * deviations([single(bucket)])[0], 0);
      const asked = uneven && spans.every((span) => span.whole);
      return asked ? Math.min(most, uneven(level.chance / 4 / borderCells(lo, hi, shape), bucket)) : most;
    }

    /** The covariance of the noise of two queries, from the variances of both and of their sum; null if not known. */
    function covariance(queries) {
      if (kind === "product") {
        return null;
      }
      const [one, other, both] = form(queries);
      return (unit * (both - one - other)) / 2;
    }

    /** The margin of the noise alone, and of rounding, in a stretch of buckets. */
    const margin = (from, to, level) => level.whole * deviations([{ lo: [from], hi: [to], weight: [1] }])[0] + every;

    const deviation = (bucket) => deviations([single(bucket)])[0];

    /** What together.js adds up over groups. */
    function known(spans) {
      const [lo, hi] = [spans.map((span) => span.lo), spans.map((span) => span.hi)];
      const query = { ...stretches(lo, hi), box: [lo, hi] };
      const cuts = cutBuckets(query);
      return {
        query,
        cuts,
        value: valued(query),
        centre: summed(plain, query),
        rounding: rounding(query, cuts),
        border: borderCells(lo, hi, shape),
      };
    }

    const parts = {
      known,
      single,
      walked,
      most: (query) => summed(plain, query) + every * query.lo.length,
      variance: (query) => unit * form([query])[0],
      sides: (cuts) => {
        const [lo, hi] = [cuts.map((cut) => cut.bucket), cuts.map((cut) => cut.bucket + 1)];
        return [cuts.map((cut) => cut.inside), cuts.map((cut) => 1 - cut.inside)].map((weight) => ({ lo, hi, weight }));
      },
    };

    return {
      prepare,
      ask,
      records,
      reach,
      covariance,
      margin,
      deviation,
      parts,
      published,
      totals,
      inside,
      bounds: release.buckets.bounds,
    };
  }

  return { of, before, roundingOf };
})();
