// The page itself: one range, its answer, and everything that shows or changes it.
const { by, element } = panel;
const data = JSON.parse(by("data").textContent);
const { release, shape, levels } = data;
const everyAxis = release.axes.map((axis, i) => axes.of(axis, data.times[i], data.clips[i]));
const file = (
  release.axes
    .map((axis) => axis.column)
    .join("-")
    .replace(/[^\w-]+/g, "_") || "release"
).slice(0, 60);
const SLOW = 24;

let spans = everyAxis.map((axis) => {
  const quarter = Math.floor(axis.size / 4);
  return axes.cells(axis, quarter, Math.max(Math.floor((3 * axis.size) / 4), quarter + 1));
});
let level = levels.find((one) => one.confidence === 0.95);
let [answers, answer, frame, cost, answered, ready] = [null, { cuts: [] }, 0, 0, 0, false];
let [spoken, synced, pictures, curve, compared] = [0, 0, null, null, null];
const others = apart.make(release.apart, data.apart);

const named = (axis) => (shape.length > 1 ? `${axis.column} ` : "");
const said = () => everyAxis.map((axis, i) => named(axis) + axes.said(axis, spans[i])).join(", ");
const note = () => [axes.note(everyAxis, spans), data.kept].filter(Boolean).join("; ");

const { lo: corners, bounds } = release.buckets;
const onLine = shape.length === 1 && (!corners || corners.every(([from], b) => from === bounds[b]));
const bucketSaid = (b) => axes.said(everyAxis[0], axes.cells(everyAxis[0], answers.bounds[b], answers.bounds[b + 1]));

// Answers -------------------------------------------------------------------------------------------------------------

function answerNow() {
  const begin = performance.now();
  answer = answers.ask(spans, level);
  [answered, cost] = [performance.now(), performance.now() - begin];
  by("explore").querySelector(".answer").classList.remove("stale");
  by("asked").textContent = said();
  const words = {
    said: said(),
    note: note(),
    records: data.records,
    bucketSaid: onLine ? bucketSaid : null,
    pictured: pictures !== null,
  };
  const sentence = panel.show(answer, level, words);
  clearTimeout(spoken);
  spoken = setTimeout(() => {
    by("said").textContent = sentence;
  }, 500);
  if (curve) {
    by("curve-caption").textContent = curve.said();
  }
  if (ready) {
    compared.show();
  }
}

function redraw() {
  if (pictures) {
    pictures.drawOver();
  }
  if (curve) {
    curve.drawOver();
  }
}

/** Once per frame while a range is dragged; slow answers take at most a fifth of the time, and drawing continues. */
function soon() {
  if (frame) {
    return;
  }
  frame = requestAnimationFrame(() => {
    frame = 0;
    if (cost > SLOW && performance.now() < answered + 5 * cost) {
      by("explore").querySelector(".answer").classList.add("stale");
      clearTimeout(soon.later);
      soon.later = setTimeout(() => {
        answerNow();
        redraw();
      }, 150);
    } else {
      answerNow();
    }
    redraw();
  });
}

function changed(dimension, lo, hi) {
  const { lo: from, hi: to, whole } = spans[dimension];
  if (from === lo && to === hi && whole) {
    return;
  }
  spans = spans.map((span, i) => (i === dimension ? axes.cells(everyAxis[i], lo, hi) : span));
  write();
  soon();
  sync();
}

// Typed ends, and the address -----------------------------------------------------------------------------------------

function fields() {
  everyAxis.forEach((axis, i) => {
    const group = document.createElement("fieldset");
    group.append(element("legend", axis.column));
    const pair = document.createElement("div");
    pair.className = axis.kind === "dates" && axis.write(1).length > 10 ? "pair tall" : "pair";
    (axis.inclusive ? ["First", "Last"] : ["From", "Up to, not including"]).forEach((name, end) => {
      const label = element("label", name);
      const input = document.createElement(axis.labels ? "select" : "input");
      input.id = `${end ? "to" : "from"}${i}`;
      if (axis.labels) {
        for (const text of axis.labels) {
          input.append(new Option(text, text));
        }
      } else {
        input.inputMode = axis.kind === "dates" ? "text" : "decimal";
        input.spellcheck = false;
      }
      input.addEventListener("change", typed);
      label.append(input);
      pair.append(label);
    });
    group.append(pair);
    by("ends").append(group);
  });
  by("ends").addEventListener("submit", (event) => {
    event.preventDefault();
    typed();
  });
}

function write() {
  by("problem").textContent = "";
  spans.forEach((span, i) => {
    by(`from${i}`).value = span.texts[0];
    by(`to${i}`).value = span.texts[1];
    by(`from${i}`).removeAttribute("aria-invalid");
    by(`to${i}`).removeAttribute("aria-invalid");
  });
}

/** Use these texts as ends, or say what is wrong with them. */
function take(texts) {
  let at = 0;
  try {
    const next = everyAxis.map((axis, i) => {
      at = i;
      return axis.span(...texts[i]);
    });
    spans = next;
    write();
    answerNow();
    redraw();
    return true;
  } catch (error) {
    by("problem").textContent = error.message;
    by("explore").querySelector(".answer").classList.add("stale");
    by(`from${at}`).setAttribute("aria-invalid", "true");
    by(`to${at}`).setAttribute("aria-invalid", "true");
    return false;
  }
}

function typed() {
  if (take(everyAxis.map((_, i) => [by(`from${i}`).value, by(`to${i}`).value]))) {
    sync();
  }
}

/** #from=20&to=60, once per axis, and confidence=0.9 if it is not 0.95. */
function fromAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const wanted = levels.find((one) => String(one.confidence) === asked.get("confidence"));
  const [lows, highs] = [asked.getAll("from"), asked.getAll("to")];
  if (lows.length === 0 && highs.length === 0) {
    return false;
  }
  if (lows.length !== shape.length || highs.length !== shape.length) {
    by("problem").textContent =
      `The address has ${lows.length} lower and ${highs.length} upper ends. Write from= and to= for each axis.`;
    return false;
  }
  level = wanted || levels.find((one) => one.confidence === 0.95);
  by("confidence").value = String(level.confidence);
  return take(everyAxis.map((_, i) => [lows[i], highs[i]]));
}

function fragment() {
  const asked = new URLSearchParams();
  spans.forEach((span) => {
    asked.append("from", span.texts[0]);
    asked.append("to", span.texts[1]);
  });
  if (level.confidence !== 0.95) {
    asked.append("confidence", String(level.confidence));
  }
  return `#${asked}`;
}

/** Update the address once the range stops changing: browsers slow down pages that change it all the time. */
function sync() {
  clearTimeout(synced);
  synced = setTimeout(() => history.replaceState(null, "", fragment()), 300);
}

// Controls ------------------------------------------------------------------------------------------------------------

function controls() {
  for (const { confidence } of levels) {
    by("confidence").append(new Option(numbers.sure(confidence), String(confidence)));
  }
  by("confidence").value = String(level.confidence);
  by("confidence").addEventListener("change", () => {
    level = levels.find((one) => String(one.confidence) === by("confidence").value);
    answerNow();
    everything();
    figures();
    if (pictures) {
      pictures.refresh();
    }
    banded();
    sync();
  });
  by("band").addEventListener("change", banded);
  const scale = (log) => {
    by("log").setAttribute("aria-pressed", String(log));
    by("linear").setAttribute("aria-pressed", String(!log));
    pictures.setLog(log);
  };
  by("linear").addEventListener("click", () => scale(false));
  by("log").addEventListener("click", () => scale(true));
  by("in").addEventListener("click", () => pictures.zoomBy(0.5));
  by("out").addEventListener("click", () => pictures.zoomBy(2));
  by("left").addEventListener("click", () => pictures.moveBy(-0.25));
  by("right").addEventListener("click", () => pictures.moveBy(0.25));
  by("reset").addEventListener("click", () => pictures.reset());
  by("copy").addEventListener("click", async () => {
    history.replaceState(null, "", fragment());
    try {
      await navigator.clipboard.writeText(location.href);
      by("copy").textContent = "Link copied";
    } catch {
      by("copy").textContent = "Copy it from the address bar";
    }
    setTimeout(() => {
      by("copy").textContent = "Copy link";
    }, 2000);
  });
  kept.make({
    axes: everyAxis,
    file,
    current: () => (ready ? { spans, answer, confidence: level.confidence, said: said(), note: note() } : null),
  });
  compared = comparing.make({
    answers,
    shape,
    level: () => level,
    current: () => (ready ? { spans, said: said(), note: note() } : null),
  });
  kept.files({ release, shape, axes: everyAxis, answers, file, onLine, ready: () => ready });
}

/** Quantiles and the mean, with intervals of the chosen confidence, as Python writes them. */
function figures() {
  const rows = level.figures.map(([name, value, low, high]) => {
    const row = document.createElement("div");
    const spread = element("span", `${low} to ${high}`);
    spread.className = "hint";
    row.append(element("dt", name), element("dd", value), spread);
    return row;
  });
  by("quantiles").replaceChildren(...rows);
  by("quantiles-hint").textContent = `Below each, an interval that holds the true one with ${numbers.sure(
    level.confidence,
  )} confidence or more.`;
}

/** Draw the curve again, with or without its band, and say what the band promises. */
function banded() {
  by("band-said").textContent = by("band").checked
    ? `All these limits hold together with ${numbers.sure(level.confidence)} confidence or more.`
    : "";
  if (curve) {
    curve.draw();
    by("curve-caption").textContent = curve.said();
  }
}

/** The number of all records in range, with its margin, and of those in none. */
function everything() {
  const all = answers.ask(
    everyAxis.map((axis) => ({ lo: 0, hi: axis.size, whole: true })),
    level,
  );
  const margin = all.noise === undefined ? "" : ` ± ${numbers.records(all.noise)}`;
  by("everything").textContent = numbers.records(all.value) + margin;
  others?.show(level, all.value);
}

// Pictures ------------------------------------------------------------------------------------------------------------

function draw() {
  const hint =
    "With the keyboard: Tab to an edge, arrows move it, Shift with arrows moves the whole range, Page Up and Page " +
    "Down take larger steps, Home and End go to the ends";
  if (onLine) {
    const one = {
      axis: everyAxis[0],
      answers,
      records: data.records,
      span: () => spans[0],
      cuts: () => answer.cuts,
      level: () => level,
      band: () => (by("band").checked ? level.band : null),
      ready: () => ready,
      change: (lo, hi) => changed(0, lo, hi),
      viewed: (view) => curve?.shown(view),
    };
    pictures = histogram.make(by("chart"), one);
    by("keys").textContent = `${hint}, Ctrl with arrows goes from bucket to bucket.`;
    by("cumulative").hidden = false;
    curve = cumulative.make(by("curve"), one);
    if (curve.empty) {
      curve = null;
      by("cumulative").hidden = true;
    } else {
      spans = [axes.cells(everyAxis[0], ...data.middle)];
      write();
      figures();
    }
  } else if (shape.length === 2) {
    const both = { axes: everyAxis, release, answers, spans: () => spans, cuts: () => answer.cuts, change: changed };
    pictures = map.make(by("chart"), both);
    by("explore-title").textContent = "Choose a rectangle";
    by("keys").textContent = `${hint}.`;
  } else {
    for (const id of ["chart", "keys"]) {
      by(id).hidden = true;
    }
    document.querySelector(".toolbar").hidden = true;
    document.querySelector(".explorer").classList.add("plain");
    by("explore-title").textContent = "Choose a box";
    by("caption").textContent = "There is no picture of these axes. Type both ends on each axis.";
    return;
  }
  by("caption").textContent = pictures.caption();
  by("log").setAttribute("aria-pressed", String(pictures.log()));
  by("linear").setAttribute("aria-pressed", String(!pictures.log()));
  const all = () => {
    pictures.refresh();
    if (curve) {
      curve.draw();
    }
  };
  let [width, height] = [by("chart").clientWidth, innerHeight];
  all();
  new ResizeObserver(() => {
    if (by("chart").clientWidth !== width || innerHeight !== height) {
      [width, height] = [by("chart").clientWidth, innerHeight];
      requestAnimationFrame(all);
    }
  }).observe(by("chart").parentElement);
  const recolour = () => {
    pictures.draw();
    if (curve) {
      curve.draw();
    }
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  const printing = (on) => {
    document.querySelector("details").open = on;
    if (on) {
      document.documentElement.dataset.theme = "light";
    } else {
      delete document.documentElement.dataset.theme;
    }
    recolour();
  };
  matchMedia("print").addEventListener("change", (event) => printing(event.matches));
}

// Begin ---------------------------------------------------------------------------------------------------------------

/** Prepare the strategy's variances, in slices if that takes long. */
function prepare() {
  ready = answers.prepare(20);
  if (!ready) {
    setTimeout(prepare, 4);
    return;
  }
  answerNow();
  everything();
  if (pictures) {
    pictures.refresh();
  }
  document.documentElement.dataset.ready = "";
}

if (data.askable) {
  answers = answering.of(release, shape);
  fields();
  controls();
  write();
  draw();
  if (!fromAddress()) {
    answerNow();
    redraw();
  }
  everything();
  prepare();
  addEventListener("hashchange", fromAddress);
} else {
  const sorry = "This map has more cells than a browser can number. Use instead: dawa query release.json";
  by("explore").replaceChildren(element("p", sorry));
  others?.show(level, data.inside);
  document.documentElement.dataset.ready = "";
}
