//go:build linux

package main

import (
	"syscall"
	"time"

	"pingpost/fuzz/witness"
)

// The disk is lost, and the exchange continues from its backup. After a kill the backup must
// have caught up before; an orderly stop backs up the rest itself.
var (
	_ = register(fault{name: "disk lost", weight: 1, inject: func(t *torture) bool {
		<-t.topUpDone // a top-up after the last backup would rightly be lost
		t.AwaitAnswers(t.random)
		witness.Await(t.reporter, "no delivery is open", func() bool { return t.Metric("pingpost_open_deliveries") == "0" })
		defer t.AdminEditor.Pause()()
		t.AwaitBackup()
		t.Kill()
		t.RestoreAfterDiskLoss()
		t.Start()
		return true
	}})
	_ = register(fault{name: "disk lost after an orderly stop", weight: 1, inject: func(t *torture) bool {
		<-t.topUpDone
		t.Stop()
		t.RestoreAfterDiskLoss()
		t.Start()
		return true
	}})
	_ = register(fault{name: "backup's disk read-only", weight: 1, missing: missingMount, inject: func(t *torture) bool {
		if err := syscall.Mount(t.BackupDir(), t.BackupDir(), "", syscall.MS_BIND, ""); err != nil {
			t.reporter.Fatal(err)
		}
		t.readOnlyDir = t.BackupDir()
		if err := syscall.Mount("", t.BackupDir(), "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
			t.reporter.Fatal(err)
		}
		t.Suppliers.SendLeads(fewLeads)
		time.Sleep(time.Second)
		if t.random.IntN(2) == 0 { // the exchange must also start without its backup
			t.Kill()
			t.Start()
		}
		if t.Metric("pingpost_backup_lag_entries") == "0" {
			t.reporter.Errorf("the backup's disk is read-only, but pingpost_backup_lag_entries is 0")
		}
		if err := t.endReadOnly(); err != nil {
			t.reporter.Fatal(err)
		}
		t.AwaitBackup()
		return true
	}})
)

// endReadOnly makes the backup's disk writable again.
func (t *torture) endReadOnly() error {
	if t.readOnlyDir == "" {
		return nil
	}
	at := t.readOnlyDir
	t.readOnlyDir = ""
	return syscall.Unmount(at, syscall.MNT_DETACH)
}
