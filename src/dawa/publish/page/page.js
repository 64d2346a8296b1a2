// The page itself: one range, its answer, and everything that shows or changes it.
//
// The page holds one release or several. enter() shows one of them, and choose() one of its groups; what no release had
// a part in stays, and everything else is made anew.
const { by } = panel;
const given = JSON.parse(by("data").textContent);
const parts = given.parts || [given];
const SLOW = 24;

// The release in view, and what its groups share.
let [data, shape, everyAxis, file, spans, list, several, onLine] = [null, [], [], "", [], [], null, false];
// One of its groups, or all of it.
let [chosen, release, levels, others] = [0, null, parts[0].levels, null];
let level = levels.find((one) => one.confidence === 0.95);
let [answers, answer, frame, cost, answered, ready] = [null, { cuts: [] }, 0, 0, 0, false];
let [spoken, synced, pictures, curve, compared, steep] = [0, 0, null, null, null, null];
const everyKept = new Map();

const named = (axis) => (shape.length > 1 ? `${axis.name} ` : "");
const range = () => everyAxis.map((axis, i) => named(axis) + axes.said(axis, spans[i])).join(", ");
const said = () => (several ? `${list[chosen].name}: ${range()}` : range());
const note = () => [axes.note(everyAxis, spans), data.kept].filter(Boolean).join("; ");

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
    pictured: pictures !== null && shape.length < 3,
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
  several?.changed();
}

// Typed ends, and the address -----------------------------------------------------------------------------------------

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
    several?.changed();
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

/** Which release and which group: #release=Delays&group=AA, once per grouping column. */
function placed(asked) {
  const wanted = parts.findIndex((part) => part.name === asked.get("release"));
  if (wanted >= 0 && parts[wanted] !== data) {
    enter(wanted);
  }
  const labels = asked.getAll("group");
  if (!several || labels.length === 0) {
    return true;
  }
  try {
    const group = groups.find(list, labels);
    if (group !== chosen) {
      choose(group);
    }
    return true;
  } catch (error) {
    by("problem").textContent = error.message;
    return false;
  }
}

/** #from=20&to=60, once per axis, and confidence=0.9 if it is not 0.95. */
function fromAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (!placed(asked)) {
    return false;
  }
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
  const before = level;
  level = wanted || levels.find((one) => one.confidence === 0.95);
  by("confidence").value = String(level.confidence);
  if (level !== before) {
    surer();
  }
  return take(everyAxis.map((_, i) => [lows[i], highs[i]]));
}

function fragment() {
  const asked = new URLSearchParams();
  if (parts.length > 1) {
    asked.append("release", data.name);
  }
  list[chosen].labels.forEach((label) => {
    asked.append("group", label);
  });
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

/** Show everything but the answer with another confidence. */
function surer() {
  everything();
  panel.figures(level);
  if (pictures) {
    pictures.refresh();
  }
  banded();
  several?.sure();
}

function controls() {
  by("ends").addEventListener("submit", (event) => {
    event.preventDefault();
    typed();
  });
  by("parts").hidden = parts.length === 1;
  parts.forEach(({ name }, i) => {
    by("part").append(new Option(name, String(i)));
  });
  by("part").addEventListener("change", () => {
    enter(Number(by("part").value));
    sync();
  });
  for (const { confidence } of levels) {
    by("confidence").append(new Option(numbers.sure(confidence), String(confidence)));
  }
  by("confidence").value = String(level.confidence);
  by("confidence").addEventListener("change", () => {
    level = levels.find((one) => String(one.confidence) === by("confidence").value);
    answerNow();
    surer();
    sync();
  });
  by("band").addEventListener("change", banded);
  const scale = (log) => {
    steep = log;
    by("log").setAttribute("aria-pressed", String(log));
    by("linear").setAttribute("aria-pressed", String(!log));
    pictures.setLog(log);
    several?.draw();
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
  const current = () => (ready ? { spans, said: said(), note: note() } : null);
  compared = comparing.make({ answers: () => answers, shape: () => shape, level: () => level, current });
}

/** The ranges that are kept of this release, and its files. */
function files() {
  if (!everyKept.has(data)) {
    const current = () => {
      const { labels } = list[chosen];
      return ready ? { labels, spans, answer, confidence: level.confidence, said: said(), note: note() } : null;
    };
    everyKept.set(data, kept.make({ axes: everyAxis, by: data.by || [], file, current }));
  }
  everyKept.get(data).show();
  kept.files({ release: data.release, shape, axes: everyAxis, file, onLine, by: data.by || [], each: list });
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
  if (!several) {
    by("everything").textContent = numbers.records(all.value) + margin;
  }
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
      viewed(view) {
        curve?.shown(view);
        by("caption").textContent = pictures.caption();
      },
    };
    pictures = histogram.make(by("chart"), one);
    by("keys").textContent = `${hint}, Ctrl with arrows goes from bucket to bucket.`;
    by("cumulative").hidden = false;
    curve = cumulative.make(by("curve"), one);
    if (curve.empty) {
      curve = null;
      by("cumulative").hidden = true;
    } else {
      panel.figures(level);
    }
  } else if (shape.length === 2) {
    const both = {
      axes: everyAxis,
      release,
      answers,
      records: data.records,
      geography: data.geography,
      scaled: data.scaled,
      counted: data.counted,
      spans: () => spans,
      cuts: () => answer.cuts,
      change: changed,
    };
    pictures = map.make(by("chart"), both);
    by("explore-title").textContent = "Choose a rectangle";
    by("keys").textContent = `${hint}.`;
  } else {
    const all = {
      axes: everyAxis,
      answers,
      records: data.records,
      spans: () => spans,
      level: () => level,
      ready: () => ready,
      change: changed,
    };
    pictures = marginals.make(by("chart"), all);
    by("explore-title").textContent = "Choose a range on each axis";
    by("keys").textContent = `${hint}, Ctrl with arrows goes from bar to bar.`;
  }
  by("caption").textContent = pictures.caption();
  if (steep !== null) {
    pictures.setLog(steep);
  }
  by("log").setAttribute("aria-pressed", String(pictures.log()));
  by("linear").setAttribute("aria-pressed", String(!pictures.log()));
  drawAll();
  by("caption").textContent = pictures.caption(); // again: it says what there was room for
}

function drawAll() {
  if (pictures) {
    pictures.refresh();
  }
  if (curve) {
    curve.draw();
  }
}

function recolour() {
  pictures?.draw();
  curve?.draw();
  several?.draw();
}

function resized() {
  drawAll();
  several?.draw();
}

// Begin ---------------------------------------------------------------------------------------------------------------

/** Prepare the strategy's variances, in slices if that takes long, unless another group is chosen meanwhile. */
function prepare(of) {
  if (of !== answers) {
    return;
  }
  ready = answers.prepare(20);
  if (!ready) {
    setTimeout(() => prepare(of), 4);
    return;
  }
  answerNow();
  everything();
  if (pictures) {
    pictures.refresh();
  }
  document.documentElement.dataset.ready = "";
}

/** Let go of what was drawn of a group. */
function leave() {
  pictures?.stop();
  [pictures, curve, ready] = [null, null, false];
  drawing.renew("chart");
  drawing.renew("curve");
  by("cumulative").hidden = true;
}

/** Show one of the groups, or the release if it has none. */
function choose(group) {
  leave();
  chosen = group;
  ({ release, levels } = list[group]);
  level = levels.find((one) => one.confidence === level.confidence);
  answers = list[group].answers();
  compared.clear();
  others = apart.make(release.apart, data.apart);
  if (several) {
    by("apart-fact").hidden = true;
    by("apart-of").textContent = `of the group ${list[group].name}`;
  }
  onLine = list[group].onLine;
  draw();
  answerNow();
  redraw();
  everything();
  prepare(answers);
  several?.selected();
}

/** The range that a reader sees first: the middle half of the records, or of the axes. */
function started() {
  const { middle } = list[0];
  return everyAxis.map((axis) => {
    const quarter = Math.floor(axis.size / 4);
    const cells = middle || [quarter, Math.max(Math.floor((3 * axis.size) / 4), quarter + 1)];
    return axes.cells(axis, ...cells);
  });
}

/** What the header and the statement say of a release, if there are several. */
function worded(at) {
  if (parts.length > 1) {
    for (const id of ["head", "privacy"]) {
      by(id).replaceChildren(by(`${id}${at}`).content.cloneNode(true));
    }
    by("part").value = String(at);
  }
  for (const place of document.querySelectorAll(".records")) {
    place.textContent = data.records;
  }
  by("apart").classList.toggle("much", data.much && !data.each);
  by("none").classList.toggle("much", data.much && Boolean(data.each));
  by("apart-kept").textContent = data.kept ? ` The numbers are ${data.kept}.` : "";
  by("apart-of").textContent = "";
}

/** Show one of the releases. */
function enter(at) {
  several?.stop();
  [data, several, steep, chosen] = [parts[at], null, null, 0];
  shape = data.shape;
  everyAxis = data.release.axes.map((axis, i) => axes.of(axis, data.times[i], data.clips[i]));
  if (everyAxis.length > 2) {
    everyAxis = everyAxis.map((axis, i) => (data.flat[i] ? axes.flat(axis) : axis));
  }
  const columns = everyAxis.map((axis) => axis.column).join("-");
  file = (columns.replace(/[^\w-]+/g, "_") || "release").slice(0, 60);
  worded(at);
  by("askable").hidden = !data.askable;
  by("sorry").hidden = data.askable;
  groups.hide();
  if (!data.askable) {
    leave();
    const sorry = "This map has more cells than a browser can number. Use instead: dawa query release.json";
    by("sorry").textContent = sorry;
    others = apart.make(data.release.apart, data.each ? data.none : data.apart, data.each ? "none" : "apart");
    others?.show(level, data.inside);
    document.documentElement.dataset.ready = "";
    return;
  }
  list = groups.of(data);
  spans = started();
  onLine = list[0].onLine;
  by("explore-title").textContent = "Choose a range";
  panel.fields(everyAxis, typed);
  write();
  files();
  if (data.each) {
    several = groups.make({
      part: data,
      list,
      file,
      onLine,
      axes: everyAxis,
      spans: () => spans,
      level: () => level,
      chosen: () => chosen,
      choose: (group) => {
        choose(group);
        sync();
      },
      log: () => pictures?.log() ?? true,
      said: range,
      note,
    });
  }
  choose(0);
  several?.draw();
  several?.changed();
}

controls();
enter(0);
drawing.watch("chart", resized, recolour);
fromAddress();
addEventListener("hashchange", fromAddress);
