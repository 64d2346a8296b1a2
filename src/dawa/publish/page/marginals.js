// Three and four axes: a row of bars for each, of the records that lie in the chosen ranges of all the others.
//
// Every bar is an answer of the release, with its error bars. A range that is dragged on one axis filters the rest; what
// is asked in a frame is bounded by time, so dragging stays smooth and the bars follow as fast as answers do.
const marginals = (() => {
  const MARGIN = { left: 58, top: 6 };
  const [MOST_BARS, NARROWEST, HEIGHT] = [60, 9, 98];
  const SLICE = 8;
  const STALE = 0.4;
  const ROOM = 2; // a bar that nobody is sure of must not make all others small

  /**
   * One axis. bars: { from, to, key, value, low, high }, where key says for which ranges of the other axes it was asked.
   * page: as in make; asked(): called when bars are to be asked.
   */
  function lane(host, page, dimension, asked) {
    const axis = page.axes[dimension];
    const [row, title, unit, read, box] = ["div", "strong", "small", "span", "div"].map((tag) =>
      document.createElement(tag),
    );
    row.className = "lane";
    title.textContent = axis.column;
    unit.className = "unit";
    unit.textContent = `${page.records} per ${axis.per}`;
    read.className = "read";
    box.className = "plotted";
    row.append(title, unit, read, box);
    host.append(row);
    const [base, over] = drawing.layers(box);
    const whole = () => drawing.whole(axis.size);
    let [view, log, bars, next, paint, left] = [whole(), false, [], 0, null, MARGIN.left];

    const plot = () => ({
      left,
      top: MARGIN.top,
      width: Math.max(box.clientWidth - left - handles.beside(), 10),
      height: HEIGHT,
    });
    const placed = (place) => left + ((place - view.from) / (view.to - view.from)) * plot().width;
    const x = (border) => placed(axis.place(border));
    const spot = (px) => view.from + ((px - left) / plot().width) * (view.to - view.from);

    /** What the bars depend on: the ranges of the other axes, the confidence, and whether there are error bars. */
    const wanted = () => {
      const others = page.spans().map(({ lo, hi }, i) => (i === dimension ? "" : `${lo} ${hi}`));
      return [...others, page.level().confidence, page.ready()].join(" ");
    };

    function divide() {
      const context = drawing.cleared(over, 1, 1);
      box.style.height = `${MARGIN.top + HEIGHT + rulers.depth(context, axis, x(1) - x(0))}px`;
      const most = Math.min(Math.max(Math.floor(plot().width / NARROWEST), 4), MOST_BARS);
      const borders = axes.runs(axis, axis.cellAt(view.from), axis.cellAt(view.to), most);
      bars = borders.slice(1).map((to, i) => ({ from: borders[i], to, key: null, value: 0, low: 0, high: 0 }));
    }

    /** Ask for the next bar that is out of date; false if there is none. */
    function askNext() {
      const key = wanted();
      for (let tried = 0; tried < bars.length; tried += 1) {
        const bar = bars[next % bars.length];
        next += 1;
        if (bar.key !== key) {
          const spans = page.spans().map((span, i) => (i === dimension ? axes.cells(axis, bar.from, bar.to) : span));
          const { value, low, high } = page.answers.ask(spans, page.level());
          Object.assign(bar, { key, value, low, high });
          return true;
        }
      }
      return false;
    }

    const stale = () => bars.some(({ key }) => key !== wanted());
    const height = ({ from, to }, records) => records / axis.width(from, to);
    const scaled = (value) => (log ? Math.log10(1 + Math.max(value, 0)) : Math.max(value, 0));

    function scale(context) {
      const [most, high] = ["value", "high"].map((end) => Math.max(...bars.map((bar) => height(bar, bar[end] ?? 0))));
      const highest = Math.max(Math.min(high, ROOM * most), most);
      const top = highest > 0 ? highest * 1.04 : 1;
      const ticks = rulers.heights(top, log, 3);
      const texts = ticks.map(({ text }) => text);
      left = rulers.broad(context, texts, MARGIN.left, box.clientWidth);
      const y = (value) => MARGIN.top + HEIGHT * (1 - Math.min(scaled(value) / scaled(top), 1));
      return { y, ticks };
    }

    function draw() {
      const context = drawing.cleared(base, box.clientWidth, box.clientHeight);
      paint = drawing.colours();
      const { y, ticks } = scale(context);
      const area = plot();
      rulers.left(context, ticks, y, area, paint);
      context.save();
      context.beginPath();
      context.rect(area.left, 0, area.width, area.top + area.height);
      context.clip();
      const key = wanted();
      for (const bar of bars) {
        const [begin, end, foot] = [x(bar.from), x(bar.to), area.top + area.height];
        const gap = Math.min((end - begin) * 0.12, axis.labels ? 24 : 3);
        const [at, high, low] = ["value", "high", "low"].map((end) => y(height(bar, bar[end] ?? 0)));
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
      context.restore();
      rulers.below(context, axis, view, x, area, paint, false);
      drawOver();
    }

    function drawOver() {
      row.toggleAttribute("data-stale", stale());
      const area = plot();
      const context = drawing.cleared(over, box.clientWidth, box.clientHeight);
      const span = page.spans()[dimension];
      const clip = (at) => Math.min(Math.max(x(at), area.left), area.left + area.width);
      const [first, last] = [clip(span.lo), clip(span.hi)];
      context.fillStyle = paint.card;
      context.globalAlpha = 0.62;
      context.fillRect(area.left, area.top, first - area.left, area.height);
      context.fillRect(last, area.top, area.left + area.width - last, area.height);
      context.globalAlpha = 1;
      context.fillStyle = paint.pickSoft;
      context.fillRect(first, area.top, last - first, area.height);
      context.fillStyle = paint.pick;
      ["lo", "hi"].forEach((end, i) => {
        if (x(span[end]) >= area.left - 1 && x(span[end]) <= area.left + area.width + 1) {
          handles.grip(context, x(span[end]), i, area);
        }
        handles.place(sliders[0][i], span, end, handles.zone([first, last], i, area, box.clientWidth));
      });
    }

    function show(to) {
      const same = to.from === view.from && to.to === view.to;
      view = to;
      if (!same) {
        divide();
        asked();
      }
      return !same;
    }

    /** Write what the bar under the pointer says. */
    function tell(event) {
      const at = axis.cellAt(spot(event.clientX - box.getBoundingClientRect().left));
      const bar = bars.find(({ from, to }) => at >= from && at < to);
      if (!bar || bar.key === null) {
        read.textContent = "";
        return;
      }
      const where = axes.said(axis, axes.cells(axis, bar.from, bar.to));
      const [value, low, high] = [bar.value, bar.low, bar.high].map(numbers.records);
      read.textContent = `${where}: ${value}${bar.low === undefined ? "" : ` (${low} to ${high})`}`;
    }

    const chart = {
      axes: [axis],
      spans: () => [page.spans()[dimension]],
      change: (_, lo, hi) => page.change(dimension, lo, hi),
      step: () => Math.max(1, Math.round((axis.cellAt(view.to) - axis.cellAt(view.from)) / 100)),
      jump(_, from, direction) {
        const beyond = bars.filter(({ to }) => (direction > 0 ? to > from : to < from)).map(({ to }) => to);
        return direction > 0 ? Math.min(...beyond, axis.size) : Math.max(...beyond, 0);
      },
      point: (px) => [axis.cellAt(Math.min(Math.max(spot(px), view.from), view.to))],
      edges: () => [[x(page.spans()[dimension].lo), x(page.spans()[dimension].hi)]],
      inPlot: (_, py) => py < MARGIN.top + plot().height,
      pan: (px) => show(drawing.moved(view, axis.size, (-px / plot().width) * (view.to - view.from))),
      zoom: (factor, px) => show(drawing.zoomed(view, axis.size, factor, spot(px), axis.least)),
      reset: () => show(whole()),
    };
    const sliders = handles.sliders(box, chart, dimension);
    handles.pointers(box, chart);
    box.addEventListener("pointermove", tell);
    box.addEventListener("pointerdown", tell);
    box.addEventListener("pointerleave", () => {
      read.textContent = "";
    });
    divide();

    return {
      divide,
      askNext,
      stale,
      draw,
      drawOver,
      reset: chart.reset,
      zoomBy: (factor) => show(drawing.zoomed(view, axis.size, factor, (view.from + view.to) / 2, axis.least)),
      moveBy: (share) => show(drawing.moved(view, axis.size, share * (view.to - view.from))),
      setLog(value) {
        log = value;
        draw();
      },
    };
  }

  /** page: { axes, answers, records, spans(), level(), ready(), change(dimension, lo, hi) } */
  function make(host, page) {
    host.classList.add("lanes");
    let [log, task, frame] = [false, 0, 0];
    const lanes = page.axes.map((_, dimension) => lane(host, page, dimension, soon));

    /** Ask for bars of all axes in turn, for a slice of this frame; more later if answers take longer. */
    function work() {
      frame = 0;
      const begin = performance.now();
      const changed = new Set();
      let going = true;
      while (going && performance.now() < begin + SLICE) {
        going = false;
        for (const one of lanes) {
          if (performance.now() < begin + SLICE && one.askNext()) {
            changed.add(one);
            going = true;
          }
        }
      }
      for (const one of changed) {
        one.draw();
      }
      if (lanes.some((one) => one.stale())) {
        const took = performance.now() - begin;
        if (took > 3 * SLICE) {
          task = setTimeout(soon, 4 * took); // a single answer is slow: leave time for dragging
        } else {
          soon();
        }
      }
    }

    function soon() {
      clearTimeout(task);
      frame = frame || requestAnimationFrame(work);
    }

    const each = (name) => (value) => {
      for (const one of lanes) {
        one[name](value);
      }
    };

    return {
      refresh() {
        each("divide")();
        each("draw")();
        soon();
      },
      draw: each("draw"),
      drawOver() {
        each("drawOver")();
        soon();
      },
      stop() {
        cancelAnimationFrame(frame);
        clearTimeout(task);
      },
      reset: each("reset"),
      zoomBy: each("zoomBy"),
      moveBy: each("moveBy"),
      log: () => log,
      setLog(value) {
        log = value;
        each("setLog")(value);
      },
      caption: () =>
        `Each row is an axis. Its bars count the ${page.records} in the ranges that are chosen on all the others, per ` +
        "cell of it. The thin line in a bar goes from low to high. Bars outside the chosen range are pale. " +
        drawing.advice("a range on any axis", "below a picture"),
    };
  }

  return { make };
})();
