// The search. It loads when a reader opens it: MiniSearch, and the texts of all sections.

import MiniSearch from 'minisearch';

const most = 20; // results
let dialog;

// open shows the search. base is the relative address of the site's pages.
export async function open(base) {
  dialog ??= createDialog(base);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('input').select();
}

async function loadIndex(base) {
  const answer = await fetch(`${base}search.json`);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const sections = (await answer.json()).map(([at, page, heading, text], id) => ({ id, at, page, heading, text, title: heading || page }));
  const index = new MiniSearch({
    fields: ['title', 'page', 'text'],
    storeFields: ['at', 'page', 'heading', 'text'],
    // Names such as ping_reserve and lead.posted are found by their parts too.
    tokenize: (text) => text.split(/[\s\p{P}=<>$+|`^~]+/u),
    searchOptions: {
      boost: { title: 6, page: 4 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : 0),
      weights: { prefix: 0.4, fuzzy: 0.02 }, // a similar word comes after all exact ones
      combineWith: 'AND',
    },
  });
  index.addAll(sections);
  return index;
}

function element(name, properties = {}, ...children) {
  const one = Object.assign(document.createElement(name), properties);
  one.append(...children);
  return one;
}

function createDialog(base) {
  const input = element('input', { type: 'search', id: 'query', autocomplete: 'off', placeholder: 'Search the documentation' });
  input.setAttribute('aria-label', 'Search the documentation');
  const status = element('p', { className: 'status', textContent: 'Type a word, a setting or an error code.' });
  status.setAttribute('role', 'status');
  const list = element('ul', { className: 'results' });
  const close = element('button', { type: 'button', textContent: 'Close' });
  const made = element('dialog', { className: 'search' }, element('div', { className: 'field' }, input, close), status, list);
  made.setAttribute('aria-label', 'Search');
  close.addEventListener('click', () => made.close());
  made.addEventListener('click', (event) => {
    if (event.target === made || event.target.closest('a')) made.close();
  });
  made.addEventListener('keydown', (event) => moveFocus(event, input, list));
  document.body.append(made);

  let loading;
  input.addEventListener('input', async () => {
    const query = input.value.trim();
    if (query === '') return show([], status, list, base, 'Type a word, a setting or an error code.');
    loading ??= loadIndex(base);
    try {
      const index = await loading;
      if (query !== input.value.trim()) return; // a later key answers
      const found = index.search(query).slice(0, most);
      show(found, status, list, base, found.length > 0 ? `${found.length} results` : `No result for “${query}”.`);
    } catch (problem) {
      loading = undefined;
      show([], status, list, base, `The search index did not load (${problem.message}). Try again.`);
    }
  });
  return made;
}

function show(found, status, list, base, message) {
  status.textContent = message;
  list.replaceChildren(
    ...found.map((result) => {
      const isHome = result.at === '' || result.at.startsWith('#');
      const home = base === '' ? '../docs' : 'docs';
      const href = (isHome ? home : base) + result.at;
      const title = result.heading ? `${result.page} › ${result.heading}` : result.page;
      return element('li', {}, element('a', { href }, element('b', { textContent: title }), ...excerpt(result)));
    }),
  );
}

// excerpt returns the text around the first found word, with found words marked.
function excerpt({ text, terms }) {
  const words = terms.map((term) => term.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(`(${words.join('|')})`, 'i');
  const at = Math.max(0, text.search(pattern) - 40);
  const part = (at > 0 ? '…' : '') + text.slice(at, at + 160);
  const pieces = part.split(new RegExp(`(${words.join('|')})`, 'gi'));
  return [element('span', {}, ...pieces.map((piece, i) => (i % 2 ? element('mark', { textContent: piece }) : piece)))];
}

// moveFocus moves between the field and the results with the arrow keys.
function moveFocus(event, input, list) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...list.querySelectorAll('a')];
  if (event.key === 'Enter' && event.target === input && links[0]) return links[0].click();
  if (!step || links.length === 0) return;
  event.preventDefault();
  const to = links.indexOf(document.activeElement) + step;
  (links[Math.min(to, links.length - 1)] ?? input).focus();
}
