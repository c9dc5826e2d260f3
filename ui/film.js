// Patterns over training: every recorded step is a frame. The grid of heads, and one of them large, on two canvases;
// a button that plays, and a slider over steps. Nothing is asked of the server while it plays.
// Text only ever goes through textContent and fillText.

const FULL = 254, MASKED = 255, FRAME_MS = 160, GAP = 6, LETTER = 12, THUMBNAIL = 130, TALLEST = 400;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function decode(data) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { ...header, pixels: bytes.subarray(4 + length) };
}

// ABGR, as a canvas stores colours on every machine that runs a browser today; masked cells stay transparent.
function colours(hex) {
  const table = new Uint32Array(256);
  for (let i = 0; 6 * i < hex.length; i++) {
    const rgb = parseInt(hex.slice(6 * i, 6 * i + 6), 16);
    table[i] = 0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
  }
  return table;
}

function map(film, table, frame, layer, head) {
  const [rows, columns] = frame.shape, size = rows * columns;
  const canvas = new OffscreenCanvas(columns, rows), pen = canvas.getContext('2d');
  const image = pen.createImageData(columns, rows), cells = new Uint32Array(image.data.buffer);
  const from = frame.offset + (layer * film.heads.length + head) * size;
  for (let i = 0; i < size; i++) cells[i] = table[film.pixels[from + i]];
  pen.putImageData(image, 0, 0);
  return canvas;
}

function prepare(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  pen.imageSmoothingEnabled = false;
  return pen;
}

function shorten(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let letters = [...text];
  while (letters.length > 1 && pen.measureText(letters.join('') + '…').width > width) letters.pop();
  return letters.join('') + '…';
}

const states = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector('.film');
  const find = name => root.querySelector(name);
  const [play, slider, step, grid, opened, title, tip, written] =
    ['.play', '.slider', '.step', '.grid', '.opened', '.title', '.tip', '.written'].map(find);
  const film = decode(data), table = colours(film.palette), frames = film.frames;
  const known = states.get(root);
  const state = known ?? { at: frames.length - 1, layer: film.selected[0], head: film.selected[1], timer: 0 };
  states.set(root, state);
  // Who watches the newest frame of a run that goes on sees the next one; another film starts at its end.
  if (state.film !== film.name || state.at >= state.count - 1) state.at = frames.length - 1;
  Object.assign(state, { film: film.name, count: frames.length });
  state.at = clamp(state.at, 0, frames.length - 1);
  state.layer = clamp(state.layer, 0, film.layers - 1);
  state.head = clamp(state.head, 0, film.heads.length - 1);
  const steepest = Math.min(1, Math.max(...frames.map(({ shape: [rows, columns] }) => rows / columns)));
  let place, large;

  const ink = () => getComputedStyle(root).color;

  function drawGrid(frame) {
    const width = grid.parentElement.clientWidth, left = 26, top = 20;
    const w = Math.min((width - left) / film.heads.length - GAP, THUMBNAIL), h = w * steepest;
    // What is written grows and shrinks from step to step: each frame fills the same box.
    const [rows, columns] = frame.shape, cell = Math.min(w / columns, h / rows);
    place = { left, top, w, h };
    const pen = prepare(grid, left + film.heads.length * (place.w + GAP), top + film.layers * (place.h + GAP));
    pen.font = '12px ' + getComputedStyle(root).fontFamily;
    pen.fillStyle = ink();
    pen.textBaseline = 'middle';
    for (let layer = 0; layer < film.layers; layer++) {
      const y = top + layer * (place.h + GAP);
      pen.textAlign = 'right';
      pen.fillText('L' + layer, left - 5, y + place.h / 2);
      for (let head = 0; head < film.heads.length; head++) {
        const x = left + head * (place.w + GAP);
        if (!layer) { pen.textAlign = 'center'; pen.fillText('H' + film.heads[head], x + place.w / 2, top / 2); }
        pen.globalAlpha = 0.12;
        pen.fillRect(x, y, columns * cell, rows * cell);
        pen.globalAlpha = 1;
        pen.drawImage(map(film, table, frame, layer, head), x, y, columns * cell, rows * cell);
        if (layer === state.layer && head === state.head) {
          pen.strokeStyle = film.colour;
          pen.lineWidth = 3;
          pen.strokeRect(x - 1.5, y - 1.5, place.w + 3, place.h + 3);
        }
      }
    }
  }

  function drawHead(frame) {
    const width = opened.parentElement.clientWidth;
    const pen = prepare(opened, 1, 1);
    pen.font = `${LETTER}px ${getComputedStyle(root).fontFamily}`;
    const widest = labels => Math.max(...labels.map(label => pen.measureText(label).width), 0);
    // Over all frames, so that the picture stands still while it plays.
    const left = 26 + Math.min(110, Math.max(...frames.map(each => widest(each.queries))));
    const above = Math.min(110, Math.max(...frames.map(each => widest(each.keys))));
    const sized = ({ shape: [rows, columns] }) => clamp(Math.min((width - left - 8) / columns, TALLEST / rows), 3, 44);
    const upright = frames.some(each => widest(each.keys) > sized(each) - 4);
    const [rows, columns] = frame.shape, cell = sized(frame), top = 26 + (upright ? above : 14);
    const height = Math.max(...frames.map(each => each.shape[0] * sized(each)));
    large = { left, top, cell };
    const brush = prepare(opened, width, top + height + 4);
    brush.font = `${LETTER}px ${getComputedStyle(root).fontFamily}`;
    brush.fillStyle = ink();
    brush.textBaseline = 'middle';
    const every = Math.max(1, Math.ceil(LETTER / cell));
    brush.textAlign = 'left';
    brush.globalAlpha = 0.75;
    brush.fillText(shorten(brush, film.key, width - left), left, 8);
    brush.save();
    brush.translate(8, top);
    brush.rotate(-Math.PI / 2);
    brush.textAlign = 'right';
    brush.fillText(shorten(brush, film.query, Math.max(40, height)), 0, 0);
    brush.restore();
    brush.globalAlpha = 1;
    brush.textAlign = 'right';
    for (let row = 0; row < rows; row += every) {
      brush.fillText(shorten(brush, frame.queries[row], left - 26), left - 5, top + (row + 0.5) * cell);
    }
    for (let column = 0; column < columns; column += every) {
      const text = shorten(brush, frame.keys[column], upright ? 110 : cell);
      brush.save();
      brush.translate(left + (column + 0.5) * cell, top - 5);
      if (upright) { brush.rotate(-Math.PI / 2); brush.textAlign = 'left'; } else { brush.textAlign = 'center'; brush.translate(0, -6); }
      brush.fillText(text, 0, 0);
      brush.restore();
    }
    brush.globalAlpha = 0.12;
    brush.fillRect(left, top, columns * cell, rows * cell);
    brush.globalAlpha = 1;
    brush.drawImage(map(film, table, frame, state.layer, state.head), left, top, columns * cell, rows * cell);
  }

  function draw() {
    const frame = frames[state.at];
    drawGrid(frame);
    drawHead(frame);
    slider.max = frames.length - 1;
    slider.value = state.at;
    slider.setAttribute('aria-valuetext', `step ${frame.step}`);
    step.textContent = `step ${frame.step.toLocaleString('en')}`;
    title.textContent = `L${state.layer}·H${film.heads[state.head]}`;
    written.textContent = frame.own || '(nothing)';
    Object.assign(root.dataset, { step: frame.step, frame: state.at, frames: frames.length });
    grid.setAttribute('aria-label', `${film.kind} at step ${frame.step}: ${film.layers} layers with ${film.heads.length} heads each. `
      + `Arrow keys open a head; open is layer ${state.layer}, head ${state.head}.`);
    opened.setAttribute('aria-label', `Layer ${state.layer}, head ${state.head} at step ${frame.step}.`);
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = 0;
    play.textContent = '▶ Play';
    root.dataset.playing = 'false';
  }

  function tick() {
    if (state.at + 1 >= frames.length) return stop();
    state.at += 1;
    draw();
  }

  function start() {
    if (state.at + 1 >= frames.length) state.at = 0;
    draw();
    play.textContent = '❚❚ Pause';
    root.dataset.playing = 'true';
    clearInterval(state.timer);
    state.timer = setInterval(tick, FRAME_MS);
  }

  function choose(layer, head) {
    state.layer = clamp(layer, 0, film.layers - 1);
    state.head = clamp(head, 0, film.heads.length - 1);
    draw();
    setStateValue('opened', [state.layer, state.head]);
  }

  play.onclick = () => (state.timer ? stop() : start());
  slider.oninput = () => { stop(); state.at = Number(slider.value); draw(); };
  grid.onclick = event => {
    const layer = Math.floor((event.offsetY - place.top) / (place.h + GAP));
    const head = Math.floor((event.offsetX - place.left) / (place.w + GAP));
    if (layer >= 0 && head >= 0 && layer < film.layers && head < film.heads.length) choose(layer, head);
  };
  grid.onkeydown = event => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(state.layer + move[0], state.head + move[1]);
  };
  opened.onpointermove = event => {
    const frame = frames[state.at], [rows, columns] = frame.shape;
    const row = Math.floor((event.offsetY - large.top) / large.cell), column = Math.floor((event.offsetX - large.left) / large.cell);
    tip.hidden = row < 0 || column < 0 || row >= rows || column >= columns;
    if (tip.hidden) return;
    const value = film.pixels[frame.offset + ((state.layer * film.heads.length + state.head) * rows + row) * columns + column];
    const weight = value === MASKED ? 'masked' : (value / FULL).toFixed(2);
    tip.textContent = `\u2068${frame.queries[row]}\u2069 → \u2068${frame.keys[column]}\u2069: ${weight}`;
    tip.style.left = Math.min(event.offsetX + 14, opened.clientWidth - 120) + 'px';
    tip.style.top = event.offsetY + 18 + 'px';
  };
  opened.onpointerleave = () => { tip.hidden = true; };

  root.style.setProperty('--kind', film.colour);
  find('.masked').hidden = !film.masked;
  // What is playing goes on with the new frames.
  if (state.timer) { clearInterval(state.timer); state.timer = setInterval(tick, FRAME_MS); } else stop();
  draw();
  let width = root.clientWidth;
  const resized = new ResizeObserver(() => {
    if (root.clientWidth !== width) { width = root.clientWidth; draw(); }
  });
  resized.observe(root);
  return () => { resized.disconnect(); clearInterval(state.timer); state.timer = 0; };
}
