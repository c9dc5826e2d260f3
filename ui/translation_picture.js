// Parsed, not run: a script that were in it would not start, and none is, since every text in it is escaped.
export default function ({ data, parentElement }) {
  const place = parentElement.querySelector('.picture');
  const parsed = new DOMParser().parseFromString(data.svg, 'text/html').querySelector('svg');
  place.replaceChildren(...(parsed ? [document.importNode(parsed, true)] : []));
  place.dataset.painted = String(1 + Number(place.dataset.painted ?? 0));
}
