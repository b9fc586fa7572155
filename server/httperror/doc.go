// Package httperror writes errors in the form of the API: a status, a code, a message, a
// request id and, for an invalid payload, the fields.
//
// Only Write and RawResponse set Retry-After. The codes and their statuses are those of
// api/errors.yaml, which a test checks.
package httperror
