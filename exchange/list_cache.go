package exchange

import (
	"sync"

	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

// listCache holds the tables of suppression lists in memory, by the hash of their file. A
// change of configuration then need not read them again. The next change drops tables that
// no list of the catalog uses.
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

// replaceTable drops a file's table and adds another one.
func (o *listCache) replaceTable(file, by string, table *fingerprint.FingerprintTable) {
	o.keepTable(by, table)
	o.mu.Lock()
	defer o.mu.Unlock()
	if file != by {
		delete(o.byFile, file)
	}
}

// dropUnused drops all other tables.
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
