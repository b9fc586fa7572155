package wal

import (
	"errors"
	"fmt"
)

var (
	// ErrBusy refuses an entry because the queue is full. Nothing was queued.
	ErrBusy = errors.New("log: the queue is full; try again shortly")
	// ErrFailed means that a write, rotation or fsync failed earlier. The log stays
	// failed until the process is started again on a disk that works.
	ErrFailed = errors.New("log: failed earlier and takes nothing more; repair the disk and restart")
	// ErrClosed means that Close was called.
	ErrClosed = errors.New("log: closed")
	// ErrEmpty refuses an entry without bytes.
	ErrEmpty = errors.New("log: an entry has at least one byte")
	// ErrTooLarge refuses an entry over MaxEntry.
	ErrTooLarge = fmt.Errorf("log: an entry has at most %d bytes", MaxEntry)
	// ErrLocked means that another process has the folder open for writing.
	ErrLocked = errors.New("another process is using it; stop that one first, or use another folder")
	// ErrForeign means that a file in the log's folder is not ours, and that opening
	// would destroy entries.
	ErrForeign = errors.New("the file is not part of this log; move it elsewhere")
	// ErrGone means that the wanted entries are older than the history that is kept.
	ErrGone = errors.New("log: these entries are past the history that is kept; start over from a snapshot")
	// ErrLagged tells a follower that it fell too far behind and must start over.
	ErrLagged = errors.New("log: the follower lags too far behind; start over")
	// ErrNoSnapshot means that no snapshot verifies.
	ErrNoSnapshot = errors.New("no usable snapshot")
	// ErrDamaged is what every DamageError is.
	ErrDamaged = errors.New("damaged")
)

// A DamageError says where a log stops making sense. Open changes nothing when it
// returns one.
type DamageError struct {
	Segment uint64 // first sequence of the segment, the name of its file
	Path    string // of the segment's file; empty where the file is missing
	Offset  int64  // bytes into the file
	Seq     uint64 // of the entry that is due there
	Reason  string
	Torn    bool // nothing of a later batch follows, and it is the last segment: a crash in the middle of a write looks so
}

func (e *DamageError) Error() string {
	where := fmt.Sprintf("log segment %020d", e.Segment)
	if e.Path != "" {
		where = fmt.Sprintf("log segment %q", e.Path)
	}
	return fmt.Sprintf("%s is damaged at offset %d, where entry %d is due: %s. "+
		"Restore a backup; or accept the loss of that entry and of all that follow it", where, e.Offset, e.Seq, e.Reason)
}

// Unwrap makes errors.Is(err, ErrDamaged) hold.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// A NoSnapshotError is ErrNoSnapshot, and says what is wrong with each that there is.
type NoSnapshotError struct {
	Dir string
	Bad []BadSnapshot // none: there are no files
}

func (e *NoSnapshotError) Error() string {
	text := fmt.Sprintf("%v in %q", ErrNoSnapshot, e.Dir)
	for _, b := range e.Bad {
		text += "; " + b.Err.Error()
	}
	return text
}

// Unwrap makes errors.Is hold for ErrNoSnapshot and for each cause.
func (e *NoSnapshotError) Unwrap() []error {
	causes := append(make([]error, 0, 1+len(e.Bad)), ErrNoSnapshot)
	for _, b := range e.Bad {
		causes = append(causes, b.Err)
	}
	return causes
}

// A VersionError means that a later program has written to this log.
type VersionError struct {
	Path    string
	Offset  int64
	Version byte
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("log segment %q has a frame of version %d at offset %d; this program reads version %d. "+
		"Start the version that wrote it, or a later one", e.Path, e.Version, e.Offset, frameVersion)
}
