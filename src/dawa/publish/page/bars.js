// Bars along one of several axes: the records in each run of its cells that lie in the chosen ranges of all the others.
//
// A bar is { from, to, key, value, low, high }: its cells, and an answer of the release; key says for which ranges of the
// other axes it was asked.
const bars = (() => {
  const STALE = 0.4;
  const ROOM = 2; // a bar that nobody is sure of must not make all others small

  /** Bars over a part of an axis, about so many at most, which nobody has asked for yet. */
  function divided(axis, from, to, most) {
    const borders = axes.runs(axis, from, to, most);
    return borders.slice(1).map((to, i) => ({ from: borders[i], to, key: null, value: 0, low: 0, high: 0 }));
  }

  /** What bars along an axis depend on: the ranges of the other axes, the confidence, and whether there are error bars. */
  const wanted = (dimension, spans, level, ready) =>
    [...spans.map(({ lo, hi }, i) => (i === dimension ? "" : `${lo} ${hi}`)), level.confidence, ready].join(" ");

  /** Ask for a bar along the axis of this number. */
  function ask(bar, key, axis, dimension, answers, spans, level) {
    const box = spans.map((span, i) => (i === dimension ? axes.cells(axis, bar.from, bar.to) : span));
    const { value, low, high } = answers.ask(box, level);
    Object.assign(bar, { key, value, low, high });
  }

  const height = (axis, { from, to }, records) => records / axis.width(from, to);

  /** How high a picture of bars has to be. */
  function top(axis, all) {
    const [most, high] = ["value", "high"].map((end) =>
      Math.max(...all.map((bar) => height(axis, bar, bar[end] ?? 0))),
    );
    return Math.max(Math.min(high, ROOM * most), most);
  }

  /** x: from a border to its pixel; y: from a height to its pixel; foot: where bars stand. Those with another key are pale. */
  function draw(context, axis, all, key, { x, y, foot }, paint) {
    for (const bar of all) {
      const [begin, end] = [x(bar.from), x(bar.to)];
      const gap = Math.min((end - begin) * 0.12, axis.labels ? 24 : 3);
      const [at, high, low] = ["value", "high", "low"].map((end) => y(height(axis, bar, bar[end] ?? 0)));
      const pale = bar.key === key ? 1 : STALE;
      context.fillStyle = paint.bar;
      context.globalAlpha = 0.55 * pale;
      context.fillRect(begin + gap / 2, at, end - begin - gap, foot - at);
      context.globalAlpha = pale;
      context.fillRect(begin + gap / 2, at - 1, end - begin - gap, 2);
      if (Number.isFinite(bar.high)) {
        context.fillStyle = paint.ink;
        context.fillRect((begin + end) / 2 - 0.6, high, 1.2, low - high);
      }
    }
    context.globalAlpha = 1;
  }

  return { divided, wanted, ask, top, draw };
})();
