package public

import (
	"log/slog"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/keys/token"
	"pingpost/server/admin"
	"pingpost/server/metrics"
	"pingpost/server/servertest"
)

// stubOperator is an operator's process that has no engine. A method that no test needs panics.
type stubOperator struct{ admin.Operator }

func (stubOperator) Ready() error { return nil }

func (stubOperator) Engine() *engine.Engine { return nil }

func (stubOperator) Hash() (seq, hash uint64, err error) { return 7, 8, nil }

func (stubOperator) Configuration() []byte { return []byte("{}") }

func (stubOperator) Reveal(string) (string, bool) { return "", false }

func (stubOperator) Tokens() *token.Issuer { return nil }

func (stubOperator) Sandbox() bool { return false }

func (stubOperator) Apply([]byte, map[string]string, bool, string) (admin.ConfigurationChanged, error) {
	return admin.ConfigurationChanged{}, nil
}

func (stubOperator) Now() int64 { return time.Now().UnixNano() }

// serveAdmin serves the admin API of a process without an engine, and returns its address.
func serveAdmin(t *testing.T) string {
	t.Helper()
	a := admin.New(stubOperator{}, metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) }), servertest.Password, slog.New(slog.DiscardHandler))
	return servertest.StartServer(t, a.Serve, a.Shutdown)
}
