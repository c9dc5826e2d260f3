// The head grid: one canvas for all thumbnails, plain elements for everything that has words or a theme.

const STACKED = 640; // pixels of a window up to which Streamlit puts columns below each other
const TOP = 22, LARGEST = 150, TALL = 560; // TALL: of the whole grid, where its maps stay readable
const name = (prefix, label) => (/^\d+$/.test(label) ? prefix + label : label);

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

function paint(canvas, view, place) {
  const scale = fit(canvas, place.width, place.height), context = canvas.getContext('2d');
  const [rows, columns] = view.shape, small = bitmap(rows, columns), cells = small.cells;
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
      for (let i = 0; i < cells.length; i++) cells[i] = table[view.bytes[from + i]];
      small.show();
      brush.clearRect(0, 0, large.width, large.height);
      brush.drawImage(small.canvas, 0, 0, large.width, large.height);
      const x = Math.round(place.x(head) * scale), y = Math.round(place.y(layer) * scale);
      if (pattern) { context.fillStyle = pattern; context.fillRect(x, y, w, h); }
      context.drawImage(large, x, y, w, h);
    }
  }
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
  const byte = view.bytes[((at.layer * view.heads.length + at.head) * rows + at.row) * columns + at.column];
  const most = sq * sk > 1 && byte <= FULL ? `at most ${weight(byte)} (largest of ${sq} × ${sk} tokens)` : weight(byte);
  return [
    element('div', 'head', `${name('L', view.layers[at.layer])}·${name('H', view.heads[at.head])}`),
    element('div', '', 'query ', tokens(view.queries, at.row * sq, sq), ' → key ', tokens(view.keys, at.column * sk, sk)),
    element('div', 'value', most),
  ];
}

function legend(node, view) {
  node.replaceChildren(scaleItem(view.palette, FULL, '0', '1 weight'), ...cellItems(view));
  const [sq, sk] = view.step;
  if (sq * sk > 1) node.append(element('span', 'item', `a pixel is the largest of ${sq} × ${sk} tokens`));
}

// Whether two views show the same maps under the same labels, whatever is selected.
function alike(one, other) {
  const text = view => JSON.stringify({ ...view, bytes: 0, selected: 0 });
  return one && text(one) === text(other) && one.bytes.every((byte, i) => byte === other.bytes[i]);
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
  state.at &&= [clamp(state.at[0], 0, view.layers.length - 1), clamp(state.at[1], 0, view.heads.length - 1)];
  let place = state.place;

  const title = at => (at ? `layer ${view.layers[at[0]]}, head ${view.heads[at[1]]}` : 'none');
  const box = (node, layer, head, margin) => {
    node.style.left = place.x(head) - margin + 'px';
    node.style.top = place.y(layer) - margin + 'px';
    node.style.width = place.w + 2 * margin + 'px';
    node.style.height = place.h + 2 * margin + 'px';
  };
  function outline() {
    const [layer, head] = state.at ?? [];
    selected.hidden = !state.at;
    if (state.at) box(selected, layer, head, place.gap / 2);
    for (const span of labels.children) span.classList.toggle('current', span.dataset.at === 'L' + layer || span.dataset.at === 'H' + head);
    grid.dataset.selected = String(state.at ?? 'none');
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
    const frame = grid.getBoundingClientRect();
    placeTip(tip, event.clientX - frame.left, event.clientY - frame.top, parentWidth(), frame.height);
  };
  canvas.onpointerleave = leave;
  canvas.onclick = event => {
    const at = under(event);
    if (at) select(at.layer, at.head, 0);
  };
  grid.onkeydown = event => {
    const [layer, head] = state.at ?? [0, 0], lastLayer = view.layers.length - 1, lastHead = view.heads.length - 1;
    const target = {
      ArrowLeft: [layer, head - 1], ArrowRight: [layer, head + 1], ArrowUp: [layer - 1, head], ArrowDown: [layer + 1, head],
      Home: [layer, 0], End: [layer, lastHead], PageUp: [0, head], PageDown: [lastLayer, head],
    }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); return select(layer, head, 0); }
    if (!target) return;
    event.preventDefault();
    const [l, h] = [clamp(target[0], 0, lastLayer), clamp(target[1], 0, lastHead)];
    if (!state.at || l !== layer || h !== head) select(l, h, 110);
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
