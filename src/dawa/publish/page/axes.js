// The axes: they translate between what people write and cell borders, which everything else works with.
//
// Every axis has: column, kind, size; span(lo, hi) for typed ends, which throws an Error with a sentence; write(border)
// for a whole border; ticks(from, to, most); cell and pitch, in words; inclusive, if both ends belong to a range; and
// clips, what the first and the last cell hold besides their own values, in words. Where an upper end is read in another
// way than a lower one, it has upper beside border; where ends are no numbers, text.
const axes = (() => {
  const LONGEST_LABEL = 18;

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
    return { column, kind, clips, inclusive: false, span: bordersOf(made, column), ...made };
  }

  /** Both ends as borders, or an Error that says what is wrong. */
  const bordersOf = (axis, column) => (lo, hi) => {
    const [start, stop] = [axis.border(lo), (axis.upper ?? axis.border)(hi)];
    for (const [end, text] of [
      [start, lo],
      [stop, hi],
    ]) {
      if (end === null) {
        throw new Error(`“${text}” is not a ${axis.what} for ${column}. Write, for example, ${axis.write(0)}.`);
      }
      if (end.n < 0n || numbers.less(numbers.of(axis.size), end)) {
        throw new Error(`${text} lies outside ${column}. Ask between ${axis.write(0)} and ${axis.write(axis.size)}.`);
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
    return {
      size,
      what: "number",
      cell: `step of ${numbers.written(step)}`,
      pitch: `in steps of ${numbers.written(step)}`,
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
          found.push({ at: (i * gap - first) / width, text: numbers.value(i * gap, gap) });
        }
        return found;
      },
    };
  }

  function ofEdges(data) {
    const cuts = data.edges.map(numbers.read);
    const size = cuts.length - 1;
    return {
      size,
      what: "number",
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
      ticks: (from, to, most) =>
        some(Math.ceil(from), Math.floor(to), most).map((at) => ({ at, text: short(numbers.written(cuts[at])) })),
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
      labels,
      what: "value",
      cell: "category",
      pitch: "by category",
      span(lo, hi) {
        const [start, stop] = [find(lo), find(hi) + 1];
        if (start < 0 || stop < 1) {
          const few = labels.slice(0, 8).join(", ");
          throw new Error(`“${start < 0 ? lo : hi}” is not a value of ${data.column}. Ask for one of ${few}.`);
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
          text: short(labels[at]),
        })),
    };
  }

  const short = (label) => (label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label);

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
  const said = (axis, span) =>
    axis.inclusive && span.hi - span.lo === 1 ? span.texts[0] : `${span.texts[0]} to ${span.texts[1]}`;

  /** What a range holds besides its own values, in the words of dawa.axis.apart. */
  function note(all, spans) {
    const held = all.map((axis, i) => {
      const beyond = axis.clips.filter((what, end) => what && spans[i].ends[end]);
      return beyond.length ? `${all.length > 1 ? `on ${axis.column} ` : ""}with ${beyond.join(" and ")}` : "";
    });
    return held.filter(Boolean).join("; ");
  }

  /** What the cells at the edges of an axis hold besides their own values, as a sentence; or nothing. */
  function edges(axis) {
    const [first, last] = axis.clips;
    return first && last ? ` The first cell is counted with ${first}, the last with ${last}.` : "";
  }

  return { of, runs, cells, said, note, edges };
})();
