package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/fuzz/mutant"
	"pingpost/fuzz/powerloss/disk"
	"pingpost/fuzz/powerloss/strace"
	"pingpost/internal/must"
)

const root = "../.."

// A mutation whose text is missing would be no proof.
func TestMutationsApply(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		if names[m.Name] {
			t.Errorf("two are called %q", m.Name)
		}
		names[m.Name] = true
		if _, err := mutant.WriteOverlay(root, t.TempDir(), append([]mutant.Mutation{m}, shorterLimits...)...); err != nil {
			t.Error(err)
		}
	}
}

// A failure keeps its seed, the content of its disks, and the files to start the program.
func TestFailureIsKept(t *testing.T) {
	dir := t.TempDir()
	r := &recording{folder: dir, lifetimes: []*lifetime{{disks: loadedDisks(t, dir, map[string]string{"data/a": "x", "place/b": "y"}), config: "the configuration"}}}
	cause := errors.New("the promise that was broken")
	err := r.keepFailure(lossPoint{lifetime: 0, tick: 5, seed: 77}, cause)
	var f *failure
	if !errors.As(err, &f) || !errors.Is(f.err, cause) {
		t.Fatal(err)
	}
	for _, want := range []string{"life 1", "tick 5", "loss 77", "the promise that was broken", f.folder} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	for name, want := range map[string]string{"data/a": "x", "place/b": "y", "exchange.json": "the configuration", "backup.key": "AGE-SECRET-KEY-", "backup.recipient": "age1"} {
		if text, err := os.ReadFile(filepath.Join(f.folder, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("kept as %s: %q, %v", name, text, err)
		}
	}
}

// loadedDisks writes files into a recording's folder and loads the disks.
func loadedDisks(t *testing.T, dir string, files map[string]string) (d disks) {
	t.Helper()
	err := errors.Join(os.MkdirAll(dataDir(dir), 0o700), os.MkdirAll(backupDiskDir(dir), 0o700), makeBackupKey(dir))
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	must.Succeed(t, errors.Join(err, d.load(dir)))
	return d
}

func TestUnreadableFolderIsAFailure(t *testing.T) {
	w := newWorld(t)
	w.edit(w.segment(), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	dir := t.TempDir()
	w.life.disks = loadedDisks(t, dir, nil)
	var err error
	if w.life.disks.data, err = disk.Load(w.dir); err != nil {
		t.Fatal(err)
	}
	r := &recording{folder: dir, lifetimes: []*lifetime{w.life}}
	var sum lossStats
	err = r.rebuildAndCheck(t.Context(), lossPoint{tick: 5, seed: 1}, filepath.Join(t.TempDir(), "left"), &sum)
	var f *failure
	if !errors.As(err, &f) || !strings.Contains(err.Error(), "the rebuilt folder does not open") || sum.points != 1 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// shortSession returns a session that ends quickly.
func shortSession(t *testing.T) *session {
	t.Helper()
	if err := strace.CheckAvailable(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("long: make test-long records the program")
	}
	s := must.Value(newSession(&flags{Seed: 5, Points: 60, Backups: 12, Lives: 2, Serve: 40, Root: root, Dir: inMemory(t)}, io.Discard))(t)
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// The whole run, with few points.
func TestPowerLossOfRealExchange(t *testing.T) {
	s := shortSession(t)
	must.Succeed(t, s.recordUntilDone(context.Background()))
	if s.stats.points != 60 || s.stats.backups != 12 || s.stats.served != 2 || s.stats.lostWrites == 0 || s.acks < 20 || s.calls < 50 {
		t.Errorf("\n%s", s.table())
	}
	for _, kind := range []string{"desk", "report", "ping", "post", "asks", "chosen"} {
		if s.requests[kind] == 0 {
			t.Errorf("no request with a key like %s-… was answered: %v", kind, s.requests)
		}
	}
}

// The other mutants take as long each; `make powerloss-mutants` runs them.
func TestDetectsMutant(t *testing.T) {
	s := shortSession(t)
	s.Mutants, s.Points = true, 400
	found, err := s.detectMutant(context.Background(), mutants[0])
	if err != nil || found == nil {
		t.Fatalf("not detected: %s, %v", mutants[0].Name, err)
	}
	t.Log(found)
}
