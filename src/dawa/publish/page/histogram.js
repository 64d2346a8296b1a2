// The histogram: buckets in their true widths, records per cell upwards, and each bucket's noise margin as a band.
const histogram = (() => {
  const MARGIN = { left: 58, right: 14, top: 22, bottom: 30 };
  const SLICE = 8;
  const BENDS = 24;

  /** page: { axis, answers, span(), cuts(), level(), ready(), change(lo, hi), viewed(view) } */
  function make(host, page) {
    const { axis, answers } = page;
    const { bounds, totals, published } = answers;
    const k = totals.length;
    const [base, over] = drawing.layers(host);
    let [view, log, paint, columns, task] = [drawing.whole(axis.size), steep(bounds, totals), null, [], 0];

    const plot = () => ({
      left: MARGIN.left,
      top: MARGIN.top,
      width: Math.max(host.clientWidth - MARGIN.left - MARGIN.right, 10),
      height: Math.max(host.clientHeight - MARGIN.top - MARGIN.bottom, 10),
    });
    const x = (at) => MARGIN.left + ((at - view.from) / (view.to - view.from)) * plot().width;

    /** Records below a border. */
    function below(border) {
      if (answers.inside) {
        return answers.inside.before(border);
      }
      const b = buckets.find(bounds, border);
      return published[b] + ((border - bounds[b]) / (bounds[b + 1] - bounds[b])) * totals[b];
    }

    /** The line through a bucket that is not even: parts of the way, and the height there. */
    function bend(b) {
      if (!answers.inside?.bent(b)) {
        return null;
      }
      const parts = Array.from({ length: BENDS + 1 }, (_, i) => i / BENDS);
      return parts.map((t) => [t, answers.inside.density(b, t)]);
    }

    /** What is drawn: visible buckets, or one column per pixel where there are more buckets than pixels. */
    function visible() {
      const [first, last] = [buckets.find(bounds, view.from), buckets.find(bounds, Math.max(view.to - 1e-9, 0))];
      const pixels = Math.ceil(plot().width);
      const found = [];
      if (last - first < pixels) {
        for (let b = first; b <= last; b += 1) {
          const [from, to] = [bounds[b], bounds[b + 1]];
          const height = totals[b] / (to - from);
          found.push({ from, to, height, line: bend(b), cells: to - from, lo: b, hi: b + 1, margin: null });
        }
        return found;
      }
      const step = (view.to - view.from) / pixels;
      for (let i = 0; i < pixels; i += 1) {
        const [from, to] = [view.from + i * step, view.from + (i + 1) * step];
        const lo = buckets.find(bounds, from);
        const hi = Math.max(buckets.find(bounds, to), lo + 1);
        const height = (below(to) - below(from)) / step;
        found.push({ from, to, height, cells: bounds[hi] - bounds[lo], lo, hi, margin: null });
      }
      return found;
    }

    const scaled = (value) => (log ? Math.log10(1 + Math.max(value, 0)) : Math.max(value, 0));

    function scale() {
      const area = plot();
      let top = 0;
      for (const { height, line, margin } of columns) {
        top = Math.max(top, height + Math.min(margin || 0, height * 2 + 1));
        top = line ? Math.max(top, line[0][1], line[BENDS][1]) : top;
      }
      top = top > 0 ? top * 1.04 : 1;
      const y = (value) => area.top + area.height * (1 - Math.min(scaled(value) / scaled(top), 1.02));
      return { y, ticks: drawing.heights(top, log, 5) };
    }

    function draw() {
      const area = plot();
      const context = drawing.cleared(base, host.clientWidth, host.clientHeight);
      paint = drawing.colours();
      const { y, ticks } = scale();
      drawing.leftAxis(context, ticks, y, area, paint);
      context.save();
      context.beginPath();
      context.rect(area.left, 0, area.width, area.top + area.height + 1);
      context.clip();
      context.fillStyle = paint.bar;
      context.globalAlpha = 0.22;
      trace(
        context,
        y,
        (c) => c.height,
        () => 0,
      );
      context.globalAlpha = 0.75;
      context.fillStyle = paint.band;
      trace(
        context,
        y,
        (c) => c.height + (c.margin || 0),
        (c) => Math.max(c.height - (c.margin || 0), 0),
      );
      context.globalAlpha = 1;
      context.strokeStyle = paint.bar;
      context.lineWidth = 1.6;
      context.beginPath();
      columns.forEach(({ from, to, height, line }, i) => {
        const places = line || [
          [0, height],
          [1, height],
        ];
        places.forEach(([t, at], j) => {
          context[i || j ? "lineTo" : "moveTo"](x(from + t * (to - from)), y(at));
        });
      });
      context.stroke();
      context.restore();
      drawing.bottomAxis(context, axis.ticks(view.from, view.to, area.width / 64), x, area, paint);
      drawing.edgeMarks(context, axis, view, area, paint);
      drawOver();
    }

    /** Fill between two heights of all columns at once. */
    function trace(context, y, upper, lower) {
      context.beginPath();
      columns.forEach((column, i) => {
        context[i ? "lineTo" : "moveTo"](x(column.from), y(upper(column)));
        context.lineTo(x(column.to), y(upper(column)));
      });
      for (let i = columns.length - 1; i >= 0; i -= 1) {
        context.lineTo(x(columns[i].to), y(lower(columns[i])));
        context.lineTo(x(columns[i].from), y(lower(columns[i])));
      }
      context.fill();
    }

    /** Draw bars at once, and bands in slices of time, because each column asks the strategy. */
    function refresh() {
      columns = visible();
      cancelAnimationFrame(task);
      const level = page.level();
      let next = 0;
      const more = () => {
        const until = performance.now() + SLICE;
        for (; next < columns.length && performance.now() < until; next += 1) {
          const column = columns[next];
          column.margin = answers.margin(column.lo, column.hi, level) / column.cells;
        }
        if (next < columns.length) {
          task = requestAnimationFrame(more);
        } else {
          draw();
        }
      };
      draw();
      if (page.ready()) {
        if (k > 400) {
          task = requestAnimationFrame(more);
        } else {
          more();
        }
      }
    }

    function drawOver() {
      const area = plot();
      const context = drawing.cleared(over, host.clientWidth, host.clientHeight);
      const { lo, hi } = page.span();
      const clip = (at) => Math.min(Math.max(x(at), area.left), area.left + area.width);
      for (const { bucket } of page.cuts()) {
        const [from, to] = [clip(bounds[bucket]), clip(bounds[bucket + 1])];
        if (to > from) {
          hatch(context, from, to, area);
        }
      }
      const [left, right] = [clip(lo), clip(hi)];
      context.fillStyle = paint.pickSoft;
      context.fillRect(left, area.top, right - left, area.height);
      context.fillStyle = paint.pick;
      [lo, hi].forEach((at, i) => {
        if (x(at) >= area.left - 1 && x(at) <= area.left + area.width + 1) {
          handles.grip(context, x(at), i, area);
        }
        const zone = handles.zone([left, right], i, area, host.clientWidth);
        handles.place(sliders[0][i], page.span(), i ? "hi" : "lo", zone);
      });
    }

    function hatch(context, from, to, area) {
      context.save();
      context.beginPath();
      context.rect(from, area.top, to - from, area.height);
      context.clip();
      context.strokeStyle = paint.cut;
      context.globalAlpha = 0.5;
      context.lineWidth = 1;
      context.beginPath();
      for (let at = from - area.height; at < to; at += 9) {
        context.moveTo(at, area.top + area.height);
        context.lineTo(at + area.height, area.top);
      }
      context.stroke();
      context.globalAlpha = 1;
      context.strokeRect(from + 0.5, area.top + 0.5, to - from - 1, area.height - 1);
      context.restore();
    }

    function show(next) {
      const same = next.from === view.from && next.to === view.to;
      view = next;
      if (!same) {
        refresh();
        page.viewed(view);
      }
      return !same;
    }

    const chart = {
      axes: [axis],
      spans: () => [page.span()],
      change: (_, lo, hi) => page.change(lo, hi),
      step: () => Math.max(1, Math.round((view.to - view.from) / 200)),
      jump(_, from, direction) {
        const b = buckets.find(bounds, from);
        return direction > 0 ? bounds[Math.min(b + 1, k)] : bounds[b] < from ? bounds[b] : bounds[Math.max(b - 1, 0)];
      },
      point: (px) => [view.from + ((px - MARGIN.left) / plot().width) * (view.to - view.from)],
      edges: () => [[x(page.span().lo), x(page.span().hi)]],
      inPlot: (_, py) => py < MARGIN.top + plot().height,
      pan: (px) => show(drawing.moved(view, axis.size, (-px / plot().width) * (view.to - view.from))),
      zoom: (factor, px) => show(drawing.zoomed(view, axis.size, factor, chart.point(px)[0])),
      reset: () => show(drawing.whole(axis.size)),
    };
    const sliders = handles.sliders(host, chart);
    handles.pointers(host, chart);

    return {
      refresh,
      draw,
      drawOver,
      stop: () => cancelAnimationFrame(task),
      reset: chart.reset,
      zoomBy: (factor) => show(drawing.zoomed(view, axis.size, factor, (view.from + view.to) / 2)),
      moveBy: (share) => show(drawing.moved(view, axis.size, share * (view.to - view.from))),
      log: () => log,
      setLog(value) {
        log = value;
        draw();
      },
      caption: () =>
        `Records per ${axis.cell}, along ${axis.column}. The line is the estimate, the light band the noise margin ` +
        `of each bucket alone, around its mean.${axes.edges(axis)} ${drawing.advice("a range", "below the picture")}`,
    };
  }

  /** Whether a few high columns would make all others look flat on a linear scale. */
  function steep(bounds, totals) {
    const heights = Array.from(totals, (total, b) => [total / (bounds[b + 1] - bounds[b]), bounds[b + 1] - bounds[b]]);
    return heights.length > 1 && drawing.highest(heights, 1) > 12 * Math.max(drawing.highest(heights, 0.95), 1);
  }

  return { make };
})();
