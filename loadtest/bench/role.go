package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// roles are what this program can be started as by itself.
var roles = map[string]func(in io.Reader, out io.Writer) error{
	"role-ceiling": serveCeiling,
	"role-buyers":  serveBuyers,
	"role-hooked":  serveHooked,
	"role-client":  play(drive),
	"role-steady":  play(supply),
	"role-seller":  play(sell),
	"role-write":   play(writeLog),
	"role-replay":  play(replayLog),
	"role-scan":    play(scanLog),
	"role-memory":  play(weigh),
	"role-commit":  play(commitPair),

	"role-ping-memory": play(weighPings),
	"role-rebuild":     play(rebuildAll),
	"role-pages":       play(turnPages),

	"role-committer": play(commitAll),
}

// play makes a role of a function from a specification to a result.
func play[S, R any](f func(*S) (*R, error)) func(io.Reader, io.Writer) error {
	return func(in io.Reader, out io.Writer) error {
		var spec S
		if err := json.NewDecoder(in).Decode(&spec); err != nil {
			return fmt.Errorf("cannot read the specification: %w", err)
		}
		result, err := f(&spec)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(result)
	}
}
