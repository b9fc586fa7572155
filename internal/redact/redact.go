// Package redact keeps libraries that log while they are initialized from writing above
// what a command prints: one tells, on every start, that the system does not measure
// pressure. Nothing of the program's own is lost: it logs once it runs, after Over.
//
// It is initialized before they are, because Go takes the packages that are ready in
// the order of their paths and this one needs only the standard log: it is ready
// before net/http is, which needs packages whose paths come later than any of ours,
// and which all that is to be hushed imports. A test of the program sees it work.
package redact

import (
	"io"
	"log"
	"os"
)

// There is no other moment before theirs.
func init() { log.SetOutput(io.Discard) }

// Over gives the standard log its output back.
func Over() { log.SetOutput(os.Stderr) }
