package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"pingpost/engine/state"
	"pingpost/keys/vault"
	"pingpost/wal"
)

// opened is a folder that was opened as a start does it.
type opened struct {
	dir      string
	log      *wal.Log
	snapshot uint64 // newest entry that the snapshot has seen; 0: there is none
	state    *state.State
	entries  []wal.Entry
}

// open opens a folder: the newest snapshot, the log, what the snapshot has not
// seen. Nobody is asked for anything.
func open(dir string) (*opened, error) {
	o := &opened{dir: dir, state: state.New()}
	var opt wal.Options
	snapshot, err := wal.OpenSnapshot(dir)
	var none *wal.NoSnapshotError
	switch {
	case errors.As(err, &none) && len(none.Bad) > 0:
		return nil, fmt.Errorf("a snapshot is none: %w", none.Bad[0].Err)
	case errors.As(err, &none):
	case err != nil:
		return nil, err
	default:
		defer snapshot.Close()
		if len(snapshot.Bad) > 0 {
			return nil, fmt.Errorf("a snapshot is none: %w", snapshot.Bad[0].Err)
		}
		section, err := snapshot.Next()
		if err != nil {
			return nil, err
		}
		if _, err := o.state.Load(section); err != nil {
			return nil, err
		}
		o.snapshot = snapshot.Newest
		opt.From, opt.AtLeast = snapshot.Oldest+1, snapshot.Newest
	}
	if o.log, err = wal.Open(dir, opt); err != nil {
		return nil, err
	}
	if err := o.read(); err != nil {
		return nil, errors.Join(err, o.log.Close())
	}
	return o, nil
}

// read reads all entries, and applies those that the snapshot has not seen.
func (o *opened) read() error {
	reader, err := o.log.NewReader(0)
	if err != nil {
		return err
	}
	defer reader.Close()
	seen, _ := o.state.Position()
	replay := o.state.NewReplay()
	o.entries, err = readAll(reader, func(entry wal.Entry) error {
		if entry.Seq <= seen {
			return nil
		}
		return apply(replay, entry)
	})
	return err
}

// readAll reads a log to its end.
func readAll(reader *wal.Reader, each func(wal.Entry) error) (entries []wal.Entry, err error) {
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		entry.Data = bytes.Clone(entry.Data)
		entries = append(entries, entry)
		if err := each(entry); err != nil {
			return nil, err
		}
	}
}

// judge holds what was opened against what was written, and what was promised of it.
func (o *opened) judge(t *truth, promised promises) error {
	last := uint64(len(o.entries))
	switch {
	case last < promised.entry:
		return fmt.Errorf("the log ends with entry %d, and what entry %d says was told", last, promised.entry)
	case last > uint64(len(t.entries)):
		return fmt.Errorf("the log has %d entries, and %d were ever written", last, len(t.entries))
	}
	if err := same(o.entries, t.entries[:last]); err != nil {
		return err
	}
	want, err := t.hash(last)
	if err != nil {
		return err
	}
	if seq, hash := o.state.Hash(); seq != last || hash != want {
		return fmt.Errorf("the state at entry %d has the hash %016x, and %016x by the log alone to entry %d (the snapshot has seen entry %d)",
			seq, hash, want, last, o.snapshot)
	}
	return errors.Join(o.key(), o.documents(t, promised.revision), o.lists(), o.persons(t, promised.erasures))
}

// same tells where entries are not those that were written.
func same(are, were []wal.Entry) error {
	for i := range are {
		if is, was := are[i], were[i]; is.Seq != was.Seq || is.At != was.At || is.Batch != was.Batch || is.Epoch != was.Epoch || !bytes.Equal(is.Data, was.Data) {
			return fmt.Errorf("entry %d is not the one that was written", i+1)
		}
	}
	return nil
}

// founded tells whether there is an exchange yet.
func (o *opened) founded() bool { return o.state.Founded().Epoch != [16]byte{} }

// key sees that the exchange's key is the one that the log was begun with.
func (o *opened) key() error {
	if !o.founded() {
		return nil
	}
	keys, err := vault.Open(o.dir, false)
	if err != nil {
		return err
	}
	if keys.Check() != o.state.Founded().KeyCheck {
		return errors.New("the exchange's key is not the one that the log was begun with")
	}
	return nil
}

// documents sees that every configuration that the log names is there, whole, and
// that the one in force is no older than what was told.
func (o *opened) documents(t *truth, revision int) error {
	seq, _ := o.state.Position()
	for _, d := range t.facts.documents {
		if d.seq > seq {
			break
		}
		text, err := o.whole(filepath.Join("catalogs", d.hash+".json"), d.hash)
		if err != nil {
			return err
		}
		if d.hash != o.state.Catalog().Document || revision == 0 {
			continue
		}
		found := revisions.FindSubmatch(text)
		if len(found) == 0 {
			return fmt.Errorf("the configuration %s has no revision", d.hash)
		}
		if number, err := strconv.Atoi(string(found[1])); err != nil || number < revision {
			return fmt.Errorf("revision %s of the configuration is in force, and revision %d was told to be", found[1], revision)
		}
	}
	return nil
}

// lists sees that the suppression lists in force are there, whole.
func (o *opened) lists() error {
	for _, name := range o.state.ListFiles() {
		if _, err := o.whole(filepath.Join("lists", name), name); err != nil {
			return err
		}
	}
	return nil
}

// whole reads a file that is named by its hash.
func (o *opened) whole(path, hash string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(o.dir, path))
	if err != nil {
		return nil, fmt.Errorf("the log names a file that is not there: %w", err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("%s is not what its name says: %d bytes", path, len(text))
	}
	return text, nil
}

// goOn appends to what was opened, has it backed up where that is asked for, and sees
// that what was appended is there at the next start.
func (o *opened) goOn(backUp func() error) error {
	last := uint64(len(o.entries))
	more := &waiter{done: make(chan error, 3)}
	for range cap(more.done) {
		if err := o.log.Append([]byte("what comes after the power is back"), more); err != nil {
			return errors.Join(err, o.log.Close())
		}
	}
	for range cap(more.done) {
		if err := <-more.done; err != nil {
			return errors.Join(err, o.log.Close())
		}
	}
	if backUp != nil {
		if err := backUp(); err != nil {
			return errors.Join(err, o.log.Close())
		}
	}
	if err := o.log.Close(); err != nil {
		return err
	}
	report, err := wal.Verify(o.dir)
	if err != nil {
		return err
	}
	if !report.OK() || report.Torn != nil || report.Last != last+uint64(cap(more.done)) {
		return fmt.Errorf("%d entries were written behind entry %d, and then the log is: %+v", cap(more.done), last, report)
	}
	return nil
}

// waiter hears what became of an entry.
type waiter struct{ done chan error }

func (w *waiter) Committed(uint64, int64) { w.done <- nil }
func (w *waiter) Failed(err error)        { w.done <- err }
