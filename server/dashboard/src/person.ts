// The person whose leads are searched. The value is only in memory, from the search field to the
// page that shows the leads, and never in an address, a title or the browser's storage.

import { go } from './route';

export interface Person {
  by: 'phone' | 'email';
  value: string;
}

// personOf recognizes an email address or a phone number: one of the US, or one with + and the
// country code. It returns null for other texts.
export function personOf(text: string): Person | null {
  const value = text.trim();
  if (/^[^\s@]+@[^\s@]+$/.test(value)) return { by: 'email', value };
  if (!/^[+(]?[\d\s().-]+$/.test(value)) return null;
  const digits = value.replace(/\D/g, '');
  const isPhone = value.startsWith('+') ? /^\d{8,15}$/ : /^1?[2-9]\d{9}$/;
  return isPhone.test(digits) ? { by: 'phone', value } : null;
}

let wanted: Person | null = null;

// takePerson returns the person of the last findPerson once.
export function takePerson(): Person | null {
  const person = wanted;
  wanted = null;
  return person;
}

// findPerson opens the page with the leads of a person.
export function findPerson(person: Person): void {
  wanted = person;
  go(['find']);
  dispatchEvent(new Event('person'));
}
