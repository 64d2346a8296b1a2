// The map over two axes: the first to the right, the second upwards.
const map = (() => {
  const MARGIN = { left: 64, top: 26, bottom: 62 };
  const MOST_PIXELS = 1024;
  const [TALLEST, FLATTEST] = [620, 240];

  /**
   * page: { axes, scaled: which of them are drawn to scale; counted: what colours count; release, answers, records,
   * geography: of longitude and latitude, or null; spans(), cuts(), change(dimension, lo, hi) }
   * A view is in places of the axes, and so is what pointers meet; everything else is in cells.
   */
  function make(host, page) {
    const { answers, release } = page;
    const both = axes.onMap(page.axes, page.scaled);
    const shape = both.map((axis) => axis.size);
    const [base, over] = drawing.layers(host);
    host.classList.add("map");
    let [view, log, paint, found, drawn, marked, task] = [shape.map(drawing.whole), true, null, null, null, null, 0];
    const { most, beyond } = mostDense(heat.heights(release, answers, both));
    const above = Math.max(MARGIN.top, handles.beside());
    let [left, deep, widest] = [MARGIN.left, 24, Infinity];
    const shores = coast.make(page.geography);

    /** Labels upwards: of categories, as many as have a line each. */
    function upward(area) {
      const [from, to] = [view[1].from, view[1].to].map(both[1].cellAt);
      if (!both[1].labels) {
        return both[1].ticks(from, to, area.height / 44);
      }
      return both[1].ticks(from, to, Math.floor(area.height / 15));
    }

    function resize() {
      const context = drawing.cleared(over, 1, 1);
      const texts = both[1].labels ?? both[1].ticks(0, shape[1], 12).map(({ text }) => text);
      left = rulers.broad(context, texts, MARGIN.left, host.clientWidth);
      const width = host.clientWidth - left - handles.beside();
      deep = rulers.depth(context, both[0], width / shape[0]);
      const square = both.some((axis) => axis.scaled) ? 0.7 : Math.min(Math.max(shape[1] / shape[0], 0.3), 1.6);
      const ratio = page.geography?.aspect ?? square;
      const share = page.geography ? 0.6 : 0.7; // of the window: maps of the world are tall, and are seen at once
      const room = Math.max(Math.min(TALLEST, window.innerHeight * share), FLATTEST);
      const least = page.geography ? FLATTEST / 4 : FLATTEST;
      const height = Math.min(Math.max(width * ratio, least), room);
      widest = page.geography ? Math.min(width, height / ratio) : width;
      host.style.height = `${Math.round(height + above + MARGIN.bottom + deep)}px`;
    }

    const plot = () => ({
      left,
      top: above,
      width: Math.max(Math.min(host.clientWidth - left - handles.beside(), widest), 10),
      height: Math.max(host.clientHeight - above - MARGIN.bottom - deep, 10),
    });
    const placedX = (place) => left + ((place - view[0].from) / (view[0].to - view[0].from)) * plot().width;
    const placedY = (place) => above + plot().height * (1 - (place - view[1].from) / (view[1].to - view[1].from));
    const x = (border) => placedX(both[0].place(border));
    const y = (border) => placedY(both[1].place(border));

    /** Paint what is in view: whole cells if they fit and are even, otherwise as many pixels as there is room for. */
    function repaint() {
      const room = [plot().width, plot().height].map((length) => Math.min(Math.ceil(length), MOST_PIXELS));
      const window_ = view.map(({ from, to }, i) => {
        const cells = { from: Math.floor(from), to: Math.min(Math.ceil(to), shape[i]) };
        return both[i].scaled || cells.to - cells.from > MOST_PIXELS ? { from, to } : cells;
      });
      const [width, height] = window_.map(({ from, to }, i) =>
        both[i].scaled ? room[i] : Math.min(Math.ceil(to - from), MOST_PIXELS),
      );
      found = { window: window_, ...heat.raster(release, answers, both, window_, width, height) };
      marked = null;
      recolour();
    }

    function recolour() {
      drawn = heat.picture(found, most, log);
      draw();
      mark();
    }

    function blit(context, picture) {
      const [across, up] = found.window;
      context.imageSmoothingEnabled = found.width > plot().width;
      const [west, east, south, north] = [...[across.from, across.to].map(placedX), ...[up.from, up.to].map(placedY)];
      context.drawImage(picture, west, north, east - west, south - north);
    }

    const clipped = (context, action) => drawing.within(context, plot(), action);

    function draw() {
      const area = plot();
      paint = drawing.colours();
      const context = drawing.cleared(base, host.clientWidth, host.clientHeight);
      if (drawn) {
        clipped(context, () => {
          blit(context, drawn);
          shores.draw(context, view, x, y, paint);
        });
      }
      context.strokeStyle = paint.line;
      context.lineWidth = 1;
      context.strokeRect(area.left - 0.5, area.top - 0.5, area.width + 1, area.height + 1);
      rulers.below(context, both[0], view[0], x, area, paint);
      rulers.left(context, upward(area), y, area, paint, false);
      rulers.unit(context, both[1].name, area, 8, paint);
      legend(context, area);
      clipped(context, () => edges(context, area));
      drawOver();
    }

    /** Triangles at the sides whose cells hold values from beyond them. */
    function edges(context, area) {
      const middle = [area.left + area.width / 2, area.top + area.height / 2];
      const far = [area.left + area.width, area.top];
      both.forEach((axis, dimension) => {
        const near = dimension ? area.top + area.height : area.left;
        [view[dimension].from <= 0, view[dimension].to >= axis.size].forEach((seen, end) => {
          if (seen && axis.clips[end]) {
            const side = end ? far[dimension] : near;
            const away = Boolean(end) === (dimension === 0) ? 1 : -1;
            const at = dimension ? [middle[0], side - 9 * away] : [side - 9 * away, middle[1]];
            const towards = dimension ? [0, away] : [away, 0];
            context.fillStyle = paint.card;
            drawing.tip(context, ...at, towards, 9);
            context.fillStyle = paint.pick;
            drawing.tip(context, ...at, towards, 6);
          }
        });
      });
    }

    function legend(context, area) {
      const { counted } = page;
      const said = context.measureText(counted).width;
      const [top, width] = [area.top + area.height + deep + 22, Math.min(Math.max(area.width - said - 20, 120), 260)];
      const begin = area.left + area.width - width;
      const colours = heat.ramp();
      for (let i = 0; i < width; i += 1) {
        const colour = colours[Math.round((255 * i) / (width - 1))];
        context.fillStyle = `rgb(${colour & 255} ${(colour >> 8) & 255} ${(colour >> 16) & 255})`;
        context.fillRect(begin + i, top, 1.5, 9);
      }
      const scale = heat.scaling(most, log);
      const gap = numbers.niceStep(most / 4);
      const ticks = log ? [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7] : [0, gap, 2 * gap, 3 * gap];
      const last = `${numbers.value(most, most < 10 ? 0.1 : 1)}${beyond ? " or more" : ""}`;
      const tail = begin + width - context.measureText(last).width - 10;
      context.fillStyle = paint.soft;
      context.textBaseline = "top";
      context.textAlign = "right";
      context.fillText(last, begin + width, top + 12);
      context.textAlign = "center";
      let free = -Infinity;
      for (const at of ticks) {
        const text = numbers.value(at, gap);
        const half = context.measureText(text).width / 2;
        const middle = Math.max(begin + scale(at) * width, begin + half);
        if (middle - half > free && middle + half < tail) {
          context.fillText(text, middle, top + 12);
          free = middle + half + 8;
        }
      }
      context.textAlign = "left";
      if (begin - area.left > said + 16) {
        context.fillText(counted, begin - said - 12, top - 2);
      }
    }

    function drawOver() {
      const context = drawing.cleared(over, host.clientWidth, host.clientHeight);
      const [across, up] = page.spans();
      clipped(context, () => {
        if (marked) {
          blit(context, marked);
        }
        const box = [x(across.lo), y(up.hi), x(across.hi) - x(across.lo), y(up.lo) - y(up.hi)];
        context.lineWidth = 5;
        context.strokeStyle = paint.card;
        context.strokeRect(...box);
        context.lineWidth = 2.5;
        context.strokeStyle = paint.pick;
        context.strokeRect(...box);
        context.fillStyle = paint.pick;
        [across.lo, across.hi].forEach((cx, i) => {
          [up.lo, up.hi].forEach((cy, j) => {
            // Outside the rectangle, so that corners never lie on each other.
            context.fillRect(x(cx) - (i ? 1 : 8), y(cy) - (j ? 8 : 1), 9, 9);
          });
        });
      });
      const area = plot();
      const clipX = (at) => Math.min(Math.max(x(at), area.left), area.left + area.width);
      const clipY = (at) => Math.min(Math.max(y(at), area.top), area.top + area.height);
      const sides = [
        [clipX(across.lo), clipX(across.hi)],
        [clipY(up.hi), clipY(up.lo)],
      ];
      const limits = [host.clientWidth, host.clientHeight];
      [across, up].forEach((span, dimension) => {
        ["lo", "hi"].forEach((end, i) => {
          const at = dimension ? 1 - i : i; // pixels grow downwards
          const box = handles.side(sides[dimension], at, sides[1 - dimension], limits[dimension], dimension === 1);
          handles.place(sliders[dimension][i], span, end, box);
        });
      });
    }

    /** Mark the buckets that are cut, once the rectangle stops changing. */
    function mark() {
      clearTimeout(task);
      marked = null;
      task = setTimeout(() => {
        const chosen = new Set(page.cuts().map((cut) => cut.bucket));
        marked = chosen.size && found ? heat.marks(found, chosen, paint.cut) : null;
        drawOver();
      }, 150);
    }

    function show(next) {
      const same = next.every((part, i) => part.from === view[i].from && part.to === view[i].to);
      view = next;
      if (!same) {
        draw();
        clearTimeout(task);
        task = setTimeout(repaint, 120);
      }
      return !same;
    }

    /** What the triangles mean. */
    function beside() {
      const ends = both.filter((axis) => axis.clips.some(Boolean));
      const each = ends.map((axis) => `${axis.name} ${axes.beyond(axis).join(" and ")}`);
      return ends.length ? ` Cells at sides with a triangle also hold values from beyond: ${each.join("; ")}.` : "";
    }

    const spot = (px, py) => [
      view[0].from + ((px - left) / plot().width) * (view[0].to - view[0].from),
      view[1].from + (1 - (py - above) / plot().height) * (view[1].to - view[1].from),
    ];
    const chart = {
      axes: both,
      spans: page.spans,
      change: page.change,
      step(dimension) {
        const [from, to] = [view[dimension].from, view[dimension].to].map(both[dimension].cellAt);
        return Math.max(1, Math.round((to - from) / 100));
      },
      jump: (_, from, direction) => from + direction,
      point: (px, py) => spot(px, py).map((place, i) => both[i].cellAt(Math.min(Math.max(place, 0), shape[i]))),
      edges: () => page.spans().map((span, i) => (i ? [y(span.lo), y(span.hi)] : [x(span.lo), x(span.hi)])),
      inPlot: (px, py) => px >= left - 8 && py <= above + plot().height + 8,
      pan(px, py) {
        const by = [-px / plot().width, py / plot().height];
        return show(view.map((part, i) => drawing.moved(part, shape[i], by[i] * (part.to - part.from))));
      },
      zoom(factor, px, py) {
        const centre = spot(px, py);
        return show(view.map((part, i) => drawing.zoomed(part, shape[i], factor, centre[i], both[i].least)));
      },
      reset: () => show(shape.map(drawing.whole)),
    };
    const sliders = handles.sliders(host, chart);
    handles.pointers(host, chart);
    resize();

    return {
      refresh() {
        resize();
        repaint();
      },
      draw: () => (found ? recolour() : draw()),
      drawOver() {
        mark();
        drawOver();
      },
      stop: () => clearTimeout(task),
      reset: chart.reset,
      zoomBy: (factor) =>
        show(view.map((part, i) => drawing.zoomed(part, shape[i], factor, (part.from + part.to) / 2, both[i].least))),
      moveBy: (share) => show([drawing.moved(view[0], shape[0], share * (view[0].to - view[0].from)), view[1]]),
      log: () => log,
      setLog(value) {
        log = value;
        recolour();
      },
      caption: () =>
        `How many ${page.counted}: ${both[0].name} to the right, ${both[0].pitch}; ${both[1].name} upwards, ` +
        `${both[1].pitch}.${beside()} ${drawing.advice("a rectangle", "an axis")}`,
    };
  }

  /** The density of the last colour: without this limit, a few dense cells would make all others look the same. */
  function mostDense(heights) {
    const [most, usual] = [drawing.highest(heights, 1), drawing.highest(heights, 0.998)];
    const end = usual > 0 ? usual : most;
    return { most: end > 0 ? end : 1, beyond: most > end };
  }

  return { make };
})();
