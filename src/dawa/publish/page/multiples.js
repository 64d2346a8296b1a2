// A small picture of every group, side by side: a line of records per cell, or a map in colours.
const multiples = (() => {
  const { by, element } = panel;
  const MOST_DRAWN = 24;
  const [MOST_ACROSS, MOST_UP] = [96, 72];

  /** The records per cell of each bucket, with how many cells it has. */
  const heights = ({ bounds, totals }, width) =>
    Array.from(totals, (total, b) => [total / width(bounds[b], bounds[b + 1]), width(bounds[b], bounds[b + 1])]);

  /** Columns of equal width along a line: the greatest records per cell of the buckets in each, so that none is lost. */
  function columns({ bounds, totals }, axis, count) {
    const at = (border) => (axis.place(border) / axis.size) * count;
    const found = new Float64Array(count);
    for (let b = 0; b < totals.length; b += 1) {
      const density = totals[b] / axis.width(bounds[b], bounds[b + 1]);
      const last = Math.min(Math.ceil(at(bounds[b + 1])), count);
      for (let i = Math.floor(at(bounds[b])); i < last; i += 1) {
        found[i] = Math.max(found[i], density);
      }
    }
    return found;
  }

  /**
   * page: { list: [{ name, release, answers() }], axes, shape, onLine, spans(), chosen(), choose(group), log() }
   * show(groups) says which groups there are to see; the first ones are drawn, the rest on demand.
   */
  function make(page) {
    const { list, shape, onLine } = page;
    const width = onLine ? page.axes[0].width : (from, to) => to - from;
    const pictured = onLine || shape.length === 2;
    const [host, more] = [by("tiles"), by("tiles-more")];
    let [tiles, wanted, room, same, top, pick] = [[], [], MOST_DRAWN, true, null, null];
    host.replaceChildren();
    by("tiles-bar").hidden = !pictured;
    host.hidden = !pictured;

    /** The greatest height of all groups, and the height that few of their cells exceed. */
    function highest() {
      if (!top) {
        const each = list.map((one) => drawing.highest(heights(one.release.buckets, width), onLine ? 1 : 0.998));
        top = Math.max(...each) || 1;
      }
      return top;
    }

    const topOf = (one) =>
      same ? highest() : drawing.highest(heights(one.release.buckets, width), onLine ? 1 : 0.998) || 1;

    function line(tile, paint) {
      const { canvas, one } = tile;
      const [width, height] = [tile.plot.clientWidth, tile.plot.clientHeight];
      const context = drawing.cleared(canvas, width, height);
      const found = columns(one.release.buckets, page.axes[0], Math.max(Math.round(width), 1));
      const scale = heat.scaling(topOf(one), page.log());
      const y = (density) => height - 1 - (height - 4) * Math.min(scale(density), 1);
      context.beginPath();
      context.moveTo(0, height);
      found.forEach((density, i) => {
        context.lineTo(i, y(density));
        context.lineTo(i + 1, y(density));
      });
      context.strokeStyle = paint.bar;
      context.lineWidth = 1.4;
      context.stroke();
      context.lineTo(width, height);
      context.globalAlpha = 0.22;
      context.fillStyle = paint.bar;
      context.fill();
      context.globalAlpha = 1;
    }

    function colours(tile) {
      const { canvas, one } = tile;
      const [width, height] = [tile.plot.clientWidth, tile.plot.clientHeight];
      const context = drawing.cleared(canvas, width, height);
      const pixels = [Math.min(shape[0], MOST_ACROSS), Math.min(shape[1], MOST_UP)];
      tile.raster = tile.raster || heat.raster(one.release, one.answers(), shape, shape.map(drawing.whole), ...pixels);
      context.imageSmoothingEnabled = false;
      context.drawImage(heat.picture(tile.raster, topOf(one), page.log()), 0, 0, width, height);
    }

    function draw() {
      if (!pictured) {
        return;
      }
      const paint = drawing.colours();
      for (const tile of tiles) {
        (onLine ? line : colours)(tile, paint);
      }
    }

    function added(group) {
      const one = list[group];
      const button = element("button", "");
      button.type = "button";
      button.className = "tile";
      const plot = document.createElement("span");
      plot.className = "plot";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-hidden", "true");
      const mark = document.createElement("i");
      plot.append(canvas, mark);
      button.append(element("b", one.name), plot);
      button.addEventListener("click", () => page.choose(group));
      host.append(button);
      return { group, one, button, plot, canvas, mark };
    }

    function fill() {
      host.replaceChildren();
      tiles = pictured ? wanted.slice(0, room).map(added) : [];
      const left = wanted.length - tiles.length;
      more.hidden = !pictured || left <= 0;
      more.textContent = `Show ${Math.min(left, MOST_DRAWN)} more of ${left}`;
      chosen();
      spans();
      draw();
    }

    /** Mark the chosen group. */
    function chosen() {
      for (const { group, button } of tiles) {
        button.setAttribute("aria-pressed", String(group === page.chosen()));
      }
    }

    /** Mark the chosen range in every picture. */
    function spans() {
      const [across, up] = page.spans();
      const part = (at, i) => `${(100 * at) / shape[i]}%`;
      const [lo, hi] = [across.lo, across.hi].map((border) => (onLine ? page.axes[0].place(border) : border));
      pick = { left: part(lo, 0), width: part(hi - lo, 0) };
      if (up) {
        Object.assign(pick, { bottom: part(up.lo, 1), height: part(up.hi - up.lo, 1) });
      }
      for (const { mark } of tiles) {
        Object.assign(mark.style, pick);
      }
    }

    function scale(value) {
      same = value;
      by("same").setAttribute("aria-pressed", String(same));
      by("own").setAttribute("aria-pressed", String(!same));
      draw();
    }

    by("same").onclick = () => scale(true);
    by("own").onclick = () => scale(false);
    more.onclick = () => {
      const first = tiles.length;
      room += MOST_DRAWN;
      fill();
      tiles[first]?.button.focus();
    };
    /** Arrows go from picture to picture; a button chooses with Enter or the space bar. */
    host.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const at = tiles.findIndex(({ button }) => button === document.activeElement);
      if (step && at >= 0 && tiles[at + step]) {
        event.preventDefault();
        tiles[at + step].button.focus();
      }
    };
    scale(true);

    return {
      show(groups) {
        [wanted, room] = [groups, MOST_DRAWN];
        fill();
      },
      draw,
      spans,
      chosen,
    };
  }

  return { make };
})();
