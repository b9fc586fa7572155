package backup

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"pingpost/internal/must"
	"pingpost/wal"
)

// TestBackupOfReplicaAfterPowerLoss: a node of a cluster backs up an entry only after an fsync covers it, so it can
// continue its backup after a power loss.
func TestBackupOfReplicaAfterPowerLoss(t *testing.T) {
	dir, disk := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	s := &site{t: t, dir: dir}
	s.file("keys/"+exchangeKey, hex.EncodeToString(random(32))+"\n")
	var opt wal.Options
	opt.Faults.Sync = func() error { // the disk gets the bytes that are in the files now
		if err := os.RemoveAll(disk); err != nil {
			return err
		}
		return os.CopyFS(disk, os.DirFS(dir))
	}
	r := must.Value(wal.OpenReplica(dir, opt))(t)
	must.Value(r.Sync())(t)
	to := newDir(t, t.TempDir())
	first := must.Value(NewShipper(SourceFromReplica(r), small(to, nil)))(t)
	for at, entry := range []string{"one", "two"} {
		if _, _, err := r.AppendBatch(int64(at+1), [][]byte{[]byte(entry)}); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, first.ShipAll(context.Background()))
	}
	if shipped := first.Status().Shipped; shipped != 2 {
		t.Errorf("the backup ends with entry %d, want 2", shipped)
	}
	first.Close()
	must.Succeed(t, r.Close())
	again := must.Value(wal.OpenReplica(disk, wal.Options{}))(t)
	defer again.Close()
	second := must.Value(NewShipper(SourceFromReplica(again), small(to, nil)))(t)
	defer second.Close()
	must.Succeed(t, second.PrepareShipping(context.Background()))
}
