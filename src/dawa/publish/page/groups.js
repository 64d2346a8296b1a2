// The groups of a release: a choice among them, a small picture of each, and their answers to the chosen range.
const groups = (() => {
  const { by, element } = panel;
  const MANY = 12;
  const [SLICE, REST] = [12, 60];
  const PARTS = ["value", "noise", "bias", "measured", "low", "high"];

  /** A value of a grouping column, as Python writes it. */
  const text = (label) => (typeof label === "boolean" ? (label ? "True" : "False") : String(label));

  /** Whether buckets lie on a line, one after the other. */
  const lined = ({ buckets: { lo: corners, bounds } }, shape) =>
    shape.length === 1 && (!corners || corners.every(([from], b) => from === bounds[b]));

  /** The histograms of a release on the page: that of each group, or the only one there is. */
  function of(part) {
    const made = (release, one, labels) => {
      let answers = null;
      return {
        ...one,
        release,
        labels,
        onLine: lined(release, part.shape),
        name: labels.map(names.isolated).join(", "),
        answers() {
          answers = answers || answering.of(release, part.shape);
          return answers;
        },
      };
    };
    if (!part.each) {
      return [made(part.release, part, [])];
    }
    const { groups: all, ...shared } = part.release;
    return part.each.map((one, i) => made({ ...shared, ...all[i] }, one, all[i].group.map(text)));
  }

  /** The number of the group with these labels; an Error says which there are. */
  function find(list, labels) {
    const found = list.findIndex((one) => one.labels.join("\n") === labels.join("\n"));
    if (found < 0) {
      const few = list.slice(0, 8).map((one) => one.name);
      const more = list.length > few.length ? ", …" : "";
      throw new Error(
        `“${labels.map(names.isolated).join(", ")}” is not a group. Choose one of ${few.join("; ")}${more}.`,
      );
    }
    return found;
  }

  const levelOf = (levels, level) => levels.find((one) => one.confidence === level.confidence);

  /** Everything below is hidden where there are no groups. */
  function hide() {
    by("choice").hidden = by("groups").hidden = by("none").hidden = true;
  }

  /**
   * page: { part, list, file, onLine, spans(), level(), chosen(), choose(group), log(), said(), note() }
   * Call changed() when the range or the confidence is another, and selected() when the group is.
   */
  function make(page) {
    const { part, list } = page;
    const columns = part.by.map(names.isolated).join(", ");
    const [choice, filter, body, foot] = [by("group"), by("group-filter"), by("group-rows"), by("group-foot")];
    const none = apart.make(part.release.apart, part.none, "none");
    const pictures = multiples.make({ ...page, shape: part.shape });
    let [rows, total, task, later, found] = [[], null, 0, 0, null];

    by("choice").hidden = by("groups").hidden = false;
    by("group-label").textContent = `Group (${columns})`;
    by("group-head").textContent = columns;
    by("groups-title").textContent = `All ${list.length} groups`;
    by("filter-label").hidden = list.length <= MANY;
    filter.value = "";

    function cells(line, count) {
      return Array.from({ length: count }, () => {
        const cell = element("td", "…");
        cell.className = "number";
        line.append(cell);
        return cell;
      });
    }

    function row(host, name, choose) {
      const line = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      if (choose) {
        const button = element("button", name);
        button.type = "button";
        button.className = "link";
        button.addEventListener("click", choose);
        head.append(button);
      } else {
        head.textContent = name;
      }
      line.append(head);
      host.append(line);
      return { line, cells: cells(line, 5) };
    }

    function fill({ cells: [value, between, noise, bias, share] }, answer, all) {
      value.textContent = numbers.records(answer.value);
      between.textContent = `${numbers.records(answer.low)} to ${numbers.records(answer.high)}`;
      noise.textContent = `± ${numbers.records(answer.noise)}`;
      bias.textContent = numbers.records(answer.bias);
      share.textContent = numbers.percent(all > 0 ? Math.min(Math.max(answer.value / all, 0), 1) : Number.NaN);
    }

    /** Ask every group and then all together, in slices of time; nothing is shown of a range that has changed. */
    function* asking() {
      const [spans, level] = [page.spans(), page.level()];
      const answers = [];
      for (const one of list) {
        while (!one.answers().prepare(SLICE)) {
          yield;
        }
        answers.push(one.answers().ask(spans, levelOf(one.levels, level)));
        yield;
      }
      const parts = list.map((one) => one.answers().parts);
      const all = together.ask(parts, spans, levelOf(part.levels, level));
      list.forEach((_, i) => {
        fill(rows[i], answers[i], all.value);
      });
      fill(total, all, all.value);
      found = { spans, level, answers, all, note: page.note() };
      by("groups-asked").textContent = page.said();
      by("groups-note").textContent = page.note();
      by("groups-sure").textContent = `Low to high (${numbers.sure(level.confidence)})`;
      by("by-group").setAttribute("aria-busy", "false");
    }

    function changed() {
      by("by-group").setAttribute("aria-busy", "true");
      pictures.spans();
      clearTimeout(task);
      const steps = asking();
      const more = () => {
        const until = performance.now() + SLICE;
        let done = false;
        while (!done && performance.now() < until) {
          ({ done } = steps.next());
        }
        if (!done) {
          task = setTimeout(more, 4);
        }
      };
      task = setTimeout(more, REST);
    }

    /** The number of all records in a group, and of those in none. */
    function everything() {
      const level = levelOf(part.levels, page.level());
      const spans = page.axes.map((axis) => ({ lo: 0, hi: axis.size, whole: true }));
      if (!list.every((one) => one.answers().prepare(SLICE))) {
        later = setTimeout(everything, 4);
        return;
      }
      const parts = list.map((one) => one.answers().parts);
      const all = together.ask(parts, spans, level);
      by("everything").textContent = `${numbers.records(all.value)} ± ${numbers.records(all.noise)}`;
      none?.show(level, all.value);
    }

    function selected() {
      if (![...choice.options].some((option) => option.value === String(page.chosen()))) {
        choice.prepend(new Option(list[page.chosen()].name, String(page.chosen())));
      }
      choice.value = String(page.chosen());
      rows.forEach(({ line }, i) => {
        line.classList.toggle("chosen", i === page.chosen());
      });
      pictures.chosen();
    }

    /** Show the groups whose names hold what was typed; the chosen one stays in the choice. */
    function narrow() {
      const part_ = filter.value.trim().toLowerCase();
      const within = list.flatMap(({ name }, i) => (name.toLowerCase().includes(part_) ? [i] : []));
      choice.replaceChildren(...within.map((i) => new Option(list[i].name, String(i))));
      rows.forEach(({ line }, i) => {
        line.hidden = !within.includes(i);
      });
      by("groups-none").hidden = within.length > 0;
      pictures.show(within);
      selected();
    }

    function step(by_) {
      page.choose((page.chosen() + by_ + list.length) % list.length);
    }

    function save() {
      if (!found) {
        return;
      }
      const ends = page.axes.flatMap((axis) =>
        ["from", "to"].map((end) => (page.axes.length > 1 ? `${axis.column}_${end}` : end)),
      );
      const header = [...part.by, ...ends, "value", "noise_margin", "bias_bound", "measured", "low", "high"];
      const { spans, level, answers, all, note } = found;
      const lines = [...answers, all].map((answer, i) => [
        ...(list[i] ? list[i].labels : part.by.map(() => "")),
        ...spans.flatMap((span) => span.texts),
        ...PARTS.map((name) => (answer[name] === Infinity ? "inf" : answer[name])),
        level.confidence,
        note,
      ]);
      kept.download(`${page.file}-groups.csv`, kept.csv([[...header, "confidence", "remark"], ...lines]), "text/csv");
    }

    body.replaceChildren();
    foot.replaceChildren();
    rows = list.map(({ name }, i) => row(body, name, () => page.choose(i)));
    total = row(foot, "All groups together", null);
    choice.onchange = () => page.choose(Number(choice.value));
    filter.oninput = narrow;
    by("group-before").onclick = () => step(-1);
    by("group-after").onclick = () => step(1);
    by("save-groups").onclick = save;
    narrow();
    everything();

    return {
      changed,
      selected,
      sure() {
        everything();
        changed();
      },
      draw: pictures.draw,
      stop() {
        pictures.stop();
        clearTimeout(task);
        clearTimeout(later);
      },
    };
  }

  return { of, find, hide, make };
})();
