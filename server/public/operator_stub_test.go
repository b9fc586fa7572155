package public

import (
	"log/slog"
	"testing"
	"time"

	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/keys/token"
	"pingpost/report"
	"pingpost/server/admin"
	"pingpost/server/metrics"
	"pingpost/server/servertest"
)

// stubOperator is an operator's process that has no engine.
type stubOperator struct{}

func (stubOperator) Ready() error { return nil }

func (stubOperator) Engine() *engine.Engine { return nil }

func (stubOperator) Hash() (seq, hash uint64, err error) { return 7, 8, nil }

func (stubOperator) Configuration() []byte { return []byte("{}") }

func (stubOperator) Seal(string, string) []byte { return nil }

func (stubOperator) Reveal(string) (string, bool) { return "", false }

func (stubOperator) Tokens() *token.Issuer { return nil }

func (stubOperator) Sandbox() bool { return false }

func (stubOperator) Apply([]byte, map[string]string, bool, string) (admin.ConfigurationChanged, error) {
	return admin.ConfigurationChanged{}, nil
}

func (stubOperator) ExplainLead(market.LeadID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainAuction(market.AuctionID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainRequest(market.RequestID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainSellers(_, _ string) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) Erase(*admin.Erasure) (admin.Erased, error) {
	return admin.Erased{}, engine.ErrNotFound
}

func (stubOperator) Report() *report.Report { return nil }

func (stubOperator) Items(canonical.Kind) ([]admin.ConfigEntry, error) { return nil, nil }

func (stubOperator) Item(canonical.Ref) (*admin.ConfigEntry, error) { return nil, engine.ErrNotFound }

func (stubOperator) ChangeItem(*admin.ConfigEntryChange) (*admin.ConfigEntryChanged, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) History(admin.HistoryQuery) (*admin.HistoryPage, error) {
	return &admin.HistoryPage{}, nil
}

func (stubOperator) SuppressionLists() ([]admin.SuppressionList, error) { return nil, nil }

func (stubOperator) Upload(*admin.Upload) (*admin.Uploaded, error) { return nil, engine.ErrNotFound }

func (stubOperator) BackUp() bool { return false }

func (stubOperator) Backup() admin.Backup { return admin.Backup{} }

func (stubOperator) Standing() admin.ProcessStatus { return admin.ProcessStatus{} }

func (stubOperator) Now() int64 { return time.Now().UnixNano() }

func (stubOperator) Statement(ledger.Party, ledger.Period) (*ledger.Statement, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) Entries(*ledger.Statement) (admin.Entries, error) { return nil, engine.ErrNotFound }

// serveAdmin serves the admin API of a process without an engine, and returns its address.
func serveAdmin(t *testing.T) string {
	t.Helper()
	a := admin.New(stubOperator{}, metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) }), servertest.Password, slog.New(slog.DiscardHandler))
	return servertest.StartServer(t, a.Serve, a.Shutdown)
}
