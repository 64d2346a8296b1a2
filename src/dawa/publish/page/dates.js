// Dates and times as cell borders. Times are microseconds since 1970, as big integers: they outgrow floats.
//
// The page gets the cells as runs of equal length, [first cell, its time, length], and the zone's offsets as
// [time, seconds ahead of UTC]. So it needs no arithmetic with time zones, which a browser might do differently.
const dates = (() => {
  const SECOND = 1000000n;
  const DAY_TEXT = String.raw`(\d{4})-(\d{2})-(\d{2})`;
  const CLOCK_TEXT = String.raw`(\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?)?`;
  const TEXT = new RegExp(String.raw`^\s*${DAY_TEXT}(?:[ T]${CLOCK_TEXT})?\s*(Z|[+-]\d{2}:?\d{2})?\s*$`);
  const MONTH_TEXT = /^\s*(\d{4})(?:-(\d{2}))?\s*$/;
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const [MINUTE, HOUR, DAY] = [60e3, 3600e3, 86400e3];
  const STEPS = [
    ...[1, 5, 15, 30].map((n) => ({ ms: n * 1000, form: "second" })),
    ...[1, 5, 15, 30].map((n) => ({ ms: n * MINUTE, form: "minute" })),
    ...[1, 3, 6, 12].map((n) => ({ ms: n * HOUR, form: "minute" })),
    ...[1, 2, 7, 14].map((n) => ({ ms: n * DAY, form: "day" })),
    ...[1, 3, 6].map((n) => ({ ms: n * 30.4 * DAY, months: n, form: "month" })),
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => ({ ms: n * 365.25 * DAY, months: 12 * n, form: "year" })),
  ];

  /** The last index whose key is not above a value; at least 0. */
  function last(list, value, key) {
    let [low, high] = [0, list.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (key(list[middle]) <= value) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  const floorDivide = (a, b) => (a >= 0n || a % b === 0n ? a / b : a / b - 1n);
  const two = (n) => String(n).padStart(2, "0");
  const dayOf = (moment) =>
    `${String(moment.getUTCFullYear()).padStart(4, "0")}-${two(moment.getUTCMonth() + 1)}-${two(moment.getUTCDate())}`;

  function axis(data, times) {
    const runs = times.runs.map((run) => run.map(BigInt)).map(([cell, tick, width]) => ({ cell, tick, width }));
    const changes = times.offsets?.map((change) => change.map(BigInt));
    const offsets = changes?.map(([tick, seconds]) => ({ tick, east: seconds * SECOND }));
    const size = times.size;

    /** The time at a whole border. */
    function tickAt(border) {
      const cell = BigInt(border);
      const run = runs[last(runs, cell, (r) => r.cell)];
      return run.tick + (cell - run.cell) * run.width;
    }

    /** The border at a time, as a fraction. */
    function borderOf(tick) {
      const run = runs[last(runs, tick, (r) => r.tick)];
      return { n: run.cell * run.width + (tick - run.tick), d: run.width };
    }

    const east = (tick) => (offsets ? offsets[last(offsets, tick, (o) => o.tick)].east : 0n);

    /** A local time as a time on the line; where clocks go back, the first of the two. */
    function fromLocal(local) {
      if (!offsets) {
        return local;
      }
      let at = 0;
      for (let i = 1; i < offsets.length; i += 1) {
        const before = offsets[i - 1].east;
        const after = offsets[i].east;
        if (local >= offsets[i].tick + (before > after ? before : after)) {
          at = i;
        }
      }
      return local - offsets[at].east;
    }

    /** A time; a year or a month is the moment at which it begins. */
    function read(text) {
      const begins = MONTH_TEXT.exec(text);
      const found = TEXT.exec(begins ? `${begins[1]}-${begins[2] || "01"}-01` : text);
      if (!found || (found[8] && !offsets)) {
        return null;
      }
      const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part || 0));
      const moment = new Date(0);
      moment.setUTCFullYear(year, month - 1, day);
      moment.setUTCHours(hour, minute, second);
      const same = moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day;
      if (!same || hour > 23 || minute > 59 || second > 59) {
        return null;
      }
      const local = BigInt(moment.getTime()) * 1000n + BigInt((found[7] || "").padEnd(6, "0"));
      if (!found[8]) {
        return fromLocal(local);
      }
      if (found[8] === "Z") {
        return local;
      }
      const ahead = Number(found[8].slice(1, 3)) * 3600 + Number(found[8].slice(-2)) * 60;
      return local - BigInt(found[8][0] === "-" ? -ahead : ahead) * SECOND;
    }

    function write(border) {
      const tick = tickAt(border);
      const local = tick + east(tick);
      const moment = new Date(Number(floorDivide(local, 1000n)));
      const micro = local - floorDivide(local, SECOND) * SECOND;
      const day = dayOf(moment);
      const fraction = micro ? `.${String(micro).padStart(6, "0")}` : "";
      const seconds = moment.getUTCSeconds() || micro ? `:${two(moment.getUTCSeconds())}${fraction}` : "";
      const clock = `${two(moment.getUTCHours())}:${two(moment.getUTCMinutes())}${seconds}`;
      const text = clock === "00:00" ? day : `${day} ${clock}`;
      if (fromLocal(local) === tick) {
        return text;
      }
      const minutes = Number(east(tick) / (60n * SECOND));
      const ahead = Math.abs(minutes);
      return `${day} ${clock}${minutes < 0 ? "-" : "+"}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
    }

    /** The local time at any border, in milliseconds: for drawing. */
    function localAt(border) {
      const whole = Math.min(Math.floor(border), size - 1);
      const [here, next] = [tickAt(whole), tickAt(whole + 1)];
      const tick = here + BigInt(Math.round(Number(next - here) * (border - whole)));
      return Number(tick + east(tick)) / 1000;
    }

    function border(text) {
      const tick = read(text);
      return tick === null ? null : borderOf(tick);
    }

    function drawn({ local, text }) {
      return { at: numbers.float(borderOf(fromLocal(BigInt(Math.round(local)) * 1000n))), text };
    }

    return {
      size,
      what: "time",
      cell: data.step.replace(/^1 /, ""),
      pitch: `in steps of ${data.step}`,
      border,
      write,
      ticks: (from, to, most) =>
        ticks(localAt(from), localAt(to), most)
          .map(drawn)
          .filter(({ at }) => at >= from && at <= to),
    };
  }

  /** Moments of the calendar between two local times, at most about this many. */
  function ticks(from, to, most) {
    const step = STEPS.find((one) => (to - from) / one.ms <= most) || STEPS[STEPS.length - 1];
    const found = [];
    if (step.months) {
      const first = new Date(from);
      let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step.months) * step.months;
      for (let at = from; at <= to; month += step.months) {
        const moment = new Date(0);
        moment.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
        at = moment.getTime();
        found.push({ local: at, text: label(moment, step.form) });
      }
    } else {
      // Weeks begin on a Monday; 1970 began on a Thursday.
      const shift = step.ms >= 7 * DAY ? 4 * DAY : 0;
      for (let i = Math.ceil((from - shift) / step.ms); i * step.ms + shift <= to; i += 1) {
        found.push({ local: i * step.ms + shift, text: label(new Date(i * step.ms + shift), step.form) });
      }
    }
    return found.filter(({ local }) => local >= from && local <= to);
  }

  function label(moment, form) {
    const [year, month, day] = [moment.getUTCFullYear(), MONTHS[moment.getUTCMonth()], moment.getUTCDate()];
    const clock = `${two(moment.getUTCHours())}:${two(moment.getUTCMinutes())}`;
    if (form === "year") {
      return String(year);
    }
    if (form === "month") {
      return `${month} ${year}`;
    }
    if (form === "day" || clock === "00:00") {
      return `${day} ${month}`;
    }
    return form === "minute" ? clock : `${clock}:${two(moment.getUTCSeconds())}`;
  }

  return { axis };
})();
