// What components share; ui/component.py puts this before each of them.
// Text only ever goes through textContent and fillText.

// Weights from 0 to 1 are the bytes from 0 to FULL.
const FULL = 253, BROKEN = 254, MASKED = 255;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// The header's length (uint32, little-endian), the header (JSON), and the rest as it came.
function decode(data) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return { ...JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), bytes: bytes.subarray(4 + length) };
}

// As a canvas stores them (ABGR on every machine that runs a browser today). What has no colour stays transparent.
function colours(hex) {
  const table = new Uint32Array(256);
  for (let i = 0; 6 * i < hex.length; i++) {
    const rgb = parseInt(hex.slice(6 * i, 6 * i + 6), 16);
    table[i] = 0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
  }
  return table;
}

const weight = byte => (byte === MASKED ? 'masked' : byte === BROKEN ? 'not a number (NaN)' : (byte / FULL).toFixed(2));

// Gives a canvas its size in pixels of the page, and returns how many of its own pixels each of those has.
function fit(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  return scale;
}

// A map of one pixel a cell: fill `cells` with colours, `show` them, and draw `canvas` at any size.
function bitmap(rows, columns) {
  const canvas = new OffscreenCanvas(columns, rows), pen = canvas.getContext('2d');
  const image = pen.createImageData(columns, rows), cells = new Uint32Array(image.data.buffer);
  return { canvas, cells, show: () => pen.putImageData(image, 0, 0) };
}

// Lies under maps, and is seen where cells are masked.
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

function element(tag, className, ...content) {
  const node = document.createElement(tag);
  node.className = className;
  node.append(...content);
  return node;
}

// Items of a legend: a palette of `last` + 1 colours between what its ends mean, and the two kinds of cells without one.
function scaleItem(hex, last, low, high) {
  const stops = [], bar = element('span', 'bar');
  for (let i = 0; i <= 8; i++) stops.push('#' + hex.slice(6 * Math.round((i / 8) * last), 6 * Math.round((i / 8) * last) + 6));
  bar.style.background = `linear-gradient(90deg, ${stops.join(', ')})`;
  return element('span', 'item', low, bar, high);
}

function cellItems({ masked, broken }) {
  const item = (className, text) => element('span', 'item', element('span', className), text);
  return [...(masked ? [item('hatch', 'masked')] : []), ...(broken ? [item('nan', 'not a number')] : [])];
}

// Beside the pointer, inside what is `right` pixels wide and `bottom` high.
function placeTip(tip, x, y, right, bottom) {
  tip.style.left = Math.max(0, x + 14 + tip.offsetWidth > right ? x - tip.offsetWidth - 12 : x + 14) + 'px';
  tip.style.top = Math.max(0, y + 18 + tip.offsetHeight > bottom ? y - tip.offsetHeight - 10 : y + 18) + 'px';
}
