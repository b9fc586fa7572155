// Package server is the exchange's doors: HTTP for suppliers on one address,
// HTTP for operators on another. It knows routes, credentials, limits and forms
// of answers, and hands everything else to the engine.
//
// The checks of a request come in the contract's order, the same on every path:
// 404, 405, 401, 403 for a scope, 429, 413, 415, 400; what follows is the
// engine's.
package server
