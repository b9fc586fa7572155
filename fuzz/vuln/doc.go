// Package vuln tests that `make vuln` fails when it has to. Real vulnerabilities are rare,
// and a check that never failed proves little.
//
// The tests use the real tool and Makefile, without internet, and databases of one
// invented advisory each: for a function that the exchange calls, which the check must
// report, and for one that it does not call, which must not fail the check.
//
// Each run analyses the whole program for minutes. The tests therefore run only by
// `make vuln-finds`, and go test skips them.
package vuln
