// A scripted exchange: real HTTP on 127.0.0.1. It sends the scripted answers in order and
// records the requests.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Sent {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An answer, or what to do in place of one. */
export type Scripted =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | 'cut' // the connection breaks before the response
  | 'half' // the connection breaks inside the body
  | 'hang'; // no response

export interface Exchange {
  url: string;
  sent: Sent[];
  /** What is still to be answered. When it is empty, `otherwise` is asked. */
  script: Scripted[];
  otherwise: (sent: Sent) => Scripted;
}

export async function startExchange(t: TestContext, script: Scripted[] = []): Promise<Exchange> {
  const exchange: Exchange = { url: '', sent: [], script, otherwise: () => ({ status: 200, body: {} }) };
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const sent = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      exchange.sent.push(sent);
      play(exchange.script.shift() ?? exchange.otherwise(sent), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  exchange.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return exchange;
}

function play(scripted: Scripted, response: ServerResponse): void {
  if (scripted === 'hang') return;
  if (scripted === 'cut') {
    response.socket?.destroy();
    return;
  }
  if (scripted === 'half') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"data":', () => response.socket?.destroy());
    return;
  }
  const { status, body = {}, headers = {} } = scripted;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A sleep that notes seconds, without what is added at random, and returns at once. */
export function noting(): { slept: number[]; sleep: (milliseconds: number) => Promise<void> } {
  const slept: number[] = [];
  return {
    slept,
    sleep: (milliseconds) => {
      const seconds = milliseconds / 1000;
      const planned = [16, 8, 4, 2, 1].find((least) => seconds >= least && seconds <= least * 1.1);
      slept.push(Number.isInteger(seconds) ? seconds : (planned ?? seconds));
      return Promise.resolve();
    },
  };
}
