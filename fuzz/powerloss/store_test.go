package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/fuzz/powerloss/disk"
	"pingpost/fuzz/powerloss/strace"
	"pingpost/internal/must"
	"pingpost/wal/backup/store"
)

// childCaseEnv names the environment variable that makes this program run one of storeCases in
// a directory, as a child process.
const childCaseEnv = "POWERLOSS_TEST_STORE"

// storeCases are uses of a store by name. Listed or written objects, and their directories,
// must survive any power loss.
var storeCases = map[string]struct {
	do   func(root string) error
	want string // expected files; others may exist
}{
	"a new store, in a folder that is new too": {func(root string) error {
		return put(root, "gen/1/claim")
	}, "new/backups/gen/1/claim"},
	"a folder that another has made": {func(root string) error {
		return errors.Join(leaveUnsynced(root, "gen/1/log/other"), put(root, "gen/1/log/a"))
	}, "new/backups/gen/1/log/a"},
	"what another has put, and not come to fsync its folder": {func(root string) error {
		return errors.Join(leaveUnsynced(root, "keys/leads/1/a"), list(root, "keys"))
	}, "new/backups/keys/leads/1/a"},
	"the same, and it is created again": {func(root string) error {
		return errors.Join(leaveUnsynced(root, "fence/1"), create(root, "fence/1"))
	}, "new/backups/fence/1"},
}

// Objects survive a power loss, no matter which process wrote them.
func TestStoreIsDurable(t *testing.T) {
	if err := strace.CheckAvailable(); err != nil {
		t.Skip(err)
	}
	for what, test := range storeCases {
		t.Run(what, func(t *testing.T) {
			place, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
			d := must.Value(disk.Load(place))(t)
			child := strace.Command(t.Context(), trace, os.Args[0], "-test.run=^TestStoreChild$")
			child.Env = append(os.Environ(), childCaseEnv+"="+what+"="+filepath.Join(place, "new", "backups"))
			if said, err := child.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			file := must.Value(os.Open(trace))(t)
			defer file.Close()
			calls, last, err := strace.ReadRecord(file, 2)
			if err == nil {
				err = d.ApplyCalls(calls, last)
			}
			if err = errors.Join(err, d.CompareWithRealFolder()); err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(100) {
				left := d.LosePower(last, rand.New(rand.NewPCG(seed, 0)))
				to := filepath.Join(inMemory(t), "left")
				must.Succeed(t, left.Write(to))
				if text, err := os.ReadFile(filepath.Join(to, test.want)); err != nil || string(text) != "text" {
					t.Fatalf("loss %d (%s): %q, %v", seed, left, text, err)
				}
			}
		})
	}
}

// TestStoreChild runs a case in the child process; it is no test itself.
func TestStoreChild(t *testing.T) {
	what, root, is := strings.Cut(os.Getenv(childCaseEnv), "=")
	if !is {
		t.Skip("it is the child of another test")
	}
	must.Succeed(t, storeCases[what].do(root))
}

func put(root, name string) error {
	s, err := store.OpenDir(root)
	if err != nil {
		return err
	}
	return s.Put(context.Background(), name, []byte("text"))
}

func create(root, name string) error {
	s, err := store.OpenDir(root)
	if err != nil {
		return err
	}
	return s.Create(context.Background(), name, []byte("text"))
}

func list(root, folder string) error {
	s, err := store.OpenDir(root)
	if err != nil {
		return err
	}
	found, err := s.List(context.Background(), folder)
	if err == nil && len(found) != 1 {
		err = errors.New("it does not list what is there")
	}
	return err
}

// leaveUnsynced writes an object like a process that is killed before it syncs a directory.
func leaveUnsynced(root, name string) error {
	if _, err := store.OpenDir(root); err != nil {
		return err
	}
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.WriteString("text")
	return errors.Join(err, f.Sync(), f.Close())
}
