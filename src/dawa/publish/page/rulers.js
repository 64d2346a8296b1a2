// The axes of pictures: labels that never run into each other, and how much room they need.
const rulers = (() => {
  const LINE = 14;
  const [MOST_LINES, LONGEST, BROADEST] = [3, 200, 0.42];
  const measured = new Map();

  /** How wide a text is; the same texts are drawn again and again. */
  function width(context, text) {
    if (!measured.has(text)) {
      if (measured.size > 5000) {
        measured.clear();
      }
      measured.set(text, context.measureText(text).width);
    }
    return measured.get(text);
  }

  /** A text that fits the room; only one that is longer than a picture allows is cut off. */
  function fitting(context, text, room) {
    let shown = text;
    for (let length = text.length; length > 1 && width(context, shown) > room; length -= 1) {
      shown = `${text.slice(0, length - 1)}…`;
    }
    return shown;
  }

  /** A text as lines between words, each of which fits; null if one does not. */
  function lines(context, text, room) {
    const found = [];
    for (const word of text.split(" ")) {
      const longer = found.length ? `${found[found.length - 1]} ${word}` : word;
      if (found.length && width(context, longer) <= room) {
        found[found.length - 1] = longer;
      } else if (width(context, word) <= room) {
        found.push(word);
      } else {
        return null;
      }
    }
    return found.length <= MOST_LINES ? found : null;
  }

  /** How categories that are so many pixels wide are labelled: in lines if all have room for it, otherwise upright. */
  function standing(context, labels, each) {
    const level = labels.map((label) => lines(context, label, each - 6));
    if (level.every((found) => found !== null)) {
      return { level, depth: 8 + LINE * Math.max(...level.map((found) => found.length)) };
    }
    const upright = labels.map((label) => fitting(context, label, LONGEST));
    return { upright, depth: 14 + Math.max(...upright.map((text) => width(context, text))) };
  }

  /** How many pixels below a plot the labels of an axis need. */
  const depth = (context, axis, each) => (axis.labels ? standing(context, axis.labels, each).depth : LINE + 10);

  /** Ticks and labels along the lower side; labels that would run into each other are left out. */
  function bottom(context, ticks, place, plot, paint) {
    context.textAlign = "center";
    context.textBaseline = "top";
    let [free, marked] = [-Infinity, -Infinity];
    for (const { at, text } of ticks) {
      const x = place(at);
      if (x - marked >= 2) {
        context.fillStyle = paint.line;
        context.fillRect(Math.round(x), plot.top + plot.height, 1, 5);
        marked = x;
      }
      if (x - free > -60) {
        const half = width(context, text) / 2;
        const middle = Math.min(Math.max(x, plot.left - 30 + half), plot.left + plot.width + 12 - half);
        if (middle - half > free) {
          context.fillStyle = paint.soft;
          context.fillText(text, middle, plot.top + plot.height + 8);
          free = middle + half + 10;
        }
      }
    }
  }

  /** The labels of categories below their bars; of bars that are narrower than a line, some. */
  function categories(context, axis, view, place, plot, paint) {
    const each = place(1) - place(0);
    const { level, upright } = standing(context, axis.labels, each);
    const gap = level ? 1 : Math.max(1, Math.ceil(LINE / each));
    const top = plot.top + plot.height + 8;
    context.fillStyle = paint.soft;
    context.textBaseline = level ? "top" : "middle";
    context.textAlign = level ? "center" : "right";
    for (let cell = Math.ceil((view.from - 0.5) / gap) * gap; cell + 0.5 <= view.to; cell += gap) {
      const x = place(cell + 0.5);
      if (level) {
        level[cell].forEach((line, i) => {
          context.fillText(line, x, top + i * LINE);
        });
      } else {
        context.save();
        context.translate(x, top);
        context.rotate(-Math.PI / 2);
        context.fillText(upright[cell], 0, 0);
        context.restore();
      }
    }
  }

  /** The axis below a plot, whose view is in places; its name below the labels, if it is to be written. */
  function below(context, axis, view, place, plot, paint, named = true) {
    if (axis.labels) {
      categories(context, axis, view, place, plot, paint);
    } else {
      const [from, to] = [axis.cellAt(view.from), axis.cellAt(view.to)];
      bottom(context, axis.ticks(from, to, plot.width / 64), place, plot, paint);
    }
    if (named) {
      const under = plot.top + plot.height + depth(context, axis, place(1) - place(0)) + 4;
      context.textAlign = "center";
      context.textBaseline = "top";
      context.fillStyle = paint.ink;
      context.fillText(fitting(context, axis.name, plot.width), plot.left + plot.width / 2, under);
    }
  }

  /** Grid lines and labels along the left side. */
  function left(context, ticks, place, plot, paint, grid = true) {
    context.textAlign = "right";
    context.textBaseline = "middle";
    let free = Infinity;
    for (const { at, text } of ticks) {
      const y = Math.round(place(at));
      context.fillStyle = grid ? paint.grid : paint.line;
      context.fillRect(grid ? plot.left : plot.left - 5, y, grid ? plot.width : 5, 1);
      const room = plot.left - 10;
      const written = (width(context, text) > room && lines(context, text, room)) || [fitting(context, text, room)];
      const high = (written.length * LINE) / 2;
      if (y + high <= free) {
        context.fillStyle = paint.soft;
        written.forEach((line, i) => {
          context.fillText(line, plot.left - 8, y + (i + 0.5) * LINE - high);
        });
        free = y - high;
      }
    }
  }

  /** How many pixels left of a plot labels need, within reason. */
  const broad = (context, texts, least, across) =>
    Math.min(Math.max(least, 14 + Math.max(0, ...texts.map((text) => width(context, text)))), BROADEST * across);

  /** Labels upwards from zero, about so many, or one for each power of ten. */
  function heights(top, log, most) {
    const ticks = [{ at: 0, text: "0" }];
    if (log) {
      for (let at = 1; at <= top; at *= 10) {
        ticks.push({ at, text: numbers.value(at, 1) });
      }
      if (top < 1) {
        ticks.push({ at: top, text: numbers.value(top, top / 10) });
      }
    } else {
      const gap = numbers.niceStep(top / most);
      for (let i = 1; i * gap <= top; i += 1) {
        ticks.push({ at: i * gap, text: numbers.value(i * gap, gap) });
      }
    }
    return ticks;
  }

  /**
   * Begin a picture with heights: grid lines, numbers on the left, and what inside(context, y, area) draws in its plot.
   * scale(context) says where heights are and which are written; plot() is asked after it, as it makes room for them.
   */
  function upwards(canvas, host, scale, plot, paint, inside) {
    const context = drawing.cleared(canvas, host.clientWidth, host.clientHeight);
    const { y, ticks } = scale(context);
    const area = plot();
    left(context, ticks, y, area, paint);
    drawing.within(context, { ...area, top: 0, height: area.top + area.height + 1 }, () => inside(context, y, area));
    return { context, area };
  }

  /** Above the plot, what its height counts. */
  function unit(context, text, plot, y, paint) {
    context.fillStyle = paint.ink;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(fitting(context, text, plot.left + plot.width - 8), 4, y);
  }

  return { below, bottom, left, broad, depth, heights, unit, upwards };
})();
