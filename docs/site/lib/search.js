// The sections of all pages for the search, one a line, so that changes of two pages merge.

const maxText = 2000; // characters of a section

// searchIndex returns a JSON list of [address, page, heading, text].
export function searchIndex(pages, outlines) {
  const lines = [];
  for (const { address, title } of pages) {
    for (const section of outlines.get(address)) {
      const text = section.texts.join(' ').replace(/\s+/g, ' ').trim().slice(0, maxText);
      if (section.level === 0 && text === '') continue;
      const at = address + (section.level > 1 && section.anchor ? `#${section.anchor}` : '');
      lines.push(JSON.stringify([at, title, section.level > 1 ? section.title : '', text]));
    }
  }
  return `[\n${lines.join(',\n')}\n]\n`;
}
