package leadkeys

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"

	"pingpost/internal/durable"
)

// Each key file has a checksum file with the same name in keys/checksums: a version line,
// eight bytes for each key, and eight bytes for all of these. The checksum file is durable
// before the key file has its name, and it never changes; WriteChecksumsOfCurrentKeys replaces only a
// missing or damaged one. Erasing a key therefore stays one write of zeros: a key of zeros is
// erased, and its checksum does not matter.
//
// A checksum is a truncated SHA-256 of a key of the exchange, the slot and the lead's key.
// It detects a changed byte, a file of another exchange, and a file under another name.
// 192 bits of an erased key stay unknown, even to an owner of the exchange's key.
//
// An earlier version of the program wrote key files without checksums. The next start adds
// them for the keys as they are then.
//
// Rejected: checksums in the key file. Files of an earlier version would have to be
// rewritten, and the blocks of the old file would keep keys that are erased later.
// Rejected: zeroing key and checksum. A crash between the two writes leaves a damaged key.

const (
	sumsName    = "pingpost sums "
	sumsVersion = sumsName + "1\n"
	sumSize     = 8
	sumsSize    = len(sumsVersion) + (PerFile+1)*sumSize
)

// KeyFileChecksumKey is the secret key of an exchange for the checksums of its lead keys.
type KeyFileChecksumKey [32]byte

// sum returns the checksum of the lead key `of` in a slot. With slot 0 it returns the
// checksum of a whole checksum file.
func (k *KeyFileChecksumKey) sum(slot uint64, of []byte) [sumSize]byte {
	var text [len(KeyFileChecksumKey{}) + 8 + sha256.Size]byte
	copy(text[:], k[:])
	binary.BigEndian.PutUint64(text[len(k):], slot)
	copy(text[len(k)+8:], of)
	whole := sha256.Sum256(text[:])
	return [sumSize]byte(whole[:])
}

// encodeChecksumFile returns the content of the checksum file for key file f: a version, a
// checksum for each key, and a checksum of all of them.
func (k *KeyFileChecksumKey) encodeChecksumFile(f *keyFileContent) []byte {
	text := make([]byte, 0, sumsSize)
	text = append(text, sumsVersion...)
	for slot := f.first; slot < f.first+PerFile; slot++ {
		one := k.sum(slot, f.keyAt(slot))
		text = append(text, one[:]...)
	}
	all := k.checksumOfSums(f.first, text)
	return append(text, all[:]...)
}

// checksumOfSums returns the checksum that ends a checksum file. contentBefore is the file's content
// before it, and firstSlot the first slot.
func (k *KeyFileChecksumKey) checksumOfSums(firstSlot uint64, contentBefore []byte) [sumSize]byte {
	whole := sha256.Sum256(binary.BigEndian.AppendUint64(bytes.Clone(contentBefore), firstSlot))
	return k.sum(0, whole[:])
}

var (
	// ErrSums reports a checksum file that is damaged or belongs to another exchange.
	ErrSums = errors.New("the checksum file of lead keys is damaged, or belongs to another exchange")
	// ErrNewerVersion reports a checksum file of a newer version of the program.
	ErrNewerVersion = errors.New("the checksum file of lead keys is of a newer version of pingpost")
)

// readKeyChecksums reads the checksum file at path and returns the checksums of the keys from
// slot firstSlot on. The error is fs.ErrNotExist, ErrSums for a damaged file, ErrNewerVersion
// or an error of the disk.
func (k *KeyFileChecksumKey) readKeyChecksums(path string, firstSlot uint64) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte(sumsName)) && !bytes.HasPrefix(text, []byte(sumsVersion)) {
		return nil, fmt.Errorf("%q: %w", path, ErrNewerVersion)
	}
	head, all := len(sumsVersion), sumsSize-sumSize
	if len(text) != sumsSize || string(text[:head]) != sumsVersion || [sumSize]byte(text[all:]) != k.checksumOfSums(firstSlot, text[:all]) {
		return nil, fmt.Errorf("%q: %w", path, ErrSums)
	}
	return text[head:all], nil
}

// KeyFileSlotSet is a set of slots (key numbers), all of one key file.
type KeyFileSlotSet [PerFile / 64]uint64

// Add adds a slot to the set.
func (s *KeyFileSlotSet) Add(slot uint64) { s[(slot-1)%PerFile/64] |= 1 << ((slot - 1) % 64) }

// Remove removes a slot from the set.
func (s *KeyFileSlotSet) Remove(slot uint64) { s[(slot-1)%PerFile/64] &^= 1 << ((slot - 1) % 64) }

// HighestSlot returns the highest slot of the set, or 0 for an empty set. firstSlot is the first
// slot of the key file.
func (s *KeyFileSlotSet) HighestSlot(firstSlot uint64) uint64 {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 0 {
			return firstSlot + uint64(i)*64 + uint64(bits.Len64(s[i])) - 1
		}
	}
	return 0
}

// Has reports whether the set contains a slot.
func (s *KeyFileSlotSet) Has(slot uint64) bool { return s[(slot-1)%PerFile/64]>>((slot-1)%64)&1 == 1 }

// KeyFileReport lists the damaged and the erased keys of one key file, up to the last slot that
// CheckKeyFile checked.
type KeyFileReport struct {
	First   uint64 // first slot of the file
	Path    string
	Lost    error          // the file is missing, unreadable or of the wrong size; nil: it is readable
	Sums    error          // why the keys are unchecked: fs.ErrNotExist, ErrSums, ErrNewerVersion or a disk error
	Changed KeyFileSlotSet // keys that do not match their checksums
	Erased  KeyFileSlotSet // keys of zeros
}

func leadKeysFolder(dir string) string { return filepath.Join(dir, "keys", "leads") }

func checksumsFolder(dir string) string { return filepath.Join(dir, "keys", "checksums") }

func keyFileName(first uint64) string {
	return fmt.Sprintf("%020d", first)
}

// CheckKeyFile compares the keys of one key file, up to slot lastSlot, with their checksums. The
// file is that of data directory dir with first slot firstSlot. The exchange may be running.
func CheckKeyFile(dir string, checksumKey *KeyFileChecksumKey, firstSlot, lastSlot uint64) *KeyFileReport {
	r := &KeyFileReport{First: firstSlot, Path: filepath.Join(leadKeysFolder(dir), keyFileName(firstSlot))}
	f, err := readKeyFile(r.Path, firstSlot)
	if err != nil {
		r.Lost = err
		return r
	}
	var sums []byte
	sums, r.Sums = checksumKey.readKeyChecksums(filepath.Join(checksumsFolder(dir), keyFileName(firstSlot)), firstSlot)
	for slot := firstSlot; slot < firstSlot+PerFile && slot <= lastSlot; slot++ {
		switch at := f.keyAt(slot); {
		case Key(at) == (Key{}):
			r.Erased.Add(slot)
		case sums != nil && !checksumKey.checksumMatches(sums, slot, at):
			r.Changed.Add(slot)
		}
	}
	return r
}

// checksumMatches reports whether the key of a slot matches its checksum in sums, the
// checksums of the slot's file.
func (k *KeyFileChecksumKey) checksumMatches(sums []byte, slot uint64, key []byte) bool {
	at := (slot - FirstSlotOfFile(slot)) * sumSize
	return k.sum(slot, key) == [sumSize]byte(sums[at:])
}

// WriteChecksumsOfCurrentKeys writes a checksum file for a key file whose checksums are missing or
// damaged. It takes the keys as they are now. A key that is erased meanwhile stays erased.
func (s *KeyStore) WriteChecksumsOfCurrentKeys(first uint64) error {
	f, err := readKeyFile(s.keyFilePath(first), first)
	if err != nil {
		return err
	}
	return s.writeKeyChecksumsFile(f)
}

// writeKeyChecksumsFile writes the checksum file of key file f durably, by way of a temporary
// file.
func (s *KeyStore) writeKeyChecksumsFile(f *keyFileContent) error {
	path := filepath.Join(s.sums, keyFileName(f.first))
	temporary := path + ".new"
	err := s.writeAndSyncFile(temporary, s.sumKey.encodeChecksumFile(f))
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err == nil {
		err = durable.SyncFolder(s.sums)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot write the checksums of lead keys: %w", err), removeIfExists(temporary))
	}
	return nil
}

// readChecksumsOfUnusedKeys reads the checksums of key file f, with which TakeUnusedKey skips
// damaged keys. Without usable checksums, it takes the keys unchecked.
//
// Rejected: checking all keys here. A start would compute 65,536 checksums before it serves.
func (s *KeyStore) readChecksumsOfUnusedKeys(f *keyFileContent) (err error) {
	f.sums, err = s.sumKey.readKeyChecksums(filepath.Join(s.sums, keyFileName(f.first)), f.first)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrSums) || errors.Is(err, ErrNewerVersion) {
		return nil // CheckKeyFile reports it
	}
	if err != nil {
		return fmt.Errorf("cannot read the checksums of lead keys: %w", err)
	}
	return nil
}
