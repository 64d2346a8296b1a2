"""Pages that remember what they draw on their canvases: every text and every rectangle, until a canvas is cleared."""

from contextlib import contextmanager

from helpers.browser import Sheet

RECORD = """
const drawn = new WeakMap();
const kept = (context) => drawn.get(context.canvas) ?? drawn.set(context.canvas, []).get(context.canvas);
const { clearRect, fillText, fillRect } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  drawn.set(this.canvas, []);
  clearRect.apply(this, box);
};
CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
  kept(this).push({ fill: this.fillStyle, alpha: this.globalAlpha, x, y, width, height });
  fillRect.call(this, x, y, width, height);
};
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const wide = this.measureText(text).width;
  const left = x - { left: 0, center: wide / 2, right: wide }[this.textAlign];
  const top = y - { top: 0, middle: 6, alphabetic: 12 }[this.textBaseline];
  const { a, b, c, d, e, f } = this.getTransform();
  const at = (px, py) => [(a * px + c * py + e) / devicePixelRatio, (b * px + d * py + f) / devicePixelRatio];
  const [one, other] = [at(left, top), at(left + wide, top + 12)];
  const [low, high] = [0, 1].map((i) => [Math.min(one[i], other[i]), Math.max(one[i], other[i])]);
  kept(this).push({ text, low, high });
  fillText.call(this, text, x, y);
};
window.pictured = (selector) =>
  [...document.querySelectorAll(selector)].map((canvas) => ({
    width: canvas.clientWidth, height: canvas.clientHeight, what: drawn.get(canvas) ?? [],
  }));
"""


@contextmanager
def pictured(browser, path, fragment="", **context):
    """A page that remembers what it draws, checked when it is left; ``drawn`` has it."""
    page = browser.new_context(**context).new_page()
    try:
        page.add_init_script(RECORD)
        sheet = Sheet(page, path, fragment)
        yield sheet
        sheet.check()
    finally:
        page.context.close()


def drawn(sheet, selector):
    """What is drawn on each canvas that a selector finds: its size, and its texts and rectangles."""
    return sheet.page.evaluate("(selector) => pictured(selector)", selector)
