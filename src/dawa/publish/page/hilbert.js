// The curve through a grid of any shape, as dawa.layout.curve draws it, followed box by box.
//
// A waiting box is a row of numbers. For every axis: where the box is entered, in which direction it is crossed, and
// how many cells it has. Last comes its way: the axis along which the box is crossed.
const hilbert = (() => {
  const STACK = 512;

  const evenHalf = (length) => Math.max(2, 2 * Math.floor((length + 2) / 4));

  /** The axis along which the whole domain is crossed: the longest possible one. */
  function firstWay(shape) {
    const odd = shape.every((n) => n % 2 === 1);
    return shape.reduce((way, n, i) => ((odd || n % 2 === 0) && (way < 0 || n > shape[way]) ? i : way), -1);
  }

  /** The longest axis other than the way, or -1 if no other axis is longer than 1. */
  function sideOf(length, way) {
    let side = -1;
    for (let i = 0; i < length.length; i += 1) {
      if (i !== way && length[i] > 1 && (side < 0 || length[i] > length[side])) {
        side = i;
      }
    }
    return side;
  }

  /**
   * Follow the curve: enter(place, volume, low, length) is called for boxes of cells that are consecutive on the curve,
   * in order, and says whether to split the box. The whole domain comes first; a single cell is never split.
   */
  function follow(shape, enter) {
    const dims = shape.length;
    const row = 3 * dims + 1;
    const stack = new Float64Array(STACK * row);
    const [low, length] = [new Float64Array(dims), new Float64Array(dims)];
    const [cell, ones] = [new Float64Array(dims), new Float64Array(dims).fill(1)];
    for (let i = 0; i < dims; i += 1) {
      stack.set([0, 1, shape[i]], 3 * i);
    }
    stack[row - 1] = firstWay(shape);
    let [waiting, place] = [1, 0];
    while (waiting) {
      const top = (waiting - 1) * row;
      let volume = 1;
      for (let i = 0; i < dims; i += 1) {
        const [entry, sign, n] = [stack[top + 3 * i], stack[top + 3 * i + 1], stack[top + 3 * i + 2]];
        length[i] = n;
        low[i] = sign > 0 ? entry : entry - n + 1;
        volume *= n;
      }
      if (!enter(place, volume, low, length) || volume === 1) {
        place += volume;
        waiting -= 1;
        continue;
      }
      const way = stack[top + row - 1];
      const side = sideOf(length, way);
      if (length[way] > 2 || (side >= 0 && length[side] > 2)) {
        waiting += cut(stack, top, row, length, way, side) - 1;
        continue;
      }
      for (let rank = 0; rank < volume; rank += 1) {
        let code = rank ^ (rank >> 1);
        for (let i = 0; i < dims; i += 1) {
          let at = 0;
          if (i !== way && length[i] === 2) {
            at = code & 1;
            code >>= 1;
          }
          cell[i] = stack[top + 3 * i] + stack[top + 3 * i + 1] * at;
        }
        cell[way] = stack[top + 3 * way] + stack[top + 3 * way + 1] * code;
        enter(place, 1, cell, ones);
        place += 1;
      }
      waiting -= 1;
    }
  }

  /** Replace a box by its parts, the first part on top; returns how many parts there are. */
  function cut(stack, top, row, length, way, side) {
    const [w, atWay, signWay] = [length[way], stack[top + 3 * way], stack[top + 3 * way + 1]];
    if (side < 0 || 2 * w > 3 * length[side]) {
      const half = evenHalf(w);
      stack.copyWithin(top + row, top, top + row);
      stack[top + 3 * way] = atWay + signWay * half;
      stack[top + 3 * way + 2] = w - half;
      stack[top + row + 3 * way + 2] = half;
      return 2;
    }
    const [h, atSide, signSide] = [length[side], stack[top + 3 * side], stack[top + 3 * side + 1]];
    const [w1, h1] = [Math.floor(w / 2), evenHalf(h)];
    const [middle, first] = [top + row, top + 2 * row];
    stack.copyWithin(middle, top, top + row);
    stack.copyWithin(first, top, top + row);
    stack[first + 3 * way + 2] = w1;
    stack[first + 3 * side + 2] = h1;
    stack[first + row - 1] = side;
    stack[middle + 3 * side] = atSide + signSide * h1;
    stack[middle + 3 * side + 2] = h - h1;
    stack[top + 3 * way] = atWay + signWay * (w - 1);
    stack[top + 3 * way + 1] = -signWay;
    stack[top + 3 * way + 2] = w - w1;
    stack[top + 3 * side] = atSide + signSide * (h1 - 1);
    stack[top + 3 * side + 1] = -signSide;
    stack[top + 3 * side + 2] = h1;
    stack[top + row - 1] = side;
    return 3;
  }

  return { follow };
})();
