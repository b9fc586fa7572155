// Before every request: gets the missing variables in double braces, with the requests of this
// collection that provide them. You can therefore send any request, in any order. Valid values are
// kept. If the environment lacks a value, the request is skipped, and the console names the value.
const toFillIn = TO_FILL_IN;
const givers = GIVERS;

// A static token of a sandbox replaces the OAuth client.
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

const give = async (giver, tries = 20) => {
  await fetchFor(giver.request);
  const filled = (_, thing) => (typeof thing === 'string' ? pm.variables.replaceIn(thing) : thing);
  const { method, url, header, body } = JSON.parse(JSON.stringify(giver.request), filled);
  const response = await send({ method, url, header, body });
  const text = response.text();
  const answer = /^[{[]/.test(text) ? JSON.parse(text) : {};
  if (tries > 0 && giver.again({ answer })) {
    giver.drop.forEach(name => pm.collectionVariables.unset(name));
    return give(giver, tries - 1);
  }
  const given = () => giver.keep({
    text,
    answer,
    header: name => response.headers.get(name),
    sent: { key: header['Idempotency-Key'], body: body && body.raw },
  });
  let kept;
  try {
    kept = response.code === giver.status && given();
  } catch (_) {
    // The answer lacks the needed value: a ping without a bid.
  }
  if (!kept) throw new Error('"' + giver.name + '", which it needs, was answered ' + response.code + ' ' + text);
  Object.keys(kept).forEach(name => pm.collectionVariables.set(name, kept[name]));
  giver.drop.forEach(name => pm.collectionVariables.unset(name));
};

// Values from another environment (another exchange or client) are not valid in this one.
const under = String([...toFillIn.names.map(value).join(' ')].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 4294967291, 7));
if (value('kept_under') !== under) {
  givers.forEach(giver => giver.gives.forEach(name => pm.collectionVariables.unset(name)));
  pm.collectionVariables.set('kept_under', under);
}

const { url, header, body, auth } = pm.request.toJSON();
const meant = { url, body, auth, header: (header || []).filter(one => !one.disabled) };
const orElse = name => {
  const token = Object.keys(statics).find(one => toFillIn.oauth[one] === name);
  return token ? name + ' (or ' + statics[token] + ' in its place)' : name;
};
const blank = [...new Set(missing(meant))].map(orElse);
if (blank.length > 0) {
  console.log(pm.info.requestName + ' was not sent: fill in ' + blank.join(', ') + ' in the environment.');
  pm.execution.skipRequest();
} else {
  // The timer makes the client wait for requests in progress.
  const waiting = setInterval(() => {}, 1000);
  fetchFor(meant).catch(error => pm.test('what this request needs could be fetched', () => { throw error; }))
    .then(() => clearInterval(waiting));
}
