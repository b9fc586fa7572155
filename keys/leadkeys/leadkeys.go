// Package leadkeys keeps the keys that leads are sealed with, each a key of its own, so
// that one person can be forgotten by dropping 32 bytes.
//
// A key has a slot, counted from 1, by which what was sealed with it names it. Slots
// lie in files of 65,536 keys below keys/leads, each named by its first slot in 20
// digits. A file comes whole: it is written under another name, synced and renamed,
// and its folder is synced, before the first of its keys is given out. From then on
// nothing of it changes but that keys are overwritten by zeros, which is how one is
// dropped. So whoever copies the files may copy one again whenever it has changed, and
// the newest copy is the right one.
//
// Nobody waits for a key. Once an eighth of a file's keys are taken a whole one lies
// ready behind it, and more where they are taken fast; a disk that does not keep up is
// ErrBusy. What was taken and never used is lost, which costs nothing.
//
// (Rejected: a key derived from the exchange's own, by the lead's id. There would be
// nothing to drop. A list of dropped ones beside it is a promise and no erasure.)
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
	// PerFile is how many keys a file has.
	PerFile = 1 << 16
	// KeySize is how many bytes a key has.
	KeySize = 32

	fileSize = PerFile * KeySize
	maxAhead = 4 // files that lie ready, and in memory

	// unhurriedly is how many keys of a file are taken before the next one is made: a
	// small exchange has one file.
	unhurriedly = PerFile / 8

	maxRead = 2 // files that were read for what is opened
)

var (
	// ErrBusy is what Take returns while no key lies ready: the disk does not keep
	// up, or is full. The same may be asked again.
	ErrBusy = errors.New("no key to seal with is ready")
	// ErrErased is what Open returns where the key was dropped.
	ErrErased = errors.New("the person was erased")
)

// Key is what one lead is sealed with.
type Key [KeySize]byte

// file is 65,536 keys in memory, as they are on the disk.
type file struct {
	first uint64
	keys  []byte
}

// of is the place of a slot's key, or nil where the file does not have it.
func (f *file) of(slot uint64) []byte {
	if f == nil || slot < f.first || slot >= f.first+PerFile {
		return nil
	}
	at := (slot - f.first) * KeySize
	return f.keys[at : at+KeySize]
}

// firstOf is the first slot of the file that has a slot.
func firstOf(slot uint64) uint64 { return (slot-1)/PerFile*PerFile + 1 }

// Slots are the keys of one exchange. It is safe for many goroutines.
//
// mu is for what is in memory, and never held while the disk is waited for; disk is
// for reading and dropping, and taken first. The maker alone makes files.
type Slots struct {
	folder string
	sums   string // the folder of checksums
	sumKey SumKey
	tell   func(what string, err error)
	faults faults

	mu      sync.Mutex
	next    uint64 // to be taken
	current *file  // that has next; nil: none is ready
	ahead   []*file
	begun   time.Time // when current was
	want    int       // files ahead
	read    []*file   // by Open, the last one last

	disk sync.Mutex
	wake chan struct{}
	quit chan struct{}
	done chan struct{}
}

// Open opens the keys of a data directory. Keys are taken from above highest, which
// is the highest slot that anything was ever sealed with. tell hears of a file that
// could not be made, until one can be. The checksums of keys are made with sumKey.
func Open(dir string, highest uint64, sumKey SumKey, tell func(what string, err error)) (*Slots, error) {
	return open(dir, highest, sumKey, tell, faults{})
}

func open(dir string, highest uint64, sumKey SumKey, tell func(what string, err error), f faults) (*Slots, error) {
	s := &Slots{
		folder: keysFolder(dir), sums: sumsFolder(dir), sumKey: sumKey, tell: tell, faults: f, next: highest + 1, want: 1, begun: time.Now(),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	for _, folder := range []string{dir, filepath.Dir(s.folder), s.folder, s.sums} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("cannot make the folder of leads' keys: %w", err)
		}
	}
	first := firstOf(s.next)
	if _, err := os.Stat(s.path(first)); errors.Is(err, os.ErrNotExist) && s.next != first {
		// The keys below are somewhere else, or gone. A file made in their place would
		// have others, and what was sealed with them would look damaged for ever.
		first += PerFile
		s.next = first
	}
	err := s.bring(first)
	var damaged *damagedError
	if errors.As(err, &damaged) {
		return nil, err
	}
	if err != nil {
		s.tell(cannotMake, err)
	}
	go s.keepMaking()
	return s, nil
}

// Close ends the making of files.
func (s *Slots) Close() {
	close(s.quit)
	<-s.done
}

func (s *Slots) path(first uint64) string {
	return filepath.Join(s.folder, nameOfFile(first))
}

// Take gives a slot that was never given before, and its key. The error is ErrBusy.
func (s *Slots) Take(key *Key) (slot uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		place := s.current.of(s.next)
		if place == nil {
			if !s.turn() {
				return 0, ErrBusy
			}
			continue
		}
		if slot = s.next; slot-s.current.first == unhurriedly {
			s.nudge()
		}
		s.next++
		copy(key[:], place)
		if *key != (Key{}) { // else it was dropped by an exchange whose log this one has not
			return slot, nil
		}
	}
}

// drawnFast is how soon a file is used up where one more ahead may not be enough.
const drawnFast = 5 * time.Second

// turn goes on to the next file, if there is one; the caller holds mu.
func (s *Slots) turn() bool {
	defer s.nudge()
	if len(s.ahead) == 0 {
		return false
	}
	now := time.Now()
	if s.current != nil {
		if now.Sub(s.begun) < drawnFast {
			s.want = min(2*s.want, maxAhead)
		} else {
			s.want = max(s.want-1, 1)
		}
		s.keepLocked(s.current)
	}
	s.current, s.ahead, s.begun = s.ahead[0], s.ahead[1:], now
	s.next = max(s.next, s.current.first)
	return true
}

// keepLocked keeps a file for those who open; the caller holds mu.
func (s *Slots) keepLocked(f *file) {
	if len(s.read) >= maxRead {
		s.read = append(s.read[:0], s.read[len(s.read)-maxRead+1:]...)
	}
	s.read = append(s.read, f)
}

func (s *Slots) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// findLocked is the place of a slot's key in memory, or nil; the caller holds mu.
func (s *Slots) findLocked(slot uint64) []byte {
	if place := s.current.of(slot); place != nil {
		return place
	}
	for _, files := range [...][]*file{s.ahead, s.read} {
		for _, f := range files {
			if place := f.of(slot); place != nil {
				return place
			}
		}
	}
	return nil
}

// key finds the key of a slot, in memory or on the disk.
func (s *Slots) key(slot uint64) (key Key, err error) {
	if slot == 0 {
		return key, errors.New("nothing is sealed under slot 0")
	}
	if s.inMemory(slot, &key) {
		return key, nil
	}
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.inMemory(slot, &key) {
		return key, nil
	}
	found, err := load(s.path(firstOf(slot)), firstOf(slot))
	if err != nil {
		return key, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepLocked(found)
	copy(key[:], found.of(slot))
	return key, nil
}

func (s *Slots) inMemory(slot uint64, key *Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copy(key[:], s.findLocked(slot)) > 0
}

// damagedError is a file that is there, and is none.
type damagedError struct {
	path string
	size int64
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("the file of leads' keys %q has %d bytes where it has to have %d; put it back from a backup", e.path, e.size, int64(fileSize))
}

// load reads a file.
func load(path string, first uint64) (*file, error) {
	keys, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("the file of leads' keys %s is missing; put it back from a backup: %w", strconv.Quote(path), err)
	case err != nil:
		return nil, fmt.Errorf("cannot read leads' keys: %w", err)
	case len(keys) != fileSize:
		return nil, &damagedError{path, int64(len(keys))}
	}
	return &file{first, keys}, nil
}
