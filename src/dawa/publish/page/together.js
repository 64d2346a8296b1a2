// All groups together, as in dawa.results.answers: what is known of each adds up, and so do the variances of its noise.
const together = (() => {
  const sum = (list, part) => list.reduce((all, one) => all + part(one), 0);

  /** The most that the cut buckets can hold together, on one side of the range: 0 is inside, 1 is outside. */
  function most(found, side, level) {
    const cut = found.filter(({ cuts }) => cuts.length > 0).map(({ of, cuts }) => [of, of.sides(cuts)[side]]);
    const centre = sum(cut, ([of, query]) => of.unbiased(query));
    const variance = sum(cut, ([of, query]) => of.variance(query));
    return Math.max(centre + level.total * Math.sqrt(Math.max(variance, 0)), 0);
  }

  /** How far evenness can be off in the cut buckets of all groups. */
  function biasBound(found, count, border, whole, level) {
    const chance = level.chance / 4 / border;
    const each = found.flatMap(({ of, cuts }) =>
      cuts.map(({ bucket, inside }) => {
        const larger = Math.max(inside, 1 - inside);
        const walked = of.uneven && whole ? larger * of.uneven(chance, bucket) : Infinity;
        return { of, bucket, larger, walked };
      }),
    );
    if (count > 2) {
      const sides = Math.max(most(found, 0, level), most(found, 1, level));
      return Math.min(
        sides,
        sum(each, ({ walked }) => walked),
      );
    }
    return sum(each, ({ of, bucket, larger, walked }) => {
      const query = of.single(bucket);
      const total = of.unbiased(query) + level.total * Math.sqrt(Math.max(of.variance(query), 0));
      return Math.min(larger * Math.max(total, 0), walked);
    });
  }

  /** every: what answering.of made of each group, prepared. level: a confidence, with its margins for all groups. */
  function ask(every, spans, level) {
    const found = every.map((of) => ({ of, ...of.known(spans) }));
    const count = sum(found, ({ cuts }) => cuts.length);
    const value = sum(found, (one) => one.value);
    const centre = sum(found, (one) => one.centre);
    const variance = sum(found, ({ of, query }) => of.variance(query));
    const noise = (count ? level.cut : level.whole) * Math.sqrt(Math.max(variance, 0));
    const whole = spans.every((span) => span.whole);
    const bias = biasBound(
      found,
      count,
      sum(found, ({ border }) => border),
      whole,
      level,
    );
    return {
      value,
      noise,
      bias,
      measured: centre,
      low: Math.min(Math.max(centre - noise - bias, 0), value),
      high: Math.max(centre + noise + bias, 0, value),
    };
  }

  return { ask };
})();
