// The matrices of Equation 1: where they stand, and how they are painted.

const HEAD = 50, FOOT = 20, ROW = 20, TALL = 240; // pixels: above and below a matrix, a row at most, a matrix at most
const same = (a, b) => String(a) === String(b);

// The header, with the numbers of each matrix.
function read(data) {
  const view = decode(data), numbers = new Float32Array(view.bytes.slice().buffer);
  let from = 0;
  for (const matrix of view.matrices) {
    matrix.values = numbers.subarray(from, (from += matrix.shape[0] * matrix.shape[1]));
  }
  return view;
}

function textWidth(labels) {
  const pen = new OffscreenCanvas(1, 1).getContext('2d');
  pen.font = '11px sans-serif';
  return Math.max(0, ...labels.map(label => pen.measureText(label).width));
}

// All seven on one row: token columns as wide as rows are high where there is room, else narrower, down to a least
// width from which on the strip scrolls.
function layout(view, width) {
  const [nq, nk] = [view.queries.length, view.keys.length], dims = view.matrices[0].shape[1];
  const sameSides = same(view.queries, view.keys);
  const left = clamp(textWidth(view.queries) + 10, 30, 96), second = sameSides ? 0 : clamp(textWidth(view.keys) + 8, 24, 88);
  const compact = width < 760, gap = compact ? 14 : 26, narrowest = compact ? 44 : 72, row = clamp(Math.floor(TALL / Math.max(nq, nk)), 5, ROW);
  const free = width - left - second - 6 * gap - 8;
  const least = Math.max(3.5, 48 / nk);
  let token = row, wide = (free - 3 * nk * token) / 4;
  if (wide < narrowest) { token = clamp((free - 4 * narrowest) / (3 * nk), least, row); wide = (free - 3 * nk * token) / 4; }
  // A head of few dimensions needs no wide columns.
  wide = clamp(wide, narrowest, Math.max(narrowest, Math.min(dims * row, 190)));
  const labelled = token >= 10, upright = labelled ? clamp(textWidth(view.keys) + 6, 20, 84) : 0;
  const top = HEAD + upright, places = [];
  let x = left;
  view.matrices.forEach((matrix, number) => {
    if (number === 1) x += second;
    const w = Math.round(matrix.columns === 'key' ? nk * token : wide);
    places.push({ x, y: top, w, h: matrix.shape[0] * row });
    x += w + gap;
  });
  const height = top + Math.max(nq, nk) * row + FOOT;
  return { places, gap, left, second, row, token, labelled, top, compact, width: Math.ceil(x - gap + 8), height };
}

function paint(canvas, view, place) {
  const scale = fit(canvas, place.width, place.height), context = canvas.getContext('2d');
  const signed = colours(view.signed), weights = colours(view.weights), masked = hatch(context), mask = view.matrices[3].values;
  view.matrices.forEach((matrix, number) => {
    const [rows, columns] = matrix.shape, at = place.places[number];
    const { canvas: small, cells, show } = bitmap(rows, columns);
    for (let i = 0; i < cells.length; i++) {
      const value = matrix.values[i];
      if (!Number.isFinite(value)) cells[i] = weights[BROKEN];
      else if (matrix.palette === 'mask') cells[i] = value ? 0x59808080 : 0;
      else if (matrix.name === 'softmax' && !mask[i]) cells[i] = 0;
      else if (matrix.palette === 'weights') cells[i] = weights[Math.round(clamp(value, 0, 1) * FULL)];
      else cells[i] = signed[Math.round((clamp(value / matrix.limit, -1, 1) + 1) * 127)];
    }
    show();
    const [x, y, w, h] = [at.x, at.y, at.w, at.h].map(length => Math.round(length * scale));
    if (matrix.columns === 'key') { context.fillStyle = masked; context.fillRect(x, y, w, h); }
    if (matrix.palette === 'mask') {
      // What is allowed is plain, what is hidden keeps its hatch.
      for (let i = 0; i < cells.length; i++) {
        if (!matrix.values[i]) continue;
        const [r, c] = [Math.floor(i / columns), i % columns];
        context.clearRect(x + Math.floor((c * w) / columns), y + Math.floor((r * h) / rows), Math.ceil(w / columns), Math.ceil(h / rows));
      }
    }
    context.imageSmoothingEnabled = w < columns || h < rows;
    context.imageSmoothingQuality = 'high';
    context.drawImage(small, x, y, w, h);
  });
}

function legend(node, view) {
  const signed = scaleItem(view.signed, 254, 'lowest', 'highest; white is 0, each matrix to its ± below');
  const broken = view.matrices.some(matrix => matrix.values.some(value => !Number.isFinite(value)));
  const masked = view.matrices[3].values.some(value => !value);
  node.replaceChildren(signed, scaleItem(view.weights, FULL, '0', '1 weight'), ...cellItems({ masked, broken }));
}

