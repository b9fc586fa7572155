import { isObject } from '../answer.js';

/** The body is not one JSON object, or one that two readers could read in two ways. */
export class MalformedJson extends Error {}

const maxDepth = 32;

/**
 * Parses one JSON object by the exchange's rules: UTF-8 without a byte order mark, no
 * duplicate members, at most 32 levels.
 */
export function parseObject(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    // Checked before JSON.parse, which has no depth limit.
    checkDepth(text);
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof MalformedJson) throw error;
    throw new MalformedJson('the body is not JSON');
  }
  if (!isObject(value)) throw new MalformedJson('the body is not a JSON object');
  checkMembers(text);
  return value;
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]]/gs;

function checkDepth(text: string): void {
  let depth = 0;
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth > maxDepth) throw new MalformedJson('the body is nested too deep');
  }
}

/** Looks for a member that comes twice, in text that is known to be JSON. */
function checkMembers(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  for (const match of text.matchAll(tokens)) {
    const [token] = match;
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (/^\s*:/.test(text.slice(match.index + token.length, match.index + token.length + 64))) {
      const name = JSON.parse(token) as string;
      const members = open[open.length - 1];
      if (members?.has(name) === true) throw new MalformedJson('a member of the body comes twice');
      members?.add(name);
    }
  }
}
