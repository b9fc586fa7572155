//go:build linux

package main

import (
	"syscall"
	"time"

	"pingpost/fuzz/witness"
)

// The disk is lost, and the exchange lives on from its backup: with all that the backup
// had caught up with before a kill, or with all after an orderly stop, which ships the rest.
var (
	_ = register(fault{name: "disk lost", weight: 1, strike: func(t *torture) bool {
		<-t.topped // what came later than the backup would be lost for good, and rightly
		t.AwaitAnswers(t.chance)
		witness.Await(t.clerk, "no post is under way", func() bool { return t.Metric("pingpost_open_deliveries") == "0" })
		defer t.AdminEditor.Pause()()
		t.AwaitBackup()
		t.Kill()
		t.RestoreAfterDiskLoss()
		t.Start()
		return true
	}})
	_ = register(fault{name: "disk lost after an orderly stop", weight: 1, strike: func(t *torture) bool {
		<-t.topped
		t.Stop()
		t.RestoreAfterDiskLoss()
		t.Start()
		return true
	}})
	_ = register(fault{name: "backup's disk read-only", weight: 1, lacks: noMount, strike: func(t *torture) bool {
		if err := syscall.Mount(t.BackupDir(), t.BackupDir(), "", syscall.MS_BIND, ""); err != nil {
			t.clerk.Fatal(err)
		}
		t.aside = t.BackupDir()
		if err := syscall.Mount("", t.BackupDir(), "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
			t.clerk.Fatal(err)
		}
		t.Suppliers.SendLeads(few)
		time.Sleep(time.Second)
		if t.chance.IntN(2) == 0 { // the exchange starts without its backup, too
			t.Kill()
			t.Start()
		}
		if t.Metric("pingpost_backup_lag_entries") == "0" {
			t.clerk.Errorf("the backup says that it has all, and can write nothing")
		}
		if err := t.writable(); err != nil {
			t.clerk.Fatal(err)
		}
		t.AwaitBackup()
		return true
	}})
)

// writable ends that the backup's disk is read-only.
func (t *torture) writable() error {
	if t.aside == "" {
		return nil
	}
	at := t.aside
	t.aside = ""
	return syscall.Unmount(at, syscall.MNT_DETACH)
}
