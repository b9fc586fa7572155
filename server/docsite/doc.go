// Package docsite holds the pages that the public address serves to browsers: the documentation
// site below /docs, with the API reference, and the page at /.
//
// The site is built from the repository's Markdown and OpenAPI documents (docs/site), and its build
// in dist (make docs) is embedded in the binary. All pages can be read without a script. Their
// Content-Security-Policy allows scripts and styles from this address only, and no inline ones.
package docsite
