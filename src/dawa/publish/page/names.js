// Names of columns, categories and groups, which may hold anything: they neither turn the text around them nor, where
// they are cut, look like other names.
const names = (() => {
  const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const LEFTWARDS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  const LEAST = 3;

  /** A name as a part of a text: marks that turn directions are written out, and names from right to left stay together. */
  function isolated(name) {
    const text = String(name).replace(CONTROLS, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return LEFTWARDS.test(text) ? `\u2068${text}\u2069` : text;
  }

  const end = (letters, kept) => letters.slice(0, kept).join("") + (letters.length > kept ? "…" : "");
  const middle = (letters, kept) =>
    `${letters.slice(0, Math.ceil(kept / 2)).join("")}…${letters.slice(letters.length - Math.floor(kept / 2)).join("")}`;

  /** How many letters all of these begin with. */
  function shared(all) {
    const [first = [], ...rest] = all;
    const differs = (letter, i) => rest.some((letters) => letters[i] !== letter);
    const at = rest.length > 0 ? first.findIndex(differs) : 0;
    return at < 0 ? first.length : at;
  }

  /** Names that fit, as dawa.plots.names cuts them; wide(text) is how much room a text takes. */
  function shortened(all, room, wide) {
    const split = all.map((name) => Array.from(name));
    const begin = shared(split.filter((_, i) => wide(all[i]) > room));
    const fitting = (i, space, form) => {
      if (wide(all[i]) <= space) {
        return all[i];
      }
      let kept = Math.max(Math.min(split[i].length - 1, Math.ceil(space / 2)), LEAST);
      while (kept > LEAST && wide(form(split[i], kept)) > space) {
        kept -= 1;
      }
      return form(split[i], kept);
    };
    const different = new Set(all).size;
    for (const form of [end, middle, (letters, kept) => `…${end(letters.slice(begin), kept)}`]) {
      const found = all.map((_, i) => fitting(i, room, form));
      if (new Set(found).size === different) {
        return found;
      }
    }
    return all.map((_, i) => `${i + 1}: ${fitting(i, room - wide(`${i + 1}: `), middle)}`);
  }

  return { isolated, shortened };
})();
