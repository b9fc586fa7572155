//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"pingpost/fuzz/witness"
)

// A disk that fills up and gets free space again. The data directory moves to a small file
// system in memory for this fault, and back afterwards.
var (
	_ = register(fault{name: "disk nearly full", weight: 1, missing: missingMount, inject: func(t *torture) bool {
		d := t.mountSmallDisk()
		d.fillUp(t.DataDir(), 32<<20)
		witness.Await(t.reporter, "the exchange refuses leads", func() bool { return t.Suppliers.SendOnce(t.random) == http.StatusServiceUnavailable })
		if end := t.ExitReport(); end != "" {
			t.reporter.Fatal(end)
		}
		d.removeFiller()
		witness.Await(t.reporter, "the exchange accepts leads again", func() bool { return t.Suppliers.SendOnce(t.random) == http.StatusCreated })
		d.restoreDataDir()
		return true
	}})
	_ = register(fault{name: "disk full", weight: 1, missing: missingMount, inject: func(t *torture) bool {
		d := t.mountSmallDisk()
		d.fillUp(t.DataDir(), 0)
		// Requests, webhooks and operators continue; one of their entries finds no space.
		for deadline := time.Now().Add(time.Minute); t.ExitReport() == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			_ = t.ControlWebhook("off") && t.ControlWebhook("on")
		}
		t.expectFailure("full disk")
		t.Launch() // it may serve if reading needs no space
		t.sleepUpTo(time.Second)
		if t.ExitReport() == "" {
			t.Kill()
		}
		t.ClearErrors()
		d.removeFiller()
		t.Start()
		d.restoreDataDir()
		return true
	}})
)

// disk is a small file system at the place of the data directory.
type disk struct {
	*torture
	savedDir, filler string
}

// mountSmallDisk moves the data directory to a file system of 160 MB.
func (t *torture) mountSmallDisk() *disk {
	d := &disk{torture: t, savedDir: t.DataDir() + ".aside", filler: filepath.Join(t.DataDir(), "ballast")}
	t.Kill()
	d.must(os.Rename(t.DataDir(), d.savedDir))
	d.must(os.Mkdir(t.DataDir(), 0o700))
	d.must(syscall.Mount("torture", t.DataDir(), "tmpfs", 0, "size=160m"))
	t.mounted = true
	d.copy(d.savedDir, t.DataDir())
	t.Start()
	return d
}

// restoreDataDir moves the data directory back.
func (d *disk) restoreDataDir() {
	d.Kill()
	d.must(os.RemoveAll(d.savedDir))
	d.copy(d.DataDir(), d.savedDir)
	d.must(d.unmount())
	d.must(os.Remove(d.DataDir()))
	d.must(os.Rename(d.savedDir, d.DataDir()))
	d.Start()
}

// saveDataDir copies the data directory out of memory after a finding.
func (t *torture) saveDataDir() {
	if err := t.endReadOnly(); err != nil {
		t.reporter.logf("%v", err)
	}
	if !t.mounted {
		return
	}
	t.Signal(syscall.SIGKILL)
	for t.ExitReport() == "" {
		time.Sleep(10 * time.Millisecond)
	}
	_ = os.Remove(filepath.Join(t.DataDir(), "ballast"))
	if out, err := exec.Command("cp", "-a", t.DataDir(), filepath.Join(t.dir, "data.small")).CombinedOutput(); err != nil {
		t.reporter.logf("cannot save the data directory from the small disk: %v %s", err, out)
	}
	if err := t.unmount(); err != nil {
		t.reporter.logf("%v", err)
	}
}

func (t *torture) unmount() error {
	if !t.mounted {
		return nil
	}
	t.mounted = false
	return syscall.Unmount(t.DataDir(), 0)
}

func (d *disk) copy(from, to string) {
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		d.reporter.Fatalf("cp: %v %s", err, out)
	}
}

// fillUp leaves the given number of free bytes; 0 makes every write fail.
func (d *disk) fillUp(dir string, leave int64) {
	f, err := os.Create(d.filler)
	d.must(err)
	defer f.Close()
	piece := make([]byte, 64<<10)
	for {
		var s syscall.Statfs_t
		d.must(syscall.Statfs(dir, &s))
		left := int64(s.Bavail)*s.Bsize - leave
		if left <= 0 {
			return
		}
		if _, err := f.Write(piece[:min(left, int64(len(piece)))]); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				d.must(err)
			}
			return
		}
	}
}

func (d *disk) removeFiller() { d.must(os.Remove(d.filler)) }

func (d *disk) must(err error) {
	if err != nil {
		d.reporter.Fatal(err)
	}
}

// missingMount returns the reason why mounts are not permitted, or "".
func missingMount(t *torture) string {
	at := filepath.Join(t.dir, "mount")
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err.Error()
	}
	defer func() { _ = os.Remove(at) }()
	if err := syscall.Mount("torture", at, "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Sprintf("mount: %v", err)
	}
	if err := syscall.Unmount(at, 0); err != nil {
		return fmt.Sprintf("umount: %v", err)
	}
	return ""
}
