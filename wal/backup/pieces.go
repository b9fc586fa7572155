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

// pieceSize is the maximum content of one object of a file.
const pieceSize = 8 << 20

// fileFolders are the folders with files that a generation includes. A file in them is
// immutable.
var fileFolders = []string{"catalogs", "lists"}

// pieceWriter ships the bytes that are written to it as objects (pieces) of a fixed size.
// Write waits for the rate limiter in small steps, because the bytes come from the disk that
// commits wait for.
type pieceWriter struct {
	ctx    context.Context
	box    *encryptedStore
	folder string
	pace   *rate.Limiter // nil: no limit
	buf    []byte
	pieces pieceManifest
	failed error // error of the store or the limiter; the reader must not report it as its own
}

func (c *pieceWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(c.buf) == pieceSize {
			if c.failed = c.putPieceAsObject(); c.failed != nil {
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

func (c *pieceWriter) putPieceAsObject() error {
	place := fmt.Sprintf("%s/%06d-", c.folder, len(c.pieces.Names))
	name, err := c.box.put(c.ctx, place, c.buf)
	if err != nil {
		return err
	}
	below, _ := nameBelowFolder(name, c.folder)
	c.pieces.Names = append(c.pieces.Names, below)
	c.pieces.Size += int64(len(c.buf))
	c.buf = c.buf[:0]
	return nil
}

// putLastPieceAndManifest ships the remaining bytes and then the manifest, which makes the
// file complete for readers.
func (c *pieceWriter) putLastPieceAndManifest() error {
	if len(c.buf) > 0 || len(c.pieces.Names) == 0 {
		if err := c.putPieceAsObject(); err != nil {
			return err
		}
	}
	return c.box.putManifest(c.ctx, c.folder, &c.pieces)
}

// shipNewConfigDocumentsAndLists ships the files in catalogs/ and lists/ that the generation does not
// have yet. The rate limit does not apply, because newer log entries may refer to these files
// and are shipped after them.
func (s *Shipper) shipNewConfigDocumentsAndLists(ctx context.Context) error {
	for _, folder := range fileFolders {
		entries, err := os.ReadDir(filepath.Join(s.src.Dir, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot back up %s: %w", folder, err)
		}
		for _, entry := range entries {
			name := folder + "/" + entry.Name()
			if _, there := s.gen.files[name]; there || !entry.Type().IsRegular() || isUnfinishedSourceFile(entry.Name()) {
				continue
			}
			err := s.shipCatalogOrList(ctx, name)
			if errors.Is(err, errFileGone) {
				continue // no log record refers to it any more
			}
			if err != nil {
				return err
			}
			s.gen.files[name] = ""
		}
	}
	return nil
}

// errFileGone reports a source file that was listed and has been removed since. It
// differs from fs.ErrNotExist, which a folder store returns for a missing object.
var errFileGone = errors.New("the exchange removed the file before it was backed up; the backup does not need it")

// openFileOrErrFileGone opens a file of the exchange that was just listed. The error is errFileGone
// if the file was removed since.
func openFileOrErrFileGone(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = errFileGone
	}
	return f, err
}

func (s *Shipper) shipCatalogOrList(ctx context.Context, name string) error {
	f, err := openFileOrErrFileGone(filepath.Join(s.src.Dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	c := &pieceWriter{ctx: ctx, box: &s.gen.box, folder: generationFolder(s.gen.number) + "/file/" + name}
	if _, err := io.Copy(c, f); err != nil {
		return err
	}
	return c.putLastPieceAndManifest()
}

// copyPieces reads the pieces of a file from the store, verifies their checksums, and writes
// them to dst in order.
func (b *encryptedStore) copyPieces(ctx context.Context, folder string, p *pieceManifest, dst io.Writer) error {
	var size int64
	for i, below := range p.Names {
		st, ok := parsePieceName(below, i)
		if !ok {
			return fmt.Errorf("the manifest of the backup's file %s in %s names %q, which is not a piece of it", folder, b.store, below)
		}
		plain, err := b.get(ctx, fmt.Sprintf("%s/%06d-", folder, i), st)
		if err != nil {
			return err
		}
		size += int64(len(plain))
		if _, err := dst.Write(plain); err != nil {
			return err
		}
	}
	if size != p.Size {
		return fmt.Errorf("the backup's file %s in %s has %d bytes, but its manifest says %d", folder, b.store, size, p.Size)
	}
	return nil
}

// openPieces returns a reader that joins the pieces of a file. The caller must close it.
func (g *backupGeneration) openPieces(ctx context.Context, folder string, p *pieceManifest) *io.PipeReader {
	read, write := io.Pipe()
	go func() { write.CloseWithError(g.box.copyPieces(ctx, folder, p, write)) }()
	return read
}

func parsePieceName(name string, number int) (end sizeAndChecksum, ok bool) {
	var size int64
	rest, ok := strings.CutPrefix(name, fmt.Sprintf("%06d-", number))
	digits, sum, found := strings.Cut(rest, "-")
	_, err := fmt.Sscan(digits, &size)
	return sizeAndChecksum{size, sum}, ok && found && err == nil && len(sum) == sumDigits
}

// startShippingNextSnapshot starts a goroutine that ships the oldest snapshot that the generation does
// not have, unless such a goroutine is running. It skips unusable snapshots, and those with entries that
// are not shipped yet. If one has ended, it first records its result. Snapshots are shipped in parallel
// with the log, because new log entries must not wait for them.
func (s *Shipper) startShippingNextSnapshot(ctx context.Context) error {
	if err := s.recordSnapshotResultIfEnded(); err != nil || s.snapshotDone != nil {
		return err
	}
	infos, err := wal.ListSnapshotFiles(s.src.Dir)
	if err != nil {
		return err
	}
	for i := len(infos) - 1; i >= 0; i-- {
		if infos[i].Newest < s.tail.due && !s.isSnapshotShippedOrUnusable(infos[i].Newest) {
			s.startShippingSnapshot(ctx, infos[i])
			return nil
		}
	}
	return nil
}

// isSnapshotShippedOrUnusable reports whether the snapshot with this newest entry is in the
// store, or is unusable.
func (s *Shipper) isSnapshotShippedOrUnusable(newest uint64) bool {
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
