package exchange

import (
	"sync"

	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

// listCache keeps the entries of suppression lists in memory, by the hash of their stored file.
// A change of the configuration then need not read unchanged files again. dropUnused frees the
// tables of lists that are no longer configured.
type listCache struct {
	mu     sync.Mutex
	byFile map[string]*fingerprint.FingerprintTable
}

func (o *listCache) openTable(dir string, file state.SuppressionFile) (*fingerprint.FingerprintTable, error) {
	o.mu.Lock()
	table := o.byFile[file.File]
	o.mu.Unlock()
	if table != nil {
		return table, nil
	}
	table, err := readListFile(dir, file)
	if err == nil {
		o.keepTable(file.File, table)
	}
	return table, err
}

func (o *listCache) keepTable(file string, table *fingerprint.FingerprintTable) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byFile == nil {
		o.byFile = make(map[string]*fingerprint.FingerprintTable)
	}
	o.byFile[file] = table
}

// replaceTable removes the table of the stored file with the hash file, and adds table under
// the hash by. It is called after an upload has replaced a list's entries.
func (o *listCache) replaceTable(file, by string, table *fingerprint.FingerprintTable) {
	o.keepTable(by, table)
	o.mu.Lock()
	defer o.mu.Unlock()
	if file != by {
		delete(o.byFile, file)
	}
}

// dropUnused removes all tables from the cache except those in tables, which the active
// configuration uses.
func (o *listCache) dropUnused(tables map[market.ListID]*fingerprint.FingerprintTable) {
	used := make(map[*fingerprint.FingerprintTable]bool, len(tables))
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
