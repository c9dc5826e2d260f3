// Patterns over training: every recorded step is a frame. The grid of heads, and one of them large, on two canvases;
// a button that plays, and a slider over steps. Nothing is asked of the server while it plays.

const FRAME_MS = 160, REST_MS = 400, NEWEST = -1; // REST_MS: after which it rests, and a link may hold its place
const GAP = 6, LETTER = 12, THUMBNAIL = 130, TALLEST = 400;

function map(film, table, frame, layer, head) {
  const [rows, columns] = frame.shape, { canvas, cells, show } = bitmap(rows, columns);
  const from = frame.offset + (layer * film.heads.length + head) * cells.length;
  for (let i = 0; i < cells.length; i++) cells[i] = table[film.bytes[from + i]];
  show();
  return canvas;
}

function prepare(canvas, width, height) {
  const scale = fit(canvas, width, height), pen = canvas.getContext('2d');
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

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector('.film');
  const find = name => root.querySelector(name);
  const [play, slider, step, grid, opened, title, tip, written] =
    ['.play', '.slider', '.step', '.grid', '.opened', '.title', '.tip', '.written'].map(find);
  const film = decode(data), table = colours(film.palette), frames = film.frames, last = frames.length - 1;
  const state = states.get(root) ?? { step: film.step, layer: film.selected[0], head: film.selected[1], timer: 0 };
  states.set(root, state);
  // Who watches the newest frame of a run that goes on sees the next one; so does another film without this step.
  const found = frames.findIndex(frame => frame.step === state.step);
  state.at = found < 0 ? last : found;
  state.layer = clamp(state.layer, 0, film.layers - 1);
  state.head = clamp(state.head, 0, film.heads.length - 1);
  const steepest = Math.min(1, Math.max(...frames.map(({ shape: [rows, columns] }) => rows / columns)));
  const standing = () => [state.step, state.layer, state.head];
  state.sent ??= String(standing());
  let place, large;

  const ink = () => getComputedStyle(root).color;

  function drawGrid(frame) {
    const width = grid.parentElement.clientWidth, left = 26, top = 20;
    const w = Math.min((width - left) / film.heads.length - GAP, THUMBNAIL), h = w * steepest;
    // What is written grows and shrinks from step to step: each frame fills the same box.
    const [rows, columns] = frame.shape, cell = Math.min(w / columns, h / rows);
    place = { left, top, w, h };
    const pen = prepare(grid, left + film.heads.length * (place.w + GAP), top + film.layers * (place.h + GAP));
    const masked = film.masked && hatch(pen), text = ink();
    pen.font = '12px ' + getComputedStyle(root).fontFamily;
    pen.textBaseline = 'middle';
    for (let layer = 0; layer < film.layers; layer++) {
      const y = top + layer * (place.h + GAP);
      pen.textAlign = 'right';
      pen.fillStyle = text;
      pen.fillText('L' + layer, left - 5, y + place.h / 2);
      for (let head = 0; head < film.heads.length; head++) {
        const x = left + head * (place.w + GAP);
        pen.fillStyle = text;
        if (!layer) { pen.textAlign = 'center'; pen.fillText('H' + film.heads[head], x + place.w / 2, top / 2); }
        if (masked) { pen.fillStyle = masked; pen.fillRect(x, y, columns * cell, rows * cell); }
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
    if (film.masked) { brush.fillStyle = hatch(brush); brush.fillRect(left, top, columns * cell, rows * cell); }
    brush.drawImage(map(film, table, frame, state.layer, state.head), left, top, columns * cell, rows * cell);
  }

  function draw() {
    const frame = frames[state.at];
    state.step = state.at < last ? frame.step : NEWEST;
    drawGrid(frame);
    drawHead(frame);
    slider.max = last;
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

  function rest() {
    clearTimeout(state.resting);
    state.resting = setTimeout(() => {
      if (String(standing()) === state.sent) return;
      state.sent = String(standing());
      setTriggerValue('rested', standing());
    }, REST_MS);
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = 0;
    play.textContent = '▶ Play';
    root.dataset.playing = 'false';
    rest();
  }

  function tick() {
    if (state.at >= last) return stop();
    state.at += 1;
    draw();
  }

  function start() {
    if (state.at >= last) state.at = 0;
    draw();
    play.textContent = '❚❚ Pause';
    root.dataset.playing = 'true';
    clearTimeout(state.resting);
    clearInterval(state.timer);
    state.timer = setInterval(tick, FRAME_MS);
  }

  function choose(layer, head) {
    state.layer = clamp(layer, 0, film.layers - 1);
    state.head = clamp(head, 0, film.heads.length - 1);
    draw();
    if (!state.timer) rest();
  }

  play.onclick = () => (state.timer ? stop() : start());
  slider.oninput = () => { state.at = Number(slider.value); draw(); stop(); };
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
    const byte = film.bytes[frame.offset + ((state.layer * film.heads.length + state.head) * rows + row) * columns + column];
    tip.replaceChildren(element('bdi', '', frame.queries[row]), ' → ', element('bdi', '', frame.keys[column]), ': ', weight(byte));
    placeTip(tip, event.offsetX, event.offsetY, opened.clientWidth, Infinity);
  };
  opened.onpointerleave = () => { tip.hidden = true; };

  root.style.setProperty('--kind', film.colour);
  find('.legend').replaceChildren(scaleItem(film.palette, FULL, '0', '1 weight'), ...cellItems(film));
  // What is playing goes on with the new frames.
  if (state.timer) { clearInterval(state.timer); state.timer = setInterval(tick, FRAME_MS); } else stop();
  draw();
  let width = root.clientWidth;
  const resized = new ResizeObserver(() => {
    if (root.clientWidth !== width) { width = root.clientWidth; draw(); }
  });
  resized.observe(root);
  return () => { resized.disconnect(); clearInterval(state.timer); clearTimeout(state.resting); state.timer = 0; };
}
