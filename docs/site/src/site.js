// Adds the theme, the search and small helpers to a page. Without it all pages can be read.
// The browser runs this script before it paints, so that a chosen theme does not flash.

const root = document.documentElement;
const saved = (() => {
  try {
    return localStorage.getItem('theme');
  } catch {
    return null; // storage is off
  }
})();
if (saved === 'light' || saved === 'dark') root.dataset.theme = saved;

// isDark reports whether the page is dark now, by choice or by the system.
const isDark = () => (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

function addThemeButton() {
  const button = document.getElementById('site-theme');
  const label = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Light colors' : 'Dark colors');
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try {
      localStorage.setItem('theme', root.dataset.theme);
    } catch {
      // The choice lasts for this page.
    }
    label();
  });
  label();
  button.hidden = false;
}

function addSearchButton() {
  const button = document.getElementById('site-search');
  const open = async () => (await import('./search.js')).open(document.body.dataset.base);
  button.addEventListener('click', open);
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, dialog');
    const slash = event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (slash || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      open();
    }
  });
  button.hidden = false;
}

// Code and tables that scroll sideways get the focus, so that the keyboard can scroll them.
function markScrollers() {
  for (const one of document.querySelectorAll('pre, .table')) {
    const scrolls = one.scrollWidth > one.clientWidth;
    one.toggleAttribute('tabindex', scrolls);
    if (scrolls) {
      one.tabIndex = 0;
      one.setAttribute('role', 'group');
      one.setAttribute('aria-label', one.matches('pre') ? 'Code' : 'Table');
    } else {
      one.removeAttribute('role');
      one.removeAttribute('aria-label');
    }
  }
}

function addCopyButtons() {
  if (!navigator.clipboard) return; // a page over plain http
  for (const code of document.querySelectorAll('pre > code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    const frame = document.createElement('div');
    frame.className = 'code';
    code.parentElement.replaceWith(frame);
    frame.append(code.parentElement, button);
  }
}

// Bookmarks of the former reference, such as /docs#operation/sendPing, lead to the same operation.
function followOldAnchor() {
  const [, kind, name] = location.hash.match(/^#(operation|tag)\/([A-Za-z]+)/) ?? [];
  if (!name) return;
  const reference = new URL(`${document.body.dataset.base}api`, location.href);
  const link = document.querySelector(`article a[href$="#${name}"]`);
  if (kind === 'tag') location.replace(`${reference}-${name.toLowerCase()}`);
  else if (link) location.replace(link.href);
  else if (location.pathname !== reference.pathname) location.replace(reference + location.hash);
}

document.addEventListener('DOMContentLoaded', () => {
  followOldAnchor();
  addThemeButton();
  addSearchButton();
  addCopyButtons();
  markScrollers();
  addEventListener('resize', markScrollers);
  document.querySelector('#site-menu [aria-current]')?.scrollIntoView({ block: 'nearest' });
});
