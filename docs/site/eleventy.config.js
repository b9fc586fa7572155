import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import yaml from 'js-yaml';
import sharp from 'sharp';
import { images, newMarkdown, outlines, root, setSizeOf } from './lib/markdown.js';
import { referencePages } from './lib/reference.js';
import { searchIndex } from './lib/search.js';
import { sections } from './pages.js';

// Titles of the pages that come from OpenAPI documents.
const references = { 'api/openapi.yaml': 'API reference', 'api/admin.yaml': 'Admin API reference' };

// Titles of pages with the same heading as another page.
const titles = { 'BENCHMARKS.md': 'Measurements of the benchmarks' };

const read = (file) => readFileSync(root + file, 'utf8');

// allPages returns the pages in the order of the menu. parts are the pages below an index.
function allPages() {
  return sections.flatMap(([section, pages]) =>
    pages.flatMap(([file, address, name]) => {
      if (!references[file]) {
        const content = read(file);
        const title = titles[file] ?? content.match(/^# (.+)$/m)[1].replaceAll('`', '');
        return { file, address, name, section, content, title };
      }
      const made = referencePages(yaml.load(read(file)), { file, address, title: references[file] });
      return made.map((page) => ({ ...page, file, section, name: page.address === address ? name : page.name, parent: address }));
    }),
  );
}

// writeAssets writes the scripts, the style and the images beside the pages.
async function writeAssets(to) {
  mkdirSync(to, { recursive: true });
  const options = { bundle: true, minify: true, legalComments: 'none', outdir: to, logLevel: 'warning' };
  const target = ['chrome123', 'firefox120', 'safari17.5'];
  // site.js is no module, because a module runs after the first paint.
  await build({ ...options, target, entryPoints: ['src/site.js'], format: 'iife', external: ['./search.js'] });
  await build({ ...options, target, entryPoints: ['src/search.js', 'src/site.css'], format: 'esm' });
  writeFileSync(`${to}/favicon.svg`, readFileSync('src/favicon.svg'));
  for (const [name, file] of images) {
    if (name.endsWith('.webp')) await sharp(root + file).webp({ quality: 70, effort: 6 }).toFile(`${to}/${name}`);
    else writeFileSync(`${to}/${name}`, readFileSync(root + file));
  }
}

export default async function configure(eleventy) {
  const pages = allPages();
  // A reserved size avoids a shift when an image arrives.
  const sizes = new Map();
  for (const { content, file } of pages) {
    for (const [, name] of content?.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g) ?? []) {
      const at = `${file.replace(/[^/]*$/, '')}${name}`;
      const { width, height } = await sharp(root + at).metadata();
      sizes.set(at, ` width="${width}" height="${height}"`);
    }
  }
  setSizeOf((file) => sizes.get(file));

  eleventy.setLibrary('md', newMarkdown());
  eleventy.addGlobalData('pages', pages.map(({ content, html, ...page }) => page));
  eleventy.addGlobalData('layout', 'page.11ty.js');
  for (const { address, content, html, title, file, section, parent, outline } of pages) {
    const data = { address, title, source: file, section, parent, permalink: `${address || 'index'}.html` };
    if (outline) outlines.set(address, outline);
    eleventy.addTemplate(`${address || 'index'}.${html ? 'html' : 'md'}`, html ?? content, data);
  }
  for (const { file } of pages) eleventy.addWatchTarget(root + file);

  eleventy.on('eleventy.after', async ({ directories }) => {
    await writeAssets(directories.output);
    writeFileSync(`${directories.output}/search.json`, searchIndex(pages, outlines));
  });
  return {
    dir: { input: 'src', output: '../../server/docsite/dist' },
    markdownTemplateEngine: false,
    htmlTemplateEngine: false,
  };
}
