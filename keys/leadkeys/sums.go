package leadkeys

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Each file of keys has a file of checksums beside it, of the same name below
// keys/checksums: a version line, eight bytes a key, and eight bytes for all of these.
// It is durable before its file of keys has a name, and never changes. So dropping a key
// stays one write of zeros in place: a key of zeros is erased, whatever its checksum is.
//
// A checksum is a truncated SHA-256 of a key of the exchange, the slot and the lead's
// key. It finds a changed byte, a file of another exchange, and a file under another
// name. It leaves 192 bits of an erased key unknown, also to an owner of the exchange's key.
//
// A file of keys without checksums is one of an earlier program. The next start makes
// them, of the keys as they are then.
//
// (Rejected: checksums in the file of keys. A file of an earlier program would have to be
// written again for them, and the blocks of the old one would keep keys that are erased
// later. Zeroing both: two writes, and a crash between them leaves a damaged key.)

const (
	sumsName    = "pingpost sums "
	sumsVersion = sumsName + "1\n"
	sumSize     = 8
	sumsSize    = len(sumsVersion) + (PerFile+1)*sumSize
)

// SumKey is what checksums are made with, a key of the exchange.
type SumKey [32]byte

// sum is the checksum of a key, or of all checksums where the slot is 0.
func (k *SumKey) sum(slot uint64, of []byte) [sumSize]byte {
	var text [len(SumKey{}) + 8 + sha256.Size]byte
	copy(text[:], k[:])
	binary.BigEndian.PutUint64(text[len(k):], slot)
	copy(text[len(k)+8:], of)
	whole := sha256.Sum256(text[:])
	return [sumSize]byte(whole[:])
}

// sums is the content of the file of checksums.
func (k *SumKey) sums(f *file) []byte {
	text := make([]byte, 0, sumsSize)
	text = append(text, sumsVersion...)
	for slot := f.first; slot < f.first+PerFile; slot++ {
		one := k.sum(slot, f.of(slot))
		text = append(text, one[:]...)
	}
	all := k.sumAll(f.first, text)
	return append(text, all[:]...)
}

func (k *SumKey) sumAll(first uint64, text []byte) [sumSize]byte {
	whole := sha256.Sum256(binary.BigEndian.AppendUint64(bytes.Clone(text), first))
	return k.sum(0, whole[:])
}

var (
	// ErrSums is the error of a file of checksums that is damaged, or of another exchange.
	ErrSums = errors.New("the file of checksums is damaged, or of another exchange")
	// ErrLater is the error of a file of checksums that a later program wrote.
	ErrLater = errors.New("a later program wrote the file of checksums")
)

// readSums returns the checksums of a file of keys. The error is fs.ErrNotExist, ErrSums,
// ErrLater or of the disk.
func (k *SumKey) readSums(path string, first uint64) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte(sumsName)) && !bytes.HasPrefix(text, []byte(sumsVersion)) {
		return nil, fmt.Errorf("%q: %w", path, ErrLater)
	}
	head, all := len(sumsVersion), sumsSize-sumSize
	if len(text) != sumsSize || string(text[:head]) != sumsVersion || [sumSize]byte(text[all:]) != k.sumAll(first, text[:all]) {
		return nil, fmt.Errorf("%q: %w", path, ErrSums)
	}
	return text[head:all], nil
}

// Set is a set of the slots of one file.
type Set [PerFile / 64]uint64

// Add adds a slot of the file.
func (s *Set) Add(slot uint64) { s[(slot-1)%PerFile/64] |= 1 << ((slot - 1) % 64) }

// Remove removes a slot of the file.
func (s *Set) Remove(slot uint64) { s[(slot-1)%PerFile/64] &^= 1 << ((slot - 1) % 64) }

// Has reports whether the set has a slot of the file.
func (s *Set) Has(slot uint64) bool { return s[(slot-1)%PerFile/64]>>((slot-1)%64)&1 == 1 }

// Report is what Check found of one file of keys.
type Report struct {
	First   uint64 // first slot of the file
	Path    string
	Lost    error // the file is missing, unreadable or of another size; nil: it is there
	Sums    error // why its keys were not checked: fs.ErrNotExist, ErrSums, ErrLater, or of the disk
	Changed Set   // keys that do not fit their checksums
	Erased  Set   // keys of zeros
}

// FirstOf returns the first slot of the file that has a slot.
func FirstOf(slot uint64) uint64 { return firstOf(slot) }

func keysFolder(dir string) string { return filepath.Join(dir, "keys", "leads") }
func sumsFolder(dir string) string { return filepath.Join(dir, "keys", "checksums") }
func nameOfFile(first uint64) string {
	return fmt.Sprintf("%020d", first)
}

// Check checks a file of keys of a data directory, which may be in use.
func Check(dir string, key *SumKey, first uint64) *Report {
	r := &Report{First: first, Path: filepath.Join(keysFolder(dir), nameOfFile(first))}
	f, err := load(r.Path, first)
	if err != nil {
		r.Lost = err
		return r
	}
	var sums []byte
	sums, r.Sums = key.readSums(filepath.Join(sumsFolder(dir), nameOfFile(first)), first)
	for slot := first; slot < first+PerFile; slot++ {
		switch at := f.of(slot); {
		case Key(at) == (Key{}):
			r.Erased.Add(slot)
		case sums != nil && !key.fits(sums, slot, at):
			r.Changed.Add(slot)
		}
	}
	return r
}

// fits reports whether a key is the one that its checksum was made of.
func (k *SumKey) fits(sums []byte, slot uint64, key []byte) bool {
	at := (slot - firstOf(slot)) * sumSize
	return k.sum(slot, key) == [sumSize]byte(sums[at:])
}

// AddSums makes the checksums of a file of keys that has none, or damaged ones, of the
// keys as they are. A key that is dropped meanwhile stays dropped.
func (s *Slots) AddSums(first uint64) error {
	f, err := load(s.path(first), first)
	if err != nil {
		return err
	}
	return s.writeSums(f)
}

// writeSums makes the file of checksums durable.
func (s *Slots) writeSums(f *file) error {
	path := filepath.Join(s.sums, nameOfFile(f.first))
	half := path + ".new"
	err := s.write(half, s.sumKey.sums(f))
	if err == nil {
		err = os.Rename(half, path)
	}
	if err == nil {
		err = syncFolder(s.sums)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write the checksums of leads' keys: %w", err), remove(half))
	}
	return nil
}

// passOver has keys that are not taken yet and do not fit their checksums be as if
// they were dropped: Take passes them over.
func (s *Slots) passOver(f *file) error {
	sums, err := s.sumKey.readSums(filepath.Join(s.sums, nameOfFile(f.first)), f.first)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrSums) || errors.Is(err, ErrLater) {
		return nil // Check reports it
	}
	if err != nil {
		return fmt.Errorf("cannot read the checksums of leads' keys: %w", err)
	}
	s.mu.Lock()
	next := s.next
	s.mu.Unlock()
	for slot := max(next, f.first); slot < f.first+PerFile; slot++ {
		if at := f.of(slot); !s.sumKey.fits(sums, slot, at) {
			clear(at)
		}
	}
	return nil
}
