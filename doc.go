// Package pingpost is the root of the lead exchange. It holds no code of the
// program, which starts in cmd/pingpost: only the tests that keep the shape of
// the whole tree (see layout_test.go).
package pingpost
