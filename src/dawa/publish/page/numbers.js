// Exact fractions, and numbers as people read them. Typed numbers are read exactly, as in Python.
const numbers = (() => {
  const MOST = BigInt(Number.MAX_SAFE_INTEGER);
  const TEXT = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?\s*$/i;
  const RATIO = /^\s*([+-]?\d+)\s*\/\s*(\d+)\s*$/;

  /** The fraction in a text, {n, d} with d > 0, or null. */
  function read(text) {
    const ratio = RATIO.exec(text);
    if (ratio) {
      const d = BigInt(ratio[2]);
      return d === 0n ? null : { n: BigInt(ratio[1]), d };
    }
    const found = TEXT.exec(text);
    if (!found || !(found[2] || found[3])) {
      return null;
    }
    const [, sign, whole, decimals = "", exponent = "0"] = found;
    const digits = BigInt(`${whole}${decimals}`) * (sign === "-" ? -1n : 1n);
    const power = Number(exponent) - decimals.length;
    return power >= 0 ? { n: digits * 10n ** BigInt(power), d: 1n } : { n: digits, d: 10n ** BigInt(-power) };
  }

  const minus = (a, b) => ({ n: a.n * b.d - b.n * a.d, d: a.d * b.d });
  const plus = (a, b) => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
  const times = (a, b) => ({ n: a.n * b.n, d: a.d * b.d });
  const over = (a, b) => (b.n < 0n ? { n: -a.n * b.d, d: -a.d * b.n } : { n: a.n * b.d, d: a.d * b.n });
  const less = (a, b) => a.n * b.d < b.n * a.d;
  const equal = (a, b) => a.n * b.d === b.n * a.d;
  const isWhole = (a) => a.n % a.d === 0n;
  /** The whole number nearest to a fraction. */
  function round({ n, d }) {
    const [twice, unit] = [2n * n + d, 2n * d];
    return (twice - (((twice % unit) + unit) % unit)) / unit;
  }

  /** Whether a fraction is a decimal number. */
  function isDecimal(fraction) {
    let { d } = lowest(fraction);
    for (const prime of [2n, 5n]) {
      while (d % prime === 0n) {
        d /= prime;
      }
    }
    return d === 1n;
  }

  const of = (whole) => ({ n: BigInt(whole), d: 1n });

  const size = (n) => n.toString(16).length * 4;

  /** The nearest float, ties to even. */
  function float({ n, d }) {
    const positive = n < 0n ? -n : n;
    if (positive <= MOST && d <= MOST) {
      return Number(n) / Number(d);
    }
    // A quotient of at least 65 bits, whose last bit says whether there is a remainder, rounds like the exact ratio.
    const shift = size(d) - size(positive) + 72;
    const [above, below] = shift >= 0 ? [positive << BigInt(shift), d] : [positive, d << BigInt(-shift)];
    const quotient = above / below;
    const sticky = quotient * below === above ? quotient : quotient | 1n;
    return (n < 0n ? -1 : 1) * Number(sticky) * 2 ** -shift;
  }

  /** A fraction as people write it: in decimals if they are exact and few, otherwise with a slash. */
  function written({ n, d }) {
    for (let decimals = 0, scale = 1n; decimals <= 12; decimals += 1, scale *= 10n) {
      if ((n * scale) % d === 0n) {
        const digits = (n < 0n ? (-n * scale) / d : (n * scale) / d).toString().padStart(decimals + 1, "0");
        const point = digits.length - decimals;
        return (n < 0n ? "-" : "") + digits.slice(0, point) + (decimals ? `.${digits.slice(point)}` : "");
      }
    }
    const least = lowest({ n, d });
    return `${least.n}/${least.d}`;
  }

  /** The same fraction with the smallest numbers. */
  function lowest({ n, d }) {
    const common = divisor(n < 0n ? -n : n, d);
    return { n: n / common, d: d / common };
  }

  function divisor(a, b) {
    while (b) {
      [a, b] = [b, a % b];
    }
    return a;
  }

  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

  /** A number that somebody typed, with thousands separated; any other text as it is. */
  const grouping = (text) => text.replace(/^([-−+]?)(\d+)(?=(?:\.\d*)?$)/, (_, sign, digits) => sign + grouped(digits));

  /** With some decimals, and thousands separated; of 0 or 1, ties are rounded to the even digit. */
  function fixed(x, decimals) {
    const positive = Math.abs(x);
    let text = positive.toFixed(decimals);
    const tie = decimals === 0 ? positive % 1 === 0.5 : decimals === 1 && (positive * 4) % 2 === 1;
    if (tie && positive < 2 ** 50) {
      const down = Math.floor(positive * 10 ** decimals);
      text = ((down % 2 === 0 ? down : down + 1) / 10 ** decimals).toFixed(decimals);
    }
    const [whole, rest] = text.split(".");
    const shown = grouped(whole) + (rest ? `.${rest}` : "");
    return x < 0 && Number(text) !== 0 ? `−${shown}` : shown;
  }

  /** As Python writes it: this many decimals, or as many as it has; a hyphen for minus, thousands separated. */
  function plain(x, places) {
    const text = places === null ? String(Math.abs(x)) : fixed(Math.abs(x), places).replaceAll(",", "");
    const [whole, rest] = text.split(".");
    return `${x < 0 || Object.is(x, -0) ? "-" : ""}${grouped(whole)}${rest ? `.${rest}` : ""}`;
  }

  /** A number of records: one decimal below a hundred, none above. */
  const records = (x) => (Number.isFinite(x) ? fixed(x, Math.abs(x) < 100 ? 1 : 0) : "unbounded");

  /** A share of a whole, such as 12.3%. */
  const percent = (share) => (Number.isFinite(share) ? `${fixed(100 * share, 1)}%` : "–");

  /** A confidence, such as 95%. */
  const sure = (confidence) => `${Math.round(100 * confidence)}%`;

  /** A value of an axis, with as many digits as a step of this size needs. */
  function value(x, step, commas = true) {
    const decimals = step >= 1 ? 0 : Math.min(12, Math.ceil(-Math.log10(step) - 1e-9));
    if (Math.abs(x) >= 1e15 || (x !== 0 && Math.abs(x) < 1e-9)) {
      return x.toPrecision(6).replace("-", "−");
    }
    const [whole, rest] = Math.abs(x).toFixed(decimals).split(".");
    const shown = (commas ? grouped(whole) : whole) + (rest ? `.${rest}` : "");
    return x < 0 && Number(shown.replaceAll(",", "")) !== 0 ? `−${shown}` : shown;
  }

  /** The least of 1, 2, 5 times a power of ten that is not below x. */
  function niceStep(x) {
    const power = 10 ** Math.floor(Math.log10(x));
    const lead = x / power;
    return (lead <= 1.0000001 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
  }

  return {
    read,
    minus,
    plus,
    times,
    over,
    less,
    equal,
    isWhole,
    isDecimal,
    round,
    of,
    float,
    written,
    fixed,
    plain,
    records,
    percent,
    grouping,
    sure,
    value,
    niceStep,
  };
})();
