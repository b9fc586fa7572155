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

// Key files do not belong to a generation. An existing key file changes in only one way: a
// key of keySize bytes is overwritten with zeros when its data is erased. Versions of a
// file therefore merge in any order by one rule: a key that is zero in any version is zero.
//
// The shipper cannot read the store and therefore never merges there. Before it puts a key
// file, it adds the list of the file's erased keys to erased/, and never removes it. A stale
// copy of a key file that is shipped later therefore restores no erased key, and neither
// does a restore to a time before the erasure.

// keySize is the size of a key, and its alignment in a file.
const keySize = 32

// keyFileSettleTime is the age below which a file may have changed since it was read without a new
// modification time, so the shipper reads it again. Its zeros count only after that age,
// because a file that is being made can have some. A file with a future time was written
// before the clock went back.
const keyFileSettleTime = 2 * time.Second

// shippedKeyFile describes the version of a key file that is in the store. The shipper
// compares it with the file on disk to find changes.
type shippedKeyFile struct {
	size    int64
	written time.Time
	sum     string
	settled bool
}

const (
	keysFolder   = "keys"
	erasedFolder = "erased"
)

// loadKeyFileListUnlessForeign lists the store to learn which versions of key files and which lists of
// erased keys it has. It returns ErrForeign if the store contains another exchange's key.
func (s *Shipper) loadKeyFileListUnlessForeign(ctx context.Context, exchangeKeyText []byte) error {
	s.shippedKeys, s.storedKeys, s.erased = map[string]shippedKeyFile{}, map[string][]string{}, map[string]struct{}{}
	keys, err := s.box.listObjects(ctx, keysFolder)
	if err != nil {
		return err
	}
	for _, o := range keys {
		if name, _, ok := parseKeyFileObjectName(o, keysFolder); ok {
			s.storedKeys[name] = append(s.storedKeys[name], o.Name)
		}
	}
	place := keyFileObjectPrefix(keysFolder, exchangeKey)
	if there := s.storedKeys[exchangeKey]; len(there) > 0 && !containsSum(there, sum(s.box.sumKey, place, exchangeKeyText)) {
		return fmt.Errorf("cannot back up the data directory %q to %s: %w", s.src.Dir, s.opt.To, ErrForeign)
	}
	gone, err := s.box.listObjects(ctx, erasedFolder)
	for _, o := range gone {
		if name, st, ok := parseKeyFileObjectName(o, erasedFolder); ok {
			s.erased[name+"/"+st.sum] = struct{}{}
		}
	}
	return err
}

// keyFileObjectPrefix returns the beginning of the names of the objects that belong to a key file:
// its versions in the folder keys/, or its lists of erased keys in the folder erased/.
func keyFileObjectPrefix(folder, keyFile string) string { return folder + "/" + keyFile + "/" }

// parseKeyFileObjectName parses the name of an object below the folder keys/ or erased/. It
// returns the key file's name, and the size and checksum at the end. ok is false if the
// object is incomplete or has another name.
func parseKeyFileObjectName(o store.Object, folder string) (name string, end sizeAndChecksum, ok bool) {
	below, _ := nameBelowFolder(o.Name, folder)
	name, last := path.Split(below)
	size, digits, found := strings.Cut(last, "-")
	end, ok = parseSizeAndChecksum(o, size, digits)
	return strings.TrimSuffix(name, "/"), end, ok && found && name != ""
}

func containsSum(names []string, sum string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "-"+sum) })
}

// shipChangedKeyFiles ships each file below keys/ that differs from its version in the store.
func (s *Shipper) shipChangedKeyFiles(ctx context.Context) error {
	root := filepath.Join(s.src.Dir, keysFolder)
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || isUnfinishedSourceFile(entry.Name()) {
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
		return s.shipKeyFileIfChanged(ctx, file, filepath.ToSlash(name), info)
	})
}

func (s *Shipper) shipKeyFileIfChanged(ctx context.Context, file, name string, info fs.FileInfo) error {
	now := shippedKeyFile{size: info.Size(), written: info.ModTime(), settled: s.opt.now().Sub(info.ModTime()).Abs() > keyFileSettleTime}
	before, known := s.shippedKeys[name]
	if known && before.settled && before.size == now.size && before.written.Equal(now.written) {
		return nil
	}
	if now.size > store.MaxObject/2 {
		return fmt.Errorf("cannot back up the key file %q: it has %d bytes, but at most %d are allowed", file, now.size, store.MaxObject/2)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("cannot read a file below keys/ to back it up: %w", err)
	}
	now.sum = sum(s.box.sumKey, keyFileObjectPrefix(keysFolder, name), content)
	if now.settled {
		if err := s.shipErasedKeyList(ctx, name, bitmapOfErasedKeys(content)); err != nil {
			return err
		}
	}
	if err := s.replaceStoredKeyFile(ctx, name, now.sum, content); err != nil {
		return err
	}
	s.shippedKeys[name] = now
	return nil
}

// replaceStoredKeyFile stores this version of a key file and removes all other versions from
// the store. Versions that an error or a crash left behind would still contain keys that were
// erased later.
func (s *Shipper) replaceStoredKeyFile(ctx context.Context, name, sum string, content []byte) error {
	if !containsSum(s.storedKeys[name], sum) {
		put, err := s.box.put(ctx, keyFileObjectPrefix(keysFolder, name), content)
		if err != nil {
			return err
		}
		s.storedKeys[name] = append(s.storedKeys[name], put)
	}
	var old []string
	for _, there := range s.storedKeys[name] {
		if !strings.HasSuffix(there, "-"+sum) {
			old = append(old, there)
		}
	}
	if err := s.box.removeObjects(ctx, old); err != nil {
		return err
	}
	s.storedKeys[name] = slices.DeleteFunc(s.storedKeys[name], func(there string) bool { return slices.Contains(old, there) })
	return nil
}

// shipErasedKeyList stores a bitmap of the erased keys of a key file, unless the store has the
// same one. The store keeps it forever, so that a restore of an older key file erases these
// keys again.
func (s *Shipper) shipErasedKeyList(ctx context.Context, keyFileName string, erasedKeyBitmap []byte) error {
	if erasedKeyBitmap == nil {
		return nil
	}
	place := keyFileObjectPrefix(erasedFolder, keyFileName)
	known := keyFileName + "/" + sum(s.box.sumKey, place, erasedKeyBitmap)
	if _, there := s.erased[known]; there {
		return nil
	}
	if _, err := s.box.put(ctx, place, erasedKeyBitmap); err != nil {
		return err
	}
	s.erased[known] = struct{}{}
	return nil
}

// bitmapOfErasedKeys returns a bitmap with one bit for each key of a key file, set if the key
// was erased (only zeros). It returns nil if no key was erased.
func bitmapOfErasedKeys(keyFile []byte) (bitmap []byte) {
	var zero [keySize]byte
	for i := 0; i+keySize <= len(keyFile); i += keySize {
		if bytes.Equal(keyFile[i:i+keySize], zero[:]) {
			if bitmap == nil {
				bitmap = make([]byte, (len(keyFile)/keySize+7)/8)
			}
			bitmap[i/keySize/8] |= 1 << (i / keySize % 8)
		}
	}
	return bitmap
}

// zeroErasedKeys overwrites with zeros the keys in keyFile whose bit is set in the bitmap
// erased.
func zeroErasedKeys(keyFile, erased []byte) {
	for i := 0; i+keySize <= len(keyFile) && i/keySize/8 < len(erased); i += keySize {
		if erased[i/keySize/8]>>(i/keySize%8)&1 == 1 {
			clear(keyFile[i : i+keySize])
		}
	}
}
