// A faulty exchange: a proxy that corrupts some answers of a correct exchange. It shows that the
// collection's tests can fail.
import { createServer, request } from 'node:http';

const json = (change) => (answer) => {
  const body = JSON.parse(answer.body);
  change(body);
  answer.body = JSON.stringify(body);
};
const sold = ({ path, answer }) => path === '/v1/post' && answer.status === 201;
const refused = ({ answer }) => answer.status >= 400;
const repeated = ({ answer }) => answer.headers['idempotent-replayed'] === 'true';

/** What can be broken: {name, where, spoil, sees}: sees is in the name of a test that finds it. */
export const faults = [
  { name: 'a wrong status', where: sold, spoil: (answer) => { answer.status = 200; }, sees: 'the status is 201' },
  { name: 'a status that the document does not have', where: sold, spoil: (answer) => { answer.status = 202; }, sees: 'the document has an answer' },
  { name: 'a header that is missing', where: sold, spoil: (answer) => { delete answer.headers['x-ratelimit-remaining']; }, sees: 'X-RateLimit-Remaining' },
  { name: 'a header that is no number', where: sold, spoil: (answer) => { answer.headers['x-ratelimit-reset'] = 'soon'; }, sees: 'X-RateLimit-Reset' },
  { name: 'another media type', where: sold, spoil: (answer) => { answer.headers['content-type'] = 'text/plain'; }, sees: 'Content-Type' },
  { name: 'a member of another type', where: sold, spoil: json((body) => { body.price.amount = String(body.price.amount); }), sees: 'the body is as the document has it' },
  { name: 'a member that is missing', where: sold, spoil: json((body) => { delete body.buyer_id; }), sees: 'the body is as the document has it' },
  { name: 'another price than the bid', where: sold, spoil: json((body) => { body.price.amount += 1; }), sees: 'the price is the bid' },
  { name: 'a repeat that is another byte', where: repeated, spoil: (answer) => { answer.body += ' '; }, sees: 'to the byte' },
  { name: 'a repeat that does not say so', where: repeated, spoil: (answer) => { delete answer.headers['idempotent-replayed']; }, sees: 'it says that it is' },
  { name: 'a repeat under a name of its own', where: repeated, spoil: (answer) => { answer.headers['x-request-id'] = 'req_other'; }, sees: 'X-Request-Id is that of the first' },
  { name: 'an error of another name', where: refused, spoil: json((body) => { body.request_id = 'req_other'; }), sees: 'request_id is that of X-Request-Id' },
  { name: 'an error of another code', where: refused, spoil: json((body) => { body.error = 'internal'; }), sees: 'the error is' },
  { name: 'a member that is not named', where: refused, spoil: json((body) => { body.field_errors?.pop(); }), sees: 'field_errors names each member' },
];

/** No fault of the exchange: the bid is over when the post comes, the first time that one does. */
export function lateOnce() {
  let late = false;
  const where = ({ path }) => path === '/v1/post' && !late;
  return {
    where,
    spoil: (answer) => {
      late = true;
      answer.status = 410;
      const { request_id } = JSON.parse(answer.body);
      answer.body = JSON.stringify({ error: 'bid_expired', message: 'm', request_id: request_id ?? answer.headers['x-request-id'] });
    },
  };
}

/** Serves what the exchange at this address does, but for the fault. */
export async function openFaulty(exchange, fault) {
  const target = new URL(exchange);
  const server = createServer((asked, told) => {
    const onward = request({ host: target.hostname, port: target.port, method: asked.method, path: asked.url, headers: asked.headers }, (heard) => {
      const parts = [];
      heard.on('data', (part) => parts.push(part));
      heard.on('end', () => {
        const answer = { status: heard.statusCode, headers: { ...heard.headers }, body: Buffer.concat(parts).toString() };
        if (fault.where({ path: asked.url, answer })) fault.spoil(answer);
        delete answer.headers['content-length'];
        told.writeHead(answer.status, answer.headers).end(answer.body);
      });
      heard.on('error', () => told.destroy());
    });
    onward.on('error', () => told.destroy());
    asked.pipe(onward);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const close = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
