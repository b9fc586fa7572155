// Package leadkeys stores the encryption keys of leads. Each lead has its own key, so
// overwriting 32 bytes erases one person.
//
// A key has a slot number, counted from 1; encrypted data names its key by the slot.
// Files of 65,536 keys are in keys/leads; the name is the first slot in 20 digits. A new
// file is written under a temporary name, synced and renamed, and its folder is synced,
// before its first key is used. Later a file changes only when a key is overwritten with
// zeros, which erases the key. A backup can therefore copy a file again whenever it has
// changed, and the newest copy is the correct one.
//
// Callers never wait for a key. When an eighth of a file's keys are used, the store
// prepares the next file, and more files if keys are used fast. If the disk does not keep
// up, TakeUnusedKey returns ErrBusy. A key that is handed out and never used is lost without harm.
//
// Rejected: deriving the keys from the exchange's key and the lead's id. There would be
// no key to erase. A list of erased leads would be a promise, not an erasure.
package leadkeys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	// PerFile is the number of keys in a file.
	PerFile = 1 << 16
	// KeySize is the size of a key in bytes.
	KeySize = 32

	fileSize = PerFile * KeySize
	maxAhead = 4 // prepared files in memory

	// makeNextAfter is the number of used keys after which the store makes the next file. A small
	// exchange needs only one file.
	makeNextAfter = PerFile / 8

	maxCached = 2 // files in memory for Open
)

var (
	// ErrBusy is the error of TakeUnusedKey if no key is ready, because the disk is full or too slow.
	// The caller can retry.
	ErrBusy = errors.New("lead keys: no key is ready for encryption; check the disk's free space")
	// ErrErased is the error of Open if the key was erased.
	ErrErased = errors.New("the person was erased")
)

// Key encrypts the personal data of one lead. A key of zeros was erased.
type Key [KeySize]byte

// keyFileContent is a key file in memory: 65,536 keys, for consecutive slots from first on. A
// slot is the number of a key.
type keyFileContent struct {
	first uint64
	keys  []byte
	sums  []byte // checksums with which TakeUnusedKey checks keys read from disk; nil: no check
}

// keyAt returns the bytes of a slot's key, inside f.keys, or nil if the slot belongs to
// another file.
func (f *keyFileContent) keyAt(slot uint64) (keyOrNil []byte) {
	if f == nil || slot < f.first || slot >= f.first+PerFile {
		return nil
	}
	at := (slot - f.first) * KeySize
	return f.keys[at : at+KeySize]
}

// FirstSlotOfFile returns the first slot (key number) of the key file to which the slot belongs. It
// also names that file.
func FirstSlotOfFile(slot uint64) uint64 { return (slot-1)/PerFile*PerFile + 1 }

// KeyStore has the lead keys of one exchange: each lead's personal data is encrypted with its
// own key, which has a number (slot). It is safe for concurrent use.
//
// mu guards the memory and is never held during disk access. disk serializes reading and erasing, and
// is locked before mu. After OpenKeyStore, only the goroutine makeFilesUntilClosed makes key files.
type KeyStore struct {
	folder string
	sums   string // folder of the checksum files
	sumKey KeyFileChecksumKey
	log    func(what string, err error)
	faults testFaults
	// replicate stores a file on all nodes of the cluster, this one included; nil: a single node, which
	// writes its files itself. The name is relative to the data directory.
	replicate func(name string, content []byte) error

	mu           sync.Mutex
	next         uint64          // slot that TakeUnusedKey tries next
	current      *keyFileContent // file with next; nil: no file is ready
	ahead        []*keyFileContent
	currentSince time.Time         // start of the use of current
	wantAhead    int               // number of files to keep ahead
	cache        []*keyFileContent // files that Open has read, newest last

	disk sync.Mutex
	wake chan struct{}
	quit chan struct{}
	done chan struct{}
}

// OpenKeyStore opens the lead keys of data directory dir and starts the goroutine that prepares key
// files. highestUsedSlot must be the highest slot (key number) that was ever used; TakeUnusedKey
// returns higher ones. checksumKey is the key of the checksums. The store calls log when making a key
// file fails, and again when it works. OpenKeyStore itself returns an error only if it cannot create
// the folders, or if the key file for the next slot has the wrong size.
func OpenKeyStore(dir string, highestUsedSlot uint64, checksumKey KeyFileChecksumKey, log func(message string, err error)) (*KeyStore, error) {
	return openKeyStore(dir, highestUsedSlot, checksumKey, log, testFaults{})
}

func openKeyStore(dir string, highestUsedSlot uint64, checksumKey KeyFileChecksumKey, log func(message string, err error), faults testFaults) (*KeyStore, error) {
	s, err := openWithoutIssuing(dir, checksumKey, log, faults)
	if err != nil {
		return nil, err
	}
	err = s.StartIssuing(highestUsedSlot, nil)
	return s, err
}

// OpenWithoutIssuing opens the lead keys like OpenKeyStore, but TakeUnusedKey returns ErrBusy until
// StartIssuing. A node of a cluster issues keys only while it is the leader.
func OpenWithoutIssuing(dir string, checksumKey KeyFileChecksumKey, log func(message string, err error)) (*KeyStore, error) {
	return openWithoutIssuing(dir, checksumKey, log, testFaults{})
}

func openWithoutIssuing(dir string, checksumKey KeyFileChecksumKey, log func(message string, err error), faults testFaults) (*KeyStore, error) {
	s := &KeyStore{folder: leadKeysFolder(dir), sums: checksumsFolder(dir), sumKey: checksumKey, log: log, faults: faults, wake: make(chan struct{}, 1)}
	for _, folder := range []string{dir, filepath.Dir(s.folder), s.folder, s.sums} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("cannot create the folder of lead keys: %w", err)
		}
	}
	if err := s.syncKeyFolders(); err != nil { // an earlier process may not have done so
		return nil, err
	}
	return s, nil
}

// StartIssuing makes TakeUnusedKey return keys above highestUsedSlot, and starts the goroutine that
// prepares key files. replicate stores a new file on all nodes of a cluster, under a name relative to the
// data directory; nil: this is a single node. The errors are those of OpenKeyStore. StopIssuing ends it.
func (s *KeyStore) StartIssuing(highestUsedSlot uint64, replicate func(name string, content []byte) error) error {
	s.replicate, s.quit, s.done = replicate, make(chan struct{}), make(chan struct{})
	s.mu.Lock()
	s.next, s.wantAhead, s.currentSince = highestUsedSlot+1, 1, time.Now()
	s.mu.Unlock()
	first := FirstSlotOfFile(s.next)
	if _, err := os.Stat(s.keyFilePath(first)); errors.Is(err, os.ErrNotExist) && s.next != first {
		// The file with earlier keys is missing. A new file in its place would have other
		// keys, and data encrypted with the earlier ones would look damaged for ever.
		first += PerFile
		s.next = first
	}
	err := s.readOrMakeAndAddFile(first)
	var damaged *wrongSizeError
	if errors.As(err, &damaged) {
		close(s.done)
		return err
	}
	if err != nil {
		s.log(makeFailed, err)
	}
	go s.makeFilesUntilClosed()
	return nil
}

// StopIssuing makes TakeUnusedKey return ErrBusy, and ends the goroutine that prepares key files. Keys can
// still be read and erased.
func (s *KeyStore) StopIssuing() {
	if s.quit == nil {
		return
	}
	close(s.quit)
	<-s.done
	s.quit = nil
	s.mu.Lock()
	s.current, s.ahead = nil, nil
	s.mu.Unlock()
}

// Close ends the goroutine that makes new key files in advance.
func (s *KeyStore) Close() { s.StopIssuing() }

func (s *KeyStore) keyFilePath(first uint64) string {
	return filepath.Join(s.folder, keyFileName(first))
}

// TakeUnusedKey copies an unused key to `into` and returns its slot (number). The error is ErrBusy if no
// prepared key file is ready.
func (s *KeyStore) TakeUnusedKey(into *Key) (slot uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		place := s.current.keyAt(s.next)
		if place == nil {
			if !s.useNextPreparedFile() {
				return 0, ErrBusy
			}
			continue
		}
		if slot = s.next; slot-s.current.first == makeNextAfter {
			s.wakeFileMaker()
		}
		s.next++
		copy(into[:], place)
		if *into == (Key{}) { // an exchange with a log that is lost erased it
			continue
		}
		if s.current.sums == nil || s.sumKey.checksumMatches(s.current.sums, slot, place) {
			return slot, nil
		}
	}
}

// fastUse is the duration below which a used-up file shows that one file ahead may be
// too few.
const fastUse = 5 * time.Second

// useNextPreparedFile makes the next prepared key file the current one, from which TakeUnusedKey takes
// keys. It returns false if no file is prepared. It adapts the number of prepared files to
// the speed of use. The caller holds mu.
func (s *KeyStore) useNextPreparedFile() bool {
	defer s.wakeFileMaker()
	if len(s.ahead) == 0 {
		return false
	}
	now := time.Now()
	if s.current != nil {
		if now.Sub(s.currentSince) < fastUse {
			s.wantAhead = min(2*s.wantAhead, maxAhead)
		} else {
			s.wantAhead = max(s.wantAhead-1, 1)
		}
		s.cacheFileLocked(s.current)
	}
	s.current, s.ahead, s.currentSince = s.ahead[0], s.ahead[1:], now
	s.next = max(s.next, s.current.first)
	return true
}

// cacheFileLocked keeps a key file in memory for KeyStore.Open, which decrypts. It drops the
// oldest file if the cache is full. The caller holds mu.
func (s *KeyStore) cacheFileLocked(f *keyFileContent) {
	f.sums = nil
	if len(s.cache) >= maxCached {
		s.cache = append(s.cache[:0], s.cache[len(s.cache)-maxCached+1:]...)
	}
	s.cache = append(s.cache, f)
}

// wakeFileMaker wakes the goroutine that makes key files, so that it checks whether a new one
// is needed.
func (s *KeyStore) wakeFileMaker() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// keyInMemoryLocked returns the bytes of a slot's key, or nil if the slot's file is not in
// memory. The caller holds mu.
func (s *KeyStore) keyInMemoryLocked(slot uint64) (keyOrNil []byte) {
	if place := s.current.keyAt(slot); place != nil {
		return place
	}
	for _, files := range [...][]*keyFileContent{s.ahead, s.cache} {
		for _, f := range files {
			if place := f.keyAt(slot); place != nil {
				return place
			}
		}
	}
	return nil
}

// keyOrZerosIfErased returns the key of a slot, from memory or else from disk. An erased key consists
// of zeros.
func (s *KeyStore) keyOrZerosIfErased(slot uint64) (key Key, err error) {
	if slot == 0 {
		return key, errors.New("lead keys: slot 0 has no key; slots begin at 1")
	}
	if s.copyKeyFromMemory(slot, &key) {
		return key, nil
	}
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.copyKeyFromMemory(slot, &key) {
		return key, nil
	}
	found, err := readKeyFile(s.keyFilePath(FirstSlotOfFile(slot)), FirstSlotOfFile(slot))
	if err != nil {
		return key, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cacheFileLocked(found)
	copy(key[:], found.keyAt(slot))
	return key, nil
}

// copyKeyFromMemory copies the key of a slot to key. It returns false if the slot's file is
// not in memory.
func (s *KeyStore) copyKeyFromMemory(slot uint64, key *Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copy(key[:], s.keyInMemoryLocked(slot)) > 0
}

// wrongSizeError reports a key file that is too short or too long.
type wrongSizeError struct {
	path string
	size int64
}

func (e *wrongSizeError) Error() string {
	return fmt.Sprintf("lead keys: file %q has %d bytes instead of %d; restore it from a backup", e.path, e.size, int64(fileSize))
}

// readKeyFile reads the key file at path, whose first slot is `first`, and checks its size.
func readKeyFile(path string, first uint64) (*keyFileContent, error) {
	keys, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("lead keys: file %s is missing; restore it from a backup: %w", strconv.Quote(path), err)
	case err != nil:
		return nil, fmt.Errorf("cannot read lead keys: %w", err)
	case len(keys) != fileSize:
		return nil, &wrongSizeError{path, int64(len(keys))}
	}
	return &keyFileContent{first: first, keys: keys}, nil
}
