// Package apidocs holds the OpenAPI documents that the addresses serve: the public one without a
// credential, as YAML and as JSON, and the one of the admin API. It also holds the headers of
// deprecated operations, and the form of a file with its compressed body.
package apidocs
