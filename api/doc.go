// Package api is the contract of the public addresses, in one place: the OpenAPI
// document, written by hand, and the codes of errors.
//
// The document comes first. The server's tests hold every request and every answer
// against it (see api/contract); what it describes is what is served, and no more. It
// is part of the program, which serves it as it was written and as JSON.
//
// errors.yaml says of each code what it is. The constants in api/errcode and the
// tables in docs/errors.md are made from it by api/generate, and a test there fails
// where they are not what it would make.
package api

//go:generate go run ./generate
