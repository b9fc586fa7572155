package exchange

import (
	"path/filepath"
	"slices"
	"testing"

	"pingpost/internal/must"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

// TestBackupHasEntriesSecretsAndUploads: a restore has the API's entries with their secrets and
// history, and uploaded lists.
func TestBackupHasEntriesSecretsAndUploads(t *testing.T) {
	t.Parallel()
	p, to := newTestDir(t, withSuppression(listConfig)), filepath.Join(t.TempDir(), "backups")
	x := must.Value(startWithBackup(t, p, to))(t)
	x.putEntry("buyers/buy_red", redBuyer)
	x.putEntry("campaigns/cmp_red", redCampaign)
	x.upload("", phoneLines(2)).mustHave(t, 200)
	x.adminRequest("POST", "/admin/v1/backup", "").mustHave(t, 202, `"wanted_at":"2`)
	seq, _ := x.log.LastEntry()
	type backupStatus struct {
		Configured bool
		Shipped    uint64  `json:"shipped_seq"`
		LastError  *string `json:"last_error"`
	}
	eventually(t, "all entries are backed up", func() bool {
		got := decode[backupStatus](t, x.mustAdmin(200, "GET", "/admin/v1/backup", ""))
		return got.Configured && got.Shipped >= seq && got.LastError == nil
	})
	x.stop()
	from := must.Value(store.OpenDir(to))(t)
	next := newTestDir(t, withSuppression(listConfig))
	must.Value(backup.NewRepository(from, nil).Restore(t.Context(), backup.RestoreOptions{Dir: next.dataDir()}))(t)
	y := start(t, next)
	y.mustSell(redLead(1))
	if got := y.history("?kind=buyers"); !slices.Equal(y.suppressedLeads(4), []int{2}) || len(got.Entries) != 2 || got.Entries[0].Lost {
		t.Errorf("restored list %v, history %+v", y.suppressedLeads(4), got)
	}
	y.adminRequest("POST", "/admin/v1/backup", "").mustFail(t, 409, "conflict")
	y.adminRequest("GET", "/admin/v1/backup", "").mustHave(t, 200, `"configured":false`)
}

// Before the exchange is ready, the status says that a backup is configured.
func TestBackupStatusBeforeReady(t *testing.T) {
	x := &Exchange{options: Options{Backup: func(string) (backup.Options, error) { return backup.Options{}, nil }}}
	if status := x.BackupStatus(); !status.Configured || status.Shipped != 0 {
		t.Errorf("with a backup: %+v", status)
	}
	if status := new(Exchange).BackupStatus(); status.Configured {
		t.Errorf("without a backup: %+v", status)
	}
}
