// Equation 1 as linked matrices: one canvas for all cells, plain elements for everything that has words or a theme.
// Text only ever goes through textContent.

const HEAD = 50, FOOT = 20, ROW = 20, TALL = 240; // pixels: above and below a matrix, a row at most, a matrix at most
const OPERATORS = ['·', '→', '+', '→', '·', '→'];
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const same = (a, b) => String(a) === String(b);

function decode(data) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const view = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const numbers = new Float32Array(bytes.slice(4 + length).buffer);
  let from = 0;
  for (const matrix of view.matrices) {
    matrix.values = numbers.subarray(from, (from += matrix.shape[0] * matrix.shape[1]));
  }
  return view;
}

function colours(hex) {
  const table = new Uint32Array(hex.length / 6);
  for (let i = 0; i < table.length; i++) {
    const rgb = parseInt(hex.slice(6 * i, 6 * i + 6), 16);
    table[i] = 0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
  }
  return table;
}

function element(tag, className, ...content) {
  const node = document.createElement(tag);
  node.className = className;
  node.append(...content);
  return node;
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

function hatch(context) {
  const tile = new OffscreenCanvas(6, 6), pen = tile.getContext('2d');
  pen.fillStyle = 'rgba(128, 128, 128, .14)';
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = 'rgba(128, 128, 128, .55)';
  pen.beginPath();
  for (const shift of [-6, 0, 6]) { pen.moveTo(shift, 6); pen.lineTo(shift + 6, 0); }
  pen.stroke();
  return context.createPattern(tile, 'repeat');
}

function paint(canvas, view, place) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(place.width * scale);
  canvas.height = Math.round(place.height * scale);
  canvas.style.width = place.width + 'px';
  canvas.style.height = place.height + 'px';
  const context = canvas.getContext('2d'), tables = { signed: colours(view.signed), weights: colours(view.weights) };
  const masked = hatch(context), mask = view.matrices[3].values, [broken] = colours(view.broken.slice(1));
  view.matrices.forEach((matrix, number) => {
    const [rows, columns] = matrix.shape, at = place.places[number];
    const small = new OffscreenCanvas(columns, rows), pen = small.getContext('2d');
    const image = pen.createImageData(columns, rows), cells = new Uint32Array(image.data.buffer);
    for (let i = 0; i < cells.length; i++) {
      const value = matrix.values[i];
      if (!Number.isFinite(value)) cells[i] = broken;
      else if (matrix.palette === 'mask') cells[i] = value ? 0x59808080 : 0;
      else if (matrix.name === 'softmax' && !mask[i]) cells[i] = 0;
      else if (matrix.palette === 'weights') cells[i] = tables.weights[Math.round(clamp(value, 0, 1) * 254)];
      else cells[i] = tables.signed[Math.round((clamp(value / matrix.limit, -1, 1) + 1) * 127)];
    }
    pen.putImageData(image, 0, 0);
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

const format = value => {
  if (Number.isNaN(value)) return 'not a number';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value && Math.abs(value) < 0.0005) return value.toExponential(1).replaceAll('-', '−');
  const text = value.toFixed(3).replace('-', '−');
  return /[1-9]/.test(text) ? text : '0';
};

function said(view, [number, row, column]) {
  const matrix = view.matrices[number];
  if (matrix.palette === 'mask') return matrix.values[row * matrix.shape[1] + column] ? 'may attend' : 'masked';
  if (matrix.name === 'softmax' && !view.matrices[3].values[row * matrix.shape[1] + column]) return 'masked';
  return format(matrix.values[row * matrix.shape[1] + column]);
}

function named(view, [number, row, column]) {
  const matrix = view.matrices[number], side = matrix.rows === 'query' ? view.queries : view.keys;
  const first = [`${matrix.rows} ${row} `, element('bdi', '', side[row])];
  const second = matrix.columns === 'key' ? [`key ${column} `, element('bdi', '', view.keys[column])] : [`dimension ${column}`];
  return [first, second];
}

// What belongs to a cell in the other matrices: [matrix, first row, rows, first column, columns].
function linked(view, [number, row, column]) {
  const { name, rows } = view.matrices[number], nk = view.keys.length, nq = view.queries.length;
  const whole = at => view.matrices[at].shape[1];
  if (rows === 'query' && name !== 'Q' && name !== 'z') {
    return [
      [0, row, 1, 0, whole(0)], [1, column, 1, 0, whole(1)],
      ...[2, 3, 4].map(at => [at, row, 1, column, 1]),
      [5, column, 1, 0, whole(5)], [6, row, 1, 0, whole(6)],
    ];
  }
  if (name === 'Q') return [[0, row, 1, 0, whole(0)], ...[2, 3, 4].map(at => [at, row, 1, 0, nk]), [6, row, 1, 0, whole(6)]];
  if (name === 'z') return [[0, row, 1, 0, whole(0)], ...[2, 3, 4].map(at => [at, row, 1, 0, nk]), [5, 0, nk, column, 1], [6, row, 1, 0, whole(6)]];
  return [[1, row, 1, 0, whole(1)], ...[2, 3, 4].map(at => [at, 0, nq, row, 1]), [5, row, 1, 0, whole(5)], ...(name === 'V' ? [[6, 0, nq, column, 1]] : [])];
}

function legend(node, view) {
  const bar = (hex, from, to) => {
    const stops = [];
    for (let i = 0; i <= 8; i++) stops.push('#' + hex.slice(6 * Math.round((i / 8) * 254), 6 * Math.round((i / 8) * 254) + 6));
    const strip = element('span', 'bar');
    strip.style.background = `linear-gradient(90deg, ${stops.join(', ')})`;
    return element('span', 'item', from, strip, to);
  };
  node.replaceChildren(bar(view.signed, 'lowest', 'highest; white is 0, each matrix to its ± below'), bar(view.weights, '0', '1 weight'));
  if (view.matrices.some(matrix => matrix.values.some(value => !Number.isFinite(value)))) {
    const box = element('span', 'hatch');
    box.style.background = view.broken;
    node.append(element('span', 'item', box, 'not a number'));
  }
  if (view.matrices[3].values.some(value => !value)) node.append(element('span', 'item', element('span', 'hatch'), 'masked'));
}

const instances = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const scroll = parentElement.querySelector('.scroll'), strip = scroll.querySelector('.strip');
  const [canvas, labels, marks, tip, live] = ['canvas', '.labels', '.marks', '.tip', '.live'].map(part => strip.querySelector(part));
  const view = decode(data);
  const state = instances.get(strip) ?? { at: view.selected, sent: null, timer: 0 };
  instances.set(strip, state);
  // A run that began before the latest key press must not move the outline back.
  const late = state.timer || (state.sent && !same(state.sent, view.selected) && performance.now() - state.when < 3000);
  if (!late) { state.at = view.selected; state.sent = null; }
  const inside = ([number, row, column]) => {
    const m = clamp(number, 0, view.matrices.length - 1), [rows, columns] = view.matrices[m].shape;
    return [m, clamp(row, 0, rows - 1), clamp(column, 0, columns - 1)];
  };
  state.at = inside(state.at);
  let place, hovered = null;

  const box = (className, [number, row, rows, column, columns]) => {
    const at = place.places[number], [n, m] = view.matrices[number].shape, node = element('div', className);
    node.style.left = at.x + (column * at.w) / m + 'px';
    node.style.top = at.y + (row * at.h) / n + 'px';
    node.style.width = Math.max(2, (columns * at.w) / m) + 'px';
    node.style.height = (rows * at.h) / n + 'px';
    node.dataset.at = [view.matrices[number].name, row, column].join();
    return node;
  };
  const cell = ([number, row, column]) => [number, row, 1, column, 1];
  function outline() {
    const boxes = linked(view, state.at).map(one => box('linked', one));
    if (hovered) boxes.push(...linked(view, hovered).map(one => box('hovered', one)));
    marks.replaceChildren(...boxes, box('picked', cell(state.at)));
    const { rows, columns } = view.matrices[state.at[0]], current = new Set([rows + state.at[1], columns + state.at[2]]);
    for (const node of labels.children) node.classList.toggle('current', current.has(node.dataset.token));
    strip.dataset.picked = [view.matrices[state.at[0]].name, ...state.at.slice(1)].join();
    strip.setAttribute('aria-label', `${view.kind}, ${view.head}: Q, K, scores, mask, softmax, V and z. `
      + `Picked: ${sentence(state.at)}. Arrow keys move, Page Up and Page Down change the matrix, Enter picks.`);
  }
  const plain = parts => parts.map(part => (typeof part === 'string' ? part : part.textContent)).join('');
  const sentence = at => `${view.matrices[at[0]].name}, ${named(view, at).map(plain).join(', ')}: ${said(view, at)}`;

  function draw(width) {
    place = layout(view, width);
    strip.style.width = place.width + 'px';
    strip.classList.toggle('compact', place.compact);
    paint(canvas, view, place);
    const put = (className, text, x, y, token) => {
      const node = element(token ? 'bdi' : 'span', className, text);
      node.style.left = x + 'px';
      node.style.top = y + 'px';
      if (token) node.dataset.token = token;
      labels.append(node);
      return node;
    };
    labels.replaceChildren();
    view.matrices.forEach((matrix, number) => {
      const at = place.places[number], middle = at.x + at.w / 2;
      put('name', matrix.name, middle, 0);
      put('made', matrix.made_of, middle, 16);
      put('size', `${matrix.shape[0]} × ${matrix.shape[1]}`, middle, 30);
      if (matrix.palette === 'signed') put('size', `± ${matrix.limit.toPrecision(2)}`, middle, at.y + at.h + 4);
      if (number < 6) put('operator', OPERATORS[number], at.x + at.w + place.gap / 2, at.y + 8);
      if (number < 2 && (number === 0 || place.second)) {
        const side = number ? 'key' : 'query', room = (number ? place.second : place.left) - 6;
        (number ? view.keys : view.queries).forEach((label, row) => {
          const node = put('row', label, at.x - 4, at.y + (row + 0.5) * place.row, side + row);
          node.style.maxWidth = room + 'px';
          node.style.overflow = 'hidden';
          node.style.textOverflow = 'ellipsis';
          if (place.row < 11) { node.style.fontSize = '9px'; node.style.display = row * place.row % 10 < place.row ? '' : 'none'; }
        });
      }
      if (place.labelled && matrix.columns === 'key') view.keys.forEach((label, column) => {
        const node = put('column', label, at.x + (column + 0.5) * place.token, at.y - 4, 'key' + column);
        node.style.maxWidth = place.top - HEAD - 4 + 'px';
        node.style.overflow = 'hidden';
        node.style.textOverflow = 'ellipsis';
      });
    });
    outline();
  }
  function pick() {
    clearTimeout(state.timer);
    Object.assign(state, { timer: 0, sent: state.at, when: performance.now() });
    setTriggerValue('picked', state.at);
  }
  function select(at, wait) {
    state.at = inside(at);
    outline();
    live.textContent = sentence(state.at);
    show(state.at[0]);
    clearTimeout(state.timer);
    if (wait) state.timer = setTimeout(pick, wait); else pick();
  }
  function show(number) {
    const at = place.places[number];
    if (at.x < scroll.scrollLeft) scroll.scrollLeft = at.x - 12;
    else if (at.x + at.w > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = at.x + at.w + 12 - scroll.clientWidth;
  }
  function under(event) {
    const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    const number = place.places.findIndex(at => x >= at.x && x < at.x + at.w && y >= at.y && y < at.y + at.h);
    if (number < 0) return null;
    const at = place.places[number], [rows, columns] = view.matrices[number].shape;
    return inside([number, Math.floor(((y - at.y) / at.h) * rows), Math.floor(((x - at.x) / at.w) * columns)]);
  }

  strip.style.setProperty('--kind', view.colour);
  canvas.onpointermove = event => {
    const at = under(event);
    canvas.style.cursor = at ? 'pointer' : 'default';
    tip.hidden = !at;
    if (!same(at, hovered)) { hovered = at; outline(); }
    if (!at) return;
    const [first, second] = named(view, at);
    tip.replaceChildren(
      element('div', '', element('b', '', view.matrices[at[0]].name)), element('div', '', ...first),
      element('div', '', ...second), element('div', 'value', element('b', '', said(view, at))),
    );
    const frame = strip.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    const right = scroll.scrollLeft + scroll.clientWidth;
    tip.style.left = Math.max(0, x + 14 + tip.offsetWidth > right ? x - tip.offsetWidth - 12 : x + 14) + 'px';
    tip.style.top = Math.max(0, y + 16 + tip.offsetHeight > frame.height ? y - tip.offsetHeight - 10 : y + 16) + 'px';
  };
  canvas.onpointerleave = () => { tip.hidden = true; hovered = null; outline(); };
  canvas.onclick = event => {
    const at = under(event);
    if (at) select(at, 0);
  };
  strip.onkeydown = event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [number, row, column] = state.at, last = view.matrices[number].shape[1] - 1;
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); return select(state.at, 0); }
    const target = {
      ArrowLeft: [number, row, column - 1], ArrowRight: [number, row, column + 1], ArrowUp: [number, row - 1, column],
      ArrowDown: [number, row + 1, column], Home: [number, row, 0], End: [number, row, last],
      PageUp: [number - 1, row, column], PageDown: [number + 1, row, column],
    }[event.key];
    if (!target) return;
    event.preventDefault();
    if (!same(inside(target), state.at)) select(target, 160);
  };

  legend(parentElement.querySelector('.legend'), view);
  let drawn = scroll.clientWidth;
  draw(drawn);
  show(state.at[0]);
  const resized = new ResizeObserver(() => { if (Math.abs(scroll.clientWidth - drawn) > 1) draw((drawn = scroll.clientWidth)); });
  resized.observe(scroll);
  strip.dataset.painted = String(1 + Number(strip.dataset.painted ?? 0));
  return () => resized.disconnect();
}
