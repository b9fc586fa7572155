package exchange

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pingpost/keys/leadkeys"
	"pingpost/keys/vault"
)

// preparedKeys returns the files of the keys of a new exchange, by their paths in the data directory.
// The checksums of the lead keys are computed once for all tests, because that takes a tenth of a
// second with the race detector. The tests of package leadkeys and of the program create keys.
var preparedKeys = sync.OnceValues(func() (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "keys")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	v, err := vault.OpenExchangeKey(dir, true)
	if err != nil {
		return nil, err
	}
	store, err := leadkeys.OpenKeyStore(dir, 0, deriveChecksumKey(v), func(string, error) {})
	if err != nil {
		return nil, err
	}
	store.Close()
	files = map[string][]byte{}
	return files, fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[path], err = os.ReadFile(filepath.Join(dir, path))
		}
		return err
	})
})

// testsWithPreparedKeys has the tests whose first exchange got the prepared keys.
var testsWithPreparedKeys sync.Map

// writePreparedKeys writes the prepared keys to a data directory that does not exist yet. It changes
// no other data directory. It does so once for each test, so that two exchanges of a test never
// have the same keys.
func (p testDir) writePreparedKeys(t testing.TB, dataDir string) error {
	if _, err := os.Stat(dataDir); dataDir != p.dataDir() || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, used := testsWithPreparedKeys.LoadOrStore(t, true); used {
		return nil
	}
	files, err := preparedKeys()
	for path, content := range files {
		path = filepath.Join(dataDir, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600))
	}
	return err
}
