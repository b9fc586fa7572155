import { id } from './shared';
import { choice, type Names, type Spec, text } from './spec';

export const hashNames: Names = { plain: 'plain values', md5: 'MD5 hashes', sha256: 'SHA-256 hashes' };

export const suppressionList: Spec[] = [
  id,
  choice('field', 'Field', ['phone', 'email'], { required: true }),
  choice('hash', 'Entries are', ['plain', 'md5', 'sha256'], { names: hashNames }),
  text('file', 'File', { first: true, help: 'on the exchange’s machine; you can also upload entries here' }),
];
