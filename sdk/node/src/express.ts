import type { Request, RequestHandler } from 'express';
import type { Buyer } from './buyer/buyer.js';
import { maxBody } from './buyer/buyer.js';
import { pathOf, readBody, respond } from './buyer/node.js';

/**
 * Serves a buyer's endpoint inside an Express app: `app.use('/leads', expressBuyer(buyer))`
 * serves `/leads/v1/ping` and `/leads/v1/post`. All other paths below `/leads` get the
 * contract's 404. With `passOn` they go to the app's next handler.
 *
 * Mount it before `express.json()`. After that parser the original bytes are gone: duplicate
 * members go unnoticed, and the parser itself answers malformed bodies.
 */
export function expressBuyer(buyer: Buyer, options: { passOn?: boolean } = {}): RequestHandler {
  return (request, response, next) => {
    const path = pathOf(request);
    if (options.passOn === true && !buyer.serves(path)) {
      next();
      return;
    }
    void respond(buyer, request, response, path, () => bodyOf(request));
  };
}

/** The body, from the wire, or from a parser that has read it before. */
async function bodyOf(request: Request): Promise<Uint8Array | 'too_large'> {
  if (!request.readableEnded) return readBody(request);
  const parsed: unknown = request.body;
  const bytes = Buffer.isBuffer(parsed) ? parsed : Buffer.from(typeof parsed === 'string' ? parsed : (JSON.stringify(parsed) ?? ''));
  return bytes.length > maxBody ? 'too_large' : bytes;
}
