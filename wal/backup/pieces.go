package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/time/rate"

	"pingpost/wal"
)

// pieceSize is how much of a file one object holds.
const pieceSize = 8 << 20

// besides are the folders whose files are shipped with a generation. A file there
// never changes under its name.
var besides = []string{"catalogs", "lists"}

// A cutter ships what is written to it in pieces. Whoever writes waits for the pace a
// little at a time, since what it reads from is on the disk that commits wait for.
type cutter struct {
	ctx    context.Context
	box    *box
	folder string
	pace   *rate.Limiter // nil: none
	buf    []byte
	pieces pieces
	failed error // of the store or the pace, which whoever reads into it must not take for its own
}

func (c *cutter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(c.buf) == pieceSize {
			if c.failed = c.flush(); c.failed != nil {
				return n, c.failed
			}
		}
		m := min(len(p)-n, pieceSize-len(c.buf), wal.PacedPiece)
		c.buf = append(c.buf, p[n:n+m]...)
		n += m
		if c.pace == nil {
			continue
		}
		if c.failed = c.pace.WaitN(c.ctx, m); c.failed != nil {
			return n, c.failed
		}
	}
	return n, nil
}

func (c *cutter) flush() error {
	place := fmt.Sprintf("%s/%06d-", c.folder, len(c.pieces.Names))
	name, err := c.box.put(c.ctx, place, c.buf)
	if err != nil {
		return err
	}
	below, _ := rest(name, c.folder)
	c.pieces.Names = append(c.pieces.Names, below)
	c.pieces.Size += int64(len(c.buf))
	c.buf = c.buf[:0]
	return nil
}

// finish ships the last piece, and the manifest behind it.
func (c *cutter) finish() error {
	if len(c.buf) > 0 || len(c.pieces.Names) == 0 {
		if err := c.flush(); err != nil {
			return err
		}
	}
	return c.box.putWhole(c.ctx, c.folder, &c.pieces)
}

// shipFiles ships the catalogs and lists that the generation does not have. It is not
// held to the rate: the log's end waits for them.
func (s *Shipper) shipFiles(ctx context.Context) error {
	for _, folder := range besides {
		entries, err := os.ReadDir(filepath.Join(s.src.Dir, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot back up %s: %w", folder, err)
		}
		for _, entry := range entries {
			name := folder + "/" + entry.Name()
			if _, there := s.gen.files[name]; there || !entry.Type().IsRegular() || isTemporary(entry.Name()) {
				continue
			}
			err := s.shipFile(ctx, name)
			if errors.Is(err, errVanished) {
				continue // no fact refers to it any more
			}
			if err != nil {
				return err
			}
			s.gen.files[name] = ""
		}
	}
	return nil
}

// errVanished is of a file that was listed and is not there any more. A folder that
// is the store has files too, and that one of them is missing is no such thing.
var errVanished = errors.New("the file has gone since it was listed")

func openListed(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = errVanished
	}
	return f, err
}

func (s *Shipper) shipFile(ctx context.Context, name string) error {
	f, err := openListed(filepath.Join(s.src.Dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	c := &cutter{ctx: ctx, box: &s.gen.box, folder: genName(s.gen.number) + "/file/" + name}
	if _, err := io.Copy(c, f); err != nil {
		return err
	}
	return c.finish()
}

// readPieces gets a file's pieces in order, checked.
func (b *box) readPieces(ctx context.Context, folder string, p *pieces, to io.Writer) error {
	var size int64
	for i, below := range p.Names {
		st, ok := pieceStamp(below, i)
		if !ok {
			return fmt.Errorf("the manifest of %s in %s names %q, which is no piece", folder, b.store, below)
		}
		plain, err := b.get(ctx, fmt.Sprintf("%s/%06d-", folder, i), st)
		if err != nil {
			return err
		}
		size += int64(len(plain))
		if _, err := to.Write(plain); err != nil {
			return err
		}
	}
	if size != p.Size {
		return fmt.Errorf("%s in %s has %d bytes, and its manifest says %d", folder, b.store, size, p.Size)
	}
	return nil
}

func pieceStamp(name string, number int) (st stamp, ok bool) {
	var size int64
	rest, ok := strings.CutPrefix(name, fmt.Sprintf("%06d-", number))
	digits, sum, found := strings.Cut(rest, "-")
	_, err := fmt.Sscan(digits, &size)
	return stamp{size, sum}, ok && found && err == nil && len(sum) == sumDigits
}

// shipSnapshots begins to ship the next snapshot that the generation does not have,
// the oldest first, and looks after one that is under way. It goes on beside the log,
// whose end must not wait for it.
func (s *Shipper) shipSnapshots(ctx context.Context) error {
	if err := s.lookAtBulk(); err != nil || s.bulk != nil {
		return err
	}
	infos, err := wal.Snapshots(s.src.Dir)
	if err != nil {
		return err
	}
	for i := len(infos) - 1; i >= 0; i-- {
		if infos[i].Newest < s.tail.due && !s.hasSnapshot(infos[i].Newest) {
			s.beginBulk(ctx, infos[i])
			return nil
		}
	}
	return nil
}

// hasSnapshot tells whether a snapshot is in the store, or never will be.
func (s *Shipper) hasSnapshot(newest uint64) bool {
	if _, bad := s.unusable[newest]; bad {
		return true
	}
	for _, p := range s.gen.snapshots {
		if p.Newest == newest {
			return true
		}
	}
	return false
}
