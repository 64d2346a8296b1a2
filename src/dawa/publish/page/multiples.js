// A small picture of every group, side by side, each a button that chooses its group.
const multiples = (() => {
  const { by, element } = panel;
  const MOST_DRAWN = 24;
  const [SLICE, REST] = [10, 60];

  /**
   * page: { list: [{ name, release, answers() }], axes, shape, onLine, spans(), level(), chosen(), choose(group), log() }
   * show(groups) says which groups there are to see; the first ones are drawn, the rest on demand.
   */
  function make(page) {
    const { list, axes: all } = page;
    const [host, more, axis] = [by("tiles"), by("tiles-more"), by("tiles-axis")];
    let kind = tiles.of(page, 0);
    let [made, wanted, room, same, task] = [[], [], MOST_DRAWN, true, 0];
    host.replaceChildren();
    by("tiles-bar").hidden = host.hidden = kind === null;
    by("tiles-along").hidden = by("tiles-said").hidden = all.length < 3;
    axis.replaceChildren(...all.map((one, i) => new Option(one.name, String(i))));

    function draw() {
      if (made.length === 0) {
        return;
      }
      const paint = drawing.colours();
      const top = same ? kind.top(made) : null;
      for (const tile of made) {
        kind.draw(tile, top ?? kind.top([tile]), paint);
      }
    }

    /** Ask for what is out of date, in slices of time, once the range stops changing; the pictures follow. */
    function soon(rest = REST) {
      clearTimeout(task);
      task = setTimeout(() => {
        const until = performance.now() + SLICE;
        let left = made.filter(kind.stale);
        while (left.length > 0 && performance.now() < until) {
          for (const tile of left) {
            kind.ask(tile);
          }
          left = left.filter(kind.stale);
        }
        host.setAttribute("aria-busy", String(left.length > 0));
        draw();
        if (left.length > 0) {
          soon(4);
        }
      }, rest);
    }

    function added(group) {
      const one = list[group];
      const button = element("button", "");
      button.type = "button";
      button.className = "tile";
      const plot = document.createElement("span");
      plot.className = "plot";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-hidden", "true");
      const mark = document.createElement("i");
      plot.append(canvas, mark);
      const title = element("b", one.name);
      button.title = one.name;
      button.setAttribute("aria-label", one.name);
      button.append(title, plot);
      button.addEventListener("click", () => page.choose(group));
      host.append(button);
      return { group, one, button, title, plot, canvas, mark };
    }

    function fill() {
      host.replaceChildren();
      made = kind ? wanted.slice(0, room).map(added) : [];
      const left = wanted.length - made.length;
      more.hidden = !kind || left <= 0;
      more.textContent = `Show ${Math.min(left, MOST_DRAWN)} more of ${left}`;
      name();
      chosen();
      spans();
      draw();
    }

    /** Cut names that are too long for their pictures, so that different ones look different. */
    function name() {
      if (made.length > 0) {
        const [{ title }] = made;
        const context = document.createElement("canvas").getContext("2d");
        context.font = getComputedStyle(title).font;
        const wide = (text) => context.measureText(text).width + 1;
        const texts = names.shortened(
          made.map(({ one }) => one.name),
          title.clientWidth,
          wide,
        );
        made.forEach((tile, i) => {
          tile.title.textContent = texts[i];
        });
      }
    }

    /** Mark the chosen group. */
    function chosen() {
      for (const { group, button } of made) {
        button.setAttribute("aria-pressed", String(group === page.chosen()));
      }
    }

    /** Mark the chosen range in every picture, which may have to be asked for again. */
    function spans() {
      for (const { mark } of made) {
        Object.assign(mark.style, kind.mark(page.spans()));
      }
      if (made.some((tile) => kind.stale(tile))) {
        host.setAttribute("aria-busy", "true");
        draw();
        soon();
      }
    }

    function scale(value) {
      same = value;
      by("same").setAttribute("aria-pressed", String(same));
      by("own").setAttribute("aria-pressed", String(!same));
      draw();
    }

    by("same").onclick = () => scale(true);
    by("own").onclick = () => scale(false);
    axis.onchange = () => {
      kind = tiles.of(page, Number(axis.value));
      fill();
    };
    more.onclick = () => {
      const first = made.length;
      room += MOST_DRAWN;
      fill();
      made[first]?.button.focus();
    };
    /** Arrows go from picture to picture; a button chooses with Enter or the space bar. */
    host.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const at = made.findIndex(({ button }) => button === document.activeElement);
      if (step && at >= 0 && made[at + step]) {
        event.preventDefault();
        made[at + step].button.focus();
      }
    };
    scale(true);

    return {
      show(groups) {
        [wanted, room] = [groups, MOST_DRAWN];
        fill();
      },
      draw() {
        name();
        draw();
        spans();
      },
      spans,
      chosen,
      stop: () => clearTimeout(task),
    };
  }

  return { make };
})();
