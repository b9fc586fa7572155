package leadkeys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Erase drops keys: they are overwritten in place, and that is durable when Erase
// returns. To drop one again does no harm, and makes durable what a crash may have
// left between the two; so does a key of a file that is not there.
//
// What copies the disk's own layers keep of overwritten bytes is beyond a program.
func (s *Slots) Erase(slots []uint64) error {
	slots = slices.Clone(slots)
	slices.Sort(slots)
	s.disk.Lock()
	defer s.disk.Unlock()
	s.forget(slots)
	for begin := 0; begin < len(slots); {
		end := begin
		for end < len(slots) && firstOf(slots[end]) == firstOf(slots[begin]) {
			end++
		}
		if err := s.drop(slots[begin:end]); err != nil {
			return fmt.Errorf("cannot drop leads' keys; they are dropped at the next start, or when the same is erased again: %w", err)
		}
		begin = end
	}
	return nil
}

// forget drops keys from memory.
func (s *Slots) forget(slots []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, slot := range slots {
		for {
			place := s.findLocked(slot)
			if place == nil || Key(place) == (Key{}) {
				break
			}
			clear(place)
		}
	}
}

// drop overwrites keys of one file.
func (s *Slots) drop(slots []uint64) error {
	path := s.path(firstOf(slots[0]))
	out, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = does(s.faults.drop)
	for _, slot := range slots {
		if err != nil {
			break
		}
		var key Key
		at := int64(slot-firstOf(slot)) * KeySize
		if _, err = out.ReadAt(key[:], at); err == nil && key != (Key{}) {
			_, err = out.WriteAt(make([]byte, KeySize), at)
		}
	}
	if err == nil {
		err = out.Sync() // also where another process has written the zeros: it may not have come so far
	}
	return errors.Join(err, out.Close())
}
