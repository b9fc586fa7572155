package exchange

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// credentialLastUsesFile keeps, across restarts, the minute in which each credential was last used. It stores
// them in a file beside the log, one line per credential hash.
//
// The times are no events, because no decision depends on them and the log would grow with
// every caller. Snapshots hold only the results of events, so they do not have the times
// either. If the file is missing or damaged, earlier uses are unknown.
type credentialLastUsesFile struct {
	path       string
	kept       map[[32]byte]int64 // contents of the file
	quit, done chan struct{}
}

const (
	// lastUsesInterval limits the age of the file if the process crashes.
	lastUsesInterval = 5 * time.Minute
	// maxLastUsesFile limits how much of the file is read: over 200,000 lines.
	maxLastUsesFile = 32 << 20
)

// loadIntoState reads the file at a start and gives each live credential its time of last use. Lines
// of removed credentials are ignored.
func (u *credentialLastUsesFile) loadIntoState(x *Exchange) {
	u.path = filepath.Join(x.settings.DataDir, "last-used")
	file, err := os.Open(u.path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		x.logger.Warn("cannot read when credentials were last used; the times begin now", "error", err)
		return
	}
	defer file.Close()
	now := x.clock.Now()
	for lines := bufio.NewScanner(io.LimitReader(file, maxLastUsesFile)); lines.Scan(); {
		hash, at, ok := parseLastUse(lines.Bytes())
		if c, live := x.state.CredentialByHash(hash); ok && live && at <= now {
			c.LastUse.RecordUse(at)
		}
	}
	u.kept = x.state.LastUseUnixNanosByCredential()
}

func parseLastUse(line []byte) (hash [32]byte, atNanos int64, valid bool) {
	name, minute, _ := bytes.Cut(line, []byte{' '})
	when, err := time.Parse(time.RFC3339, string(minute))
	if err != nil || len(name) != hex.EncodedLen(len(hash)) {
		return hash, 0, false
	}
	_, err = hex.Decode(hash[:], name)
	return hash, when.UnixNano(), err == nil
}

func (u *credentialLastUsesFile) startPeriodicSaves(x *Exchange) {
	u.quit, u.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(u.done)
		ticker := time.NewTicker(lastUsesInterval)
		defer ticker.Stop()
		for {
			select {
			case <-u.quit:
				return
			case <-ticker.C:
				u.saveIfChanged(x)
			}
		}
	}()
}

// stopAndSave ends the periodic saving and saves the file a last time. It does nothing if the
// saving was never started.
func (u *credentialLastUsesFile) stopAndSave(x *Exchange) {
	if u.quit == nil {
		return
	}
	close(u.quit)
	<-u.done
	u.saveIfChanged(x)
}

// saveIfChanged writes the file if a credential was used since the last save and the disk has
// enough space.
func (u *credentialLastUsesFile) saveIfChanged(x *Exchange) {
	uses := x.state.LastUseUnixNanosByCredential()
	if maps.Equal(uses, u.kept) || !x.disk.hasSpaceForOptionalFiles() {
		return
	}
	if err := writeLastUses(u.path, uses); err != nil {
		x.logger.Warn("cannot save when credentials were last used; a restart loses these times", "error", err)
		return
	}
	u.kept = uses
}

func writeLastUses(path string, lastUseNanos map[[32]byte]int64) error {
	var text []byte
	for _, hash := range slices.SortedFunc(maps.Keys(lastUseNanos), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }) {
		text = append(hex.AppendEncode(text, hash[:]), ' ')
		text = append(time.Unix(0, lastUseNanos[hash]).UTC().AppendFormat(text, time.RFC3339), '\n')
	}
	unfinished := path + ".new"
	file, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}
