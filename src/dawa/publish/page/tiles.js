// What a small picture of a group shows: a line of records per cell, a map in colours, or bars along one of several axes.
//
// Each kind has: top(tiles), the greatest height of these; draw(tile, top, paint); mark(spans), where the chosen range
// lies, in style; stale(tile), whether something in it is out of date; and ask(tile), which asks for a little of that.
// A tile has one, its group; canvas, plot; and what its kind keeps in it.
const tiles = (() => {
  const [MOST_ACROSS, MOST_UP] = [96, 72];
  const NARROWEST = 6; // pixels of a bar
  const SLICE = 10;

  /** The records per cell of each bucket, with how many cells it has. */
  const heights = ({ bounds, totals }, width) =>
    Array.from(totals, (total, b) => [total / width(bounds[b], bounds[b + 1]), width(bounds[b], bounds[b + 1])]);

  /** The greatest height of one group, or of all of them, whichever are drawn; few of their cells exceed it. */
  function highest(list, heights, share) {
    const known = new Map();
    const own = (one) => {
      if (!known.has(one)) {
        known.set(one, drawing.highest(heights(one), share) || 1);
      }
      return known.get(one);
    };
    return (shown) => Math.max(...(shown.length === 1 ? [shown[0].one] : list).map(own));
  }

  const cleared = ({ canvas, plot }) => drawing.cleared(canvas, plot.clientWidth, plot.clientHeight);
  const part = (at, size) => `${(100 * at) / size}%`;
  const along = (axis, { lo, hi }) => {
    const [from, to] = [axis.place(lo), axis.place(hi)];
    return { left: part(from, axis.size), width: part(to - from, axis.size), bottom: "0", height: "100%" };
  };
  const still = { stale: () => false, ask: () => undefined };

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

  function line(page) {
    const [axis] = page.axes;

    function draw(tile, top, paint) {
      const context = cleared(tile);
      const [width, height] = [tile.plot.clientWidth, tile.plot.clientHeight];
      const found = columns(tile.one.release.buckets, axis, Math.max(Math.round(width), 1));
      const scale = heat.scaling(top, page.log());
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

    const top = highest(page.list, (one) => heights(one.release.buckets, axis.width), 1);
    return { top, draw, mark: ([span]) => along(axis, span), ...still };
  }

  function colours(page) {
    const { shape } = page;
    const both = axes.onMap(page.axes, page.part.scaled);
    const most = (axis, pixels) => (axis.scaled ? pixels : Math.min(axis.size, pixels));

    function draw(tile, top) {
      const context = cleared(tile);
      const { one, plot } = tile;
      const pixels = [most(both[0], MOST_ACROSS), most(both[1], MOST_UP)];
      tile.raster = tile.raster || heat.raster(one.release, one.answers(), both, shape.map(drawing.whole), ...pixels);
      context.imageSmoothingEnabled = false;
      context.drawImage(heat.picture(tile.raster, top, page.log()), 0, 0, plot.clientWidth, plot.clientHeight);
    }

    function mark([across, up]) {
      const { left, width } = along(both[0], across);
      const { left: bottom, width: height } = along(both[1], up);
      return { left, width, bottom, height };
    }

    const top = highest(page.list, (one) => heat.heights(one.release, one.answers(), both), 0.998);
    return { top, draw, mark, ...still };
  }

  /** Bars along the axis of this number: what the row of that axis shows of the group. */
  function barred(page, dimension) {
    const axis = page.axes[dimension];
    const levelOf = (one) => one.levels.find(({ confidence }) => confidence === page.level().confidence);
    const wanted = () => bars.wanted(dimension, page.spans(), page.level(), true);

    function made(tile) {
      const most = Math.max(Math.floor(tile.plot.clientWidth / NARROWEST), 4);
      if (tile.most !== most) {
        tile.most = most;
        tile.bars = bars.divided(axis, 0, axis.size, most);
      }
      return tile.bars;
    }

    const outdated = (tile) => made(tile).find((bar) => bar.key !== wanted());

    function ask(tile) {
      const bar = outdated(tile);
      if (bar && tile.one.answers().prepare(SLICE)) {
        bars.ask(bar, wanted(), axis, dimension, tile.one.answers(), page.spans(), levelOf(tile.one));
      }
    }

    function draw(tile, top, paint) {
      const context = cleared(tile);
      const [width, height] = [tile.plot.clientWidth, tile.plot.clientHeight];
      const scale = heat.scaling(top, page.log());
      const x = (border) => (axis.place(border) / axis.size) * width;
      const y = (value) => height - (height - 3) * Math.min(scale(value), 1);
      bars.draw(context, axis, made(tile), wanted(), { x, y, foot: height }, paint);
    }

    const top = (shown) => Math.max(...shown.map((tile) => bars.top(axis, made(tile)))) || 1;
    return {
      top,
      draw,
      mark: (spans) => along(axis, spans[dimension]),
      stale: (tile) => outdated(tile) !== undefined,
      ask,
    };
  }

  /** The kind for these axes; dimension: along which of more than two. Null where cells have no picture. */
  function of(page, dimension) {
    if (page.onLine) {
      return line(page);
    }
    return [null, null, colours(page)][page.shape.length] ?? (page.shape.length > 2 ? barred(page, dimension) : null);
  }

  return { of };
})();
