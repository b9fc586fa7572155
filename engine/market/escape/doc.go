// Package escape writes text into JSON, forms, XML and addresses, so that the text cannot
// leave its place. It also holds the placeholders that stand for secrets in bodies,
// addresses and headers until they are sent.
package escape
