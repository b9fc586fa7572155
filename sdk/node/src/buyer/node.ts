import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { BuyerAnswer } from './answer.js';
import { maxBody, type Buyer, type BuyerRequest } from './buyer.js';

/**
 * Serves a buyer's endpoint with node:http: `createServer(nodeHandler(buyer))`. With the
 * prefix `/leads`, the paths are `/leads/v1/ping` and `/leads/v1/post`. All other paths get
 * a 404.
 */
export function nodeHandler(buyer: Buyer, options: { prefix?: string } = {}): RequestListener {
  const prefix = (options.prefix ?? '').replace(/\/+$/, '');
  return (request, response) => {
    const path = pathOf(request);
    void respond(buyer, request, response, path.startsWith(prefix) ? path.slice(prefix.length) : '', () => readBody(request));
  };
}

/** The path without its query, as it was sent. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').replace(/[?#].*$/s, '');
}

export async function respond(
  buyer: Buyer,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  body: BuyerRequest['body'],
): Promise<void> {
  const given = await buyer.handle({
    method: request.method ?? '',
    path,
    header: (name) => {
      const value = request.headers[name];
      return typeof value === 'object' ? value.join(', ') : value;
    },
    body,
  });
  write(response, given);
}

function write(response: ServerResponse, given: BuyerAnswer): void {
  if (response.destroyed || response.headersSent) return; // the client has disconnected
  response.writeHead(given.status, given.headers);
  response.end(given.body);
}

// A client that is still sending may never read an early answer. Therefore the server reads
// and discards a body that is too large, up to this many bytes.
const patience = 1024 * 1024;

export function readBody(request: IncomingMessage): ReturnType<BuyerRequest['body']> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > patience) {
      resolve('too_large');
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBody) chunks.push(chunk);
      if (size > patience) resolve('too_large');
    });
    request.on('end', () => {
      resolve(size > maxBody ? 'too_large' : Buffer.concat(chunks));
    });
    request.on('error', reject);
    request.on('close', () => {
      reject(new Error('the request broke off'));
    });
  });
}
