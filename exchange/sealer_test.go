package exchange

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// TestNoKeysForLeads: while no file of keys can be made the exchange is up and takes no
// lead, says 503 and when to come again, and holds nothing for those that it refused. When one
// can be made, it takes them without a start.
func TestNoKeysForLeads(t *testing.T) {
	p := newPlace(t, recorded)
	inTheWay := filepath.Join(p.data(), "keys", "leads", "unfinished.new")
	must.Succeed(t, os.MkdirAll(filepath.Join(inTheWay, "full"), 0o700))
	x := start(t, p)
	for i := range 3 {
		a := x.ingest(lead(i), "Idempotency-Key", "same")
		if a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "unavailable") {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
	}
	x.measures("pingpost_reservations 0", "pingpost_leads_held 0")
	must.Succeed(t, os.RemoveAll(inTheWay))
	eventually(t, "a lead is taken", func() bool {
		return x.ingest(lead(1), "Idempotency-Key", "same").status == 201
	})
	if known, forgotten := x.whoIsKnown(); len(known) != 1 || len(forgotten) != 0 {
		t.Errorf("known %v, erased %v", known, forgotten)
	}
}
