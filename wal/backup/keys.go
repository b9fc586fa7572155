package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pingpost/wal/backup/store"
)

// Key files are no part of a generation. Their contents change in one way alone, once
// they are there: a key of keyBlock bytes is overwritten by zeros when what it sealed
// is erased. So an older version of a file and a newer one merge into the newer, in
// whatever order they are met, by one rule: a key that is zero in any version is zero.
//
// Who ships cannot read what is in the store. It therefore never merges there: it adds
// to erased/ which keys of a file it has seen as zeros, before it puts the file, and never
// removes that. A stale copy of a key file that is shipped later brings no key back,
// nor does a restore to a time at which the key was in use.

// keyBlock is the size of a key, and its alignment in a file.
const keyBlock = 32

// A file whose time is so recent may have been written to since it was read, without
// its time having changed: it is looked at again. Zeros in it count only then: a file
// that is being made could have some. One whose time lies ahead was written by a clock that
// has gone back since.
const unsettled = 2 * time.Second

// A keyFile is what was shipped of one.
type keyFile struct {
	size    int64
	written time.Time
	sum     string
	settled bool
}

const (
	keysFolder   = "keys"
	erasedFolder = "erased"
)

// recallKeys learns from the listing which versions are in the store.
func (s *Shipper) recallKeys(ctx context.Context, root []byte) error {
	s.held, s.stored, s.erased = map[string]keyFile{}, map[string][]string{}, map[string]struct{}{}
	keys, err := s.box.list(ctx, keysFolder)
	if err != nil {
		return err
	}
	for _, o := range keys {
		if name, _, ok := parseKey(o, keysFolder); ok {
			s.stored[name] = append(s.stored[name], o.Name)
		}
	}
	place := keyPlace(keysFolder, rootKey)
	if there := s.stored[rootKey]; len(there) > 0 && !hasSum(there, sum(s.box.names, place, root)) {
		return fmt.Errorf("cannot back up %q to %s: %w", s.src.Dir, s.opt.To, ErrForeign)
	}
	gone, err := s.box.list(ctx, erasedFolder)
	for _, o := range gone {
		if name, st, ok := parseKey(o, erasedFolder); ok {
			s.erased[name+"/"+st.sum] = struct{}{}
		}
	}
	return err
}

func keyPlace(folder, name string) string { return folder + "/" + name + "/" }

// parseKey reads the name of a whole object below keys/ or erased/.
func parseKey(o store.Object, folder string) (name string, st stamp, ok bool) {
	below, _ := rest(o.Name, folder)
	name, last := path.Split(below)
	size, digits, found := strings.Cut(last, "-")
	st, ok = parseStamp(o, size, digits)
	return strings.TrimSuffix(name, "/"), st, ok && found && name != ""
}

func hasSum(names []string, sum string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "-"+sum) })
}

// shipKeys ships the key files that have changed.
func (s *Shipper) shipKeys(ctx context.Context) error {
	root := filepath.Join(s.src.Dir, keysFolder)
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || isTemporary(entry.Name()) {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.shipKey(ctx, file, filepath.ToSlash(name), info)
	})
}

func (s *Shipper) shipKey(ctx context.Context, file, name string, info fs.FileInfo) error {
	now := keyFile{size: info.Size(), written: info.ModTime(), settled: s.opt.now().Sub(info.ModTime()).Abs() > unsettled}
	before, known := s.held[name]
	if known && before.settled && before.size == now.size && before.written.Equal(now.written) {
		return nil
	}
	if now.size > store.MaxObject/2 {
		return fmt.Errorf("cannot back up the key file %q: it has %d bytes, and %d are the most", file, now.size, store.MaxObject/2)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("cannot back up a key file: %w", err)
	}
	now.sum = sum(s.box.names, keyPlace(keysFolder, name), content)
	if now.settled {
		if err := s.shipErased(ctx, name, zeros(content)); err != nil {
			return err
		}
	}
	if err := s.replaceKey(ctx, name, now.sum, content); err != nil {
		return err
	}
	s.held[name] = now
	return nil
}

// replaceKey has the store hold one version of a key file, this one. Those that an
// error or a crash has left have keys that were erased since.
func (s *Shipper) replaceKey(ctx context.Context, name, sum string, content []byte) error {
	if !hasSum(s.stored[name], sum) {
		put, err := s.box.put(ctx, keyPlace(keysFolder, name), content)
		if err != nil {
			return err
		}
		s.stored[name] = append(s.stored[name], put)
	}
	var old []string
	for _, there := range s.stored[name] {
		if !strings.HasSuffix(there, "-"+sum) {
			old = append(old, there)
		}
	}
	if err := s.box.remove(ctx, old); err != nil {
		return err
	}
	s.stored[name] = slices.DeleteFunc(s.stored[name], func(there string) bool { return slices.Contains(old, there) })
	return nil
}

// shipErased adds to what is erased, for ever.
func (s *Shipper) shipErased(ctx context.Context, name string, erased []byte) error {
	if erased == nil {
		return nil
	}
	place := keyPlace(erasedFolder, name)
	known := name + "/" + sum(s.box.names, place, erased)
	if _, there := s.erased[known]; there {
		return nil
	}
	if _, err := s.box.put(ctx, place, erased); err != nil {
		return err
	}
	s.erased[known] = struct{}{}
	return nil
}

// zeros has a bit for each key of a file that is erased; nil where none is.
func zeros(content []byte) (erased []byte) {
	var none [keyBlock]byte
	for i := 0; i+keyBlock <= len(content); i += keyBlock {
		if bytes.Equal(content[i:i+keyBlock], none[:]) {
			if erased == nil {
				erased = make([]byte, (len(content)/keyBlock+7)/8)
			}
			erased[i/keyBlock/8] |= 1 << (i / keyBlock % 8)
		}
	}
	return erased
}

// erase zeroes the keys that have a bit.
func erase(content, erased []byte) {
	for i := 0; i+keyBlock <= len(content) && i/keyBlock/8 < len(erased); i += keyBlock {
		if erased[i/keyBlock/8]>>(i/keyBlock%8)&1 == 1 {
			clear(content[i : i+keyBlock])
		}
	}
}
