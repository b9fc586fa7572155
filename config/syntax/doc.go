// Package syntax reads the text of a configuration, in YAML or JSON, into a tree of
// nodes. Each node has its position. The package expands ${NAME} inside scalars and
// collects every mistake with its place. Only a text that cannot be parsed ends the reading at
// its first mistake.
//
// The tree replaces the YAML library's strict decoder for three reasons:
//   - The decoder stops at its first error.
//   - It turns 8.00 into a float before the digits can be checked.
//   - Its messages quote the lines around a mistake, and those lines can hold secrets.
//
// The package expands ${NAME} after parsing, so that no value can change the structure
// of the document. A message never quotes a value from the environment.
package syntax
