// Reads files for suppression lists: detects their form, and hashes plain values, so that no
// phone number or email leaves the browser if the list has hashes.

export type Form = 'plain' | 'md5' | 'sha256';

export interface Detected {
  form: Form;
  field: 'phone' | 'email' | '';
  lines: string[]; // the first values, for the preview
}

const isMd5 = /^[0-9a-f]{32}$/i;
const isSha = /^[0-9a-f]{64}$/i;

// valuesOf returns the values of a file's text, without comments and blank lines.
export const valuesOf = (text: string): string[] =>
  text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

// detect looks at the first values of a file.
export function detect(text: string): Detected {
  const lines = valuesOf(text).slice(0, 50);
  const all = (test: (line: string) => boolean) => lines.length > 0 && lines.every(test);
  if (all((l) => isMd5.test(l))) return { form: 'md5', field: '', lines };
  if (all((l) => isSha.test(l))) return { form: 'sha256', field: '', lines };
  const emails = lines.filter((l) => l.includes('@')).length;
  return { form: 'plain', field: lines.length === 0 ? '' : emails * 2 > lines.length ? 'email' : 'phone', lines };
}

// normal returns a plain value as the exchange hashes it: a phone number as E.164, an email in
// lower case. Ten digits are a US number.
export function normal(field: string, value: string): string {
  if (field === 'email') return value.trim().toLowerCase();
  const digits = value.replace(/\D/g, '');
  if (digits === '') return value.trim();
  return `+${digits.length === 10 ? '1' : ''}${digits}`;
}

// hashed returns the hash of a plain value. The library is loaded when it is needed first.
export async function hasher(form: 'md5' | 'sha256'): Promise<(value: string) => string> {
  const [{ md5 }, { sha256 }, { bytesToHex, utf8ToBytes }] = await Promise.all([
    import('@noble/hashes/legacy.js'),
    import('@noble/hashes/sha2.js'),
    import('@noble/hashes/utils.js'),
  ]);
  const hash = form === 'md5' ? md5 : sha256;
  return (value) => bytesToHex(hash(utf8ToBytes(value)));
}

const block = 4 << 20; // bytes of a file that are hashed at once

// hashFile returns a file with the hash of each of its values.
export async function hashFile(
  file: File,
  field: string,
  form: 'md5' | 'sha256',
  progress: (done: number) => void,
): Promise<File> {
  const hash = await hasher(form);
  const pieces: string[] = [];
  let rest = '';
  for (let at = 0; at < file.size || at === 0; at += block) {
    const text = rest + (await file.slice(at, at + block).text());
    const end = at + block >= file.size ? text.length : text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    for (const value of valuesOf(text.slice(0, end))) pieces.push(`${hash(normal(field, value))}\n`);
    progress(Math.min(1, (at + block) / Math.max(1, file.size)));
    await new Promise((resolve) => setTimeout(resolve)); // the page stays responsive
  }
  return new File(pieces, file.name, { type: 'text/plain' });
}
