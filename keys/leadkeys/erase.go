package leadkeys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Erase overwrites the lead keys in these slots with zeros, in memory and in the files, so
// that the leads' personal data cannot be decrypted any more. The erasure is durable when
// Erase returns. It may be repeated, for example after a crash. Slots of a missing file are
// skipped.
//
// The program cannot erase copies of overwritten bytes in the disk's own layers.
func (s *KeyStore) Erase(slots []uint64) error {
	slots = slices.Clone(slots)
	slices.Sort(slots)
	s.disk.Lock()
	defer s.disk.Unlock()
	s.eraseInMemory(slots)
	for begin := 0; begin < len(slots); {
		end := begin
		for end < len(slots) && FirstSlotOfFile(slots[end]) == FirstSlotOfFile(slots[begin]) {
			end++
		}
		if err := s.eraseOnDisk(slots[begin:end]); err != nil {
			return fmt.Errorf("the erasure is recorded, but some of these lead keys may still exist on disk: %w. Erase the same persons again, or restart the exchange; either erases the keys", err)
		}
		begin = end
	}
	return nil
}

// eraseInMemory overwrites the keys of these slots with zeros in every file that is in
// memory. A file can be in memory more than once.
func (s *KeyStore) eraseInMemory(slots []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := slices.Concat([]*keyFileContent{s.current}, s.ahead, s.cache)
	for _, slot := range slots {
		for _, file := range files {
			clear(file.keyAt(slot))
		}
	}
}

// eraseOnDisk overwrites the keys of these slots with zeros on disk. All slots are in one key
// file.
func (s *KeyStore) eraseOnDisk(slots []uint64) error {
	path := s.keyFilePath(FirstSlotOfFile(slots[0]))
	out, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = injectFault(s.faults.drop)
	for _, slot := range slots {
		if err != nil {
			break
		}
		var key Key
		at := int64(slot-FirstSlotOfFile(slot)) * KeySize
		if _, err = out.ReadAt(key[:], at); err == nil && key != (Key{}) {
			_, err = out.WriteAt(make([]byte, KeySize), at)
		}
	}
	if err == nil {
		err = out.Sync() // also if another process wrote the zeros, because it may not have synced them
	}
	return errors.Join(err, out.Close())
}
