package report

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"pingpost/wal"
)

// A settler moves what SQLite has in its log into its file, as a checkpoint of its own
// would, but so that commits on the same disk do not wait: SQLite writes some megabytes
// and fsyncs them at once, twice, and a commit that comes then stands behind all of it.
//
// What holds, as with synchronous=NORMAL: the log is on the disk before a page of the file
// is written, and the file is before the log begins anew, since who settles is who writes,
// and it writes nothing in between. SQLite fsyncs a log's new beginning itself.
//
// The file is held open here until SQLite has let go of it: the system drops a process's
// locks on a file with whichever of its descriptors is closed first.
type settler struct {
	file                  *os.File
	entries, transactions int // taken, or removed, since it settled
}

// Either makes a thousand pages of SQLite's log or so, which is when it would checkpoint.
const (
	settleEntries      = 4000
	settleTransactions = 20
	settleRate         = 32 << 20 // bytes a second, but where much is left to do and nobody waits

	// Where much is left to do each page waits for more that is written to it.
	settleBehind = 4 * settleEntries
)

// wrote counts a transaction.
func (s *settler) wrote(entries int) {
	s.entries += entries
	s.transactions++
}

// settle is called between two transactions.
func (f *file) settle(ctx context.Context) error {
	s := &f.settler
	entries, rate := settleEntries, int64(settleRate)
	if f.breath.behind {
		entries = settleBehind
	}
	if f.breath.behind && !f.breath.busy {
		rate = 0
	}
	if s.entries < entries && s.transactions < settleTransactions {
		return nil
	}
	if err := f.settleAt(context.WithoutCancel(ctx), rate); err != nil {
		return spoils(fmt.Errorf("the report's file cannot be written: %w", err))
	}
	s.entries, s.transactions = 0, 0
	return nil
}

func (f *file) settleAt(ctx context.Context, rate int64) (err error) {
	log, err := os.Open(f.path + "-wal")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	info, err := log.Stat()
	if err != nil {
		return err
	}
	whole := func(yield func(off, n int64) bool) { yield(0, info.Size()) }
	if err := errors.Join(wal.FlushAside(log, whole, rate), log.Sync()); err != nil {
		return err
	}
	frames, err := f.checkpoint(ctx)
	if err != nil {
		return err
	}
	pages, err := pagesIn(log, frames)
	if err != nil {
		return err
	}
	return errors.Join(wal.FlushAside(f.settler.file, pages, rate), f.settler.file.Sync())
}

// checkpoint writes the log's pages into the file, which is not fsynced, and tells how
// many frames the log has. Pages that a reader still needs stay in the log.
func (f *file) checkpoint(ctx context.Context) (frames int64, err error) {
	if err := f.exec(ctx, "PRAGMA synchronous = OFF"); err != nil {
		return 0, err
	}
	var busy, done int64
	err = f.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &done)
	return frames, errors.Join(err, f.exec(ctx, "PRAGMA synchronous = NORMAL"))
}

// A log of SQLite is a header and frames, which are a header and a page each. Numbers
// are big-endian: see sqlite.org/fileformat2.html, "The Write-Ahead Log".
const (
	logHeader     = 32
	logPageSize   = 8 // where the header has it
	frameHeader   = 24
	biggestPage   = 64 << 10
	smallestPage  = 512
	withinOneRead = 64 << 10 // pages no further apart are flushed together
)

// pagesIn are where the pages of a log's first frames lie in the file.
func pagesIn(log *os.File, frames int64) (iter.Seq2[int64, int64], error) {
	r := bufio.NewReaderSize(io.NewSectionReader(log, 0, 1<<62), biggestPage)
	var head [logHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("SQLite's log has no header: %w", err)
	}
	size := int64(binary.BigEndian.Uint32(head[logPageSize:]))
	if size < smallestPage || size > biggestPage {
		return nil, fmt.Errorf("SQLite's log has pages of %d bytes", size)
	}
	starts := make([]int64, 0, frames)
	for range frames {
		if _, err := io.ReadFull(r, head[:frameHeader]); err != nil {
			return nil, fmt.Errorf("SQLite's log is shorter than its %d frames: %w", frames, err)
		}
		starts = append(starts, (int64(binary.BigEndian.Uint32(head[:]))-1)*size)
		if _, err := r.Discard(int(size)); err != nil {
			return nil, fmt.Errorf("SQLite's log is shorter than its %d frames: %w", frames, err)
		}
	}
	slices.Sort(starts)
	return stretches(starts, size), nil
}

// stretches joins what is near each other.
func stretches(starts []int64, size int64) iter.Seq2[int64, int64] {
	return func(yield func(off, n int64) bool) {
		for i := 0; i < len(starts); {
			first := starts[i]
			end := first + size
			for i++; i < len(starts) && starts[i] <= end+withinOneRead; i++ {
				end = max(end, starts[i]+size)
			}
			if !yield(first, end-first) {
				return
			}
		}
	}
}
