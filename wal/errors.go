package wal

import (
	"errors"
	"fmt"

	"pingpost/wal/commitqueue"
)

var (
	// ErrBusy rejects an entry because the queue is full. The entry was not queued.
	ErrBusy = commitqueue.ErrBusy
	// ErrFailed means that an earlier write, rotation or fsync failed. The log stays
	// failed until the process restarts on a disk that works.
	ErrFailed = errors.New("log: a write failed earlier, so the log accepts no more entries; repair the disk and restart")
	// ErrClosed means that Close was called.
	ErrClosed = commitqueue.ErrClosed
	// ErrEmpty rejects an entry without bytes.
	ErrEmpty = errors.New("log: cannot append an empty entry")
	// ErrTooLarge rejects an entry longer than MaxEntry.
	ErrTooLarge = fmt.Errorf("log: the entry exceeds the maximum of %d bytes", MaxEntry)
	// ErrLocked means that another process has the folder open for writing.
	ErrLocked = errors.New("another process uses this folder; stop that process first, or use another folder")
	// ErrForeign means that the log's folder has a file that is not part of the log, so that
	// opening the log could destroy entries.
	ErrForeign = errors.New("the file is not part of this log; move it elsewhere")
	// ErrGone means that the requested entries are older than the retained history.
	ErrGone = errors.New("log: these entries are older than the retained history; start again from a snapshot")
	// ErrNoSnapshot means that no snapshot verifies.
	ErrNoSnapshot = errors.New("the folder has no usable snapshot")
	// ErrDamaged is the error that every DamageError wraps.
	ErrDamaged = errors.New("damaged")
)

// DamageError names the place from which on the log cannot be read. If Open returns one, it
// has changed no segment.
type DamageError struct {
	Segment uint64 // first sequence of the segment, the name of its file
	Path    string // of the segment's file; empty if the file is missing
	Offset  int64  // bytes into the file
	Seq     uint64 // of the entry expected there
	Reason  string
	Torn    bool // in the last segment, and no later batch follows: a crash during a write leaves this
}

func (e *DamageError) Error() string {
	where := fmt.Sprintf("log segment %020d", e.Segment)
	if e.Path != "" {
		where = fmt.Sprintf("log segment %q", e.Path)
	}
	return fmt.Sprintf("%s is damaged at offset %d, where entry %d should be: %s. "+
		"Restore a backup, or accept the loss of that entry and of all later ones", where, e.Offset, e.Seq, e.Reason)
}

// Unwrap returns ErrDamaged, so that errors.Is(err, ErrDamaged) is true.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// NoSnapshotError reports that a folder has no valid snapshot. It lists the error of each
// invalid snapshot file and wraps ErrNoSnapshot.
type NoSnapshotError struct {
	Dir string
	Bad []BadSnapshot // empty if there are no files
}

func (e *NoSnapshotError) Error() string {
	text := fmt.Sprintf("%v in %q", ErrNoSnapshot, e.Dir)
	for _, b := range e.Bad {
		text += "; " + b.Err.Error()
	}
	return text
}

// Unwrap returns ErrNoSnapshot and the error of each invalid file, for errors.Is.
func (e *NoSnapshotError) Unwrap() []error {
	causes := append(make([]error, 0, 1+len(e.Bad)), ErrNoSnapshot)
	for _, b := range e.Bad {
		causes = append(causes, b.Err)
	}
	return causes
}

// VersionError reports a frame in a format that this program does not know, because a later
// version of the program wrote it.
type VersionError struct {
	Path    string
	Offset  int64
	Version byte
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("log segment %q has a frame of version %d at offset %d; this program reads version %d. "+
		"Start the version that wrote it, or a later one", e.Path, e.Version, e.Offset, frameVersion)
}
