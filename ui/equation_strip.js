// Equation 1 as linked matrices: one canvas for all cells, plain elements for everything that has words or a theme.

const OPERATORS = ['·', '→', '+', '→', '·', '→'];

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

const instances = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const scroll = parentElement.querySelector('.scroll'), strip = scroll.querySelector('.strip');
  const [canvas, labels, marks, tip, live] = ['canvas', '.labels', '.marks', '.tip', '.live'].map(part => strip.querySelector(part));
  const view = read(data);
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
    const frame = strip.getBoundingClientRect(), right = scroll.scrollLeft + scroll.clientWidth;
    placeTip(tip, event.clientX - frame.left, event.clientY - frame.top, right, frame.height);
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
