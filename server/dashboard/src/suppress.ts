// Reads files for suppression lists: detects their form, and hashes plain values, so that no
// phone number or email leaves the browser if the list has hashes.

import { convertLines, isBinary, isEntry } from './list-file';
import { isValue, normal, reasonOf } from './list-line';

export type Form = 'plain' | 'md5' | 'sha256' | 'binary';

export interface Detected {
  form: Form;
  field: 'phone' | 'email' | ''; // of most of the plain values
  lines: string[]; // the first values, for the preview
}

const hashText = { md5: /^[0-9a-f]{32}$/i, sha256: /^[0-9a-f]{64}$/i };

const isHash = (line: string): boolean => hashText.md5.test(line) || hashText.sha256.test(line);

// detect looks at the first values of a file.
export function detect(text: string): Detected {
  if (isBinary(text)) return { form: 'binary', field: '', lines: [] };
  const lines = text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter(isEntry)
    .slice(0, 50);
  const all = (test: RegExp) => lines.length > 0 && lines.every((line) => test.test(line));
  if (all(hashText.md5)) return { form: 'md5', field: '', lines };
  if (all(hashText.sha256)) return { form: 'sha256', field: '', lines };
  const values = lines.filter((line) => !isHash(line));
  const most = (field: string) => values.filter((line) => isValue(field, line)).length * 2 > values.length;
  return { form: 'plain', field: most('email') ? 'email' : most('phone') ? 'phone' : '', lines };
}

// hasher returns a function that hashes a plain value. The library is loaded when it is needed first.
async function hasher(form: 'md5' | 'sha256'): Promise<(value: string) => string> {
  const [{ md5 }, { sha256 }, { bytesToHex, utf8ToBytes }] = await Promise.all([
    import('@noble/hashes/legacy.js'),
    import('@noble/hashes/sha2.js'),
    import('@noble/hashes/utils.js'),
  ]);
  const hash = form === 'md5' ? md5 : sha256;
  return (value) => bytesToHex(hash(utf8ToBytes(value)));
}

const pieceSize = 1 << 20;

// hashFile returns a file with the hash of each value. A line that is a hash already stays, and a blank
// line or a comment becomes a comment without text, so that the exchange counts it. hashFile throws a
// Failure if the file has binary data, or a line that is neither a value of the field nor a hash.
export async function hashFile(
  file: File,
  field: string,
  form: 'md5' | 'sha256',
  progress: (done: number) => void,
): Promise<File> {
  const hash = await hasher(form);
  const pieces: string[] = []; // a few large ones, because a file of many small ones is slow
  let piece = '';
  const add = (line: string): string => {
    piece += `${line}\n`;
    if (piece.length >= pieceSize) {
      pieces.push(piece);
      piece = '';
    }
    return '';
  };
  const convert = (line: string): string => {
    if (!isEntry(line)) return add('#');
    const value = line.trim();
    if (hashText[form].test(value)) return add(value);
    return reasonOf(field, value) || add(hash(normal(field, value)));
  };
  await convertLines(file, convert, progress);
  return new File([...pieces, piece], file.name, { type: 'text/plain' });
}
