// Package api is the contract of the addresses, in one place: two OpenAPI documents,
// written by hand, of the public addresses and of the operators', and the codes of
// errors.
//
// The documents come first. The server's tests hold every request and every answer
// against them (see api/contract); what they describe is what is served, and no more.
// They are part of the program, which serves them as they were written, and the public
// one as JSON.
//
// errors.yaml says of each code what it is. The constants in api/errcode and the
// tables in docs/errors.md are made from it by api/generate, and a test there fails
// where they are not what it would make.
package api

//go:generate go run ./generate
