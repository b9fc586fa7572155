// Reads the file of a suppression list line by line, as the exchange does.

import { Failure } from './call';
import type { FieldError } from './types';

const block = 4 << 20; // bytes of a file that are read at once
const maxLine = 4096;
const maxBadLines = 20;

export const binaryText = 'The file has binary data. Choose a text file with one value or hash a line.';

// isBinary reports whether a text has control characters that text files do not have.
export function isBinary(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
  return /[\0-\x08\x0e-\x1f]/.test(text);
}

// isEntry reports whether a line has a value or hash: it is neither blank nor a comment.
export const isEntry = (line: string): boolean => line !== '' && !line.startsWith('#');

// withoutMark returns a file without the byte order mark at its start.
export async function withoutMark(file: File): Promise<File> {
  const [a, b, c] = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  if (a !== 0xef || b !== 0xbb || c !== 0xbf) return file;
  return new File([file.slice(3)], file.name, { type: file.type });
}

// convertLines calls convert with each line of a file. convert returns the reason why the line is invalid,
// or an empty text. After an invalid line convertLines reads on, and throws a Failure that lists the first
// invalid lines by number, as the exchange lists them. A binary file is a Failure too.
export async function convertLines(
  file: File,
  convert: (line: string) => string,
  progress: (done: number) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  const bad: FieldError[] = [];
  let number = 0;
  let rest = '';
  const reject = (why: string) => bad.push({ field: `line ${number}`, code: 'invalid_format', expected: why });
  // read reports whether the reading goes on.
  const read = (line: string): boolean => {
    number++;
    if (line.length >= maxLine) {
      reject('the line is too long');
      return false;
    }
    const why = convert(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (why !== '') reject(why);
    return bad.length < maxBadLines;
  };
  let more = true;
  for (let at = 0; more && at < file.size; at += block) {
    const last = at + block >= file.size;
    const text = decoder.decode(await file.slice(at, at + block).arrayBuffer(), { stream: !last });
    if (isBinary(text)) throw new Failure(422, 'invalid_payload', binaryText);
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    more = lines.every(read) && ((rest.length < maxLine && !last) || rest === '' || read(rest));
    progress(Math.min(1, (at + block) / file.size));
    await new Promise((resolve) => setTimeout(resolve)); // the page stays responsive
  }
  if (bad.length > 0) throw new Failure(422, 'invalid_payload', 'Some lines of the file are invalid.', bad);
}
