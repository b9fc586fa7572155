package exchange

import (
	"path/filepath"
	"slices"
	"testing"

	"pingpost/internal/must"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

// TestMadeIsBackedUp: what was made entry by entry, its secrets, its history and what
// was uploaded come back from a backup.
func TestMadeIsBackedUp(t *testing.T) {
	p, to := newPlace(t, suppressing(listed)), filepath.Join(t.TempDir(), "backups")
	x := must.Value(backedUp(t, p, to))(t)
	x.put("buyers/buy_red", redBuyer)
	x.put("campaigns/cmp_red", redCampaign)
	x.upload("", phones(2)).mustHave(t, 200)
	x.operate("POST", "/admin/v1/backup", "").mustHave(t, 202, `"wanted_at":"2`)
	seq, _ := x.log.Durable()
	type told struct {
		Configured bool
		Shipped    uint64  `json:"shipped_seq"`
		LastError  *string `json:"last_error"`
	}
	eventually(t, "all is backed up", func() bool {
		got := decode[told](t, x.must(200, "GET", "/admin/v1/backup", ""))
		return got.Configured && got.Shipped >= seq && got.LastError == nil
	})
	x.stop()
	from := must.Value(store.OpenDir(to))(t)
	next := newPlace(t, suppressing(listed))
	must.Value(backup.NewRepository(from, nil).Restore(t.Context(), backup.RestoreOptions{Dir: next.data()}))(t)
	y := start(t, next)
	y.sold(redLead(1))
	if got := y.history("?kind=buyers"); !slices.Equal(y.suppressed(4), []int{2}) || len(got.Entries) != 2 || got.Entries[0].Lost {
		t.Errorf("%v, %+v", y.suppressed(4), got)
	}
	y.operate("POST", "/admin/v1/backup", "").mustFail(t, 409, "conflict")
	y.operate("GET", "/admin/v1/backup", "").mustHave(t, 200, `"configured":false`)
}
