// Package request reads requests and rejects those that a proxy and the exchange may read
// differently: ambiguous framing, bare line feeds, trailers, repeated headers and request
// targets in other spellings. It also reads bodies, query parameters and credentials.
package request
