// The axes: they translate between what people write and cell borders, which everything else works with.
//
// Every axis has: column, name, the column as a part of a text; kind, size; span(lo, hi) for typed ends, which throws an Error with a sentence; write(border)
// for a whole border; ticks(from, to, most); cell and pitch, in words; inclusive, if both ends belong to a range; and
// clips, what the first and the last cell hold besides their own values, in words. Pictures place a border with
// place(border) and find it again with cellAt(place); width(from, to) is what heights are counted by, and per says so in
// words. shown(text) is a typed end as it is read. Where an upper end is read in another
// way than a lower one, it has upper beside border; where ends are no numbers, text.
const axes = (() => {
  /** Most axes are drawn cell by cell, and their texts are read as they are. */
  const CELL_BY_CELL = {
    place: (border) => border,
    cellAt: (place) => place,
    width: (from, to) => to - from,
    least: 4,
    shown: (text) => text,
  };
  /** Whole numbers between these are taken for years, which are written without a comma. */
  const YEARS = [1000, 3000];

  function of(data, times, clips) {
    const kinds = {
      numbers: ofNumbers,
      edges: ofEdges,
      ordered: ofLabels,
      dates: dates.axis,
      addresses: addresses.axis,
    };
    const made = kinds[data.kind](data, times);
    const { column, kind } = data;
    const span = bordersOf(made, column);
    const name = names.isolated(column);
    return { column, name, kind, clips, inclusive: false, span, ...CELL_BY_CELL, per: made.cell, ...made };
  }

  /** Axes as a map draws them: those that are scaled to scale, and all others cell by cell, whatever their edges. */
  const onMap = (all, scaled) =>
    all.map((axis, i) => {
      const { place, cellAt, width, least, pitch } = scaled[i] ? axis : { ...CELL_BY_CELL, pitch: axis.pitch };
      const drawn = scaled[i] ? ", to scale" : ", all drawn equally wide";
      const said = axis.kind === "edges" ? pitch + drawn : pitch;
      return { ...axis, place, cellAt, width, least, pitch: said, scaled: scaled[i] };
    });

  /** An axis cell by cell, as figures draw rows of bars where some cell would be too narrow to scale. */
  const flat = (axis) => ({ ...axis, ...CELL_BY_CELL, shown: axis.shown, per: "cell" });

  /** Both ends as borders, or an Error that says what is wrong. */
  const bordersOf = (axis, column) => (lo, hi) => {
    const [start, stop] = [axis.border(lo), (axis.upper ?? axis.border)(hi)];
    for (const [end, text] of [
      [start, lo],
      [stop, hi],
    ]) {
      if (end === null) {
        throw new Error(
          `“${text}” is not a ${axis.what} for ${names.isolated(column)}. Write, for example, ${axis.write(0)}.`,
        );
      }
      if (end.n < 0n || numbers.less(numbers.of(axis.size), end)) {
        throw new Error(
          `${text} lies outside ${names.isolated(column)}. Ask between ${axis.write(0)} and ${axis.write(axis.size)}.`,
        );
      }
    }
    if (!numbers.less(start, stop)) {
      throw new Error("This range is empty. Write the lower end first.");
    }
    const whole = numbers.isWhole(start) && numbers.isWhole(stop);
    const ends = [start.n === 0n, !numbers.less(stop, numbers.of(axis.size))];
    return { lo: numbers.float(start), hi: numbers.float(stop), whole, ends, texts: [lo.trim(), hi.trim()] };
  };

  function ofNumbers(data) {
    const [start, stop, step] = [data.start, data.stop, data.step].map(numbers.read);
    const size = numbers.float(numbers.over(numbers.minus(stop, start), step));
    const [first, width] = [numbers.float(start), numbers.float(step)];
    const at = (border) => first + border * width;
    const value = (border) => numbers.plus(start, numbers.times(numbers.of(border), step));
    const decimal = numbers.isDecimal(start) && numbers.isDecimal(step);
    const years =
      numbers.isWhole(start) && numbers.isWhole(step) && first >= YEARS[0] && first + size * width <= YEARS[1];
    const shown = years ? (text) => text : numbers.grouping;
    return {
      size,
      what: "number",
      shown,
      cell: width === 1 ? "cell" : `step of ${numbers.grouping(numbers.written(step))}`,
      pitch: `in steps of ${numbers.grouping(numbers.written(step))}`,
      border(text) {
        const typed = numbers.read(text);
        const place = typed && numbers.over(numbers.minus(typed, start), step);
        if (!typed || decimal || numbers.isWhole(place)) {
          return place;
        }
        // Thirds are no decimal numbers: the float nearest to a border stands for the border.
        const near = numbers.round(place);
        const float = numbers.float(typed);
        const written = numbers.equal(numbers.read(String(float)), typed);
        return written && numbers.float(value(near)) === float ? numbers.of(near) : place;
      },
      write: (border) => numbers.written(value(border)),
      ticks(from, to, most) {
        const gap = numbers.niceStep(Math.max(((to - from) * width) / most, width * 1e-6));
        const found = [];
        for (let i = Math.ceil(at(from) / gap - 1e-9); i * gap <= at(to) + gap * 1e-9; i += 1) {
          found.push({ at: (i * gap - first) / width, text: numbers.value(i * gap, gap, !years) });
        }
        return found;
      },
    };
  }

  function ofEdges(data) {
    const cuts = data.edges.map(numbers.read);
    const size = cuts.length - 1;
    const at = cuts.map(numbers.float);
    const scale = size / (at[size] - at[0]);
    const widths = at.slice(1).map((value, i) => value - at[i]);
    const unit = 10 ** Math.floor(Math.log10(widths.slice().sort((a, b) => a - b)[size >> 1]));
    /** The value at a border, and the border at a value; in between, cells are drawn evenly. */
    const value = (border) => {
      const cell = Math.min(Math.floor(border), size - 1);
      return at[cell] + (border - cell) * widths[cell];
    };
    const borderAt = (found) => {
      const cell = buckets.find(at, found);
      return cell + (found - at[cell]) / widths[cell];
    };
    return {
      size,
      what: "number",
      shown: numbers.grouping,
      place: (border) => (value(border) - at[0]) * scale,
      cellAt: (place) => Math.min(Math.max(borderAt(at[0] + place / scale), 0), size),
      width: (from, to) => (value(to) - value(from)) / unit,
      least: Math.min(2 * Math.min(...widths) * scale, 4),
      per: `${numbers.grouping(numbers.written(numbers.read(String(unit))))} of ${names.isolated(data.column)}`,
      cell: "cell between edges",
      pitch: "between edges",
      border(text) {
        const value = numbers.read(text);
        if (!value) {
          return null;
        }
        let cell = size - 1;
        while (cell > 0 && numbers.less(value, cuts[cell])) {
          cell -= 1;
        }
        const inside = numbers.over(numbers.minus(value, cuts[cell]), numbers.minus(cuts[cell + 1], cuts[cell]));
        return numbers.plus(inside, numbers.of(cell));
      },
      write: (border) => numbers.written(cuts[border]),
      ticks: (from, to) =>
        some(Math.ceil(from), Math.floor(to), size + 1).map((edge) => ({
          at: edge,
          text: numbers.grouping(numbers.written(cuts[edge])),
        })),
    };
  }

  function ofLabels(data) {
    const labels = data.values.map((label) =>
      typeof label === "boolean" ? (label ? "True" : "False") : String(label),
    );
    const find = (text) => labels.indexOf(text);
    return {
      size: labels.length,
      inclusive: true,
      shown: names.isolated,
      labels,
      what: "value",
      cell: "category",
      pitch: "by category",
      span(lo, hi) {
        const [start, stop] = [find(lo), find(hi) + 1];
        if (start < 0 || stop < 1) {
          const few = labels.slice(0, 8).map(names.isolated).join(", ");
          throw new Error(
            `“${names.isolated(start < 0 ? lo : hi)}” is not a value of ${names.isolated(data.column)}. Ask for one of ${few}.`,
          );
        }
        if (start >= stop) {
          throw new Error("This range is empty. Choose the lower category first.");
        }
        return { lo: start, hi: stop, whole: true, ends: [start === 0, stop === labels.length], texts: [lo, hi] };
      },
      write: (border, end) => labels[Math.min(Math.max(end === "hi" ? border - 1 : border, 0), labels.length - 1)],
      ticks: (from, to, most) =>
        some(Math.ceil(from - 0.5), Math.floor(to - 0.5), most).map((at) => ({
          at: at + 0.5,
          text: labels[at],
        })),
    };
  }

  /** Whole numbers from one to another, evenly thinned to about this many. */
  function some(from, to, most) {
    const gap = Math.max(1, Math.ceil((to - from + 1) / Math.max(most, 1)));
    const found = [];
    for (let i = Math.ceil(from / gap) * gap; i <= to; i += gap) {
      found.push(i);
    }
    return found;
  }

  /** Borders that divide a part of an axis into about this many runs of cells at most: where people would divide it. */
  function runs(axis, from, to, most) {
    const [first, last] = [Math.floor(from), Math.min(Math.ceil(to), axis.size)];
    const round = () => axis.ticks(first, last, most).map(({ at }) => Math.round(at));
    const plain = (gap) => some(first, last, (last - first + 1) / gap);
    const inner =
      last - first <= most
        ? plain(1)
        : axis.kind === "dates" || axis.kind === "addresses"
          ? round()
          : plain(axis.kind === "numbers" ? numbers.niceStep((last - first) / most) : (last - first) / most);
    return [...new Set([first, ...inner, last])].filter((at) => at >= first && at <= last).sort((a, b) => a - b);
  }

  /** A span of whole cells, as dragging makes it; ends says whether it holds the first and the last cell. */
  const cells = (axis, lo, hi) => ({
    lo,
    hi,
    whole: true,
    ends: [lo === 0, hi === axis.size],
    texts: [axis.write(lo, "lo"), axis.write(hi, "hi")],
  });

  /** A span in words. */
  const said = (axis, span) => {
    const [lo, hi] = span.texts.map(axis.shown);
    return axis.inclusive && span.hi - span.lo === 1 ? lo : `${lo} to ${hi}`;
  };

  /** What a range holds besides its own values, in the words of dawa.axis.apart. */
  function note(all, spans) {
    const held = all.map((axis, i) => {
      const beyond = axis.clips.filter((what, end) => what && spans[i].ends[end]);
      return beyond.length ? `${all.length > 1 ? `on ${axis.name} ` : ""}with ${beyond.join(" and ")}` : "";
    });
    return held.filter(Boolean).join("; ");
  }

  /** What the first and the last cell hold besides, with numbers as the axis writes them. */
  const beyond = (axis) => axis.clips.map((what) => what?.split(" ").map(axis.shown).join(" "));

  /** What the cells at the edges of an axis hold besides their own values, as a sentence; or nothing. */
  function edges(axis) {
    const [first, last] = beyond(axis);
    return first && last ? ` The first cell is counted with ${first}, the last with ${last}.` : "";
  }

  return { of, onMap, flat, runs, cells, said, note, beyond, edges };
})();
