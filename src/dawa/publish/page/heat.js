// A map's colours: records per cell, averaged over the cells of each pixel.
const heat = (() => {
  /**
   * Densities and bucket numbers of width × height pixels over a part of the map. A stretch of the curve that lies in
   * one bucket, or in one pixel, is painted at once, so the cost depends on the pixels and not on the cells.
   */
  function raster(release, { published, inside }, shape, view, width, height) {
    const { bounds, totals, order } = release.buckets;
    const [mass, area] = [new Float64Array(width * height), new Float64Array(width * height)];
    const label = new Int32Array(width * height).fill(-1);
    const [across, up] = view;
    const [sx, sy] = [width / (across.to - across.from), height / (up.to - up.from)];

    function paint(low, length, density, bucket) {
      const [left, bottom] = [(low[0] - across.from) * sx, (low[1] - up.from) * sy];
      const [x0, x1] = [Math.max(left, 0), Math.min(left + length[0] * sx, width)];
      const [y0, y1] = [Math.max(bottom, 0), Math.min(bottom + length[1] * sy, height)];
      for (let y = Math.floor(y0); y < y1; y += 1) {
        const tall = Math.min(y1, y + 1) - Math.max(y0, y);
        for (let x = Math.floor(x0); x < x1; x += 1) {
          const part = tall * (Math.min(x1, x + 1) - Math.max(x0, x));
          const pixel = y * width + x;
          mass[pixel] += part * density;
          area[pixel] += part;
          label[pixel] = bucket;
        }
      }
    }

    const outside = (low, length) =>
      low[0] >= across.to || low[0] + length[0] <= across.from || low[1] >= up.to || low[1] + length[1] <= up.from;

    if (inside || order === "rows") {
      for (let x = Math.floor(across.from); x < Math.min(across.to, shape[0]); x += 1) {
        for (let y = Math.floor(up.from); y < Math.min(up.to, shape[1]); y += 1) {
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
        if (length[0] * sx > 1 || length[1] * sy > 1) {
          return true;
        }
        const end = buckets.find(bounds, place + volume);
        paint(low, length, (below(place + volume, end) - below(place, b)) / volume, b);
        return false;
      });
    }
    const density = mass.map((sum, pixel) => (area[pixel] > 0 ? sum / area[pixel] : 0));
    return { density, label, width, height };
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

  return { raster, picture, marks, scaling, ramp };
})();
