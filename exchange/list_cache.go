package exchange

import (
	"sync"

	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

// suppressionTableCache keeps the entries of suppression lists in memory, by the hash of their
// stored file. A change of the configuration then need not read unchanged files again.
// dropTablesExcept frees the tables of lists that are no longer configured.
type suppressionTableCache struct {
	mu     sync.Mutex
	byFile map[string]*fingerprint.FingerprintTable
}

func (o *suppressionTableCache) loadTableCached(dataDir string, file state.SuppressionListFile) (*fingerprint.FingerprintTable, error) {
	o.mu.Lock()
	table := o.byFile[file.File]
	o.mu.Unlock()
	if table != nil {
		return table, nil
	}
	table, err := readStoredListFile(dataDir, file)
	if err == nil {
		o.cacheTable(file.File, table)
	}
	return table, err
}

func (o *suppressionTableCache) cacheTable(fileHash string, table *fingerprint.FingerprintTable) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byFile == nil {
		o.byFile = make(map[string]*fingerprint.FingerprintTable)
	}
	o.byFile[fileHash] = table
}

// replaceCachedTable removes the table of the stored file with the hash oldFileHash, and adds table
// under the hash newFileHash. It is called after an upload has replaced a list's entries.
func (o *suppressionTableCache) replaceCachedTable(oldFileHash, newFileHash string, table *fingerprint.FingerprintTable) {
	o.cacheTable(newFileHash, table)
	o.mu.Lock()
	defer o.mu.Unlock()
	if oldFileHash != newFileHash {
		delete(o.byFile, oldFileHash)
	}
}

// dropTablesExcept removes all tables from the cache except those in activeTables, which the active
// configuration uses.
func (o *suppressionTableCache) dropTablesExcept(activeTables map[market.ListID]*fingerprint.FingerprintTable) {
	used := make(map[*fingerprint.FingerprintTable]bool, len(activeTables))
	for _, table := range activeTables {
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
