package leadkeys

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// faults are what a test has the disk do.
type faults struct {
	write func() error // before a file is written
	sync  func() error // before it is synced
	drop  func() error // before keys are overwritten
}

// does does a fault, if there is one.
func does(fault func() error) error {
	if fault == nil {
		return nil
	}
	return fault()
}

const (
	cannotMake = "keys for leads cannot be made; leads are refused once those that are ready are used up"
	madeAgain  = "keys for leads are made again"

	// unfinished is the name of a file that is being made: no digits, and what
	// copies a folder in use passes over.
	unfinished = "unfinished.new"
)

// retryAfter is how soon a file that could not be made is tried again.
const retryAfter = time.Second

// keepMaking makes files ahead of need, until Close.
func (s *Slots) keepMaking() {
	defer close(s.done)
	failing := false
	for {
		first, needed := s.needed()
		if !needed {
			select {
			case <-s.wake:
				continue
			case <-s.quit:
				return
			}
		}
		err := s.bring(first)
		if failing != (err != nil) {
			failing = err != nil
			s.tellOf(err)
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

func (s *Slots) tellOf(err error) {
	if err != nil {
		s.tell(cannotMake, err)
	} else {
		s.tell(madeAgain, nil)
	}
}

// needed is the first slot of the file that is to be made next, if one is.
func (s *Slots) needed() (first uint64, needed bool) {
	select {
	case <-s.quit:
		return 0, false
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.ahead) > 0:
		first = s.ahead[len(s.ahead)-1].first + PerFile
	case s.current == nil:
		return firstOf(s.next), true
	case s.want == 1 && s.next < s.current.first+unhurriedly:
		return 0, false
	default:
		first = s.current.first + PerFile
	}
	return first, len(s.ahead) < s.want
}

func (s *Slots) add(made *file) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = append(s.ahead, made)
	if s.current == nil {
		s.current, s.ahead = s.ahead[0], s.ahead[1:]
	}
}

// bring puts the file that begins with a slot behind those that lie ready: the one
// that is there, else a new one. Also one that is there is made durable: whoever made
// it may not have come so far.
func (s *Slots) bring(first uint64) error {
	err := s.fetch(first)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made := &file{first, make([]byte, fileSize)}
	_, _ = rand.Read(made.keys)
	if err := s.writeSums(made); err != nil {
		return err
	}
	path := filepath.Join(s.folder, unfinished)
	if err := s.write(path, made.keys); err != nil {
		return errors.Join(fmt.Errorf("cannot make a file of leads' keys: %w", err), remove(path))
	}
	if err := os.Rename(path, s.path(first)); err != nil {
		return fmt.Errorf("cannot make a file of leads' keys: %w", err)
	}
	if err := s.settle(); err != nil {
		return err
	}
	s.add(made)
	return nil
}

// fetch is bring of a file that is there. What is dropped meanwhile waits, or is
// dropped before it is read.
func (s *Slots) fetch(first uint64) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	found, err := load(s.path(first), first)
	if err == nil {
		err = s.passOver(found)
	}
	if err == nil {
		err = s.settle()
	}
	if err == nil {
		s.add(found)
	}
	return err
}

// settle makes the names of files durable, up to the data directory.
func (s *Slots) settle() error {
	for _, folder := range []string{s.folder, filepath.Dir(s.folder), filepath.Dir(filepath.Dir(s.folder))} {
		if err := syncFolder(folder); err != nil {
			return fmt.Errorf("cannot make a file of leads' keys durable: %w", err)
		}
	}
	return nil
}

func (s *Slots) write(path string, keys []byte) error {
	if err := does(s.faults.write); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(keys)
	if err == nil {
		err = does(s.faults.sync)
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
