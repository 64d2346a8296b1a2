// Coasts and borders on maps of longitude and latitude, from the compact text of dawa.plots.geography.
const coast = (() => {
  const [FIRST, BITS, GRID] = [63, 5, 20];
  const LEAST_DEGREES = 3;

  /** A line as the places of its points, in cells of the map. */
  function decoded(text, { start, step }) {
    const points = [];
    const at = [0, 0];
    let [value, shift, dimension] = [0, 0, 0];
    for (let i = 1; i < text.length; i += 1) {
      const part = text.charCodeAt(i) - FIRST;
      value += (part % 32) * 2 ** shift;
      shift += BITS;
      if (part < 32) {
        at[dimension] += value % 2 ? -(value + 1) / 2 : value / 2;
        dimension = 1 - dimension;
        [value, shift] = [0, 0];
        if (dimension === 0) {
          points.push(at.map((degrees, i) => (degrees / GRID - start[i]) / step[i]));
        }
      }
    }
    return { border: text[0] === "b", points };
  }

  /** geography: what the page knows of the map, or null. draw(context, view, x, y, paint) draws what is in view. */
  function make(geography) {
    const lines = (geography?.lines ?? []).map((text) => decoded(text, geography));

    function trace(context, x, y, border) {
      context.beginPath();
      for (const line of lines) {
        if (line.border === border) {
          line.points.forEach(([across, up], i) => {
            context[i ? "lineTo" : "moveTo"](x(across), y(up));
          });
        }
      }
      context.stroke();
    }

    return {
      draw(context, view, x, y, paint) {
        const degrees = view.map(({ from, to }, i) => (to - from) * (geography?.step[i] ?? 0));
        if (lines.length === 0 || Math.max(...degrees) < LEAST_DEGREES) {
          return;
        }
        context.save();
        context.lineJoin = "round";
        for (const [colour, wide, alpha] of [
          [paint.card, 2.6, 0.55],
          [paint.ink, 0.9, 0.85],
        ]) {
          context.strokeStyle = colour;
          context.globalAlpha = alpha;
          context.lineWidth = wide;
          context.setLineDash([]);
          trace(context, x, y, false);
          context.lineWidth = wide * 0.75;
          context.setLineDash([3, 2]);
          trace(context, x, y, true);
        }
        context.restore();
      },
    };
  }

  return { make };
})();
