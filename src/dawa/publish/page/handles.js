// Choosing with a pointer and with keys: edges that can be dragged, and sliders that can be focused.
//
// A host has a lower and an upper edge for each axis. The chart says where they are and what a point means.
const handles = (() => {
  const WIDE = { mouse: 16, pen: 24, touch: 44 };

  /**
   * Sliders for the edges of all axes, numbered from first.
   * chart: { axes, spans(), change(axis, lo, hi), step(axis), jump(axis, from, direction) }
   */
  function sliders(host, chart, first = 0) {
    return chart.axes.map((axis, dimension) => {
      const called = axis.inclusive ? ["first", "last"] : ["from", "to"];
      return ["lo", "hi"].map((end, i) => {
        const element = document.createElement("div");
        element.className = "handle";
        element.tabIndex = 0;
        element.dataset.edge = `${end}${first + dimension}`;
        const set = (name, value) => element.setAttribute(name, value);
        set("role", "slider");
        set("aria-label", `${axis.name}: ${called[i]}`);
        set("aria-orientation", dimension ? "vertical" : "horizontal");
        set("aria-describedby", "keys");
        set("aria-valuemin", "0");
        set("aria-valuemax", String(axis.size));
        element.addEventListener("keydown", (event) => pressed(event, chart, dimension, end));
        host.append(element);
        return element;
      });
    });
  }

  function pressed(event, chart, dimension, end) {
    const horizontal = { ArrowLeft: -1, ArrowRight: 1 }[event.key] || 0;
    const vertical = { ArrowDown: -1, ArrowUp: 1 }[event.key] || 0;
    const page = { PageDown: -10, PageUp: 10 }[event.key] || 0;
    const edge = { Home: 0, End: Infinity }[event.key];
    if (!horizontal && !vertical && !page && edge === undefined) {
      return;
    }
    if (event.altKey || event.metaKey) {
      return;
    }
    event.preventDefault();
    const several = chart.axes.length > 1;
    const along = several && event.shiftKey && (horizontal || vertical) ? (horizontal ? 0 : 1) : dimension;
    const direction = horizontal || vertical || page;
    const spans = chart.spans();
    const { lo, hi } = spans[along];
    const { size } = chart.axes[along];
    const steps = direction * chart.step(along);
    if (event.shiftKey && edge === undefined) {
      const by = Math.min(Math.max(steps, -Math.floor(lo)), size - Math.ceil(hi));
      chart.change(along, Math.floor(lo) + by, Math.ceil(hi) + by);
      return;
    }
    const from = end === "lo" ? lo : hi;
    const outward = direction > 0 ? Math.floor(from) : Math.ceil(from);
    let to = edge === undefined ? outward + steps : edge;
    if (event.ctrlKey && edge === undefined) {
      to = chart.jump(along, from, direction);
    }
    if (end === "lo") {
      chart.change(along, Math.min(Math.max(to, 0), Math.ceil(hi) - 1), Math.ceil(hi));
    } else {
      chart.change(along, Math.floor(lo), Math.max(Math.min(to, size), Math.floor(lo) + 1));
    }
  }

  const coarse = () => matchMedia("(pointer: coarse)").matches;

  /**
   * How far the lower and the upper edge can be grabbed, from where to where: two zones that never overlap. A finger gets
   * 44 pixels for each, outside the range if there is no room inside; limit is where the picture ends.
   */
  function zones([lo, hi], wide, limit) {
    const inner = Math.min(wide / 2, (hi - lo) / 2);
    const outer = wide - inner;
    const [left, right] = [Math.max(lo - outer, 0), Math.min(hi + outer, limit)];
    const room = (hi - lo) / 2;
    return [
      [left, Math.max(Math.min(left + wide, lo + room), lo + inner)],
      [Math.min(Math.max(right - wide, hi - room), hi - inner), right],
    ];
  }

  const broad = () => WIDE[coarse() ? "touch" : "mouse"];

  /** Room beside a plot for the last edge, and for a finger on it. */
  const beside = () => (coarse() ? WIDE.touch : 14);

  /** The place of a slider along one axis, as high as the plot. */
  function zone(edges, end, area, limit) {
    const [from, to] = zones(edges, broad(), limit)[end];
    return { x: from, y: area.top, width: to - from, height: area.height };
  }

  /** The same for an edge of a rectangle: between its other two, [across] or [up], and no shorter than it is broad. */
  function side(edges, end, others, limit, upright) {
    const [from, to] = zones(edges, broad(), limit)[end];
    const [low, high] = others;
    const spare = Math.max(broad() - (high - low), 0) / 2;
    const [along, length] = [low - spare, high - low + 2 * spare];
    return upright
      ? { x: along, y: from, width: length, height: to - from }
      : { x: from, y: along, width: to - from, height: length };
  }

  /** Draw an edge with a grip, which lies outside the range so that two grips never lie on each other. */
  function grip(context, x, end, area) {
    const tall = Math.min(32, area.height * 0.5);
    context.fillRect(x - 1, area.top, 2, area.height);
    context.beginPath();
    context.roundRect(end ? x - 1 : x - 9, area.top + (area.height - tall) / 2, 10, tall, 5);
    context.fill();
  }

  /** Tell a screen reader where an edge is, and put its focus ring there. */
  function place(element, span, end, box) {
    const i = end === "lo" ? 0 : 1;
    element.setAttribute("aria-valuenow", String(span[end]));
    element.setAttribute("aria-valuetext", span.texts[i]);
    const { x: left, y: top, width, height } = box;
    for (const [name, pixels] of Object.entries({ left, top, width, height })) {
      element.style[name] = `${pixels}px`;
    }
  }

  /**
   * Follow pointers. chart also has:
   *   point(x, y): cells along each axis; edges(): pixels of both edges along each axis;
   *   inPlot(x, y): whether dragging there chooses a range, not moves the view; pan(x, y), zoom(factor, x, y), reset().
   */
  function pointers(host, chart) {
    const down = new Map();
    let dragged = null;

    const at = (event) => {
      const box = host.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };

    /** For each axis, which end is near the pointer: 0, 1, or -1 for neither; null if no edge is near. */
    function grabbed(x, y, kind) {
      const near = WIDE[kind] || WIDE.mouse;
      const pixels = [x, y];
      const edges = chart.edges();
      const limits = [host.clientWidth, host.clientHeight];
      const close = edges.map((pair, i) => {
        const [lo, hi] = pair[0] <= pair[1] ? [0, 1] : [1, 0]; // upwards, pixels grow the other way
        const [low, high] = zones([pair[lo], pair[hi]], near, limits[i]);
        const inside = ([from, to]) => pixels[i] >= from && pixels[i] <= to;
        return inside(low) ? lo : inside(high) ? hi : -1;
      });
      const within = (at, pair) => at > Math.min(...pair) - near && at < Math.max(...pair) + near;
      const around = edges.every((pair, i) => within(pixels[i], pair));
      return around && close.some((end) => end >= 0) ? close : null;
    }

    function begin(event) {
      if (event.button > 0) {
        return;
      }
      const [x, y] = at(event);
      down.set(event.pointerId, [x, y]);
      host.setPointerCapture(event.pointerId);
      if (down.size === 2) {
        const [one, two] = [...down.values()];
        dragged = { kind: "pinch", gap: Math.hypot(one[0] - two[0], one[1] - two[1]) };
        return;
      }
      const spans = chart.spans();
      if (!chart.inPlot(x, y) || event.shiftKey) {
        dragged = { kind: "pan", last: [x, y] };
        return;
      }
      const ends = grabbed(x, y, event.pointerType);
      if (ends) {
        const other = (end, i) => (end === 0 ? Math.ceil(spans[i].hi) : Math.floor(spans[i].lo));
        const stay = ends.map((end, i) => (end < 0 ? null : other(end, i)));
        dragged = { kind: "range", stay };
      } else {
        dragged = { kind: "new", stay: chart.point(x, y), x, y };
      }
    }

    /** Whether a press has become a drag; along one axis, a reader who moves up or down is scrolling. */
    const far = (from, x, y) => Math.hypot(x - from.x, chart.axes.length > 1 ? y - from.y : 0) > 4;

    function move(event) {
      const [x, y] = at(event);
      if (!down.has(event.pointerId)) {
        const ends = chart.inPlot(x, y) ? grabbed(x, y, "mouse") : null;
        host.style.cursor = !chart.inPlot(x, y) ? "grab" : ends ? cursor(ends) : "crosshair";
        return;
      }
      const before = down.get(event.pointerId);
      down.set(event.pointerId, [x, y]);
      if (dragged.kind === "pinch" && down.size === 2) {
        const [one, two] = [...down.values()];
        const gap = Math.max(Math.hypot(one[0] - two[0], one[1] - two[1]), 1);
        chart.zoom(dragged.gap / gap, (one[0] + two[0]) / 2, (one[1] + two[1]) / 2);
        chart.pan((x - before[0]) / 2, (y - before[1]) / 2);
        dragged.gap = gap;
      } else if (dragged.kind === "pan") {
        chart.pan(x - dragged.last[0], y - dragged.last[1]);
        dragged.last = [x, y];
      } else if (dragged.kind === "range" || far(dragged, x, y) || dragged.begun) {
        dragged.begun = true;
        const point = chart.point(x, y);
        dragged.stay.forEach((stay, i) => {
          if (stay !== null) {
            between(chart, i, stay, point[i], dragged.kind === "range");
          }
        });
      }
    }

    function end(event) {
      down.delete(event.pointerId);
      if (down.size === 0) {
        dragged = null;
      }
    }

    host.addEventListener("pointerdown", begin);
    host.addEventListener("pointermove", move);
    host.addEventListener("pointerup", end);
    host.addEventListener("pointercancel", end);
    host.addEventListener("dblclick", () => chart.reset());
    host.addEventListener(
      "wheel",
      (event) => {
        const [x, y] = at(event);
        const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
        const used = sideways
          ? chart.pan(-(event.deltaX || event.deltaY), 0)
          : chart.zoom(Math.exp(Math.min(Math.max(event.deltaY, -120), 120) / 300), x, y);
        if (used) {
          event.preventDefault();
        }
      },
      { passive: false },
    );
  }

  /** Whole cells between two places: a new range holds every cell it touches, an edge moves to the nearest border. */
  function between(chart, axis, stay, to, nearest) {
    const { size } = chart.axes[axis];
    const [a, b] = nearest ? [stay, Math.round(to)] : [Math.min(stay, to), Math.max(stay, to)];
    const lo = Math.min(Math.max(Math.floor(Math.min(a, b)), 0), size - 1);
    const hi = Math.min(Math.max(Math.ceil(Math.max(a, b)), lo + 1), size);
    chart.change(axis, lo, hi);
  }

  const cursor = ([across, up = -1]) => (across >= 0 && up >= 0 ? "move" : across >= 0 ? "ew-resize" : "ns-resize");

  return { sliders, place, pointers, zone, side, beside, grip };
})();
