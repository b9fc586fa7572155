// After every answer: compares it with the OpenAPI document, from which this table was generated.
const contract = CONTRACT;

const code = pm.response.code;
const url = pm.request.url.toString();
const home = ['base_url', 'buyer_url'].find(name => pm.variables.get(name) && url.startsWith(pm.variables.get(name) + '/'));

/** The name of the answer, as the document has it; undefined where it has none such. */
const named = () => {
  const before = pm.variables.get(home).replace(/^[a-z]+:\/\/[^/]+/, '');
  const path = pm.request.url.getPath().slice(before.length);
  const here = contract.operations.filter(operation => operation.home === home && new RegExp(operation.path).test(path));
  const meant = here.find(operation => operation.method === pm.request.method);
  if (here.length === 0) return code === 404 ? 'Error' : undefined;
  const answers = (meant || here[0]).answers;
  if (!meant) return code === 405 ? answers[405] : undefined;
  return answers[code] || answers[String(code)[0] + 'XX'];
};

const holdBody = answer => {
  const types = Object.keys(answer.bodies);
  if (types.length === 0) return;
  const type = (pm.response.headers.get('Content-Type') || '').split(';')[0];
  pm.test('Content-Type is ' + types.join(' or '), () => pm.expect(types).to.include(type));
  if (type !== 'application/json') return;
  pm.test('the body is as the document has it', () => {
    pm.expect(pm.response.json()).to.have.jsonSchema(Object.assign({ definitions: contract.definitions }, answer.bodies['application/json']));
  });
};

const holdHeaders = answer => Object.keys(answer.headers).forEach(name => {
  const { required, schema } = contract.headers[answer.headers[name]];
  const text = pm.response.headers.get(name);
  const there = text !== undefined && text !== null;
  if (!there && !required) return;
  pm.test(name + ' is as the document has it', () => {
    pm.expect(there, name + ' is there').to.equal(true);
    const value = schema.type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
    pm.expect(value).to.have.jsonSchema(schema.$ref ? Object.assign({ definitions: contract.definitions }, schema) : schema);
  });
});

if (home !== undefined) {
  const answer = contract.answers[named()];
  pm.test('the document has an answer ' + code + ' here', () => pm.expect(answer).to.be.an('object'));
  if (answer) {
    holdHeaders(answer);
    holdBody(answer);
  }
  const isPage = (pm.response.headers.get('Content-Type') || '').startsWith('text/html');
  if (home === 'base_url' && code >= 400 && !isPage) {
    pm.test('request_id is that of X-Request-Id', () => {
      pm.expect(pm.response.json().request_id).to.equal(pm.response.headers.get('X-Request-Id'));
    });
  }
}
