// Tokens with their alternatives as buttons. Text only ever goes through textContent.

const percent = value => (value >= 0.0095 ? Math.round(100 * value) + '%' : '<1%');
// As Python's number() writes it.
const nats = value => (Math.round(1000 * value) / 1000 || 0).toFixed(3).replace('-', '−');
const exact = value => (value >= 0.001 ? (100 * value).toFixed(1) + '%' : (100 * value).toExponential(1) + '%');

// bdi keeps a right-to-left token from turning its neighbours around.
const word = (className, label) => element('span', className, element('bdi', '', label));

function alternative(token, choice, rank, pick) {
  // The share of the one that was written stands above already, and its word needs the room.
  const share = choice.written ? [] : [element('span', '', percent(choice.probability))];
  const button = element('button', 'alternative', word('', choice.label), ...share);
  button.type = 'button';
  button.classList.toggle('written', choice.written);
  button.disabled = choice.written || choice.ends;
  const likely = `${choice.label}: ${exact(choice.probability)}`;
  button.title = choice.written ? `${likely}, written here` : choice.ends ? `${likely}, ends the translation` : `${likely}. Go on from here with it`;
  button.setAttribute('aria-label', button.title);
  button.onclick = () => pick(token.position, rank);
  return element('li', '', button);
}

function card(token, view, act) {
  const bar = element('i', '');
  bar.style.width = 100 * token.probability + '%';
  const head = element('button', 'head', word('word', token.label), element('span', 'bar', bar),
    element('span', 'numbers', element('span', '', percent(token.probability)), element('span', '', 'H ' + token.entropy.toFixed(2))));
  head.type = 'button';
  head.title = `${token.label}: probability ${exact(token.probability)}, log-probability ${nats(token.log_prob)} nats, `
    + `entropy ${token.entropy.toFixed(2)} nats${token.given ? ', given by you' : ''}. Show this step`;
  head.setAttribute('aria-label', head.title);
  head.onclick = () => act('stepped', token.position);
  const node = element('li', 'token', head,
    element('ul', 'alternatives', ...token.alternatives.map((choice, rank) => alternative(token, choice, rank, (...place) => act('picked', place)))));
  node.classList.toggle('given', token.given);
  node.classList.toggle('current', token.position === view.position);
  node.classList.toggle('later', token.position > view.position);
  if (token.position === view.position) node.setAttribute('aria-current', 'step');
  return node;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector('.tokens'), note = parentElement.querySelector('.note');
  list.style.setProperty('--cross', data.colour);
  list.style.setProperty('--least', data.tokens.length < 10 ? '96px' : data.tokens.length < 13 ? '78px' : '62px');
  note.textContent = data.note;
  note.hidden = !data.note;
  const focused = list.getRootNode().activeElement?.closest?.('.token')?.dataset.position;
  list.replaceChildren(...data.tokens.map(token => {
    const node = card(token, data, setTriggerValue);
    node.dataset.position = token.position;
    return node;
  }));
  if (focused !== undefined) list.querySelector(`[data-position="${focused}"] .head`)?.focus({ preventScroll: true });
  list.dataset.painted = String(1 + Number(list.dataset.painted ?? 0));
}
