// The records that are in no range: missing, outside or not listed, with the same error bars as dawa.results.overview.
const apart = (() => {
  const { by, element } = panel;
  const MOST = 6;

  const sum = (list) => list.reduce((all, one) => all + one, 0);

  /** A number of records from unbiased numbers, each with noise of this variance; rounding may have moved it. */
  function counted(value, unbiased, variance, rounding, level) {
    const centre = sum(unbiased);
    const noise = level.apart * Math.sqrt(variance * unbiased.length) + rounding;
    return {
      value,
      noise,
      low: Math.min(Math.max(centre - noise, 0), value),
      high: Math.max(centre + noise, 0, value),
    };
  }

  /**
   * data: release.apart with a label for each way. Shows nothing if no records are counted apart.
   * where: "apart" for records in no range, "none" for those in no group; the elements' names begin with it.
   */
  function make(data, labels, where = "apart") {
    by(where).hidden = by(`${where}-fact`).hidden = !data;
    by(`${where}-rows`).replaceChildren();
    by(`${where}-foot`).replaceChildren();
    if (!data) {
      return null;
    }
    const { totals, unbiased, unit_variance: variance } = data;
    const order = totals.map((_, way) => way).sort((a, b) => totals[b] - totals[a] || a - b);
    const few = order.length <= MOST + 1 ? order.length : MOST;
    const [all, rounding] = [Math.max(sum(unbiased), 0), answering.roundingOf(unbiased)];
    const rows = order.map((way, i) => added(by(`${where}-rows`), labels[way], i >= few));
    const foot = order.length > 1 ? added(by(`${where}-foot`), "All of them", false) : null;
    const button = by(`${where}-more`);
    by(`${where}-fold`).hidden = few === order.length;
    const fold = (folded) => {
      button.textContent = folded ? `Show all ${order.length} kinds` : `Show the ${few} most frequent kinds`;
      button.setAttribute("aria-expanded", String(!folded));
      rows.slice(few).forEach(({ line }) => {
        line.hidden = folded;
      });
    };
    fold(true);
    button.onclick = () => fold(button.getAttribute("aria-expanded") === "true");

    /** Fill in the numbers; inside is how many records have a cell, if that is known. */
    function show(level, inside) {
      const together = counted(all, unbiased, variance, rounding, level);
      const everything = Math.max(inside, 0) + all;
      order.forEach((way, i) => {
        rows[i].fill(counted(totals[way], [unbiased[way]], variance, rounding, level), everything);
      });
      foot?.fill(together, everything);
      by(`${where}-sure`).textContent = `Low to high (${numbers.sure(level.confidence)})`;
      by(`${where}-all`).textContent = `${numbers.records(all)} ± ${numbers.records(together.noise)}`;
    }

    return { show };
  }

  function added(host, label, folded) {
    const line = document.createElement("tr");
    line.hidden = folded;
    const name = element("th", label);
    name.scope = "row";
    const cells = Array.from({ length: 4 }, () => {
      const cell = element("td", "…");
      cell.className = "number";
      return cell;
    });
    line.append(name, ...cells);
    host.append(line);
    const fill = ({ value, noise, low, high }, everything) => {
      const between = `${numbers.records(low)} to ${numbers.records(high)}`;
      const share = everything > 0 ? numbers.percent(value / everything) : "–";
      [numbers.records(value), between, `± ${numbers.records(noise)}`, share].forEach((text, i) => {
        cells[i].textContent = text;
      });
    };
    return { line, fill };
  }

  return { make };
})();
