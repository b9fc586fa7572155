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

func (stubOperator) StateHash() (seq, hash uint64, err error) { return 7, 8, nil }

func (stubOperator) Configuration() []byte { return []byte("{}") }

func (stubOperator) Seal(string, string) []byte { return nil }

func (stubOperator) RevealSecret(string) (string, bool) { return "", false }

func (stubOperator) TokenIssuer() *token.Issuer { return nil }

func (stubOperator) IsSandbox() bool { return false }

func (stubOperator) ApplyConfiguration([]byte, map[string]string, bool, string) (admin.ConfigurationChangeResult, error) {
	return admin.ConfigurationChangeResult{}, nil
}

func (stubOperator) ExplainLead(market.LeadID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainAuction(market.AuctionID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainRequest(market.RequestID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainSellers(_, _ string) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) EraseContactData(*admin.ErasureRequest) (admin.ErasureResult, error) {
	return admin.ErasureResult{}, engine.ErrNotFound
}

func (stubOperator) Report() *report.Report { return nil }

func (stubOperator) ConfigEntries(canonical.Collection) ([]admin.ConfigEntry, error) { return nil, nil }

func (stubOperator) ConfigEntry(canonical.EntryRef) (*admin.ConfigEntry, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) ChangeConfigEntry(*admin.ConfigEntryChange) (*admin.ConfigEntryChangeResult, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) History(admin.ConfigHistoryQuery) (*admin.ConfigHistoryPage, error) {
	return &admin.ConfigHistoryPage{}, nil
}

func (stubOperator) SuppressionLists() ([]admin.SuppressionList, error) { return nil, nil }

func (stubOperator) Upload(*admin.SuppressionUpload) (*admin.SuppressionUploadResult, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) RequestBackupNow() bool { return false }

func (stubOperator) Backup() admin.BackupStatus { return admin.BackupStatus{} }

func (stubOperator) ProcessStatus() admin.ProcessStatus { return admin.ProcessStatus{} }

func (stubOperator) Now() int64 { return time.Now().UnixNano() }

func (stubOperator) Statement(ledger.Party, ledger.Period) (*ledger.Statement, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) Entries(*ledger.Statement) (admin.StatementEntryIterator, error) {
	return nil, engine.ErrNotFound
}

// serveAdmin serves the admin API of a process without an engine, and returns its address.
func serveAdmin(t *testing.T) string {
	t.Helper()
	a := admin.New(stubOperator{}, metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) }), servertest.Password, slog.New(slog.DiscardHandler))
	return servertest.StartServer(t, a.Serve, a.Shutdown)
}
