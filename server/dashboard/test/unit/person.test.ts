import { expect, test } from 'vitest';
import { personOf } from '../../src/person';

test('an email and a phone number are recognized', () => {
  expect(personOf(' Ann.Lee@Example.com ')).toEqual({ by: 'email', value: 'Ann.Lee@Example.com' });
  for (const text of [
    '(415) 555-0142',
    '415.555.0142',
    '4155550142',
    '1 415 555 0142',
    '+1 (415) 555-0142',
    '+49 30 1234567',
  ]) {
    expect(personOf(text), text).toEqual({ by: 'phone', value: text });
  }
});

test('ids and names are no persons', () => {
  for (const text of [
    '',
    'lead_01kc8z3n5w7f2g9h4j6k8m0p3q',
    'a-17',
    '555-0142',
    '12',
    '+12',
    'swift',
    '@',
    'ann@',
    '2026-11-28',
    '123456789012345',
  ]) {
    expect(personOf(text), text).toBeNull();
  }
});
