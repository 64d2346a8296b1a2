// A map's colours: records per cell, or per unit of an axis with uneven cells, averaged over each pixel.
const heat = (() => {
  const COARSE = 300;

  /** The pixels along a part of an axis: where they begin, in cells; what each holds of it; and the pixel of a border. */
  function pixels(axis, { from, to }, count) {
    const scale = count / (to - from);
    const borders = Float64Array.from({ length: count + 1 }, (_, i) => axis.cellAt(from + i / scale));
    const wide = Float64Array.from({ length: count }, (_, i) => axis.width(borders[i], borders[i + 1]));
    return { borders, wide, count, at: (border) => (axis.place(border) - from) * scale };
  }

  /** The pixels that these cells touch. */
  const touched = ({ at, count }, lo, hi) => [Math.max(Math.floor(at(lo)), 0), Math.min(Math.ceil(at(hi)), count)];

  /** How many of these cells lie in a pixel. */
  const within = ({ borders }, pixel, lo, hi) =>
    Math.max(Math.min(hi, borders[pixel + 1]) - Math.max(lo, borders[pixel]), 0);

  /**
   * Densities and bucket numbers of width × height pixels over a part of the map, which is in places of its axes: what
   * colours count, records per cell, or per unit of an axis with uneven cells. A stretch of the curve that lies in one
   * bucket, or in one pixel, is painted at once, so the cost depends on the pixels and not on the cells.
   */
  function raster(release, { published, inside }, both, view, width, height) {
    const { bounds, totals, order } = release.buckets;
    const shape = both.map((axis) => axis.size);
    const density = new Float64Array(width * height);
    const label = new Int32Array(width * height).fill(-1);
    const [columns, rows] = [pixels(both[0], view[0], width), pixels(both[1], view[1], height)];
    const ends = ({ borders, count }) => [borders[0], borders[count]];
    const [[west, east], [south, north]] = [ends(columns), ends(rows)];

    /** Add records that lie evenly over the cells of a box. */
    function paint([left, low], [across, up], each, bucket) {
      const [right, high] = [left + across, low + up];
      const [x0, x1] = touched(columns, left, right);
      const [y0, y1] = touched(rows, low, high);
      for (let y = y0; y < y1; y += 1) {
        const tall = within(rows, y, low, high);
        for (let x = x0; x < x1; x += 1) {
          const pixel = y * width + x;
          density[pixel] += tall * within(columns, x, left, right) * each;
          label[pixel] = bucket;
        }
      }
    }

    const outside = (low, length) =>
      low[0] >= east || low[0] + length[0] <= west || low[1] >= north || low[1] + length[1] <= south;

    if (inside || order === "rows") {
      for (let x = Math.floor(west); x < Math.min(east, shape[0]); x += 1) {
        for (let y = Math.floor(south); y < Math.min(north, shape[1]); y += 1) {
          const cell = x * shape[1] + y;
          paint([x, y], [1, 1], inside ? inside.cells[cell] : totals[cell], inside ? inside.label[cell] : cell);
        }
      }
    } else if (order === "boxes") {
      release.buckets.lo.forEach((low, b) => {
        const length = [release.buckets.hi[b][0] - low[0], release.buckets.hi[b][1] - low[1]];
        if (!outside(low, length)) {
          paint(low, length, totals[b] / (length[0] * length[1]), b);
        }
      });
    } else {
      let b = 0;
      const below = (place, at) => published[at] + ((place - bounds[at]) / (bounds[at + 1] - bounds[at])) * totals[at];
      hilbert.follow(shape, (place, volume, low, length) => {
        if (outside(low, length)) {
          return false;
        }
        while (bounds[b + 1] <= place) {
          b += 1;
        }
        if (place + volume <= bounds[b + 1]) {
          paint(low, length, totals[b] / (bounds[b + 1] - bounds[b]), b);
          return false;
        }
        const wide = columns.at(low[0] + length[0]) - columns.at(low[0]);
        if (wide > 1 || rows.at(low[1] + length[1]) - rows.at(low[1]) > 1) {
          return true;
        }
        const end = buckets.find(bounds, place + volume);
        paint(low, length, (below(place + volume, end) - below(place, b)) / volume, b);
        return false;
      });
    }
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        density[y * width + x] /= columns.wide[x] * rows.wide[y];
      }
    }
    return { density, label, width, height };
  }

  /** The densities of a whole map, each with how much of it has it: of buckets, or of pixels if cells are uneven. */
  function heights(release, answers, both) {
    const { bounds, totals } = release.buckets;
    if (!both.some((axis) => axis.scaled)) {
      return Array.from(totals, (total, b) => [total / (bounds[b + 1] - bounds[b]), bounds[b + 1] - bounds[b]]);
    }
    const [across, up] = both.map(({ size, scaled }) => (scaled ? COARSE : Math.min(size, COARSE)));
    const view = both.map(({ size }) => drawing.whole(size));
    return Array.from(raster(release, answers, both, view, across, up).density, (density) => [density, 1]);
  }

  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

  /** 256 colours that interpolate those of the style sheet, as 32-bit pixels. */
  function ramp() {
    const stops = drawing.variables(["heat0", "heat1", "heat2", "heat3", "heat4"]).map(channels);
    return Uint32Array.from({ length: 256 }, (_, i) => {
      const at = (i / 255) * (stops.length - 1);
      const stop = Math.min(Math.floor(at), stops.length - 2);
      const [r, g, b] = stops[stop].map((from, c) => Math.round(from + (at - stop) * (stops[stop + 1][c] - from)));
      return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    });
  }

  /** A function from a density to a number between 0 and 1. */
  const scaling = (most, log) =>
    log ? (density) => Math.log1p(Math.max(density, 0)) / Math.log1p(most) : (density) => Math.max(density, 0) / most;

  /** A picture of the pixels, the lower row last. */
  function picture({ density, width, height }, most, log) {
    const colours = ramp();
    const scale = scaling(most, log);
    return image(width, height, (pixels) => {
      for (let y = 0; y < height; y += 1) {
        for (let x = 0; x < width; x += 1) {
          const t = Math.min(scale(density[y * width + x]), 1);
          pixels[(height - 1 - y) * width + x] = colours[Math.round(255 * t)];
        }
      }
    });
  }

  /** A picture that marks the pixels of some buckets. */
  function marks({ label, width, height }, chosen, hex) {
    const [r, g, b] = channels(hex);
    const colour = ((120 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    return image(width, height, (pixels) => {
      for (let y = 0; y < height; y += 1) {
        for (let x = 0; x < width; x += 1) {
          if (chosen.has(label[y * width + x])) {
            pixels[(height - 1 - y) * width + x] = colour;
          }
        }
      }
    });
  }

  function image(width, height, fill) {
    const element = document.createElement("canvas");
    [element.width, element.height] = [width, height];
    const context = element.getContext("2d");
    const made = context.createImageData(width, height);
    fill(new Uint32Array(made.data.buffer));
    context.putImageData(made, 0, 0);
    return element;
  }

  return { raster, heights, picture, marks, scaling, ramp };
})();
