package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// mostKept is the size, in bytes, over which an input is not kept: the corpora of
// all targets are in everyone's checkout.
const mostKept = 4 << 10

// keep copies interesting inputs from one folder to another, until there are count
// of them: from the smallest on, in even steps over the sizes. What is there stays.
func keep(from, to string, count int) error {
	there, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	found, err := inputs(from)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(in input) bool {
		return slices.ContainsFunc(there, func(e fs.DirEntry) bool { return e.Name() == in.name })
	})
	count = min(count-len(there), len(found))
	if count <= 0 {
		return nil
	}
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	for i := range count {
		in := found[i*len(found)/count]
		text, err := os.ReadFile(filepath.Join(from, in.name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, in.name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

type input struct {
	name string
	size int64
}

// inputs lists a folder's files that are small enough, smallest first.
func inputs(dir string) (found []input, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() <= mostKept {
			found = append(found, input{e.Name(), info.Size()})
		}
	}
	slices.SortFunc(found, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name))
	})
	return found, err
}
