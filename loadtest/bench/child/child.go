package child

import (
	"encoding/json"
	"fmt"
	"io"
)

// SupplierID is the supplier of all leads.
const SupplierID = "sup_bench"

// Addresses is the log line that a server writes when it is ready.
type Addresses struct {
	Listen   string   `json:"listen"`             // public address
	Admin    string   `json:"admin,omitempty"`    // admin address
	Buyers   []string `json:"buyers,omitempty"`   // addresses of the buyers; Listen is the first
	Webhooks []string `json:"webhooks,omitempty"` // addresses of the webhook endpoints
}

// Roles are the functions of child processes by name.
var Roles = map[string]func(in io.Reader, out io.Writer) error{
	"role-ceiling":  serveUntilEOF(startCeiling),
	"role-buyers":   serveUntilEOF(startBuyers),
	"role-webhooks": serveUntilEOF(startWebhookEndpoints),
	"role-load":     runJSON(runLoad),
	"role-write":    runJSON(writeLog),
	"role-replay":   runJSON(replayLog),
	"role-scan":     runJSON(scanLog),
	"role-memory":   runJSON(measureLeadMemory),
	"role-commit":   runJSON(measureCommits),

	"role-ping-memory": runJSON(measurePingMemory),
	"role-rebuild":     runJSON(rebuildReport),
	"role-month":       runJSON(buildMonth),

	"role-committer": runJSON(measureCommitter),
	"role-cold-fill": runJSON(fillCold),
}

// runJSON makes a role of a function: it decodes the specification and encodes the
// result.
func runJSON[S, R any](f func(*S) (*R, error)) func(io.Reader, io.Writer) error {
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

// serveUntilEOF makes a role of a function that starts servers: it decodes the
// specification, writes the addresses, and stops the servers when the input ends.
func serveUntilEOF[S any](start func(*S) (at Addresses, stop func() error, err error)) func(io.Reader, io.Writer) error {
	return func(in io.Reader, out io.Writer) error {
		var spec S
		if err := json.NewDecoder(in).Decode(&spec); err != nil {
			return fmt.Errorf("cannot read the specification: %w", err)
		}
		at, stop, err := start(&spec)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(at); err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, in) // wait for the end of the input
		return stop()
	}
}
