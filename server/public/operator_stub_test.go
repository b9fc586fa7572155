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
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/clusterapi"
	"pingpost/server/admin/person"
	"pingpost/server/admin/savedreports"
	"pingpost/server/instructions"
	"pingpost/server/metrics"
	"pingpost/server/servertest"
)

// stubOperator is the operator's process of the admin API, around an engine or nil.
type stubOperator struct {
	engine  *engine.Engine
	tokens  *token.Issuer
	sandbox bool
}

func (stubOperator) Ready() error { return nil }

func (stubOperator) AcceptsRequests() error { return nil }

func (o stubOperator) EngineWhileReady() *engine.Engine { return o.engine }

func (stubOperator) StateHash() (seq, hash uint64, err error) { return 7, 8, nil }

func (stubOperator) ActiveConfigurationJSON() []byte { return []byte("{}") }

func (stubOperator) Seal(_, value string) []byte { return []byte(value) }

func (stubOperator) RevealSecret(string) (string, bool) { return "", false }

func (stubOperator) Unseal(string, []byte) (string, bool) { return "", false }

func (o stubOperator) CredentialHasher() *token.Issuer { return o.tokens }

func (stubOperator) PostingInstructions() *instructions.Publisher { return nil }

func (o stubOperator) IsSandbox() bool { return o.sandbox }

func (stubOperator) ApplyConfiguration([]byte, map[string]string, bool, string) (admin.ConfigurationChangeResult, error) {
	return admin.ConfigurationChangeResult{}, nil
}

func (stubOperator) ExplainLead(market.LeadID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainAuction(market.AuctionID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainRequest(market.RequestID) ([]byte, error) { return nil, engine.ErrNotFound }

func (stubOperator) ExplainBySellersAuctionID(_, _ string) ([]byte, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) EraseContactData(*admin.ErasureRequest) (admin.ErasureResult, error) {
	return admin.ErasureResult{}, engine.ErrNotFound
}

func (stubOperator) FindLeadsOfPerson(*person.Query) (*person.Page, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) RevealContact(market.LeadID) ([]person.ContactField, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) Report() *report.Report { return nil }

func (stubOperator) ConfigEntries(canonical.Collection) ([]admin.ConfigEntry, error) { return nil, nil }

func (stubOperator) ConfigEntry(canonical.EntryRef) (*admin.ConfigEntry, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) ConfigDrift() (*admin.ConfigDrift, error) { return nil, nil }
func (stubOperator) ResolveConfigDrift(*admin.ConfigDriftResolution) (*admin.ConfigurationChangeResult, error) {
	return nil, nil
}

func (stubOperator) ChangeConfigEntry(*admin.ConfigEntryChange) (*admin.ConfigEntryChangeResult, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) History(admin.ConfigHistoryQuery) (*admin.ConfigHistoryPage, error) {
	return &admin.ConfigHistoryPage{}, nil
}

func (stubOperator) SuppressionLists() ([]admin.SuppressionList, error) { return nil, nil }

func (stubOperator) ApplySuppressionUpload(*admin.SuppressionUpload) (*admin.SuppressionUploadResult, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) RequestBackupNow() bool { return false }

func (stubOperator) BackupStatus() admin.BackupStatus { return admin.BackupStatus{} }

func (stubOperator) ProcessStatus() admin.ProcessStatus { return admin.ProcessStatus{} }

func (stubOperator) Alerts() alerts.Service { return nil }

func (stubOperator) SavedReports() savedreports.Service { return nil }

func (stubOperator) Cluster() clusterapi.Controller { return nil }

func (stubOperator) Now() int64 { return time.Now().UnixNano() }

func (stubOperator) Statement(ledger.Party, ledger.Period) (*ledger.Statement, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) Entries(*ledger.Statement) (admin.StatementEntryIterator, error) {
	return nil, engine.ErrNotFound
}

// serveAdmin serves the admin API and returns its address.
func serveAdmin(t *testing.T, process stubOperator) string {
	t.Helper()
	a := admin.New(process, metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) }), servertest.Password, slog.New(slog.DiscardHandler))
	return servertest.StartServer(t, a.Serve, a.Shutdown)
}
