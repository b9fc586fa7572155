// Package page has what the public address shows to everyone: the OpenAPI document,
// as YAML and as JSON, and a page that reads it to people; and what the operators'
// address shows of its own document.
//
// The page is one file. The script that draws it, Redoc, lies in dist as its package
// on npm has it, and is put into the page; so are the few lines that start it. Its
// policy names both by their hashes: nothing else runs, and nothing is loaded but the
// document. See ARCHITECTURE.md for what was weighed.
package page
