// The ranges that a reader keeps, and files to download.
const kept = (() => {
  const { by, element } = panel;
  const PARTS = ["value", "noise", "bias", "measured", "low", "high"];
  const MOST_CELLS = 2 ** 20;

  function quoted(value) {
    const text = String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const csv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\n`);

  function download(name, parts, type) {
    const address = URL.createObjectURL(new Blob(parts, { type }));
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  /**
   * The ranges that are kept of one release; show() puts them on the page.
   * page: { axes, by, file, current(): { labels, spans, answer, confidence, said, note } or null }
   */
  function make(page) {
    const rows = [];
    const body = document.createElement("tbody");
    const several = page.axes.length > 1;

    function keep() {
      const now = page.current();
      if (!now) {
        return;
      }
      const row = { name: `Range ${rows.length + 1}`, ...now };
      rows.push(row);
      const line = document.createElement("tr");
      const name = document.createElement("input");
      name.value = row.name;
      name.setAttribute("aria-label", "Name of this range");
      name.addEventListener("input", () => {
        row.name = name.value;
      });
      const remove = element("button", "✕");
      remove.type = "button";
      remove.setAttribute("aria-label", `Remove ${now.said}`);
      remove.addEventListener("click", () => {
        rows.splice(rows.indexOf(row), 1);
        line.remove();
        listed();
        by("keep").focus();
      });
      const { answer } = now;
      const [value, noise, bias, , low, high] = PARTS.map((part) => numbers.records(answer[part]));
      const between = `${low} to ${high} (${numbers.sure(now.confidence)})`;
      const texts = [value, `± ${noise}`, bias, between, numbers.percent(answer.share)];
      for (const content of [name, now.said]) {
        const cell = document.createElement("td");
        cell.className = "range";
        cell.append(content);
        line.append(cell);
      }
      if (now.note) {
        line.lastChild.append(element("small", now.note));
      }
      texts.forEach((text) => {
        const cell = element("td", text);
        cell.className = "number";
        line.append(cell);
      });
      const last = document.createElement("td");
      last.append(remove);
      line.append(last);
      body.append(line);
      listed();
    }

    function listed() {
      by("kept-none").hidden = rows.length > 0;
      by("kept-scroll").hidden = by("save-kept").hidden = rows.length === 0;
    }

    function save() {
      const ends = page.axes.flatMap((axis) => ["from", "to"].map((end) => (several ? `${axis.column}_${end}` : end)));
      const header = [
        "name",
        ...page.by,
        ...ends,
        "value",
        "noise_margin",
        "bias_bound",
        "measured",
        "low",
        "high",
        "confidence",
        "remark",
      ];
      const lines = rows.map(({ name, labels, spans, answer, confidence, note }) => [
        name,
        ...labels,
        ...spans.flatMap((span) => span.texts),
        ...PARTS.map((part) => (answer[part] === Infinity ? "inf" : answer[part])),
        confidence,
        note,
      ]);
      download(`${page.file}-ranges.csv`, csv([header, ...lines]), "text/csv");
    }

    function show() {
      document.querySelector("#kept tbody").replaceWith(body);
      by("keep").onclick = keep;
      by("save-kept").onclick = save;
      listed();
    }

    return { show };
  }

  /** The buckets of a line, with their noise, made in slices of time; labels come first in every row. */
  async function bucketsOfLine(axis, answers, deviation, progress, labels) {
    const { bounds, totals, unbiased } = answers;
    const noted = axis.clips.some(Boolean);
    const last = totals.length - 1;
    const parts = [];
    let pause = performance.now() + 30;
    for (let b = 0; b < totals.length; b += 1) {
      const ends = [axis.write(bounds[b], "lo"), axis.write(bounds[b + 1], "hi")];
      const row = [...labels, ...ends, bounds[b + 1] - bounds[b], totals[b], deviation(b), unbiased[b]];
      parts.push(...csv([noted ? [...row, axes.note([axis], [{ ends: [b === 0, b === last] }])] : row]));
      if (performance.now() > pause) {
        progress(b / totals.length);
        await new Promise((go) => setTimeout(go));
        pause = performance.now() + 30;
      }
    }
    return parts;
  }

  function headerOfLine(axis, by_) {
    const header = [...by_, "from", "to", "cells", "value", "standard_deviation", "unbiased"];
    return csv([axis.clips.some(Boolean) ? [...header, "remark"] : header]);
  }

  function headerOfMap(all, by_) {
    const header = [...by_, ...all.flatMap((axis) => [`${axis.column}_from`, `${axis.column}_to`]), "value"];
    return csv([all.some((axis) => axis.clips.some(Boolean)) ? [...header, "remark"] : header]);
  }

  /** The cells of a map; the second axis changes fastest. Labels come first in every row. */
  function cellsOfMap(all, density, labels) {
    const [across, up] = all;
    const noted = all.some((axis) => axis.clips.some(Boolean));
    const ends = (axis) =>
      Array.from({ length: axis.size }, (_, i) => [axis.write(i, "lo"), axis.write(i + 1, "hi")].map(quoted).join(","));
    const [columns, rows] = [ends(across), ends(up)];
    const parts = [];
    const before = labels.map((label) => `${quoted(label)},`).join("");
    const at = (axis, cell) => ({ ends: [cell === 0, cell === axis.size - 1] });
    const note = (x, y) => `,${quoted(axes.note(all, [at(across, x), at(up, y)]))}`;
    columns.forEach((column, x) => {
      const line = (row, y) => `${before}${column},${row},${density[y * across.size + x]}${noted ? note(x, y) : ""}\n`;
      parts.push(rows.map(line).join(""));
    });
    return parts;
  }

  /** Buttons that download everything. page: { release, shape, axes, file, onLine, by, each: [{ release, answers(), labels }] } */
  function files(page) {
    const { release, shape, axes: all, onLine, each } = page;
    const button = by("save-buckets");
    const name = onLine ? "Download all buckets (CSV)" : "Download all cells (CSV)";
    button.textContent = name;
    button.hidden = !onLine && (shape.length !== 2 || shape[0] * shape[1] * each.length > MOST_CELLS);

    async function rows(one, progress) {
      const answers = one.answers();
      if (!onLine) {
        const cells = axes.onMap(all, [false, false]);
        const { density } = heat.raster(one.release, answers, cells, shape.map(drawing.whole), ...shape);
        return cellsOfMap(all, density, one.labels);
      }
      while (!answers.prepare(20)) {
        await new Promise((go) => setTimeout(go));
      }
      const known = { ...answers, ...one.release.buckets };
      return bucketsOfLine(all[0], known, answers.deviation, progress, one.labels);
    }

    button.onclick = async () => {
      button.disabled = true;
      const parts = (onLine ? headerOfLine(all[0], page.by) : headerOfMap(all, page.by)).slice();
      for (const [i, one] of each.entries()) {
        const progress = (share) => {
          button.textContent = `Preparing, ${numbers.percent((i + share) / each.length)}`;
        };
        for (const text of await rows(one, progress)) {
          parts.push(text);
        }
      }
      download(`${page.file}-${onLine ? "buckets" : "cells"}.csv`, parts, "text/csv");
      button.textContent = name;
      button.disabled = false;
    };
    by("save-release").onclick = () => {
      download(`${page.file}-release.json`, [`${JSON.stringify(release)}\n`], "application/json");
    };
  }

  return { make, files, csv, download };
})();
