// Package apidocs holds the documents that the public address serves without a credential:
// the OpenAPI document, as YAML and as JSON, and an HTML page that renders it. It also
// holds the OpenAPI document of the admin API, and the headers of deprecated operations.
//
// The page is one file. It includes Redoc, from dist as its npm package has it, and the few
// lines that start it. The Content-Security-Policy names both scripts by their hashes, so
// no other script runs. The page loads only the document.
package apidocs
