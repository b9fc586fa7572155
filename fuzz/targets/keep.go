package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxKeptSize is the size in bytes above which an input is not kept, because the corpora are
// part of every checkout.
const maxKeptSize = 4 << 10

// keepInputs copies interesting inputs until the target folder has count of them. It picks them
// in even steps over the sizes, smallest first. Existing inputs stay.
func keepInputs(corpusDir, testdataDir string, count int) error {
	there, err := os.ReadDir(testdataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	found, err := listSmallInputs(corpusDir)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(in corpusInput) bool {
		return slices.ContainsFunc(there, func(e fs.DirEntry) bool { return e.Name() == in.name })
	})
	count = min(count-len(there), len(found))
	if count <= 0 {
		return nil
	}
	if err := os.MkdirAll(testdataDir, 0o750); err != nil {
		return err
	}
	for i := range count {
		in := found[i*len(found)/count]
		text, err := os.ReadFile(filepath.Join(corpusDir, in.name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(testdataDir, in.name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

type corpusInput struct {
	name string
	size int64
}

// listSmallInputs lists the files that are small enough, smallest first.
func listSmallInputs(dir string) (found []corpusInput, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() <= maxKeptSize {
			found = append(found, corpusInput{e.Name(), info.Size()})
		}
	}
	slices.SortFunc(found, func(a, b corpusInput) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name))
	})
	return found, err
}
