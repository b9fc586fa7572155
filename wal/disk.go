package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	tidwall "github.com/tidwall/wal"
)

// A disk is tidwall's log with what it lacks: it knows beforehand when a segment
// ends, and lets tests put faults in between.
//
// The committer's goroutine owns it. After any error nothing is called on tidwall's
// log again, close included: it would fsync once more, and a second fsync after one
// that failed reports success for pages that were dropped.
type disk struct {
	dir    string // <dir>/log
	size   int    // at which a segment ends
	faults Faults

	log    appender
	batch  tidwall.Batch
	seq    uint64 // last entry written
	first  uint64 // name of the last segment
	tail   int    // bytes in it
	rolled int    // segments begun since tidwall's log was opened
}

// An appender is all of tidwall's log that is ever used. Read, TruncateFront and
// TruncateBack are left out on purpose: each loads or rewrites a whole segment under
// the lock that a write needs.
type appender interface {
	LastIndex() (uint64, error)
	WriteBatch(*tidwall.Batch) error
	Sync() error
	Close() error
}

// openDisk opens tidwall's log, whose last segment must be whole, under the size
// at which it ends, and end at seq.
func openDisk(dir string, size int, faults Faults, first, seq uint64, tail int) (*disk, error) {
	d := &disk{dir: dir, size: size, faults: faults, seq: seq, first: first, tail: tail}
	if err := d.open(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *disk) open() error {
	log, err := tidwall.Open(d.dir, &tidwall.Options{
		NoSync:           true, // sync is called for each batch, so that it can be timed
		SegmentSize:      d.size,
		SegmentCacheSize: 1,
		AllowEmpty:       true,
		NoCopy:           true,
		DirPerms:         dirPerm,
		FilePerms:        filePerm,
	})
	if err != nil {
		return fmt.Errorf("cannot open the log in %q: %w", d.dir, err)
	}
	last, err := log.LastIndex()
	if err != nil {
		return fmt.Errorf("cannot open the log in %q: %w", d.dir, err)
	}
	if last != d.seq {
		return fmt.Errorf("the log in %q has %d entries where %d were written; let nothing else touch this folder", d.dir, last, d.seq)
	}
	d.log, d.rolled = log, 0
	return nil
}

// room is how many bytes of records the last segment takes; the record that
// reaches it ends the segment, and has to end its batch.
func (d *disk) room() int { return d.size - d.tail }

// write appends the records that were added to batch; encoded is the same, as it
// will stand in the file. full says that the segment has ended: then the records
// are durable already, and turn has to be called before the next write.
func (d *disk) write(encoded []byte, entries int) (took time.Duration, full bool, err error) {
	start := time.Now()
	full = len(encoded) >= d.room()
	if err = d.failWrite(encoded, full); err == nil {
		err = d.log.WriteBatch(&d.batch)
	}
	if err != nil {
		return 0, full, fmt.Errorf("cannot write to log segment %q: %w", d.path(), err)
	}
	d.seq += uint64(entries)
	d.tail += len(encoded)
	return time.Since(start), full, nil
}

// failWrite puts the faults of tests into the file as the disk would leave them.
func (d *disk) failWrite(encoded []byte, full bool) error {
	if d.faults.Write != nil {
		if n, err := d.faults.Write(len(encoded)); err != nil {
			return d.leave(encoded[:n], err)
		}
	}
	if full && d.faults.Sync != nil {
		if err := d.faults.Sync(); err != nil {
			return d.leave(encoded, err)
		}
	}
	return nil
}

func (d *disk) leave(written []byte, fault error) error {
	f, err := os.OpenFile(d.path(), os.O_WRONLY|os.O_APPEND, filePerm)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(written); err != nil {
		return err
	}
	return fault
}

// sync makes all that was written durable.
func (d *disk) sync() (took time.Duration, err error) {
	start := time.Now()
	if d.faults.Sync != nil {
		err = d.faults.Sync()
	}
	if err == nil {
		err = d.log.Sync()
	}
	if err != nil {
		return 0, fmt.Errorf("cannot fsync log segment %q: %w", d.path(), err)
	}
	return time.Since(start), nil
}

// turn makes the new segment's directory entry durable, and opens tidwall's log
// anew every so many segments, since it keeps a record of each that it has seen.
func (d *disk) turn(reopenAfter int) error {
	d.first, d.tail = d.seq+1, 0
	d.rolled++
	var err error
	if d.faults.SyncDir != nil {
		err = d.faults.SyncDir()
	}
	if err == nil {
		err = syncDir(d.dir)
	}
	if err != nil {
		return fmt.Errorf("cannot fsync the log's folder %q: %w", d.dir, err)
	}
	if d.rolled < reopenAfter {
		return nil
	}
	if err := d.close(); err != nil {
		return err
	}
	return d.open()
}

func (d *disk) close() error {
	if err := d.log.Close(); err != nil {
		return fmt.Errorf("cannot close log segment %q: %w", d.path(), err)
	}
	return nil
}

func (d *disk) path() string { return filepath.Join(d.dir, segmentName(d.first)) }
