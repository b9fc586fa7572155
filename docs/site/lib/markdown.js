// Renders Markdown as a code host does: the same anchors of headings, and relative links between files.

import { existsSync } from 'node:fs';
import { dirname, normalize } from 'node:path/posix';
import MarkdownIt from 'markdown-it';
import Prism from 'prismjs';
import loadLanguages from 'prismjs/components/index.js';
import { addresses, hrefTo } from '../pages.js';

loadLanguages.silent = true;
loadLanguages(['bash', 'yaml', 'json', 'go', 'javascript', 'python', 'php', 'ini', 'typescript']);

const languages = { sh: 'bash', bash: 'bash', yaml: 'yaml', json: 'json', go: 'go', js: 'javascript', ts: 'typescript' };
for (const same of ['python', 'php', 'ini']) languages[same] = same;

// root is the repository, relative to this folder's parent.
export const root = '../../';

// images are the files that pages show: file in the repository by name in the site.
export const images = new Map();

// escape makes a text safe in HTML.
export const escape = (text) =>
  String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

// highlight returns code as HTML, with a class for each kind of token. Words behind the language are
// for the tests in docs and never appear.
export function highlight(code, info) {
  const language = languages[info.trim().split(/\s+/)[0]];
  // JSON with an ellipsis is not JSON, but the highlighter does not parse it.
  const html = language ? Prism.highlight(code, Prism.languages[language], language) : escape(code);
  return `<pre><code>${html.replace(/ class="token ([a-z]+)[^"]*"/g, ' class="$1"')}</code></pre>\n`;
}

// slug returns the anchor of a heading on a code host, once for each heading of a page.
export function slug(title, used) {
  const base = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
  let name = base;
  for (let n = 1; used.has(name); n++) name = `${base}-${n}`;
  used.add(name);
  return name;
}

// rowLevel marks the row of a table in an outline. The search finds it, and the table of contents omits it.
export const rowLevel = 9;

// textOf returns the text of an inline token without marks.
const textOf = (token) =>
  (token.children ?? []).map((t) => (t.type === 'softbreak' ? ' ' : t.type === 'image' ? '' : t.content)).join('');

// outlines has the headings of each page by address, with their anchors and texts, for the search and the
// table of contents.
export const outlines = new Map();

// newMarkdown returns a renderer. Its environment needs source (a file in the repository) and address. A
// part of a page also has used, the anchors of the page, and gets its own outline.
export function newMarkdown() {
  const md = new MarkdownIt({ html: true, linkify: false, highlight });

  // Fences and inline HTML comments, which mark commands for tests, render without their info.
  md.renderer.rules.fence = (tokens, at) => highlight(tokens[at].content, tokens[at].info);

  md.core.ruler.push('outline', (state) => {
    if (state.inlineMode) return;
    const { env } = state;
    const used = env.used ?? new Set();
    let section = { level: 0, title: '', anchor: '', texts: [] };
    const outline = [section];
    let row; // of a table of keys, codes or commands
    for (const [i, token] of state.tokens.entries()) {
      if (token.type === 'tr_open') {
        // A cell is three tokens. The first two cells can have the key.
        const cell = [state.tokens[i + 2], state.tokens[i + 5]].find((c) => c?.children?.[0]?.type === 'code_inline' && /[a-z]/.test(c.content));
        row = cell && { level: rowLevel, title: textOf(cell), anchor: section.anchor, texts: [] };
        if (row) outline.push(row);
      } else if (token.type === 'tr_close') {
        row = undefined;
      } else if (token.type === 'heading_open') {
        const title = textOf(state.tokens[i + 1]);
        section = { level: Number(token.tag[1]), title, anchor: slug(title, used), texts: [] };
        token.attrSet('id', section.anchor);
        outline.push(section);
      } else if (token.type === 'inline' && state.tokens[i - 1].type !== 'heading_open') {
        (row ?? section).texts.push(textOf(token));
      } else if (token.type === 'fence') {
        section.texts.push(token.content.slice(0, 300));
      }
    }
    if (env.used) env.outline = outline;
    else outlines.set(env.address, outline);
  });

  md.renderer.rules.heading_close = (tokens, at) => {
    const id = tokens[at - 2].attrGet('id');
    const anchor = tokens[at].tag === 'h1' ? '' : ` <a class="anchor" href="#${escape(id)}" aria-label="Link to this section">#</a>`;
    return `${anchor}</${tokens[at].tag}>\n`;
  };

  md.renderer.rules.table_open = () => '<div class="table"><table>\n';
  md.renderer.rules.table_close = () => '</table></div>\n';
  // An empty heading cell is no heading for a screen reader.
  md.renderer.rules.th_open = (tokens, at, _, env) =>
    tokens[at + 1].content === '' ? '<td>' : md.renderer.renderToken(tokens, at, env);
  md.renderer.rules.th_close = (tokens, at) => (tokens[at - 1].content === '' ? '</td>' : '</th>');

  md.renderer.rules.link_open = (tokens, at, options, env, self) => {
    const href = resolveLink(tokens[at].attrGet('href'), env);
    if (href === undefined) {
      const close = tokens.findIndex((t, i) => i > at && t.type === 'link_close');
      tokens[close].hidden = true;
      tokens[close].plain = true;
      return '';
    }
    tokens[at].attrSet('href', href);
    return self.renderToken(tokens, at, options);
  };
  md.renderer.rules.link_close = (tokens, at) => (tokens[at].plain ? '' : '</a>');

  md.renderer.rules.image = (tokens, at, options, env) => {
    const file = normalize(`${dirname(env.source)}/${tokens[at].attrGet('src')}`);
    const name = file.split('/').at(-1).replace(/\.png$/, '.webp');
    images.set(name, file);
    const alt = escape(tokens[at].content);
    return `<img src="${hrefTo(env.address, name)}" alt="${alt}" loading="lazy"${sizeOf(file)}>`;
  };
  return md;
}

// sizeOf is replaced by the build, which can read images.
let sizeOf = () => '';
export const setSizeOf = (f) => {
  sizeOf = f;
};

// resolveLink returns the address of a link in the site, or undefined for a file of the repository
// that has no page. Such a link is plain text in the site.
function resolveLink(href, { source, address }) {
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href;
  const [path, anchor] = href.split('#');
  const file = normalize(`${dirname(source)}/${path}`).replace(/\/$/, '');
  if (!existsSync(root + file)) throw new Error(`${source}: the link ${href} leads to no file`);
  const to = addresses.get(file);
  return to === undefined ? undefined : hrefTo(address, to) + (anchor ? `#${anchor}` : '');
}
