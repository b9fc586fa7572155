package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
	"pingpost/keys/vault"
	"pingpost/wal"
)

// world is a data directory as an exchange leaves it, built without an exchange: a key, two
// configurations, a list, a log, and a snapshot of a part of the log.
type world struct {
	t              *testing.T
	dir            string
	life           *lifetime
	documentHashes []string // hashes of the configurations
	overlayHash    string   // hash of the overlay of API entries
	list           string
}

// inMemory returns a directory in memory if there is one, where an fsync costs nothing. These
// tests need the calls, not a disk.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "powerloss-test") //nolint:usetesting // TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// keep writes a file that is named by its hash.
func keep(t *testing.T, folder, suffix, text string) (hash string) {
	t.Helper()
	sum := sha256.Sum256([]byte(text))
	hash = hex.EncodeToString(sum[:])
	must.Succeed(t, errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, hash+suffix), []byte(text), 0o600)))
	return hash
}

// newWorld returns a world with a log of fifteen entries and a snapshot of eight. The promises
// need twelve of them and the second configuration.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: dataDir(inMemory(t))}
	key := must.Value(vault.OpenExchangeKey(w.dir, true))(t)
	for revision := range 2 {
		w.documentHashes = append(w.documentHashes, keep(t, filepath.Join(w.dir, "catalogs"), ".json", fmt.Sprintf("{%q: %q}", "name", fmt.Sprintf("cmp, %s%d.", revisionMark, revision))))
	}
	w.overlayHash = keep(t, filepath.Join(w.dir, "catalogs"), ".json", "{}")
	w.list = keep(t, filepath.Join(w.dir, "lists"), "", "a list")
	facts := []event.Event{
		&event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: key.KeyFingerprint(), At: 1},
		&event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: 1, ID: "blue"}, {Kind: event.ObjectList, Ref: 1, ID: "list"}}},
		&event.ConfigActivated{Version: 1, Document: w.documentHashes[0]},
		&event.SuppressionListContentLoaded{List: 1, File: w.list, Entries: 1},
		&event.ConfigActivated{Version: 2, Document: w.documentHashes[1], Overlay: w.overlayHash},
	}
	for n := range 10 {
		facts = append(facts, &event.BuyerFundsAdjusted{Buyer: 1, Amount: market.Money(n + 1), Note: "to be seen in the state"})
	}
	w.write(facts, 8)
	truth := must.Value(readWrittenLog(w.dir))(t)
	w.life = &lifetime{log: truth, promisesBefore: promises{seq: 12, revision: 1}}
	return w
}

// write writes a log, and a snapshot after so many entries.
func (w *world) write(facts []event.Event, snapshot int) {
	w.t.Helper()
	log := must.Value(wal.Open(w.dir, wal.Options{}))(w.t)
	s := state.New()
	replay := s.NewLogReplay()
	for i, fact := range facts {
		data, done := event.AppendRecord(nil, fact), &waiter{done: make(chan error, 1)}
		must.Succeed(w.t, log.Append(data, done))
		must.Succeed(w.t, <-done.done)
		seq, at := log.LastEntry()
		must.Succeed(w.t, applyEntry(replay, wal.Entry{Seq: seq, At: at, Data: data}))
		if i+1 == snapshot {
			w.snapshot(log, s)
		}
	}
	must.Succeed(w.t, log.Close())
}

func (w *world) snapshot(log *wal.Log, s *state.State) {
	w.t.Helper()
	writer := must.Value(log.BeginSnapshot(wal.SnapshotRateOptions{BytesPerSecond: -1}))(w.t)
	oldest, newest, err := s.WriteSnapshot(writer, nil)
	if err == nil {
		_, err = writer.Commit(oldest, newest, nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// findings opens and checks the world.
func (w *world) findings() error {
	o, err := openDir(w.dir)
	if err != nil {
		return err
	}
	if err := o.checkContent(w.life.log, w.life.promisesAt(1000)); err != nil {
		return errors.Join(err, o.log.Close())
	}
	return o.checkAppendedEntries(nil)
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// edit changes a file of the world.
func (w *world) edit(path string, change func(text []byte) []byte) {
	w.t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(text), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(path string) {
	w.t.Helper()
	must.Succeed(w.t, os.Remove(path))
}

func (w *world) segment() string { return w.path("log", fmt.Sprintf("%020d", 1)) }
func (w *world) snapshotFile() string {
	return w.path("snapshot", fmt.Sprintf("%020d.snap", 8))
}
