// Package public is the HTTP API for suppliers and buyers: ingest, pings, posts, reports,
// tokens, and seeded leads in a sandbox. Its address is public.
//
// The checks of a request have the order of the contract on every path: 404, 405, 401, 403
// for a scope, 429, 413, 415, 400. The engine makes all further checks.
package public
