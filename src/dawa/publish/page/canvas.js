// What all pictures share: sharp canvases, the colours of the style sheet, and a view that zooms and moves.
const drawing = (() => {
  const NAMES = ["ink", "soft", "line", "grid", "bar", "band", "pick", "pick-soft", "cut", "card"];
  const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

  function variables(names) {
    const style = getComputedStyle(document.documentElement);
    return names.map((name) => style.getPropertyValue(`--${name}`).trim());
  }

  /** The colours at this moment: a reader's preference may change. */
  function colours() {
    const values = variables(NAMES);
    return Object.fromEntries(NAMES.map((name, i) => [name.replace("-soft", "Soft"), values[i]]));
  }

  /** Two canvases on top of each other: what changes with the view, and what changes with the range. */
  function layers(host) {
    return ["base", "over"].map((name) => {
      const element = document.createElement("canvas");
      element.className = name;
      element.setAttribute("aria-hidden", "true");
      host.append(element);
      return element;
    });
  }

  /** A cleared context in CSS pixels. */
  function cleared(element, width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (element.width !== w || element.height !== h) {
      element.width = w;
      element.height = h;
    }
    const context = element.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    return context;
  }

  /** Draw in a box alone. */
  function within(context, { left, top, width, height }, action) {
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    action();
    context.restore();
  }

  /** A part of an axis: from and to in cells. */
  const whole = (size) => ({ from: 0, to: size });

  function zoomed(view, size, factor, centre, least = 4) {
    const width = Math.min(Math.max((view.to - view.from) * factor, Math.min(least, size)), size);
    const share = (centre - view.from) / (view.to - view.from);
    return moved({ from: centre - share * width, to: centre + (1 - share) * width }, size, 0);
  }

  function moved(view, size, by) {
    const width = view.to - view.from;
    const from = Math.min(Math.max(view.from + by, 0), size - width);
    return { from, to: from + width };
  }

  /** A triangle that points away from the picture; direction is where its tip lies. */
  function tip(context, x, y, [across, up], size) {
    context.beginPath();
    context.moveTo(x + across * size, y + up * size);
    context.lineTo(x + up * size, y + across * size);
    context.lineTo(x - up * size, y - across * size);
    context.closePath();
    context.fill();
  }

  /** Above a plot, what the cells at the edges of an axis hold besides; in few words where there is no room for all. */
  function edgeMarks(context, axis, view, plot, paint) {
    const [few, middle] = [
      axis.kind === "dates" ? ["and before", "and after"] : ["and below", "and above"],
      plot.top - 9,
    ];
    const seen = [view.from <= 0, view.to >= axis.size];
    const room = plot.width / (seen[0] && seen[1] ? 2 : 1) - 24;
    context.fillStyle = paint.soft;
    context.textBaseline = "middle";
    axes.beyond(axis).forEach((what, end) => {
      if (!what || !seen[end]) {
        return;
      }
      const [x, away] = end ? [plot.left + plot.width, 1] : [plot.left, -1];
      const text = context.measureText(`with ${what}`).width <= room ? `with ${what}` : few[end];
      tip(context, x - 7 * away, middle, [away, 0], 5);
      context.textAlign = end ? "right" : "left";
      context.fillText(text, x - 12 * away, middle);
    });
  }

  /** The height that this share of all cells does not exceed; each height comes with its number of cells. */
  function highest(heights, share) {
    const sorted = heights.slice().sort((a, b) => a[0] - b[0]);
    let left = share * sorted.reduce((sum, [, cells]) => sum + cells, 0);
    const found = sorted.find(([, cells]) => {
      left -= cells;
      return left <= 0;
    });
    return (found || sorted[sorted.length - 1])[0];
  }

  /** Call resized() when the element of this name has another width or the window another height, recolour() when
   * colours change: with the reader's preference, and on paper. */
  function watch(name, resized, recolour) {
    const host = () => document.getElementById(name);
    let [width, height] = [host().clientWidth, innerHeight];
    new ResizeObserver(() => {
      if (host().clientWidth !== width || innerHeight !== height) {
        [width, height] = [host().clientWidth, innerHeight];
        requestAnimationFrame(resized);
      }
    }).observe(host().parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
    matchMedia("print").addEventListener("change", ({ matches }) => {
      document.querySelector("details").open = matches;
      if (matches) {
        document.documentElement.dataset.theme = "light";
      } else {
        delete document.documentElement.dataset.theme;
      }
      recolour();
    });
  }

  /** Put in its place an element of the same name with nothing in it, and nobody who listens to it. */
  function renew(id) {
    const made = document.getElementById(id).cloneNode(false);
    made.removeAttribute("style");
    made.classList.remove("map", "lanes");
    document.getElementById(id).replaceWith(made);
  }

  /** How to use a picture with the reader's kind of pointer. */
  const advice = (what, where) =>
    matchMedia("(pointer: coarse)").matches
      ? `Drag to choose ${what}, pinch to zoom.`
      : `Drag to choose ${what}, drag ${where} to move the view, turn the wheel to zoom, double-click to see all.`;

  return {
    highest,
    advice,
    renew,
    watch,
    colours,
    variables,
    layers,
    cleared,
    within,
    whole,
    zoomed,
    moved,
    tip,
    edgeMarks,
  };
})();
