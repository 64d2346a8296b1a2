// The share of the records in range below each value.
const cumulative = (() => {
  const MARGIN = { left: 58, top: 22, bottom: 30 };
  const BENDS = 32;

  /** Totals without negative numbers: the nearest running sums that never fall, as in dawa.infer. */
  function nonnegative(totals) {
    if (totals.every((total) => total >= 0)) {
      return totals;
    }
    const below = answering.before(totals).subarray(1);
    const last = totals.length - 1;
    const most = Math.max(below[last], 0);
    const [sums, counts] = [[], []];
    for (let i = 0; i < last; i += 1) {
      let [sum, count] = [below[i], 1];
      while (sums.length && sums[sums.length - 1] / counts[counts.length - 1] >= sum / count) {
        sum += sums.pop();
        count += counts.pop();
      }
      sums.push(sum);
      counts.push(count);
    }
    const kept = sums.flatMap((sum, pool) => Array(counts[pool]).fill(Math.min(Math.max(sum / counts[pool], 0), most)));
    kept.push(most);
    return kept.map((sum, b) => sum - (b ? kept[b - 1] : 0));
  }

  /** The limits at a border: of the nearest bounds that are known on both sides, because shares can only grow. */
  function limits({ at, low, high }, border) {
    const i = buckets.find(at, border);
    return [low[i], high[at[i] === border ? i : Math.min(i + 1, at.length - 1)]];
  }

  /** Fill what lies between the limits. */
  function fill(context, { at, low, high }, x, y) {
    const last = at.length - 1;
    context.beginPath();
    context.moveTo(x(at[0]), y(high[0]));
    for (let i = 1; i <= last; i += 1) {
      context.lineTo(x(at[i - 1]), y(high[i]));
      context.lineTo(x(at[i]), y(high[i]));
    }
    for (let i = last; i > 0; i -= 1) {
      context.lineTo(x(at[i]), y(low[i - 1]));
      context.lineTo(x(at[i - 1]), y(low[i - 1]));
    }
    context.fill();
  }

  /** page: { axis, answers, span(), records, band(): what the chosen confidence allows, or null if it is not to be shown } */
  function make(host, page) {
    const { axis, answers } = page;
    const { bounds } = answers;
    const before = answering.before(nonnegative(answers.totals));
    const total = before[before.length - 1];
    const [base, over] = drawing.layers(host);
    let [view, paint, deep] = [drawing.whole(axis.size), null, MARGIN.bottom];

    const plot = () => ({
      left: MARGIN.left,
      top: MARGIN.top,
      width: Math.max(host.clientWidth - MARGIN.left - handles.beside(), 10),
      height: Math.max(host.clientHeight - MARGIN.top - deep, 10),
    });
    const placed = (place) => MARGIN.left + ((place - view.from) / (view.to - view.from)) * plot().width;
    const x = (border) => placed(axis.place(border));
    const seen = () => [axis.cellAt(view.from), axis.cellAt(view.to)];
    const y = (share) => MARGIN.top + plot().height * (1 - share);

    /** The share of the records in range below a border. */
    function share(border) {
      if (answers.inside) {
        return answers.inside.before(border) / total;
      }
      const b = buckets.find(bounds, border);
      const inside = (border - bounds[b]) / (bounds[b + 1] - bounds[b]);
      return (before[b] + inside * (before[b + 1] - before[b])) / total;
    }

    function draw() {
      paint = drawing.colours();
      const context = drawing.cleared(base, host.clientWidth, host.clientHeight);
      deep = Math.max(rulers.depth(context, axis, x(1) - x(0)), MARGIN.bottom);
      const area = plot();
      rulers.left(
        context,
        [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: `${100 * at}%` })),
        y,
        area,
        paint,
      );
      context.save();
      context.beginPath();
      context.rect(area.left, 0, area.width, host.clientHeight);
      context.clip();
      if (page.band()) {
        context.fillStyle = paint.band;
        context.globalAlpha = 0.5;
        fill(context, page.band(), x, y);
        context.globalAlpha = 1;
      }
      context.strokeStyle = paint.bar;
      context.lineWidth = 2;
      context.beginPath();
      const [from, to] = seen();
      const [first, last] = [buckets.find(bounds, from), buckets.find(bounds, Math.max(to - 1e-9, 0)) + 1];
      context.moveTo(x(from), y(share(from)));
      let drawn = -Infinity;
      for (let b = first + 1; b <= last; b += 1) {
        if (x(bounds[b]) - drawn >= 0.5 || b === last) {
          const wide = bounds[b] - bounds[b - 1];
          const cells = axis.kind === "edges" ? wide : 1;
          const bends = answers.inside?.bent(b - 1) ? Math.min(Math.ceil((x(bounds[b]) - drawn) / 4), BENDS) : 1;
          const steps = cells * Math.ceil(bends / cells);
          for (let i = 1; i < steps; i += 1) {
            const at = bounds[b - 1] + (i / steps) * wide;
            context.lineTo(x(at), y(share(at)));
          }
          drawn = x(bounds[b]);
          context.lineTo(drawn, y(before[b] / total));
        }
      }
      context.stroke();
      context.restore();
      rulers.below(context, axis, view, x, area, paint, false);
      drawing.edgeMarks(context, axis, view, area, paint);
      drawOver();
    }

    function drawOver() {
      const area = plot();
      const context = drawing.cleared(over, host.clientWidth, host.clientHeight);
      const { lo, hi } = page.span();
      const clip = (at) => Math.min(Math.max(x(at), area.left), area.left + area.width);
      context.fillStyle = paint.pickSoft;
      context.fillRect(clip(lo), area.top, clip(hi) - clip(lo), area.height);
      context.textBaseline = "alphabetic";
      [
        [lo, "right", -7],
        [hi, "left", 7],
      ].forEach(([at, align, shift]) => {
        if (at < seen()[0] || at > seen()[1]) {
          return;
        }
        const [px, py] = [x(at), y(share(at))];
        const text = numbers.percent(share(at));
        const width = context.measureText(text).width + 10;
        const flip = align === "right" ? px - width < area.left : px + width > area.left + area.width;
        context.fillStyle = paint.pick;
        context.fillRect(px - 1, area.top, 2, area.height);
        context.beginPath();
        context.arc(px, py, 4.5, 0, 2 * Math.PI);
        context.fill();
        context.textAlign = flip === (align === "right") ? "left" : "right";
        context.lineWidth = 4;
        context.strokeStyle = paint.card;
        const label = [text, px + (flip ? -shift : shift), py < area.top + 18 ? py + 17 : py - 6];
        context.strokeText(...label);
        context.fillText(...label);
      });
    }

    return {
      draw,
      drawOver,
      empty: !(total > 0),
      shown(next) {
        view = next;
        draw();
      },
      said() {
        const { lo, hi } = page.span();
        const band = page.band();
        const [from, to] = [lo, hi].map((end) => {
          const between = band ? ` (${limits(band, end).map(numbers.percent).join(" to ")})` : "";
          return `${numbers.percent(share(end))}${between}`;
        });
        return `${from} of the ${page.records} in range lie below the chosen one, and ${to} lie below its upper end.`;
      },
    };
  }

  return { make };
})();
