// The histogram: buckets in their true widths, records per cell upwards, and each bucket's noise margin as a band.
const histogram = (() => {
  const MARGIN = { left: 58, top: 22, marks: 16, bottom: 22 };
  const [CROWDED, NARROWEST] = [2, 1.75]; // pixels of a bucket, and of a run of cells
  const SLICE = 8;
  const BENDS = 24;

  /** page: { axis, answers, records, span(), cuts(), level(), ready(), change(lo, hi), viewed(view) } */
  function make(host, page) {
    const { axis, answers } = page;
    const { bounds, totals, published } = answers;
    const k = totals.length;
    const barred = axis.kind === "edges" || axis.kind === "ordered";
    const [base, over] = drawing.layers(host);
    let [view, log, paint, columns, task] = [drawing.whole(axis.size), steep(axis, bounds, totals), null, [], 0];
    // Room for labels, as measured when they are drawn, and how many cells are drawn together.
    let [left, deep, grouped] = [MARGIN.left, 24, 1];
    const top = MARGIN.top + (axis.clips.some(Boolean) ? MARGIN.marks : 0);

    const plot = () => ({
      left,
      top,
      width: Math.max(host.clientWidth - left - handles.beside(), 10),
      height: Math.max(host.clientHeight - top - MARGIN.bottom - deep, 10),
    });
    const placed = (place) => left + ((place - view.from) / (view.to - view.from)) * plot().width;
    const x = (border) => placed(axis.place(border));
    const spot = (px) => view.from + ((px - left) / plot().width) * (view.to - view.from);

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

    /** A column of the picture; margins are those of the buckets that it touches, as records per cell of theirs. */
    function column(from, to, line = null) {
      const [lo, last] = [buckets.find(bounds, from), buckets.find(bounds, to)];
      const hi = bounds[last] < to ? last + 1 : last;
      const wide = axis.width(from, to);
      const share = (to - from) / wide / (bounds[hi] - bounds[lo]);
      return { from, to, line, lo, hi, share, height: (below(to) - below(from)) / wide, margin: null };
    }

    /** What is drawn: buckets; cells, if they are bars; or runs of several cells where there is no room for all. */
    function visible() {
      const [from, to] = [axis.cellAt(view.from), axis.cellAt(view.to)];
      const [first, last] = [buckets.find(bounds, from), buckets.find(bounds, Math.max(to - 1e-9, 0))];
      const pixels = plot().width;
      if (!barred && last - first < pixels / CROWDED) {
        grouped = 1;
        return Array.from({ length: last - first + 1 }, (_, i) => {
          const b = first + i;
          const height = totals[b] / axis.width(bounds[b], bounds[b + 1]);
          return { ...column(bounds[b], bounds[b + 1], bend(b)), height };
        });
      }
      const borders = axes.runs(axis, from, to, Math.max(Math.floor(pixels / NARROWEST), 8));
      grouped = Math.max(...borders.slice(1).map((border, i) => border - borders[i]));
      return borders.slice(1).map((border, i) => column(borders[i], border));
    }

    const scaled = (value) => (log ? Math.log10(1 + Math.max(value, 0)) : Math.max(value, 0));

    function scale(context) {
      let top = 0;
      for (const { height, line, margin } of columns) {
        top = Math.max(top, height + Math.min(margin || 0, height * 2 + 1));
        top = line ? Math.max(top, line[0][1], line[BENDS][1]) : top;
      }
      top = top > 0 ? top * 1.04 : 1;
      const ticks = rulers.heights(top, log, 5);
      const texts = ticks.map(({ text }) => text);
      left = rulers.broad(context, texts, MARGIN.left, host.clientWidth);
      deep = rulers.depth(context, axis, x(1) - x(0));
      const area = plot();
      return { y: (value) => area.top + area.height * (1 - Math.min(scaled(value) / scaled(top), 1.02)), ticks };
    }

    function draw() {
      paint = drawing.colours();
      const { context, area } = rulers.upwards(base, host, scale, plot, paint, barred ? cells : steps);
      rulers.below(context, axis, view, x, area, paint);
      rulers.unit(context, `${page.records} per ${axis.per}`, area, 8, paint);
      drawing.edgeMarks(context, axis, view, area, paint);
      drawOver();
    }

    /** Cells side by side, each as wide as it is. */
    function cells(context, y) {
      const foot = y(0);
      for (const { from, to, height, margin } of columns) {
        const [left, right] = [x(from), x(to)];
        const gap = axis.labels ? Math.min((right - left) * 0.16, 24) : Math.min((right - left) * 0.1, 1);
        const wide = Math.max(right - left - gap, 0.5);
        const box = (low, high) => context.fillRect(left + gap / 2, high, wide, low - high);
        context.fillStyle = paint.bar;
        context.globalAlpha = 0.5;
        box(foot, y(height));
        context.fillStyle = paint.band;
        context.globalAlpha = 0.75;
        box(y(Math.max(height - (margin || 0), 0)), y(height + (margin || 0)));
        context.fillStyle = paint.bar;
        context.globalAlpha = 1;
        context.fillRect(left + gap / 2, y(height) - 0.8, wide, 1.6);
      }
    }

    /** A line of steps with an area below it and a band around it. */
    function steps(context, y) {
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
      if (axis.labels) {
        // Labels that stand upright need room of their own.
        host.style.height = "";
        const labels = rulers.depth(drawing.cleared(over, 1, 1), axis, x(1) - x(0));
        host.style.height = `${host.clientHeight + Math.round(labels)}px`;
      }
      columns = visible();
      cancelAnimationFrame(task);
      const level = page.level();
      let next = 0;
      const more = () => {
        const until = performance.now() + SLICE;
        for (; next < columns.length && performance.now() < until; next += 1) {
          const column = columns[next];
          column.margin = answers.margin(column.lo, column.hi, level) * column.share;
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

    /** Whether a column holds several cells. */
    const together = () =>
      grouped > 1 ? ` A step holds ${numbers.fixed(grouped, 0)} cells together; zoom in to see each.` : "";

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
      drawing.within(context, { ...area, left: from, width: to - from }, () => {
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
      });
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
      step: () => Math.max(1, Math.round((axis.cellAt(view.to) - axis.cellAt(view.from)) / 200)),
      jump(_, from, direction) {
        const b = buckets.find(bounds, from);
        return direction > 0 ? bounds[Math.min(b + 1, k)] : bounds[b] < from ? bounds[b] : bounds[Math.max(b - 1, 0)];
      },
      point: (px) => [axis.cellAt(Math.min(Math.max(spot(px), view.from), view.to))],
      edges: () => [[x(page.span().lo), x(page.span().hi)]],
      inPlot: (_, py) => py < top + plot().height,
      pan: (px) => show(drawing.moved(view, axis.size, (-px / plot().width) * (view.to - view.from))),
      zoom: (factor, px) => show(drawing.zoomed(view, axis.size, factor, spot(px), axis.least)),
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
      zoomBy: (factor) => show(drawing.zoomed(view, axis.size, factor, (view.from + view.to) / 2, axis.least)),
      moveBy: (share) => show(drawing.moved(view, axis.size, share * (view.to - view.from))),
      log: () => log,
      setLog(value) {
        log = value;
        draw();
      },
      caption: () =>
        `How many ${page.records} per ${axis.per}, along ${axis.name}${axis.kind === "edges" ? ": the area of a bar is its number" : ""}. ` +
        `The line is the estimate, the light band the noise margin of each bucket alone.${together()}${axes.edges(axis)} ` +
        drawing.advice("a range", "below the picture"),
    };
  }

  /** Whether a few high columns would make all others look flat on a linear scale. */
  function steep(axis, bounds, totals) {
    const heights = Array.from(totals, (total, b) => {
      const wide = axis.width(bounds[b], bounds[b + 1]);
      return [total / wide, wide];
    });
    return heights.length > 1 && drawing.highest(heights, 1) > 12 * Math.max(drawing.highest(heights, 0.95), 1);
  }

  return { make };
})();
