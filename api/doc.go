// Package api is the contract of the exchange's addresses: two handwritten OpenAPI documents,
// one for the public addresses and one for the admin address, and the error codes.
//
// The documents come first. The server's tests check every request and answer against them
// (api/contract), so the exchange serves exactly the documented interface. The program embeds
// the documents and serves them as written; it also serves the public one as JSON.
//
// errors.yaml describes each error code. api/generate derives the constants in api/errcode and
// the tables in docs/errors.md from it; a test fails if they are stale.
package api

//go:generate go run ./generate
