// The errors without a request in the collection, each with the reason.

/** The reasons, by code. */
export const absent = {
  request_timeout: 'a client of this kind sends each request in one piece',
  http_version_not_supported: 'a client of this kind speaks HTTP/1.1',
  internal: 'the exchange is at fault, and not the request',
  unavailable: 'the exchange is starting or stopping, and not the request at fault',
  buyer_unavailable: 'the buyer is at fault, and not the request',
  buyer_timeout: 'the buyer is at fault, and not the request',
};
