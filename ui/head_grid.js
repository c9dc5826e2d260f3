// The head grid: one canvas for all thumbnails, plain elements for everything that has words or a theme.
// Text only ever goes through textContent.

const MASKED = 255, BROKEN = 254, FULL = 253;
const STACKED = 640; // pixels of a window up to which Streamlit puts columns below each other
const TOP = 22, LARGEST = 150, TALL = 560; // TALL: of the whole grid, where its maps stay readable
const name = (prefix, label) => (/^\d+$/.test(label) ? prefix + label : label);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function decode(data) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { ...header, pixels: bytes.subarray(4 + length) };
}

// Colours as the canvas stores them (ABGR on every machine that runs a browser today); masked stays transparent.
function colours(hex) {
  const table = new Uint32Array(256);
  for (let i = 0; 6 * i < hex.length; i++) {
    const rgb = parseInt(hex.slice(6 * i, 6 * i + 6), 16);
    table[i] = 0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
  }
  return table;
}

// Square cells where the box allows it: the thumbnail has the proportions of the sentence pair, but room for its label.
function layout(view, width) {
  const nq = view.queries.length, nk = view.keys.length, n = view.heads.length;
  const left = 12 + 7 * Math.max(...view.layers.map(l => name('L', l).length)), gap = n > 9 ? 5 : 8;
  const room = clamp((width - left) / n - gap, 20, LARGEST);
  const tall = clamp(TALL / view.layers.length - gap, 40, 1.2 * LARGEST);
  const cell = Math.min(room / nk, (1.2 * room) / nq, tall / nq);
  const w = Math.floor(clamp(cell * nk, Math.min(24, room), room)), h = Math.floor(Math.max(12, cell * nq));
  return {
    left, w, h, gap,
    x: head => left + head * (w + gap) + gap / 2, y: layer => TOP + layer * (h + gap) + gap / 2,
    width: left + n * (w + gap), height: TOP + view.layers.length * (h + gap),
  };
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
  const scale = window.devicePixelRatio || 1, [rows, columns] = view.shape;
  canvas.width = Math.round(place.width * scale);
  canvas.height = Math.round(place.height * scale);
  canvas.style.width = place.width + 'px';
  canvas.style.height = place.height + 'px';
  const context = canvas.getContext('2d');
  const small = new OffscreenCanvas(columns, rows), pen = small.getContext('2d');
  const image = pen.createImageData(columns, rows), cells = new Uint32Array(image.data.buffer);
  const table = colours(view.palette), pattern = view.masked && hatch(context);
  // Whole pixels first, then one smooth step to the exact size: cells stay sharp and equally wide at any size.
  const w = Math.round(place.w * scale), h = Math.round(place.h * scale);
  const large = new OffscreenCanvas(columns * Math.max(1, Math.ceil(w / columns)), rows * Math.max(1, Math.ceil(h / rows)));
  const brush = large.getContext('2d');
  brush.imageSmoothingEnabled = false;
  context.imageSmoothingQuality = 'high';
  for (let layer = 0; layer < view.layers.length; layer++) {
    for (let head = 0; head < view.heads.length; head++) {
      const from = (layer * view.heads.length + head) * rows * columns;
      for (let i = 0; i < cells.length; i++) cells[i] = table[view.pixels[from + i]];
      pen.putImageData(image, 0, 0);
      brush.clearRect(0, 0, large.width, large.height);
      brush.drawImage(small, 0, 0, large.width, large.height);
      const x = Math.round(place.x(head) * scale), y = Math.round(place.y(layer) * scale);
      if (pattern) { context.fillStyle = pattern; context.fillRect(x, y, w, h); }
      context.drawImage(large, x, y, w, h);
    }
  }
}

function element(tag, className, ...content) {
  const node = document.createElement(tag);
  node.className = className;
  node.append(...content);
  return node;
}

// bdi keeps a right-to-left token from turning its neighbours around.
function tokens(labels, start, step) {
  const parts = [element('bdi', '', labels[start])];
  const last = Math.min(start + step, labels.length) - 1;
  if (last > start) parts.push(' … ', element('bdi', '', labels[last]));
  return element('b', '', ...parts);
}

function describe(view, at) {
  const [rows, columns] = view.shape, [sq, sk] = view.step;
  const value = view.pixels[((at.layer * view.heads.length + at.head) * rows + at.row) * columns + at.column];
  const weight = value === MASKED ? 'masked' : value === BROKEN ? 'not a number (NaN)' : (value / FULL).toFixed(2);
  const most = sq * sk > 1 && value <= FULL ? `at most ${weight} (largest of ${sq} × ${sk} tokens)` : weight;
  return [
    element('div', 'head', `${name('L', view.layers[at.layer])}·${name('H', view.heads[at.head])}`),
    element('div', '', 'query ', tokens(view.queries, at.row * sq, sq), ' → key ', tokens(view.keys, at.column * sk, sk)),
    element('div', 'weight', most),
  ];
}

function legend(node, view) {
  const stops = [];
  for (let i = 0; i <= 8; i++) {
    const at = 6 * Math.round((i / 8) * FULL);
    stops.push('#' + view.palette.slice(at, at + 6));
  }
  const bar = element('span', 'bar');
  bar.style.background = `linear-gradient(90deg, ${stops.join(', ')})`;
  node.replaceChildren(element('span', 'item', '0', bar, '1 weight'));
  if (view.masked) node.append(element('span', 'item', element('span', 'hatch'), 'masked'));
  if (view.broken) node.append(element('span', 'item', element('span', 'nan'), 'not a number'));
  const [sq, sk] = view.step;
  if (sq * sk > 1) node.append(element('span', 'item', `a pixel is the largest of ${sq} × ${sk} tokens`));
}

// Whether two views show the same maps under the same labels, whatever is selected.
function alike(one, other) {
  const text = view => JSON.stringify({ ...view, pixels: 0, selected: 0 });
  return one && text(one) === text(other) && one.pixels.every((pixel, i) => pixel === other.pixels[i]);
}

const instances = new WeakMap();

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const grid = parentElement.querySelector('.grid');
  const [canvas, labels, hovered, selected, tip, live] =
    ['canvas', '.labels', '.hovered', '.selected', '.tip', '.live'].map(part => grid.querySelector(part));
  const view = decode(data);
  const state = instances.get(grid) ?? { at: view.selected, sent: null, timer: 0 };
  instances.set(grid, state);
  // A run that began before the latest key press must not move the outline back.
  const late = state.timer || (state.sent && String(state.sent) !== String(view.selected) && performance.now() - state.when < 3000);
  if (!late) { state.at = view.selected; state.sent = null; }
  state.at = [clamp(state.at[0], 0, view.layers.length - 1), clamp(state.at[1], 0, view.heads.length - 1)];
  let place = state.place;

  const title = ([layer, head]) => `layer ${view.layers[layer]}, head ${view.heads[head]}`;
  const box = (node, layer, head, margin) => {
    node.style.left = place.x(head) - margin + 'px';
    node.style.top = place.y(layer) - margin + 'px';
    node.style.width = place.w + 2 * margin + 'px';
    node.style.height = place.h + 2 * margin + 'px';
  };
  function outline() {
    const [layer, head] = state.at;
    box(selected, layer, head, place.gap / 2);
    for (const span of labels.children) span.classList.toggle('current', span.dataset.at === 'L' + layer || span.dataset.at === 'H' + head);
    grid.dataset.selected = `${layer},${head}`;
    grid.setAttribute('aria-label', `${view.kind}: ${view.layers.length} layers with ${view.heads.length} heads each. `
      + `Selected: ${title(state.at)}. Arrow keys move and open, Enter opens.`);
  }
  function draw(width) {
    place = state.place = layout(view, width);
    grid.style.width = place.width + 'px';
    grid.classList.toggle('dense', place.w < 26);
    paint(canvas, view, place);
    labels.replaceChildren();
    const label = (text, at, className, x, y) => {
      const span = element('span', className, text);
      span.dataset.at = at;
      span.style.left = x + 'px';
      span.style.top = y + 'px';
      labels.append(span);
    };
    view.heads.forEach((head, i) => label(name('H', head), 'H' + i, 'headname', place.x(i) + place.w / 2, TOP / 2));
    view.layers.forEach((layer, i) => label(name('L', layer), 'L' + i, 'layer', place.left - 4, place.y(i) + place.h / 2));
    outline();
  }
  function open() {
    clearTimeout(state.timer);
    Object.assign(state, { timer: 0, sent: state.at, when: performance.now() });
    setTriggerValue('opened', state.at);
  }
  function select(layer, head, wait) {
    state.at = [layer, head];
    outline();
    live.textContent = title(state.at);
    clearTimeout(state.timer);
    if (wait) state.timer = setTimeout(open, wait); else open();
  }
  function under(event) {
    const frame = canvas.getBoundingClientRect();
    const x = event.clientX - frame.left - place.x(0), y = event.clientY - frame.top - place.y(0);
    const head = Math.floor(x / (place.w + place.gap)), layer = Math.floor(y / (place.h + place.gap));
    const dx = x - head * (place.w + place.gap), dy = y - layer * (place.h + place.gap);
    const outside = head < 0 || layer < 0 || head >= view.heads.length || layer >= view.layers.length;
    if (outside || dx >= place.w || dy >= place.h) return null;
    return { layer, head, row: Math.floor((dy / place.h) * view.shape[0]), column: Math.floor((dx / place.w) * view.shape[1]) };
  }
  function leave() { tip.hidden = hovered.hidden = true; }

  grid.style.setProperty('--kind', view.colour);
  canvas.onpointermove = event => {
    const at = under(event);
    canvas.style.cursor = at ? 'pointer' : 'default';
    if (!at) return leave();
    box(hovered, at.layer, at.head, place.gap / 2 - 1);
    tip.replaceChildren(...describe(view, at));
    tip.hidden = hovered.hidden = false;
    const frame = grid.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    tip.style.left = Math.max(0, Math.min(x + 14, parentWidth() - tip.offsetWidth - 4)) + 'px';
    tip.style.top = (y + 18 + tip.offsetHeight > frame.height ? y - tip.offsetHeight - 10 : y + 18) + 'px';
  };
  canvas.onpointerleave = leave;
  canvas.onclick = event => {
    const at = under(event);
    if (at) select(at.layer, at.head, 0);
  };
  grid.onkeydown = event => {
    const [layer, head] = state.at, lastLayer = view.layers.length - 1, lastHead = view.heads.length - 1;
    const target = {
      ArrowLeft: [layer, head - 1], ArrowRight: [layer, head + 1], ArrowUp: [layer - 1, head], ArrowDown: [layer + 1, head],
      Home: [layer, 0], End: [layer, lastHead], PageUp: [0, head], PageDown: [lastLayer, head],
    }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); return select(layer, head, 0); }
    if (!target) return;
    event.preventDefault();
    const [l, h] = [clamp(target[0], 0, lastLayer), clamp(target[1], 0, lastHead)];
    if (l !== layer || h !== head) select(l, h, 110);
  };

  const frame = grid.parentElement, parentWidth = () => frame.clientWidth;
  legend(parentElement.querySelector('.legend'), view);
  let drawn = parentWidth();
  if (drawn === state.drawn && alike(state.view, view)) outline(); else draw(drawn);
  Object.assign(state, { view, drawn });
  // The server lays the opened head out for the width that the page really has.
  const page = (parentElement.host ?? parentElement).closest('[data-testid=stMainBlockContainer]');
  function measure() {
    const style = getComputedStyle(page);
    const width = Math.round(page.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    const stacked = window.innerWidth <= STACKED, old = state.page;
    if (old && old.stacked === stacked && Math.abs(width - old.width) <= 20) return;
    setStateValue('page', (state.page = { width, stacked }));
  }
  const resized = new ResizeObserver(() => {
    if (parentWidth() !== drawn) draw((drawn = state.drawn = parentWidth()));
    clearTimeout(state.measuring);
    if (page) state.measuring = setTimeout(measure, 250);
  });
  resized.observe(frame);
  grid.dataset.painted = String(1 + Number(grid.dataset.painted ?? 0));
  return () => { resized.disconnect(); clearTimeout(state.measuring); };
}
