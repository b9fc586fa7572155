import { expect, test } from 'vitest';
import { type Message, pause, reader } from '../../src/stream';

function read(text: string, length: number): Message[] {
  const found: Message[] = [];
  const take = reader((m) => found.push(m));
  for (let i = 0; i < text.length; i += length) take(text.slice(i, i + length));
  return found;
}

const stream =
  ': hello\n\nevent: overview\ndata: {"a":\ndata: 1}\n\ndata:x\r\n\r\nevent: empty\n\nid: 7\rdata: y\r\rdata: cut';

test('messages are the same however the stream is cut into pieces', () => {
  const whole = [
    { event: 'overview', data: '{"a":\n1}' },
    { event: 'message', data: 'x' },
    { event: 'message', data: 'y' },
  ];
  for (let length = 1; length <= stream.length; length++) expect(read(stream, length)).toEqual(whole);
});

test('tries come further and further apart, up to half a minute', () => {
  const waits = Array.from({ length: 40 }, (_, i) => pause(i));
  expect(waits[0]).toBe(500);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(waits.at(-1)).toBe(30_000);
});
