package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"pingpost/engine/state"
	"pingpost/exchange/coldfiles"
	"pingpost/keys/vault"
	"pingpost/wal"
)

// openedDir is a data directory that was opened like at a start.
type openedDir struct {
	dir      string
	log      *wal.Log
	snapshot uint64 // last entry in the snapshot; 0: no snapshot
	state    *state.State
	entries  []wal.Entry

	lacksColdRows bool // the snapshot's cold files are missing
}

// openDir opens a data directory: the newest snapshot and the log entries after it. It needs no
// operator.
func openDir(dir string) (*openedDir, error) { return openDirWith(dir, wal.Options{}, wal.Open) }

// openDirWith opens a data directory, and its log with a function.
func openDirWith(dir string, opt wal.Options, openLog func(string, wal.Options) (*wal.Log, error)) (*openedDir, error) {
	o := &openedDir{dir: dir, state: state.New()}
	snapshot, err := wal.OpenNewestValidSnapshot(dir)
	var none *wal.NoSnapshotError
	switch {
	case errors.As(err, &none) && len(none.Bad) > 0:
		return nil, fmt.Errorf("a file with a snapshot's name is invalid: %w", none.Bad[0].Err)
	case errors.As(err, &none):
	case err != nil:
		return nil, err
	default:
		defer snapshot.Close()
		if len(snapshot.Bad) > 0 {
			return nil, fmt.Errorf("a file with a snapshot's name is invalid: %w", snapshot.Bad[0].Err)
		}
		if err := o.load(snapshot); err != nil {
			return nil, err
		}
		o.snapshot = snapshot.Newest
		opt.From, opt.AtLeast = snapshot.LastInAllSections+1, snapshot.Newest
	}
	if o.log, err = openLog(dir, opt); err != nil {
		return nil, err
	}
	if err := o.readEntries(); err != nil {
		return nil, errors.Join(err, o.log.Close())
	}
	return o, nil
}

// load loads a snapshot and its cold files. A copied or restored directory may have no cold files at all.
func (o *openedDir) load(snapshot *wal.SnapshotReader) error {
	cold, err := coldfiles.Open(snapshot.Meta, coldfiles.Options{DataDir: o.dir})
	if _, statErr := os.Stat(filepath.Join(o.dir, "cold")); errors.Is(err, coldfiles.ErrIncomplete) && errors.Is(statErr, fs.ErrNotExist) {
		o.lacksColdRows, err = true, nil
	}
	if err != nil {
		return err
	}
	o.state.SetColdFiles(cold.Files())
	section, err := snapshot.Next()
	if err != nil {
		return err
	}
	_, err = o.state.LoadSnapshot(section)
	return err
}

// readEntries reads all entries and applies those after the snapshot.
func (o *openedDir) readEntries() error {
	reader, err := o.log.NewReader(0)
	if err != nil {
		return err
	}
	defer reader.Close()
	seen, _ := o.state.Position()
	replay := o.state.NewLogReplay()
	o.entries, err = readAllEntries(reader, func(entry wal.Entry) error {
		if entry.Seq <= seen {
			return nil
		}
		return applyEntry(replay, entry)
	})
	if err == nil && o.lacksColdRows {
		err = o.rebuildColdRows()
	}
	return errors.Join(err, o.state.CheckColdRows())
}

// rebuildColdRows rebuilds the rows of missing cold files from the log, as a start does.
func (o *openedDir) rebuildColdRows() error {
	rebuilt := state.NewRowRebuild(o.entries[0].Seq)
	replay := rebuilt.NewLogReplay()
	for _, entry := range o.entries {
		if err := applyEntry(replay, entry); err != nil {
			return err
		}
	}
	o.state.AddRebuiltRows(rebuilt)
	return nil
}

// readAllEntries reads a log to its end.
func readAllEntries(reader *wal.Reader, each func(wal.Entry) error) (entries []wal.Entry, err error) {
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

// checkContent compares the opened directory with the written log and the promises.
func (o *openedDir) checkContent(written *writtenLog, promised promises) error {
	return cmp.Or(o.checkLog(written, promised.seq), o.checkFiles(written, promised))
}

// checkLog compares the entries with the written ones, and the state with that of the log alone.
func (o *openedDir) checkLog(written *writtenLog, promised uint64) error {
	last := uint64(len(o.entries))
	switch {
	case last < promised:
		return fmt.Errorf("the log ends with entry %d, but an output relied on entry %d", last, promised)
	case last > uint64(len(written.entries)):
		return fmt.Errorf("the log has %d entries, but only %d were written", last, len(written.entries))
	}
	if err := compareEntries(o.entries, written.entries[:last]); err != nil {
		return err
	}
	want, err := written.hashAt(last)
	if err != nil {
		return err
	}
	if seq, hash := o.state.Hash(); seq != last || hash != want {
		return fmt.Errorf("the state at entry %d has the hash %016x, but the log alone gives %016x at entry %d (the snapshot ends with entry %d)",
			seq, hash, want, last, o.snapshot)
	}
	return nil
}

// checkFiles checks the files that the state names.
func (o *openedDir) checkFiles(written *writtenLog, promised promises) error {
	return errors.Join(o.checkExchangeKey(), o.checkConfigDocuments(written, promised.revision), o.checkSuppressionLists(), o.checkLeadKeys(written, promised.erasures))
}

// compareEntries returns an error at the first difference from the written entries.
func compareEntries(found, written []wal.Entry) error {
	for i := range found {
		if is, was := found[i], written[i]; is.Seq != was.Seq || is.At != was.At || is.Batch != was.Batch || is.Epoch != was.Epoch || !bytes.Equal(is.Data, was.Data) {
			return fmt.Errorf("entry %d differs from the written one", i+1)
		}
	}
	return nil
}

// isFounded reports whether the log contains the exchange's founding entry.
func (o *openedDir) isFounded() bool { return o.state.FoundedEvent().Epoch != [16]byte{} }

// checkExchangeKey checks that the exchange's key is the one that the log was started with.
func (o *openedDir) checkExchangeKey() error {
	if !o.isFounded() {
		return nil
	}
	keys, err := vault.OpenExchangeKey(o.dir, false)
	if err != nil {
		return err
	}
	if keys.KeyFingerprint() != o.state.FoundedEvent().KeyCheck {
		return errors.New("the exchange's key differs from the one that the log was started with")
	}
	return nil
}

// checkConfigDocuments checks that every configuration named by the log is present and intact. The
// active one must not be older than minRevision.
func (o *openedDir) checkConfigDocuments(written *writtenLog, minRevision int) error {
	seq, _ := o.state.Position()
	for _, d := range written.index.documents {
		if d.seq > seq {
			break
		}
		text, err := o.readHashedFile(filepath.Join("catalogs", d.hash+".json"), d.hash)
		if err != nil {
			return err
		}
		if d.hash != o.state.CurrentConfigVersion().Document || minRevision == 0 {
			continue
		}
		found := revisions.FindSubmatch(text)
		if len(found) == 0 {
			return fmt.Errorf("the configuration %s has no revision", d.hash)
		}
		if number, err := strconv.Atoi(string(found[1])); err != nil || number < minRevision {
			return fmt.Errorf("configuration revision %s is active, but revision %d was acknowledged", found[1], minRevision)
		}
	}
	return nil
}

// checkSuppressionLists checks that the active suppression lists are present and intact.
func (o *openedDir) checkSuppressionLists() error {
	for _, name := range o.state.SuppressionFileHashesInUse() {
		if _, err := o.readHashedFile(filepath.Join("lists", name), name); err != nil {
			return err
		}
	}
	return nil
}

// readHashedFile reads a file that is named by its hash, and verifies the hash.
func (o *openedDir) readHashedFile(path, hash string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(o.dir, path))
	if err != nil {
		return nil, fmt.Errorf("a file named by the log is missing: %w", err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("the content of %s does not match the hash in its name: %d bytes", path, len(text))
	}
	return text, nil
}

// checkAppendedEntries appends entries, optionally backs them up, and checks that they are present after
// another start.
func (o *openedDir) checkAppendedEntries(backUp func() error) error {
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
	report, err := wal.Verify(o.dir, nil)
	if err != nil {
		return err
	}
	if !report.OK() || report.Torn != nil || report.Last != last+uint64(cap(more.done)) {
		return fmt.Errorf("%d entries were appended after entry %d, but the log's verification reports: %+v", cap(more.done), last, report)
	}
	return nil
}

// waiter receives the results of appended entries.
type waiter struct{ done chan error }

func (w *waiter) Committed(uint64, int64) { w.done <- nil }
func (w *waiter) Failed(err error)        { w.done <- err }
