// Package contract holds traffic against the OpenAPI documents, for tests: each answer
// of an address, each request that was taken, and what the exchange sends to buyers and
// to suppliers. The public addresses have one document and the operators' another; by
// its path it is known which one an exchange belongs to.
//
// It is strict where a validator of OpenAPI would be lenient, so that the document and
// the server say the same in both directions. In what the exchange says there is no
// member and no header that the document does not name, and no error code that no
// example of that response has. It is lenient in one thing, as the document says: a
// member of a request that is null or blank counts as not sent.
//
// Schemas are compiled once and checked by jsonschema, which knows the dialect of 3.1
// whole. kin-openapi uses the same library and compiles at every check; it is used to
// judge the document itself.
package contract
