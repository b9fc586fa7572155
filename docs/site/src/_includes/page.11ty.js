// The frame of every page: header, menu, content, and the headings of the page.

import { escape, outlines } from '../../lib/markdown.js';
import { hrefTo, sections } from '../../pages.js';

function menu(pages, current) {
  const open = pages.find((p) => p.address === current);
  const entry = ({ address, name }) =>
    `<li><a href="${hrefTo(current, address)}"${address === current ? ' aria-current="page"' : ''}>${escape(name)}</a>`;
  return sections
    .map(([section]) => {
      const items = pages
        .filter((p) => p.section === section && (!p.parent || p.parent === p.address))
        .map((page) => {
          const parts = page.parent && page.parent === open.parent ? pages.filter((p) => p.parent === page.address && p !== page) : [];
          return entry(page) + (parts.length > 0 ? `\n<ul>\n${parts.map(entry).join('\n')}\n</ul>` : '');
        });
      const state = section === open.section || current === '' ? ' open' : '';
      return `<details${state}><summary>${section}</summary>\n<ul>\n${items.join('\n')}\n</ul></details>`;
    })
    .join('\n');
}

function contents(outline) {
  const items = outline.filter((s) => s.level === 2 || (s.level === 3 && outline.length < 30));
  if (items.length < 2) return '';
  const list = items.map((s) => `<li class="level${s.level}"><a href="#${s.anchor}">${escape(s.title)}</a>`);
  return `<aside><nav aria-label="On this page"><p class="label">On this page</p>\n<ul>\n${list.join('\n')}\n</ul></nav></aside>\n`;
}

function neighbours(pages, current) {
  const at = pages.findIndex((p) => p.address === current);
  const one = (page, rel, text) =>
    page ? `<a rel="${rel}" href="${hrefTo(current, page.address)}"><small>${text}</small> ${escape(page.parent ? page.title : page.name)}</a>` : '<span></span>';
  return `<nav class="neighbours" aria-label="Neighbouring pages">${one(pages[at - 1], 'prev', 'Previous')}${one(pages[at + 1], 'next', 'Next')}</nav>`;
}

export function render({ content, pages, address, title, source, section }) {
  const outline = outlines.get(address);
  const at = (name) => hrefTo(address, name);
  const full = address === '' ? 'pingpost documentation' : `${title} · pingpost documentation`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(full)}</title>
<link rel="icon" href="${at('favicon.svg')}">
<link rel="stylesheet" href="${at('site.css')}">
<script src="${at('site.js')}"></script>
</head>
<body data-base="${at('x').slice(0, -1)}">
<a class="skip" href="#site-main">Skip to the content</a>
<header>
<a class="brand" href="${at('')}">pingpost <span>docs</span></a>
<a class="menu" href="#site-menu">Menu</a>
<nav class="top" aria-label="References"><a href="${at('api')}">API</a><a href="${at('configuration')}">Configuration</a><a href="${at('runbook')}">Runbook</a></nav>
<button type="button" id="site-search" hidden>Search <kbd>/</kbd></button>
<button type="button" id="site-theme" hidden>Dark</button>
</header>
<div class="columns">
<nav id="site-menu" aria-label="All pages">
${menu(pages, address)}
<a class="close" href="#site-main">Close the menu</a>
</nav>
<main id="site-main" tabindex="-1">
<p class="section">${escape(section)}</p>
<article>
${content}</article>
${neighbours(pages, address)}
<p class="source">Source: ${escape(source)}</p>
</main>
${contents(outline)}</div>
</body>
</html>
`;
}
