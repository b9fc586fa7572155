// Formats numbers, money and times.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const full = new Intl.NumberFormat('en-US', { maximumFractionDigits: 15 });
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

export const none = '–';

type Maybe = number | null | undefined;

export const count = (n: Maybe): string => (n === null || n === undefined ? none : whole.format(n));
export const rate = (n: Maybe): string => (n === null || n === undefined ? none : short.format(n));
export const number = (n: number): string => full.format(n); // with all decimals
export const share = (n: Maybe): string => (n === null || n === undefined ? none : percent.format(n));

const moneys = new Map<string, Intl.NumberFormat>();

const unitOf = (currency: string): Intl.NumberFormatOptions =>
  /^[A-Z]{3}$/.test(currency) ? { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } : {};

// moneyFormat returns a formatter of money. A currency that Intl does not know is a suffix.
function moneyFormat(currency: string, digits: number): Intl.NumberFormat {
  const key = `${currency} ${digits}`;
  const known = moneys.get(key);
  if (known) return known;
  const of = { minimumFractionDigits: 2, maximumFractionDigits: digits };
  const made = new Intl.NumberFormat('en-US', { ...of, ...unitOf(currency) });
  moneys.set(key, made);
  return made;
}

// amount formats money to the cent, for example $8,540.64.
export function amount(n: Maybe, currency = ''): string {
  return n === null || n === undefined ? none : moneyFormat(currency, 2).format(n);
}

// axisMoney formats the amounts at a chart's axis: whole and short where they are.
export function axisMoney(all: number[], currency: string): string[] {
  const most = Math.max(...all.map(Math.abs));
  const digits = all.every(Number.isInteger) ? 0 : 2;
  const format = new Intl.NumberFormat('en-US', {
    ...unitOf(currency),
    ...(most >= 100_000
      ? { notation: 'compact', maximumFractionDigits: 1, minimumFractionDigits: 0 }
      : { maximumFractionDigits: digits, minimumFractionDigits: digits }),
  });
  return all.map((n) => format.format(n));
}

// exact formats money with all its decimals.
export function exact(n: Maybe, currency = ''): string {
  return n === null || n === undefined ? none : moneyFormat(currency, 6).format(n);
}

const currencies = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });

// moneyIn formats the amounts in a text of the exchange, such as 12.5 USD.
export const moneyIn = (text: string, format = amount): string =>
  text.replace(/(?<![\w.-])(-?\d+(?:\.\d+)?) ([A-Z]{3})\b/g, (same, n: string, currency: string) =>
    currencies.of(currency) ? format(Number(n), currency) : same,
  );

export function millis(n: Maybe): string {
  if (n === null || n === undefined) return none;
  if (n >= 10_000) return `${short.format(n / 1000)} s`;
  return `${n >= 100 ? whole.format(n) : short.format(n)} ms`;
}

// about formats an estimate in milliseconds, such as a quantile: the exchange counts durations in steps.
export const about = (n: Maybe): string => (n === null || n === undefined ? none : `about ${millis(n)}`);

const units = ['B', 'KB', 'MB', 'GB', 'TB'];

export function bytes(n: Maybe): string {
  if (n === null || n === undefined) return none;
  let unit = 0;
  let left = n;
  while (left >= 1000 && unit < units.length - 1) {
    left /= 1000;
    unit++;
  }
  return `${unit === 0 ? whole.format(left) : short.format(left)} ${units[unit]}`;
}

// span formats a duration in its two largest units.
export function span(seconds: Maybe): string {
  if (seconds === null || seconds === undefined) return none;
  const steps: [string, number][] = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ];
  let left = Math.max(0, Math.round(seconds));
  const words: string[] = [];
  for (const [name, length] of steps) {
    const n = Math.floor(left / length);
    left -= n * length;
    if (n > 0) words.push(`${n} ${name}`);
    else if (words.length > 0) break;
    if (words.length === 2) break;
  }
  return words.join(' ') || '0 s';
}

const unitNames: { [unit: string]: string } = { d: 'day', h: 'hour', m: 'minute', s: 'second' };

// duration formats a duration of the configuration: 1d12h becomes 1 day 12 hours, and 0s none. A text
// that is no duration stays as it is.
export function duration(text: string): string {
  if (text === '0s') return 'none';
  if (!/^(\d+(\.\d+)?(ms|[dhms]))+$/.test(text)) return text;
  return [...text.matchAll(/([\d.]+)(ms|[dhms])/g)]
    .map(([, n, unit = '']) => `${n} ${unit === 'ms' ? unit : `${unitNames[unit]}${n === '1' ? '' : 's'}`}`)
    .join(' ');
}

const sizeUnits: { [unit: string]: number } = { '': 1, KiB: 1 << 10, MiB: 1 << 20 };

// byteSize formats a size of the configuration: 800800KiB becomes 820 MB.
export function byteSize(text: string): string {
  const [, n, unit = ''] = /^(\d+)(KiB|MiB)?$/.exec(text) ?? [];
  return n ? bytes(Number(n) * (sizeUnits[unit] ?? 1)) : text;
}

// since formats the time since a moment.
export const since = (at: string): string => span((Date.now() - Date.parse(at)) / 1000);

// lastUseText formats the time since the last use of a credential. The exchange keeps the minute of a use,
// which began before a credential that was created in the same minute.
export function lastUseText(at: string, created = at, now = Date.now()): string {
  const minutes = Math.floor((now - Math.max(Date.parse(at), Date.parse(created))) / 60_000);
  return minutes < 2 ? 'just now' : `${span(minutes * 60)} ago`;
}

let parts = inZone('UTC');

function inZone(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  return new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    hourCycle: 'h23',
  });
}

// showIn sets the time zone of all displayed times.
export function showIn(zone: string): void {
  parts = inZone(zone);
}

// instant formats a time in the chosen time zone.
export function instant(text: string | null | undefined, fine = false): string {
  if (!text) return none;
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const of = Object.fromEntries(parts.formatToParts(at).map((p) => [p.type, p.value]));
  const millis = fine ? `.${String(at.getUTCMilliseconds()).padStart(3, '0')}` : '';
  return `${of.year}-${of.month}-${of.day} ${of.hour}:${of.minute}:${of.second}${millis}`;
}

const days = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', year: 'numeric', month: 'short', day: 'numeric' });

// dayRange formats a period with an exclusive end: whole days of the chosen time zone as inclusive dates, for
// example Nov 29, 2026 or Nov 1, 2026 to Nov 30, 2026.
export function dayRange(from: string, until: string): string {
  const isMidnight = (text: string) => instant(text, true).endsWith(' 00:00:00.000');
  if (!isMidnight(from) || !isMidnight(until)) return `${instant(from)} to ${instant(until)}`;
  const day = (at: Date) => days.format(new Date(`${instant(at.toISOString()).slice(0, 10)}T00:00:00Z`));
  const [first, last] = [day(new Date(from)), day(new Date(Date.parse(until) - 1))];
  return first === last ? first : `${first} to ${last}`;
}

// words formats an API name for people: no_state_match becomes no state match.
export const words = (name: string | null | undefined): string => (name ? name.replaceAll('_', ' ') : none);

// capital returns a text with a capital letter at its start.
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

// label formats an API name as the label of a value: vehicle_count becomes Vehicle count.
export const label = (name: string): string => capital(words(name));

// scalar formats a value of a document.
export function scalar(value: unknown): string {
  if (value === undefined) return none;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const digits32 = '0123456789abcdefghjkmnpqrstvwxyz';

// arrivalOf returns the time at which a lead arrived, which its id has in milliseconds. The time of a row is
// that of the decision, up to seconds later; it is the answer for an id of another form.
export function arrivalOf({ id, at }: { id: string; at: string }): string {
  const [, time = ''] = /^lead_([0-7][0-9a-hjkmnp-tv-z]{9})[0-9a-z]{16}$/.exec(id) ?? [];
  if (!time) return at;
  return new Date([...time].reduce((ms, digit) => ms * 32 + digits32.indexOf(digit), 0)).toISOString();
}
