package datacopy

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"pingpost/cluster/clusterid"
	"pingpost/wal"
)

// Log is the sender's log.
type Log interface {
	// End returns the last segment and the number of its bytes that a reader may read.
	End() (segment uint64, offset int64)
}

// folders are the folders of the data directory that log entries refer to.
var folders = []string{"cold", "keys/leads", "keys/checksums", "catalogs", "lists"}

// endName is the name of the archive's last file. Without it the copy is incomplete.
const endName = "END"

// Send writes a copy of the data directory dir, whose log is in use, at most bytesPerSecond (0: unlimited).
// progress, which may be nil, gets the number of bytes so far.
func Send(to io.Writer, dir string, log Log, bytesPerSecond int64, progress func(sent int64)) error {
	s := &sender{dir: dir, archive: tar.NewWriter(to), rate: bytesPerSecond, began: time.Now(), progress: progress}
	err := s.sendSnapshot()
	if err == nil {
		err = s.sendSegments(log.End()) // now, because the snapshot may contain the last entry
	}
	if err == nil {
		err = s.sendFolders()
	}
	if err == nil {
		err = s.archive.WriteHeader(&tar.Header{Name: endName, Mode: 0o600})
	}
	if err = errors.Join(err, s.archive.Close()); err != nil {
		return fmt.Errorf("cannot copy the data in %q to another node: %w", dir, err)
	}
	return nil
}

type sender struct {
	dir      string
	archive  *tar.Writer
	rate     int64
	began    time.Time
	sent     int64
	progress func(int64)
}

// sendSnapshot sends the newest valid snapshot, if there is one, the log's epoch and the id of
// the cluster.
func (s *sender) sendSnapshot() error {
	for _, name := range []string{"EPOCH", clusterid.FileName} {
		if err := s.sendFile(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	snapshot, err := wal.OpenNewestValidSnapshot(s.dir)
	var missing *wal.NoSnapshotError
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return err
	}
	defer snapshot.Close() // while it is open, its file cannot vanish
	return s.sendFile(path.Join("snapshot", filepath.Base(snapshot.Path)))
}

// sendSegments sends the log up to an offset in a segment. The archiver moves segments meanwhile, so a
// segment that is not found is looked up again. It deletes only the oldest ones.
func (s *sender) sendSegments(last uint64, offset int64) error {
	next := uint64(0) // first entry of the next segment; 0: the oldest that exists
	for retries := 0; ; {
		segments, err := wal.Segments(s.dir)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(segments, func(seg wal.Segment) bool { return next == 0 || seg.First == next })
		if at < 0 {
			return fmt.Errorf("the log segment that begins with entry %d was deleted during the copy; try again", next)
		}
		seg := segments[at]
		limit := int64(-1)
		if seg.First == last {
			limit = offset
		}
		err = s.sendPrefix(segmentName(&seg), seg.Path, limit)
		switch {
		case errors.Is(err, fs.ErrNotExist) && retries < 100:
			retries++
			continue
		case err != nil || seg.First == last:
			return err
		case at+1 == len(segments):
			return fmt.Errorf("the log segment that begins with entry %d is missing", last)
		}
		next, retries = segments[at+1].First, 0
	}
}

// segmentName returns the name of a segment in the copy. It is in the archive of the copy's log if it is in
// that of the sender's log.
func segmentName(seg *wal.Segment) string {
	if seg.Archived {
		return path.Join("archive", filepath.Base(seg.Path))
	}
	return path.Join("log", filepath.Base(seg.Path))
}

func (s *sender) sendFolders() error {
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(s.dir, filepath.FromSlash(folder)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || filepath.Ext(e.Name()) == ".tmp" {
				continue
			}
			if err := s.sendFile(path.Join(folder, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func (s *sender) sendFile(name string) error {
	return s.sendPrefix(name, filepath.Join(s.dir, filepath.FromSlash(name)), -1)
}

// sendPrefix sends the first limit bytes of a file, or all of it for -1. The error is fs.ErrNotExist only
// if nothing was sent.
func (s *sender) sendPrefix(name, file string, limit int64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if limit < 0 {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		limit = info.Size()
	}
	if err := s.archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: limit}); err != nil {
		return err
	}
	for limit > 0 {
		n, err := io.CopyN(s.archive, f, min(limit, 1<<20))
		if err != nil {
			return fmt.Errorf("cannot send %q: %w", name, err)
		}
		limit -= n
		s.countAndThrottle(n)
	}
	return nil
}

// countAndThrottle counts sent bytes, reports the progress, and sleeps until they fit the rate.
func (s *sender) countAndThrottle(n int64) {
	s.sent += n
	if s.progress != nil {
		s.progress(s.sent)
	}
	if s.rate > 0 {
		due := time.Duration(float64(s.sent) / float64(s.rate) * float64(time.Second))
		time.Sleep(due - time.Since(s.began))
	}
}
