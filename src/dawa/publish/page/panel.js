// The answer in numbers and words, and what is typed to ask for it.
const panel = (() => {
  const MOST_LISTED = 6;
  const by = (id) => document.getElementById(id);

  function element(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  /** Show the answer, and return it as a sentence. words: { said, note, records, bucketSaid(bucket) or null, pictured } */
  function show(answer, level, words) {
    by("value").textContent = numbers.records(answer.value);
    by("share").textContent = numbers.percent(answer.share);
    const waiting = answer.noise === undefined;
    for (const name of ["noise", "bias", "measured", "low", "high"]) {
      by(name).textContent = waiting ? "…" : numbers.records(answer[name]);
    }
    by("evened").hidden = waiting || Math.abs(answer.value - answer.measured) < 0.5;
    by("note").textContent = words.note;
    by("note").hidden = words.note === "";
    gauge(answer, waiting);
    cuts(answer.cuts, words);
    const [value, low, high] = [answer.value, answer.low, answer.high].map(numbers.records);
    const sure = waiting
      ? "error bars are being prepared"
      : `between ${low} and ${high} with ${numbers.sure(level.confidence)} confidence`;
    return `${words.said}: ${value} ${words.records}, ${sure}${words.note && "; "}${words.note}.`;
  }

  /** Low to high as a bar, the noise inside it, the value as a line. */
  function gauge({ value, noise, low, high }, waiting) {
    const [far, near, tick] = by("gauge").children;
    by("gauge").hidden = waiting || !Number.isFinite(high);
    if (waiting || !Number.isFinite(high)) {
      return;
    }
    const room = Math.max(high * 1.15, 1e-9);
    const place = (part, from, to) => {
      const [left, right] = [from, to].map((at) => Math.min(Math.max((100 * at) / room, 0), 100));
      Object.assign(part.style, { left: `${left}%`, width: `${right - left}%` });
    };
    place(far, low, high);
    place(near, Math.max(value - noise, low), Math.min(value + noise, high));
    tick.style.left = `${Math.min(Math.max((100 * value) / room, 0), 100)}%`;
  }

  /** Which buckets are cut: a list of a few stretches of one axis, otherwise how many. */
  function cuts(list, words) {
    const host = by("cuts");
    host.replaceChildren();
    if (list.length === 0) {
      host.append(element("p", "No bucket is cut: nothing is assumed about how records lie inside buckets."));
      return;
    }
    const mark = element("span", "");
    mark.className = "mark";
    const few = words.bucketSaid && list.length <= MOST_LISTED;
    const count = `${numbers.fixed(list.length, 0)} ${list.length === 1 ? "bucket is" : "buckets are"} cut`;
    const where = words.pictured ? ", and marked in the picture" : "";
    const rest = ". Where records lie inside them is a guess; the bias bound says how wrong it can be.";
    const line = element("p", count + where + (few ? ":" : rest));
    line.prepend(mark);
    host.append(line);
    if (few) {
      const listed = document.createElement("ul");
      for (const { bucket, inside } of list) {
        listed.append(element("li", `${words.bucketSaid(bucket)} (${numbers.percent(inside)} of it inside)`));
      }
      host.append(listed);
    }
  }

  /** Inputs for both ends of every axis; typed() is called when one has changed. */
  function fields(all, typed) {
    by("ends").replaceChildren();
    all.forEach((axis, i) => {
      const group = document.createElement("fieldset");
      group.append(element("legend", axis.name));
      const pair = document.createElement("div");
      pair.className = (axis.kind === "dates" || axis.text) && axis.write(1).length > 10 ? "pair tall" : "pair";
      (axis.inclusive ? ["First", "Last"] : ["From", "Up to, not including"]).forEach((name, end) => {
        const label = element("label", name);
        const input = document.createElement(axis.labels ? "select" : "input");
        input.id = `${end ? "to" : "from"}${i}`;
        if (axis.labels) {
          for (const text of axis.labels) {
            input.append(new Option(axis.shown(text), text));
          }
        } else {
          input.inputMode = axis.kind === "dates" || axis.text ? "text" : "decimal";
          input.spellcheck = false;
        }
        input.addEventListener("change", typed);
        label.append(input);
        pair.append(label);
      });
      group.append(pair);
      by("ends").append(group);
    });
  }

  /** Quantiles and the mean, with intervals of the chosen confidence, as Python writes them. */
  function figures(level) {
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

  return { show, fields, figures, element, by };
})();
