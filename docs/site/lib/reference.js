// Writes the pages of an OpenAPI document: an index, and a page for each tag. Each page shows its
// operations, and each named object of their bodies once.

import { hrefTo } from '../pages.js';
import { escape, highlight, newMarkdown, slug } from './markdown.js';

const methods = ['get', 'post', 'put', 'patch', 'delete'];

// referencePages returns pages of {address, title, html, outline}. The index has the given address and
// title; the other addresses begin with it.
export function referencePages(document, { file, address, title }) {
  const doc = new Reference(document, file);
  const pages = document.tags.map((tag) => {
    const page = { address: `${address}-${tag.name.toLowerCase()}`, title: `${title}: ${tag.name}`, name: tag.name };
    return { ...page, tag, ...doc.tagPage(tag, page) };
  });
  const index = { address, title, name: 'Introduction', ...doc.indexPage(title, address, pages) };
  return [index, ...pages];
}

class Reference {
  constructor(document, file) {
    this.document = document;
    this.file = file;
    this.md = newMarkdown();
    this.operations = [];
    for (const part of ['paths', 'webhooks']) {
      for (const [path, item] of Object.entries(document[part] ?? {})) {
        for (const method of methods) {
          if (item[method]) this.operations.push({ path, method, part, shared: item.parameters ?? [], ...item[method] });
        }
      }
    }
  }

  // resolve follows a reference, and returns the value and its name.
  resolve(value) {
    let name;
    while (value?.$ref) {
      name = value.$ref.split('/').at(-1);
      value = value.$ref
        .slice(2)
        .split('/')
        .reduce((at, key) => at[key.replaceAll('~1', '/').replaceAll('~0', '~')], this.document);
    }
    return { value, name };
  }

  text(markdown, page, used = new Set()) {
    if (!markdown) return '';
    return this.md.render(markdown, { source: this.file, address: page.address, used });
  }

  line(markdown) {
    return markdown ? this.md.renderInline(markdown.replaceAll('\n\n', ' '), { source: this.file, address: '' }) : '';
  }

  indexPage(title, address, pages) {
    const page = { address };
    const used = new Set();
    const env = { source: this.file, address, used };
    let html = `<h1>${escape(title)}</h1>\n<p>Version ${escape(this.document.info.version)}. `;
    html += address === 'api' ? `The same document as ${link('../openapi.yaml', 'YAML')} and ${link('../openapi.json', 'JSON')}.` : '';
    html += `</p>\n${this.md.render(this.document.info.description ?? '', env)}`;
    const outline = env.outline ?? [];
    const section = (name, body) => {
      const anchor = slug(name, used);
      html += `${heading(2, name, anchor)}${body}`;
      outline.push({ level: 2, title: name, anchor, texts: [] });
    };
    const schemes = Object.entries(this.document.components.securitySchemes ?? {});
    section('Credentials', table(['Credential', 'Description'], schemes.map(([name, s]) => [code(name), this.line(s.description)])));
    section('Operations', '');
    for (const one of pages) {
      const anchor = slug(one.name, used);
      html += heading(3, one.name, anchor, hrefTo(address, one.address));
      html += this.text(one.tag.description, page);
      const rows = this.tagged(one.tag.name).map((op) => [
        `<a href="${hrefTo(address, one.address)}#${op.operationId}">${this.line(op.summary)}</a>`,
        endpoint(op),
      ]);
      html += table(['Operation', 'Request'], rows);
      outline.push({ level: 3, title: one.name, anchor, texts: [] });
    }
    return { html, outline };
  }

  tagged(name) {
    return this.operations.filter((op) => op.tags?.[0] === name);
  }

  tagPage(tag, page) {
    page.objects = new Map();
    const outline = [{ level: 1, title: page.title, anchor: '', texts: [tag.description ?? ''] }];
    let html = `<h1>${escape(page.title)}</h1>\n${this.text(tag.description, page)}`;
    for (const op of this.tagged(tag.name)) {
      html += this.operation(op, page);
      const texts = [op.method.toUpperCase(), op.path, op.operationId, op.description ?? ''];
      outline.push({ level: 2, title: plain(op.summary), anchor: op.operationId, texts });
    }
    // Rendering an object can add others, which the iteration then reaches.
    let objects = '';
    for (const [name, schema] of page.objects) {
      objects += heading(3, name, `object-${name}`) + this.text(schema.description, page) + this.members(schema, page);
      outline.push({ level: 3, title: name, anchor: `object-${name}`, texts: [schema.description ?? '', ...Object.keys(schema.properties ?? {})] });
    }
    if (objects) {
      html += heading(2, 'Objects', 'objects') + objects;
      const first = outline.findIndex((o) => o.level === 3);
      outline.splice(first, 0, { level: 2, title: 'Objects', anchor: 'objects', texts: [] });
    }
    return { html, outline };
  }

  operation(op, page) {
    let html = heading(2, plain(op.summary), op.operationId);
    html += `<p class="endpoint">${endpoint(op)}</p>\n`;
    if (op.deprecated) html += '<p><strong>Deprecated.</strong></p>\n';
    html += this.text(op.description, page);
    const needs = (op.security ?? this.document.security ?? []).map((s) => Object.keys(s).map(code).join(' and '));
    if (needs.length > 0) html += `<p>Credential: ${needs.join(' or ')}.</p>\n`;
    const parameters = [...op.shared, ...(op.parameters ?? [])].map((p) => this.resolve(p).value);
    if (parameters.length > 0) {
      const rows = parameters.map((p) => [
        code(p.name),
        escape(p.in) + (p.required ? ', required' : ''),
        this.type(p.schema, page),
        this.line(p.description ?? this.resolve(p.schema).value?.description),
      ]);
      html += label('Parameters') + table(['Name', 'In', 'Type', 'Description'], rows);
    }
    if (op.requestBody) html += this.body('Request body', this.resolve(op.requestBody).value, page, true);
    return html + this.responses(op, page);
  }

  responses(op, page) {
    const all = Object.entries(op.responses).map(([status, r]) => [status, this.resolve(r).value]);
    const rows = all.map(([status, r]) => {
      const [media] = Object.entries(r.content ?? {});
      return [code(status), this.line(r.description), media ? this.type(media[1].schema, page) : ''];
    });
    let html = label('Responses') + table(['Status', 'Meaning', 'Body'], rows);
    const [status, best] = all.find(([s]) => s.startsWith('2')) ?? [];
    if (best?.content) html += this.examples(`Example of ${status}`, best.content);
    return html;
  }

  body(title, body, page) {
    let html = '';
    for (const [media, { schema }] of Object.entries(body.content)) {
      html += label(`${title}: ${media}`);
      const { value, name } = this.resolve(schema);
      if (value.properties) html += this.members(value, page);
      else html += `<p>${this.type(schema, page)}${name ? '' : ` ${this.line(value.description)}`}</p>\n`;
    }
    return html + this.examples('Example', body.content);
  }

  // examples shows the first example of the first media type.
  examples(title, content) {
    const [media, { examples = {}, example, schema }] = Object.entries(content)[0];
    const [first] = Object.values(examples);
    const shown = first ? this.resolve(first).value.value : (example ?? this.resolve(schema).value?.examples?.[0]);
    if (shown === undefined) return '';
    const text = typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2);
    return label(title) + highlight(`${text}\n`, media.includes('json') ? 'json' : '');
  }

  members(schema, page) {
    const required = new Set(schema.required ?? []);
    const rows = Object.entries(schema.properties ?? {}).map(([name, member]) => [
      code(name),
      this.type(member, page) + (required.has(name) ? ', required' : ''),
      this.line(member.description ?? this.resolve(member).value.description),
    ]);
    let html = rows.length > 0 ? table(['Member', 'Type', 'Description'], rows) : '';
    if (schema.oneOf) html += `<p>One of: ${schema.oneOf.map((s) => this.type(s, page)).join(', ')}.</p>\n`;
    return html;
  }

  // type describes a schema in a few words. It adds an object with a name to the page.
  type(schema, page) {
    if (!schema) return '';
    const { value, name } = this.resolve(schema);
    if (typeof value !== 'object') return '';
    if (value.properties || (name && value.oneOf)) {
      if (name) {
        page.objects.set(name, value);
        return `<a href="#object-${name}">${escape(name)}</a>`;
      }
      const members = Object.entries(value.properties ?? {}).map(([key, member]) => `${code(key)}: ${this.type(member, page)}`);
      return `object of ${members.join('; ')}`;
    }
    if (value.oneOf) return value.oneOf.map((s) => this.type(s, page)).join(' or ');
    const types = [value.type ?? []].flat();
    if (types.includes('array')) return `list of ${this.type(value.items, page) || 'values'}`;
    if (typeof value.additionalProperties === 'object') return `object of ${this.type(value.additionalProperties, page)} by name`;
    return `${escape(types.join(' or ') || 'any value')}${limits(value)}`;
  }
}

// limits describes the accepted values of a schema.
function limits(schema) {
  const all = [];
  if (schema.const !== undefined) all.push(code(schema.const));
  if (schema.format) all.push(escape(schema.format));
  if (schema.enum) all.push(schema.enum.filter((v) => v !== null).map(code).join(' '));
  if (schema.maxLength !== undefined) all.push(`${schema.minLength ?? 0} to ${schema.maxLength} characters`);
  if (schema.minimum !== undefined && schema.maximum !== undefined) all.push(`${schema.minimum} to ${schema.maximum}`);
  else if (schema.minimum !== undefined) all.push(`at least ${schema.minimum}`);
  else if (schema.maximum !== undefined) all.push(`at most ${schema.maximum}`);
  return all.length > 0 ? `: ${all.join(', ')}` : '';
}

const plain = (markdown) => markdown.replaceAll('`', '');
const link = (href, text) => `<a href="${href}">${text}</a>`;
const code = (text) => `<code>${escape(text)}</code>`;
const label = (text) => `<p class="label">${escape(text)}</p>\n`;

function endpoint(op) {
  if (op.part === 'webhooks') return `<b class="method">POST</b> to your endpoint: ${code(op.path)}`;
  return `<b class="method">${op.method.toUpperCase()}</b> ${code(op.path)}`;
}

function heading(level, text, anchor, href) {
  const inner = href ? link(href, escape(text)) : escape(text);
  return `<h${level} id="${anchor}">${inner} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${level}>\n`;
}

function table(columns, rows) {
  const head = columns.map((c) => `<th>${c}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((c) => `<td>${c}</td>`).join('')}</tr>\n`).join('');
  return `<div class="table"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}</tbody>\n</table></div>\n`;
}
