package main

import "pingpost/fuzz/mutant"

// mutants are programs that break one promise each, of which this one has to see
// each. None of them is seen by killing: the page cache has what they never synced.
var mutants = []mutant.Mutation{
	{
		Name: "the log is not fsynced", File: "wal/disk.go",
		Old: "err = d.log.Sync()", New: "err = nil",
	},
	{
		Name: "leads are acknowledged before the fsync", File: "wal/committer.go",
		Old: "	} else if b.Sync, err = l.disk.sync(); err != nil {\n		return full, err\n	}\n",
		New: "	} else {\n		tell(batch, h.batch, h.at)\n		if b.Sync, err = l.disk.sync(); err != nil {\n			return full, err\n		}\n		batch = nil\n	}\n",
	},
	{
		Name: "the log's folder is not fsynced after a new segment", File: "wal/disk.go",
		Old: "err = syncDir(d.dir)", New: "err = nil",
	},
	{
		Name: "a snapshot gets its name before it is fsynced", File: "wal/snapshot_write.go",
		Old: "errors.Join(w.f.Sync(), forget(w.f))", New: "forget(w.f)",
	},
	{
		Name: "the copy of the last segment is not fsynced at a start", File: "wal/files.go",
		Old: "err = out.Sync()", New: "err = nil",
	},
	{
		Name: "a configuration's file is not fsynced", File: "cmd/pingpost/exchange/lists.go",
		Old: "errors.Join(err, file.Sync(), file.Close())", New: "errors.Join(err, file.Close())",
	},
	{
		Name: "the folder of a configuration's file is not fsynced", File: "cmd/pingpost/exchange/lists.go",
		Old: "range []string{folder, filepath.Dir(folder)}", New: "range []string{}",
	},
	{
		Name: "the exchange's key is not fsynced", File: "server/vault/vault.go",
		Old: "errors.Join(err, file.Sync(), file.Close())", New: "errors.Join(err, file.Close())",
	},
	{
		Name: "the folder of the exchange's key is not fsynced", File: "server/vault/vault.go",
		Old: "syncFolder(folder), syncFolder(dir)", New: "error(nil)",
	},
	{
		Name: "a file of leads' keys is not fsynced", File: "server/vault/slots/make.go",
		Old: "err = out.Sync()", New: "err = nil",
	},
	{
		Name: "the folder of leads' keys is not fsynced", File: "server/vault/slots/make.go",
		Old: "range []string{s.folder, filepath.Dir(s.folder), filepath.Dir(filepath.Dir(s.folder))}", New: "range []string{}",
	},
	{
		Name: "dropped keys of leads are not fsynced", File: "server/vault/slots/erase.go",
		Old: "err = out.Sync() // also", New: "err = nil // also",
	},
}
