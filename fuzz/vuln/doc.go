// Package vuln sees that `make vuln` fails where it has to: what is vulnerable is rare,
// so a check that has never failed shows nothing.
//
// It is tried with databases of one made-up advisory each, in the layout of Go's own:
// of a function that the exchange calls, which has to be found and named, and of one in
// the same package that nobody calls, which is no reason to fail. The tool and the
// Makefile are the real ones, and nothing is asked of the network.
//
// Each try looks at the whole program, for longer than a test may take that runs with every
// change; so it is `make vuln-finds`, and go test passes over it.
package vuln
