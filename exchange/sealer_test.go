package exchange

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// TestLeadsNeedKeyFile: while no file of lead keys can be created, leads get a 503 and keep no
// reservation. Afterwards they are accepted without a restart.
func TestLeadsNeedKeyFile(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, baseConfig)
	obstacle := filepath.Join(p.dataDir(), "keys", "leads", "unfinished.new")
	must.Succeed(t, os.MkdirAll(filepath.Join(obstacle, "full"), 0o700))
	x := start(t, p)
	for i := range 3 {
		a := x.ingest(leadBody(i), "Idempotency-Key", "same")
		if a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "unavailable") {
			t.Errorf("got %d %v %s, want 503 with Retry-After", a.status, a.header, a.body)
		}
	}
	x.checkMetrics("pingpost_reservations 0", "pingpost_leads_held 0")
	must.Succeed(t, os.RemoveAll(obstacle))
	eventually(t, "a lead is accepted", func() bool {
		return x.ingest(leadBody(1), "Idempotency-Key", "same").status == 201
	})
	if decryptable, erased := x.decryptableLeads(); len(decryptable) != 1 || len(erased) != 0 {
		t.Errorf("decryptable %v, erased %v, want one decryptable", decryptable, erased)
	}
}
