// Lines between words: the SVG that exports write too, with words that choose queries and light up their lines.
// What a person typed is escaped in the SVG by its writer, and here only goes through textContent.

const MOST_SAID = 5;

function parse(data) {
  const svg = document.importNode(new DOMParser().parseFromString(data.svg, 'image/svg+xml').documentElement, true);
  const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
  svg.setAttribute('viewBox', `0 ${data.top} ${width} ${height - data.top}`);
  svg.setAttribute('height', height - data.top);
  svg.classList.toggle('chosen', data.chosen !== null);
  svg.setAttribute('role', 'group');
  svg.setAttribute('aria-label', data.label);
  // Titles would pop up beside what is said here.
  for (const title of svg.querySelectorAll(':scope > title, :scope > desc, :scope > metadata, .lines title')) title.remove();
  // Head colours are made for paper; a share of the theme's text colour makes them stand out on both themes.
  for (const node of svg.querySelectorAll('.lines [stroke], .legend [stroke]')) {
    node.style.stroke = `color-mix(in oklab, ${node.getAttribute('stroke')} 72%, var(--st-text-color))`;
  }
  return svg;
}

const instances = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector('.lines');
  const [picture, tip, live] = ['.picture', '.tip', '.live'].map(part => frame.querySelector(part));
  const state = instances.get(frame) ?? { focus: null };
  instances.set(frame, state);
  const svg = parse(data);
  const lines = [...svg.querySelectorAll('line[data-line]')].map(node => {
    const [head, query, key] = node.dataset.line.split(',').map(Number);
    return { node, head, query, key, weight: Number(node.getAttribute('stroke-opacity')) * data.scale };
  });
  const words = side => new Map([...svg.querySelectorAll(`[data-${side}]`)].map(node => [Number(node.dataset[side]), node]));
  const queries = words('query'), keys = words('key');

  function light(chosen) {
    svg.classList.toggle('pointed', chosen.length > 0);
    for (const node of svg.querySelectorAll('.on')) node.classList.remove('on');
    for (const { node, query, key } of chosen) {
      for (const each of [node, queries.get(query), keys.get(key)]) each?.classList.add('on');
    }
  }
  const heads = Object.keys(data.heads).length;
  const name = head => (/^\d+$/.test(data.heads[head]) ? `H${data.heads[head]}` : data.heads[head]);
  function row({ head, query, key, weight }, side) {
    const words = side === 'query' ? [element('bdi', '', data.keys[key])]
      : side === 'key' ? [element('bdi', '', data.queries[query])]
      : [element('bdi', '', data.queries[query]), ' → ', element('bdi', '', data.keys[key])];
    return element('div', '', ...words, ' ', element('b', '', weight.toFixed(3)), heads > 1 ? ` ${name(head)}` : '');
  }
  function say(event, chosen, side, word) {
    const strongest = [...chosen].sort((a, b) => b.weight - a.weight).slice(0, MOST_SAID);
    const title = side ? [element('div', '', `${side} `, element('b', '', word), side === 'query' ? ' attends to' : ' is attended to by')] : [];
    const rest = chosen.length - strongest.length;
    tip.replaceChildren(...title, ...strongest.map(line => row(line, side)), ...(rest > 0 ? [element('div', '', `and ${rest} weaker`)] : []));
    if (!chosen.length) tip.append(element('div', '', side === 'query' ? 'no line is drawn from it: click to choose it' : 'no line is drawn to it'));
    tip.hidden = false;
    const box = frame.getBoundingClientRect(), at = event.target.getBoundingClientRect();
    const x = (event.clientX ?? at.right) - box.left, y = (event.clientY ?? at.bottom) - box.top;
    placeTip(tip, x, y, box.width, Infinity);
  }
  function leave() { tip.hidden = true; light([]); }

  for (const [side, nodes, labels] of [['query', queries, data.queries], ['key', keys, data.keys]]) {
    for (const [at, node] of nodes) {
      const mine = lines.filter(line => line[side] === at);
      const point = event => { light(mine); say(event, mine, side, labels[at]); };
      node.onpointerenter = point;
      node.onpointerleave = leave;
      if (side === 'key') continue;
      const pressed = Boolean(data.chosen?.includes(at));
      node.setAttribute('role', 'button');
      node.setAttribute('tabindex', '0');
      node.setAttribute('aria-pressed', String(pressed));
      node.setAttribute('aria-label', `query ${at} ${labels[at]}`);
      node.onfocus = point;
      node.onblur = leave;
      const toggle = () => {
        state.focus = at;
        live.textContent = `query ${at} ${labels[at]} ${pressed ? 'no longer chosen' : 'chosen'}`;
        setTriggerValue('toggled', at);
      };
      node.onclick = toggle;
      node.onkeydown = event => {
        if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); toggle(); }
        const other = { ArrowUp: at - 1, ArrowDown: at + 1 }[event.key];
        if (queries.has(other)) { event.preventDefault(); queries.get(other).focus(); }
      };
    }
  }
  for (const line of lines) {
    line.node.onpointerenter = event => { light([line]); say(event, [line]); };
    line.node.onpointerleave = leave;
  }

  const focused = picture.contains(picture.getRootNode().activeElement);
  picture.replaceChildren(svg);
  tip.hidden = true;
  if (focused && queries.has(state.focus)) queries.get(state.focus).focus();
  frame.style.setProperty('--kind', data.colour);
  frame.dataset.painted = String(1 + Number(frame.dataset.painted ?? 0));
}
