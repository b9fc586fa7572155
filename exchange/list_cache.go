package exchange

import (
	"sync"

	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

// listCache are the contents of suppression lists that memory holds, by their file's
// hash, so that a change of configuration reads none of them again. What no list of
// the catalog has any more is let go with the next change.
type listCache struct {
	mu     sync.Mutex
	byFile map[string]*fingerprint.Table
}

func (o *listCache) open(dir string, file state.ListFile) (*fingerprint.Table, error) {
	o.mu.Lock()
	table := o.byFile[file.File]
	o.mu.Unlock()
	if table != nil {
		return table, nil
	}
	table, err := openList(dir, file)
	if err == nil {
		o.keep(file.File, table)
	}
	return table, err
}

func (o *listCache) keep(file string, table *fingerprint.Table) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byFile == nil {
		o.byFile = make(map[string]*fingerprint.Table)
	}
	o.byFile[file] = table
}

// replace lets go of a file's contents for another's.
func (o *listCache) replace(file, by string, table *fingerprint.Table) {
	o.keep(by, table)
	o.mu.Lock()
	defer o.mu.Unlock()
	if file != by {
		delete(o.byFile, file)
	}
}

// keepOnly lets go of all others.
func (o *listCache) keepOnly(tables map[market.ListID]*fingerprint.Table) {
	used := make(map[*fingerprint.Table]bool, len(tables))
	for _, table := range tables {
		used[table] = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for file, table := range o.byFile {
		if !used[table] {
			delete(o.byFile, file)
		}
	}
}
