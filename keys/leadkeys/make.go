package leadkeys

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pingpost/internal/durable"
)

// testFaults are functions with which a test makes disk operations fail. A nil function
// injects no error.
type testFaults struct {
	write func() error // before a file is written
	sync  func() error // before it is synced
	drop  func() error // before keys are overwritten
}

// injectFault returns the error of a test's fault function, or nil without such a function.
func injectFault(fault func() error) error {
	if fault == nil {
		return nil
	}
	return fault()
}

const (
	makeFailed    = "cannot make lead keys; the exchange rejects leads when the prepared keys are used up (check the disk)"
	makeRecovered = "making lead keys works again"

	// temporaryName is the name of a file that is being made. It has no digits, and copies
	// of a folder in use skip it.
	temporaryName = "unfinished.new"
)

// retryAfter is the delay before another attempt to make a file.
const retryAfter = time.Second

// makeFilesUntilClosed is the goroutine that prepares key files before TakeUnusedKey needs them. It
// ends with Close.
func (s *KeyStore) makeFilesUntilClosed() {
	defer close(s.done)
	failing := false
	for {
		first, needed := s.firstSlotOfFileToPrepare()
		if !needed {
			select {
			case <-s.wake:
				continue
			case <-s.quit:
				return
			}
		}
		err := s.readOrMakeAndAddFile(first)
		if failing != (err != nil) {
			failing = err != nil
			s.logMakingResult(err)
		}
		if err == nil {
			continue
		}
		select {
		case <-time.After(retryAfter):
		case <-s.quit:
			return
		}
	}
}

// logMakingResult logs that making key files fails (err) or, for nil, that it works again.
func (s *KeyStore) logMakingResult(err error) {
	if err != nil {
		s.log(makeFailed, err)
	} else {
		s.log(makeRecovered, nil)
	}
}

// firstSlotOfFileToPrepare returns the first slot of the next key file to prepare. needed is false if
// enough files are prepared, or after Close.
func (s *KeyStore) firstSlotOfFileToPrepare() (firstSlot uint64, needed bool) {
	select {
	case <-s.quit:
		return 0, false
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.ahead) > 0:
		firstSlot = s.ahead[len(s.ahead)-1].first + PerFile
	case s.current == nil:
		return FirstSlotOfFile(s.next), true
	case s.wantAhead == 1 && s.next < s.current.first+makeNextAfter:
		return 0, false
	default:
		firstSlot = s.current.first + PerFile
	}
	return firstSlot, len(s.ahead) < s.wantAhead
}

// addPreparedFile adds a key file to the prepared ones. If there is no current file, this one
// becomes the current file.
func (s *KeyStore) addPreparedFile(f *keyFileContent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = append(s.ahead, f)
	if s.current == nil {
		s.current, s.ahead = s.ahead[0], s.ahead[1:]
	}
}

// readOrMakeAndAddFile prepares the key file with this first slot. It creates the file with random
// keys, unless it exists. For an existing file it fsyncs the folders, because the process that
// made the file may not have done so.
func (s *KeyStore) readOrMakeAndAddFile(first uint64) error {
	err := s.readAndAddFile(first)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made := &keyFileContent{first: first, keys: make([]byte, fileSize)}
	_, _ = rand.Read(made.keys)
	if s.replicate != nil {
		return s.replicateAndAddFile(made)
	}
	if err := s.writeKeyChecksumsFile(made); err != nil {
		return err
	}
	path := filepath.Join(s.folder, temporaryName)
	if err := s.writeAndSyncFile(path, made.keys); err != nil {
		return errors.Join(fmt.Errorf("cannot make the next file of lead keys: %w", err), removeIfExists(path))
	}
	if err := os.Rename(path, s.keyFilePath(first)); err != nil {
		return fmt.Errorf("cannot make the next file of lead keys: %w", err)
	}
	if err := s.syncKeyFolders(); err != nil {
		return err
	}
	s.addPreparedFile(made)
	return nil
}

// replicateAndAddFile stores a new key file on all nodes of the cluster, and then its checksums. It computes
// them from the stored file: if an earlier leader has replicated a file of this name, that one counts.
func (s *KeyStore) replicateAndAddFile(made *keyFileContent) error {
	name := keyFileName(made.first)
	err := s.replicate("keys/leads/"+name, made.keys)
	if err == nil {
		if made, err = readKeyFile(s.keyFilePath(made.first), made.first); err == nil {
			err = s.replicate("keys/checksums/"+name, s.sumKey.encodeChecksumFile(made))
		}
	}
	if err != nil {
		return fmt.Errorf("cannot make the next file of lead keys: %w", err)
	}
	return s.readAndAddFile(made.first)
}

// readAndAddFile adds an existing key file to the prepared ones. It holds the disk lock. A
// concurrent erasure therefore happens either before the read, or after the file is in
// memory.
func (s *KeyStore) readAndAddFile(first uint64) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	found, err := readKeyFile(s.keyFilePath(first), first)
	if err == nil {
		err = s.readChecksumsOfUnusedKeys(found)
	}
	if err == nil && s.replicate == nil { // otherwise the cluster made it durable
		err = s.syncKeyFolders()
	}
	if err == nil {
		s.addPreparedFile(found)
	}
	return err
}

// syncKeyFolders fsyncs the folders of key files, up to the data directory, so that the names
// of new files survive a crash.
func (s *KeyStore) syncKeyFolders() error {
	for _, folder := range []string{s.folder, filepath.Dir(s.folder), filepath.Dir(filepath.Dir(s.folder))} {
		if err := durable.SyncFolder(folder); err != nil {
			return fmt.Errorf("cannot make the next file of lead keys durable: %w", err)
		}
	}
	return nil
}

// writeAndSyncFile writes a key file or a checksum file and fsyncs it, but not its folder.
func (s *KeyStore) writeAndSyncFile(path string, content []byte) error {
	if err := injectFault(s.faults.write); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if err == nil {
		err = injectFault(s.faults.sync)
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func removeIfExists(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
