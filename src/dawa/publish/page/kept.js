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

  /** page: { axes, file, current(): { spans, answer, confidence, said, note } or null } */
  function make(page) {
    const rows = [];
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
      document.querySelector("#kept tbody").append(line);
      listed();
    }

    function listed() {
      by("kept-none").hidden = rows.length > 0;
      by("kept-scroll").hidden = by("save-kept").hidden = rows.length === 0;
    }

    by("keep").addEventListener("click", keep);
    by("save-kept").addEventListener("click", () => {
      const ends = page.axes.flatMap((axis) => ["from", "to"].map((end) => (several ? `${axis.column}_${end}` : end)));
      const header = [
        "name",
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
      const lines = rows.map(({ name, spans, answer, confidence, note }) => [
        name,
        ...spans.flatMap((span) => span.texts),
        ...PARTS.map((part) => (answer[part] === Infinity ? "inf" : answer[part])),
        confidence,
        note,
      ]);
      download(`${page.file}-ranges.csv`, csv([header, ...lines]), "text/csv");
    });
  }

  /** The buckets of a line, with their noise, made in slices of time. */
  async function bucketsOfLine(axis, answers, deviation, progress) {
    const { bounds, totals, unbiased } = answers;
    const noted = axis.clips.some(Boolean);
    const last = totals.length - 1;
    const header = ["from", "to", "cells", "value", "standard_deviation", "unbiased"];
    const parts = csv([noted ? [...header, "remark"] : header]);
    let pause = performance.now() + 30;
    for (let b = 0; b < totals.length; b += 1) {
      const ends = [axis.write(bounds[b], "lo"), axis.write(bounds[b + 1], "hi")];
      const row = [...ends, bounds[b + 1] - bounds[b], totals[b], deviation(b), unbiased[b]];
      parts.push(...csv([noted ? [...row, axes.note([axis], [{ ends: [b === 0, b === last] }])] : row]));
      if (performance.now() > pause) {
        progress(b / totals.length);
        await new Promise((go) => setTimeout(go));
        pause = performance.now() + 30;
      }
    }
    return parts;
  }

  /** The cells of a map; the second axis changes fastest. */
  function cellsOfMap(all, density) {
    const [across, up] = all;
    const noted = all.some((axis) => axis.clips.some(Boolean));
    const ends = (axis) =>
      Array.from({ length: axis.size }, (_, i) => [axis.write(i, "lo"), axis.write(i + 1, "hi")].map(quoted).join(","));
    const [columns, rows] = [ends(across), ends(up)];
    const header = [...all.flatMap((axis) => [`${axis.column}_from`, `${axis.column}_to`]), "value"];
    const parts = csv([noted ? [...header, "remark"] : header]);
    const at = (axis, cell) => ({ ends: [cell === 0, cell === axis.size - 1] });
    const note = (x, y) => `,${quoted(axes.note(all, [at(across, x), at(up, y)]))}`;
    columns.forEach((column, x) => {
      const line = (row, y) => `${column},${row},${density[y * across.size + x]}${noted ? note(x, y) : ""}\n`;
      parts.push(rows.map(line).join(""));
    });
    return parts;
  }

  /** Buttons that download everything. page: { release, shape, axes, answers, file, onLine, ready() } */
  function files(page) {
    const { release, shape, axes: all, answers, onLine } = page;
    const button = by("save-buckets");
    const name = onLine ? "Download all buckets (CSV)" : "Download all cells (CSV)";
    button.textContent = name;
    button.hidden = !onLine && (shape.length !== 2 || shape[0] * shape[1] > MOST_CELLS);
    button.addEventListener("click", async () => {
      if (!page.ready()) {
        return;
      }
      button.disabled = true;
      const progress = (share) => {
        button.textContent = `Preparing, ${numbers.percent(share)}`;
      };
      const parts = onLine
        ? await bucketsOfLine(all[0], { ...answers, ...release.buckets }, answers.deviation, progress)
        : cellsOfMap(all, heat.raster(release, answers.published, shape, shape.map(drawing.whole), ...shape).density);
      download(`${page.file}-${onLine ? "buckets" : "cells"}.csv`, parts, "text/csv");
      button.textContent = name;
      button.disabled = false;
    });
    by("save-release").addEventListener("click", () => {
      download(`${page.file}-release.json`, [`${JSON.stringify(release)}\n`], "application/json");
    });
  }

  return { make, files };
})();
