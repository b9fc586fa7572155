// Command compare measures two revisions of this repository against each other
// and says what got slower and what got faster. It is `make bench-compare
// BASE=rev`; the other side is the working tree as it is.
//
// # How it is fair
//
// Both sides are built first. Then they take turns, base head base head, one
// benchmark's whole round at a time, so that a machine that grows slower slows
// both. Small benchmarks are the packages' own, each side's in its own test
// binary; only those that both sides have are compared. With --macro the served
// exchange is compared too, by the bench of the working tree: real processes on
// cores of their own, the one program's against the other's.
//
// # What counts as a difference
//
// Two samples are compared by the Mann-Whitney test, which assumes nothing of
// how figures are spread. Many are compared at a time, and of a hundred tests
// five would cry out by chance; so the p-values are judged together, by
// Benjamini and Hochberg's rule: of the differences told, one in twenty is
// expected to be none. One below the least that matters is not told.
//
// Rejected: a fixed number of percent, which on a noisy machine cries out at
// everything or at nothing; judging each test alone, as said.
//
// The samples stay in tmp/compare, in the form that benchstat reads.
package main
