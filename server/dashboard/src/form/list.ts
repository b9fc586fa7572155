import { id } from './shared';
import { choice, type Spec, text } from './spec';

export const suppressionList: Spec[] = [
  id,
  choice('field', 'Field', ['phone', 'email'], { required: true }),
  choice('hash', 'Entries are', ['plain', 'md5', 'sha256']),
  text('file', 'File', { first: true, help: 'on the exchange’s machine; you can also upload entries here' }),
];
