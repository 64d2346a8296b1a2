// Three and four axes: a row of bars for each, of the records that lie in the chosen ranges of all the others.
//
// Every bar is an answer of the release, with its error bars. A range that is dragged on one axis filters the rest; what
// is asked in a frame is bounded by time, so dragging stays smooth and the bars follow as fast as answers do.
const marginals = (() => {
  const MARGIN = { left: 58, top: 6 };
  const [MOST_BARS, NARROWEST, HEIGHT] = [60, 9, 98];
  const SLICE = 8;

  /**
   * One axis. page: as in make; asked(): called when bars are to be asked.
   */
  function lane(host, page, dimension, asked) {
    const axis = page.axes[dimension];
    const [row, title, unit, read, box] = ["div", "strong", "small", "span", "div"].map((tag) =>
      document.createElement(tag),
    );
    row.className = "lane";
    title.textContent = axis.name;
    unit.className = "unit";
    unit.textContent = `${page.records} per ${axis.per}`;
    read.className = "read";
    box.className = "plotted";
    row.append(title, unit, read, box);
    host.append(row);
    const [base, over] = drawing.layers(box);
    const whole = () => drawing.whole(axis.size);
    let [view, log, all, next, paint, left] = [whole(), false, [], 0, null, MARGIN.left];

    const plot = () => ({
      left,
      top: MARGIN.top,
      width: Math.max(box.clientWidth - left - handles.beside(), 10),
      height: HEIGHT,
    });
    const placed = (place) => left + ((place - view.from) / (view.to - view.from)) * plot().width;
    const x = (border) => placed(axis.place(border));
    const spot = (px) => view.from + ((px - left) / plot().width) * (view.to - view.from);

    const wanted = () => bars.wanted(dimension, page.spans(), page.level(), page.ready());

    function divide() {
      const context = drawing.cleared(over, 1, 1);
      box.style.height = `${MARGIN.top + HEIGHT + rulers.depth(context, axis, x(1) - x(0))}px`;
      const most = Math.min(Math.max(Math.floor(plot().width / NARROWEST), 4), MOST_BARS);
      all = bars.divided(axis, axis.cellAt(view.from), axis.cellAt(view.to), most);
    }

    /** Ask for the next bar that is out of date; false if there is none. */
    function askNext() {
      const key = wanted();
      for (let tried = 0; tried < all.length; tried += 1) {
        const bar = all[next % all.length];
        next += 1;
        if (bar.key !== key) {
          bars.ask(bar, key, axis, dimension, page.answers, page.spans(), page.level());
          return true;
        }
      }
      return false;
    }

    const stale = () => all.some(({ key }) => key !== wanted());
    const scaled = (value) => (log ? Math.log10(1 + Math.max(value, 0)) : Math.max(value, 0));

    function scale(context) {
      const highest = bars.top(axis, all);
      const top = highest > 0 ? highest * 1.04 : 1;
      const ticks = rulers.heights(top, log, 3);
      const texts = ticks.map(({ text }) => text);
      left = rulers.broad(context, texts, MARGIN.left, box.clientWidth);
      const y = (value) => MARGIN.top + HEIGHT * (1 - Math.min(scaled(value) / scaled(top), 1));
      return { y, ticks };
    }

    function draw() {
      paint = drawing.colours();
      const { context, area } = rulers.upwards(base, box, scale, plot, paint, (context, y, area) => {
        bars.draw(context, axis, all, wanted(), { x, y, foot: area.top + area.height }, paint);
      });
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
      const bar = all.find(({ from, to }) => at >= from && at < to);
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
        const beyond = all.filter(({ to }) => (direction > 0 ? to > from : to < from)).map(({ to }) => to);
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
