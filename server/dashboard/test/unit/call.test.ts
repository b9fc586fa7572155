import { afterEach, expect, test, vi } from 'vitest';
import { address, call, Failure, failureOf, headersFor, onEnded, signedWith } from '../../src/call';
import { fill } from '../../src/part/gauge';
import { may } from '../../src/session';
import type { Cap } from '../../src/types';

afterEach(() => {
  vi.unstubAllGlobals();
  signedWith('');
});

test('addresses leave out what is not asked for', () => {
  expect(address('leads', { q: 'a b', buyer: '', limit: 5, test: undefined })).toBe('/admin/v1/leads?q=a+b&limit=5');
  expect(address('caps')).toBe('/admin/v1/caps');
});

test('what only reads shows no token, what orders does', () => {
  signedWith('word');
  expect(headersFor('GET')['X-CSRF-Token']).toBeUndefined();
  expect(headersFor('DELETE')['X-CSRF-Token']).toBe('word');
  expect(headersFor('GET')['X-Requested-With']).toBe('dashboard');
});

test('any error body is read, even one of somebody else', () => {
  const told = failureOf(
    422,
    '{"error":"invalid_payload","message":"No.","request_id":"req_1","field_errors":[{"field":"a"}]}',
  );
  expect([told.status, told.code, told.message, told.requestId, told.fields.length]).toEqual([
    422,
    'invalid_payload',
    'No.',
    'req_1',
    1,
  ]);
  for (const text of ['', '<html>', 'null', '[]', '{"message":7,"field_errors":"x"}']) {
    expect(failureOf(502, text)).toMatchObject({
      status: 502,
      message: 'The exchange answered with HTTP 502.',
      fields: [],
    });
  }
});

test('a session that ended is told once, and a wrong password is none', async () => {
  const ended = vi.fn();
  onEnded(ended);
  vi.stubGlobal('fetch', async () => new Response('{"error":"unauthorized","message":"Sign in."}', { status: 401 }));
  await expect(call('POST', 'session', { body: {} })).rejects.toBeInstanceOf(Failure);
  expect(ended).not.toHaveBeenCalled();
  await expect(call('GET', 'leads')).rejects.toMatchObject({ status: 401 });
  expect(ended).toHaveBeenCalledTimes(1);
});

test('an exchange that cannot be reached is no answer', async () => {
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('failed')));
  await expect(call('GET', 'leads')).rejects.toMatchObject({ status: 0, code: 'unreachable' });
});

test('each role may what those below it may', () => {
  expect([
    may('viewer', 'operator'),
    may('operator', 'operator'),
    may('admin', 'operator'),
    may('operator', 'admin'),
  ]).toEqual([false, true, true, false]);
});

test('a gauge is full with what is held, and never more than full', () => {
  const cap = (used: number, held: number, limit = 100): Cap => ({
    of: 'buyer',
    per: 'day',
    unit: 'count',
    limit,
    used,
    held,
    from: null,
    until: null,
  });
  expect(fill(cap(50, 0))).toEqual({ used: 50, held: 0, tone: 'good' });
  expect(fill(cap(70, 10))).toEqual({ used: 70, held: 10, tone: 'warn' });
  expect(fill(cap(90, 20))).toEqual({ used: 90, held: 10, tone: 'bad' });
  expect(fill(cap(0, 0, 0)).tone).toBe('bad');
});
