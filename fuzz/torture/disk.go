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

// A disk that fills up, and is freed again. The data directory moves to a small file
// system in memory for it, and back afterwards.
var (
	_ = register(fault{name: "disk nearly full", weight: 1, lacks: noMount, strike: func(t *torture) bool {
		d := t.small()
		d.fill(t.DataDir(), 32<<20)
		witness.Await(t.clerk, "leads are refused", func() bool { return t.Suppliers.SendOnce(t.chance) == http.StatusServiceUnavailable })
		if end := t.ExitReport(); end != "" {
			t.clerk.Fatal(end)
		}
		d.free()
		witness.Await(t.clerk, "leads are taken again", func() bool { return t.Suppliers.SendOnce(t.chance) == http.StatusCreated })
		d.leave()
		return true
	}})
	_ = register(fault{name: "disk full", weight: 1, lacks: noMount, strike: func(t *torture) bool {
		d := t.small()
		d.fill(t.DataDir(), 0)
		// What was begun goes on, and so do webhooks and operators: one of their entries
		// finds no room.
		for deadline := time.Now().Add(time.Minute); t.ExitReport() == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			_ = t.ControlWebhook("off") && t.ControlWebhook("on")
		}
		t.gaveUp("full disk")
		t.Launch() // which may serve where there is room enough to read, or may not
		t.within(time.Second)
		if t.ExitReport() == "" {
			t.Kill()
		}
		t.ClearErrors()
		d.free()
		t.Start()
		d.leave()
		return true
	}})
)

// disk is a small file system where the data directory was.
type disk struct {
	*torture
	aside, ballast string
}

// small is one of 160 MB.
func (t *torture) small() *disk {
	d := &disk{torture: t, aside: t.DataDir() + ".aside", ballast: filepath.Join(t.DataDir(), "ballast")}
	t.Kill()
	d.must(os.Rename(t.DataDir(), d.aside))
	d.must(os.Mkdir(t.DataDir(), 0o700))
	d.must(syscall.Mount("torture", t.DataDir(), "tmpfs", 0, "size=160m"))
	t.mounted = true
	d.copy(d.aside, t.DataDir())
	t.Start()
	return d
}

// leave puts the data directory back where it was.
func (d *disk) leave() {
	d.Kill()
	d.must(os.RemoveAll(d.aside))
	d.copy(d.DataDir(), d.aside)
	d.must(d.unmount())
	d.must(os.Remove(d.DataDir()))
	d.must(os.Rename(d.aside, d.DataDir()))
	d.Start()
}

// salvage keeps what lies in memory where a run ended there.
func (t *torture) salvage() {
	if err := t.writable(); err != nil {
		t.clerk.say("%v", err)
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
		t.clerk.say("what lay on the small disk is lost: %v %s", err, out)
	}
	if err := t.unmount(); err != nil {
		t.clerk.say("%v", err)
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
		d.clerk.Fatalf("cp: %v %s", err, out)
	}
}

// fill leaves so many bytes free; with none left every write fails.
func (d *disk) fill(dir string, leave int64) {
	f, err := os.Create(d.ballast)
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

func (d *disk) free() { d.must(os.Remove(d.ballast)) }

func (d *disk) must(err error) {
	if err != nil {
		d.clerk.Fatal(err)
	}
}

// noMount says why nothing can be mounted here.
func noMount(t *torture) string {
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
