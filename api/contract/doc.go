// Package contract checks traffic against the OpenAPI documents in tests. It checks each
// answer, each accepted request, and the requests that the exchange sends to buyers and
// suppliers. The public addresses have one document and the admin address another; the path
// decides.
//
// The check is stricter than a usual OpenAPI validator, so that document and server agree in
// both directions. The exchange must not send a member, a header or an error code that the
// document does not name for that response. As the document allows, a member of a request that
// is null or blank counts as missing.
//
// Schemas are compiled once. jsonschema supports the whole dialect of OpenAPI 3.1. kin-openapi
// uses the same library but compiles at every check; it validates the documents themselves.
package contract
