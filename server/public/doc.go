// Package public is the HTTP API for suppliers and buyers: ingest, pings, posts, reports,
// tokens, and seeded leads in a sandbox. Its address is public.
//
// After the request's head, the checks have the order of the contract: 404, 405, 401, 403 for a
// scope, 429, 413, 415, 400. Only /oauth/token differs, because the credential may be in its body.
// The engine makes most further checks.
package public
