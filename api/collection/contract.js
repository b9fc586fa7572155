// The document's rules for answers, in the form that scripts/after.js uses. It contains only
// the rules that answers need, without descriptions.
import { document, follow, operations } from './document.js';

// The paths of a buyer's endpoint for the document's webhooks.
const atBuyers = { receivePing: '/v1/ping', receivePost: '/v1/post' };

// These formats tell a generator how to store a value. They do not restrict values.
const storage = new Set(['int32', 'int64', 'float', 'double', 'password']);
const words = new Set(['description', 'summary', 'examples', 'example', 'default', 'title']);

/** The contract: {operations, answers, headers, definitions}. */
export function contractOf() {
  const made = { operations: [], answers: {}, headers: {}, definitions: {} };
  for (const operation of operations) {
    const home = operation.webhook ? 'buyer_url' : 'base_url';
    const path = operation.webhook ? atBuyers[operation.operationId] : operation.place;
    if (path === undefined) continue; // a supplier's endpoint can have any answer
    made.operations.push({
      home,
      method: operation.method,
      path: `^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`,
      answers: answersOf(operation, made),
    });
  }
  // An unknown path has no operation, but an error.
  made.answers.Error = answerOf(document.components.responses.MalformedRequest, made);
  // A path without a parameter has precedence over a path with one.
  made.operations.sort((a, b) => a.path.includes('[') - b.path.includes('['));
  return made;
}

function answersOf(operation, made) {
  const answers = {};
  for (const [status, response] of Object.entries(operation.responses)) {
    const name = response.$ref ? last(response.$ref) : `${operation.operationId} ${status}`;
    made.answers[name] ??= answerOf(follow(response), made);
    answers[status] = name;
  }
  return answers;
}

function answerOf(response, made) {
  const answer = { headers: {}, bodies: {} };
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    const key = header.$ref ? last(header.$ref) : name;
    const { required = false, schema } = follow(header);
    made.headers[key] ??= { required, schema: schemaOf(schema, made) };
    answer.headers[name] = key;
  }
  for (const [type, { schema }] of Object.entries(response.content ?? {})) {
    answer.bodies[type] = type === 'application/json' ? schemaOf(schema, made) : {};
  }
  return answer;
}

/** A schema by itself: its references lead to definitions. */
function schemaOf(schema, made) {
  if (Array.isArray(schema)) return schema.map((part) => schemaOf(part, made));
  if (schema === null || typeof schema !== 'object') return schema;
  if (schema.$ref) {
    const name = last(schema.$ref);
    if (!(name in made.definitions)) {
      made.definitions[name] = {}; // a schema can contain itself
      made.definitions[name] = schemaOf(follow(schema), made);
    }
    return { $ref: `#/definitions/${name}` };
  }
  const bare = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') {
      bare.properties = Object.fromEntries(Object.entries(value).map(([name, of]) => [name, schemaOf(of, made)]));
    } else if (!words.has(key) && !(key === 'format' && storage.has(value))) {
      bare[key] = key === 'enum' || key === 'required' ? value : schemaOf(value, made);
    }
  }
  return bare;
}

const last = (ref) => ref.slice(ref.lastIndexOf('/') + 1);

/** The contract as source, one entry a line, so that a change of the document is a change of some lines. */
export function contractSource(contract) {
  const table = (entries) => Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  return [
    '{',
    '  operations: [',
    ...contract.operations.map((operation) => `    ${JSON.stringify(operation)},`),
    '  ],',
    ...['answers', 'headers', 'definitions'].flatMap((part) => [`  ${part}: {`, ...table(contract[part]), '  },']),
    '}',
  ].join('\n');
}
