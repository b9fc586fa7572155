package durable

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A crash must lose none of the new folders, so the parent of each must be fsynced.
func TestMakeFolderSyncsParentsOfNewFolders(t *testing.T) {
	dir := t.TempDir()
	for folder, want := range map[string][]string{
		dir:                               {filepath.Dir(dir)},
		filepath.Join(dir, "a"):           {dir},
		filepath.Join(dir, "a/b"):         {filepath.Join(dir, "a"), dir},
		filepath.Join(dir, "a/b/c") + "/": {filepath.Join(dir, "a/b"), filepath.Join(dir, "a"), dir},
		"/":                               {"/"},
		"no-such-folder/a":                {"no-such-folder", "."},
	} {
		if got := parentsToSync(folder); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", folder, got, want)
		}
	}
	made := filepath.Join(dir, "a/b/c")
	if err := MakeFolder(made); err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(made); err != nil || about.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v: %v", about, err)
	}
	if got := parentsToSync(made); !slices.Equal(got, []string{filepath.Join(dir, "a/b")}) {
		t.Errorf("a folder that exists: %q", got)
	}
}
