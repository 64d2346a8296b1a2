// All groups together, as in dawa.results.answers: what is known of each adds up, and so do the variances of its noise.
const together = (() => {
  const sum = (list, part) => list.reduce((all, one) => all + part(one), 0);

  /** The most that the cut buckets can hold together, on one side of the range: 0 is inside, 1 is outside. */
  function most(found, side, factor) {
    const cut = found.filter(({ cuts }) => cuts.length > 0).map(({ of, cuts }) => [of, of.sides(cuts)[side]]);
    const centre = sum(cut, ([of, query]) => of.most(query));
    const variance = sum(cut, ([of, query]) => of.variance(query));
    return Math.max(centre + factor * Math.sqrt(Math.max(variance, 0)), 0);
  }

  /** How far evenness can be off in the cut buckets of these groups; factor: deviations for a half of the chance. */
  function pooled(found, chance, factor, whole) {
    const border = sum(found, (one) => one.border);
    const each = found.flatMap(({ of, query, cuts }) =>
      cuts.map((cut) => {
        const walked = (held) => (whole ? of.walked(cut, query.box, chance / 2 / border, held) : Infinity);
        return { of, ...cut, walked };
      }),
    );
    if (each.length > 2) {
      const sides = Math.max(most(found, 0, factor), most(found, 1, factor));
      return Math.min(
        sides,
        sum(each, ({ walked }) => walked()),
      );
    }
    return sum(each, ({ of, bucket, inside, walked }) => {
      const query = of.single(bucket);
      const total = Math.max(of.most(query) + factor * Math.sqrt(Math.max(of.variance(query), 0)), 0);
      return Math.min(Math.max(inside, 1 - inside) * total, walked(total));
    });
  }

  /** The smaller one of the bound for all groups and of the sum of each group's own, each with half of the chance. */
  function biasBound(found, whole, level) {
    if (found.length === 1) {
      return pooled(found, level.chance / 2, level.total, whole);
    }
    const own = sum(found, (one) => pooled([one], level.chance / 4 / found.length, level.alone, whole));
    return Math.min(pooled(found, level.chance / 4, level.both, whole), own);
  }

  /** every: what answering.of made of each group, prepared. level: a confidence, with its margins for all groups. */
  function ask(every, spans, level) {
    const found = every.map((of) => ({ of, ...of.known(spans) }));
    const count = sum(found, ({ cuts }) => cuts.length);
    const value = sum(found, (one) => one.value);
    const centre = sum(found, (one) => one.centre);
    const variance = sum(found, ({ of, query }) => of.variance(query));
    const rounding = sum(found, (one) => one.rounding);
    const noise = (count ? level.cut : level.whole) * Math.sqrt(Math.max(variance, 0)) + rounding;
    const whole = spans.every((span) => span.whole);
    const bias = biasBound(found, whole, level);
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
