// Before every request: what it names by double braces and is not there yet is fetched, by the
// request of this collection that gives it. So each can be sent by itself, in any order. What was
// fetched before and is still good is kept. Where something has to be filled in first, the request
// is passed over, and the console says what.
const toFillIn = TO_FILL_IN;
const givers = GIVERS;

// A static token of a sandbox stands in for the OAuth client.
const statics = { access_token: 'sandbox_token', buyer_access_token: 'buyer_sandbox_token' };

const value = name => pm.variables.get(name);
const isThere = name => value(name) !== undefined && value(name) !== null && value(name) !== '';
const isFresh = name => isThere(name) && !(isThere(name + '_until') && Date.parse(value(name + '_until')) < Date.now() + 1000);
const giverOf = name => givers.find(giver => giver.gives.includes(name));
const stands = name => statics[name] && !isThere(toFillIn.oauth[name]) && isThere(statics[name]);
const namesIn = thing => [...new Set([...JSON.stringify(thing).matchAll(/{{([^{}$]+)}}/g)].map(match => match[1]))];

/** What would have to be filled in for this. */
const missing = thing => namesIn(thing).flatMap(name => {
  if (toFillIn.names.includes(name)) return isThere(name) ? [] : [name];
  return isFresh(name) || stands(name) || !giverOf(name) ? [] : missing(giverOf(name).request);
});

const send = request => new Promise((resolve, reject) => {
  pm.sendRequest(request, (error, response) => (error ? reject(error) : resolve(response)));
});

const fetchFor = async thing => {
  for (const name of namesIn(thing)) {
    if (isFresh(name) && !stands(name)) continue;
    if (stands(name)) pm.collectionVariables.set(name, value(statics[name]));
    else if (giverOf(name)) await give(giverOf(name));
  }
};

const give = async giver => {
  await fetchFor(giver.request);
  const { method, url, header, body } = JSON.parse(JSON.stringify(giver.request), (_, text) => (typeof text === 'string' ? pm.variables.replaceIn(text) : text));
  const response = await send({ method, url, header, body });
  pm.expect(response.code, giver.name + ' answered ' + response.text()).to.equal(giver.status);
  const text = response.text();
  const kept = giver.keep({
    text,
    answer: /^[{[]/.test(text) ? JSON.parse(text) : {},
    header: name => response.headers.get(name),
    sent: { key: header['Idempotency-Key'], body: body && body.raw },
  });
  Object.keys(kept).forEach(name => pm.collectionVariables.set(name, kept[name]));
  giver.drop.forEach(name => pm.collectionVariables.unset(name));
};

const { url, header, body, auth } = pm.request.toJSON();
const meant = { url, body, auth, header: (header || []).filter(one => !one.disabled) };
const blank = [...new Set(missing(meant))];
if (blank.length > 0) {
  console.log(pm.info.requestName + ' was not sent: fill in ' + blank.join(', ') + ' in the environment.');
  pm.execution.skipRequest();
} else {
  // The timer tells the client to wait for what is under way.
  const waiting = setInterval(() => {}, 1000);
  fetchFor(meant).catch(error => pm.test('what this request needs could be fetched', () => { throw error; }))
    .then(() => clearInterval(waiting));
}
