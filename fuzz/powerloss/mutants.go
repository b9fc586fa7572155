package main

import "pingpost/fuzz/mutant"

// mutants are programs that break one promise each. powerloss must detect every one. Killing
// the process detects none of them, because the page cache keeps the unsynced data.
var mutants = []mutant.Mutation{
	{
		Name: "the log is not fsynced", File: "wal/segment_writer.go",
		Old: "err = w.log.Sync()", New: "err = nil",
	},
	{
		Name: "leads are acknowledged before the fsync", File: "wal/committer.go",
		Old: "	} else if b.Sync, err = l.writer.sync(); err != nil {\n		return full, err\n	}\n",
		New: "	} else {\n		commitqueue.NotifyCommitted(batch, h.batch, h.at)\n		if b.Sync, err = l.writer.sync(); err != nil {\n			return full, err\n		}\n		batch = nil\n	}\n",
	},
	{
		Name: "the log's folder is not fsynced after a new segment", File: "wal/segment_writer.go",
		Old: "err = durable.SyncFolder(w.dir)", New: "err = durable.SyncFolder(os.TempDir())",
	},
	{
		Name: "a cold file is not fsynced", File: "wal/rowfile/write.go",
		Old: "errors.Join(w.err, w.f.Sync())", New: "w.err",
	},
	{
		Name: "a snapshot gets its name before it is fsynced", File: "wal/snapshot_write.go",
		Old: "errors.Join(w.f.Sync(), dropCache(w.f))", New: "dropCache(w.f)",
	},
	{
		Name: "the copy of the last segment is not fsynced at a start", File: "wal/files.go",
		Old: "err = out.Sync()", New: "err = nil",
	},
	{
		Name: "files of configurations and the exchange's key are not fsynced", File: "internal/durable/durable.go",
		Old: "errors.Join(err, file.Sync(), file.Close())", New: "errors.Join(err, file.Close())",
	},
	{
		Name: "the folders of configurations and of the exchange's key are not fsynced", File: "internal/durable/durable.go",
		Old: "errors.Join(SyncFolder(folder), SyncFolder(filepath.Dir(folder)))", New: "error(nil)",
	},
	{
		Name: "an entry's file is written after the fact that names it", File: "exchange/configure.go",
		Old: "		if wanted.Overlay, err = x.storeConfigDocument(fromAPI); err != nil {\n			return err\n		}\n",
		New: "		sum := sha256.Sum256(fromAPI)\n		wanted.Overlay = hex.EncodeToString(sum[:])\n" +
			"		defer func() { _ = durable.WriteFile(x.configDocumentPath(wanted.Overlay), bytes.NewReader(fromAPI)) }()\n",
	},
	{
		Name: "a file of leads' keys is not fsynced", File: "keys/leadkeys/make.go",
		Old: "err = out.Sync()", New: "err = nil",
	},
	{
		Name: "the folder of leads' keys is not fsynced", File: "keys/leadkeys/make.go",
		Old: "range []string{s.folder, filepath.Dir(s.folder), filepath.Dir(filepath.Dir(s.folder))}", New: "range []string{}",
	},
	{
		Name: "dropped keys of leads are not fsynced", File: "keys/leadkeys/erase.go",
		Old: "err = out.Sync() // also", New: "err = nil // also",
	},
	{
		Name: "entries are backed up before their fsync, which takes its time", File: "wal/committer.go",
		Old: "	if b.Write = took; full {\n		b.Write, b.Sync = 0, took\n	} else if b.Sync, err = l.writer.sync(); err != nil {\n		return full, err\n	}\n	l.at = h.at\n	l.publishCommittedBatch(b)\n",
		New: "	l.at = h.at\n	l.publishCommittedBatch(b)\n	for until := l.opt.Now() + 40e6; l.opt.Now() < until; {\n		runtime.Gosched()\n	}\n" +
			"	if b.Write = took; full {\n		b.Write, b.Sync = 0, took\n	} else if b.Sync, err = l.writer.sync(); err != nil {\n		return full, err\n	}\n",
	},
	{
		Name: "an object of the backup is not fsynced", File: "wal/backup/store/dir.go",
		Old: "tmp.Chmod(filePerm), tmp.Sync(), tmp.Close()", New: "tmp.Chmod(filePerm), tmp.Close()",
	},
	{
		Name: "an object of the backup gets its name before its fsync", File: "wal/backup/store/dir.go",
		Old: "	if err = errors.Join(err, tmp.Chmod(filePerm), tmp.Sync(), tmp.Close()); err == nil {\n		err = d.makeSubfolderDurably(filepath.Dir(d.path(name)))\n	}\n	if err == nil {\n		err = publish(tmp.Name(), d.path(name))\n	}\n	if err == nil {\n",
		New: "	if err = errors.Join(err, tmp.Chmod(filePerm)); err == nil {\n		err = d.makeSubfolderDurably(filepath.Dir(d.path(name)))\n	}\n	if err == nil {\n		err = publish(tmp.Name(), d.path(name))\n	}\n	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {\n",
	},
	{
		Name: "the folder of a backup's object is not fsynced", File: "wal/backup/store/dir.go",
		Old: "		err = durable.SyncFolder(filepath.Dir(d.path(name)))", New: "		err = nil",
	},
	{
		Name: "the folder of a backup's new folder is not fsynced", File: "wal/backup/store/dir.go",
		Old: "	return d.syncFolderLocked(parent)\n", New: "	return nil\n",
	},
	{
		Name: "the folder that a backup is in is not fsynced", File: "wal/backup/store/dir.go",
		Old: "	err := durable.SyncFolder(parent)\n", New: "	err := error(nil)\n",
	},
	{
		Name: "records are backed up before the files that they name", File: "wal/backup/ship_once.go",
		Old: "	if err := errors.Join(s.shipChangedKeyFiles(ctx), s.shipNewConfigDocumentsAndLists(ctx)); err != nil {\n		return false, err\n	}\n	if err := s.shipEntriesOrMergeTail(ctx); err != nil {\n		return false, err\n	}\n",
		New: "	if err := s.shipEntriesOrMergeTail(ctx); err != nil {\n		return false, err\n	}\n	if err := errors.Join(s.shipChangedKeyFiles(ctx), s.shipNewConfigDocumentsAndLists(ctx)); err != nil {\n		return false, err\n	}\n",
	},
	{
		Name: "small objects of the log are removed before the large one is there", File: "wal/backup/ship_once.go",
		Old: "	name, err := s.gen.box.put(ctx, logObjectPrefix(folder, s.tail.first, s.tail.due-1, s.tail.at), s.tail.buf)\n",
		New: "	if err := s.removeObjectsMergedInto(ctx, logObject{first: s.tail.first, last: s.tail.due - 1}); err != nil {\n		return err\n	}\n	name, err := s.gen.box.put(ctx, logObjectPrefix(folder, s.tail.first, s.tail.due-1, s.tail.at), s.tail.buf)\n",
	},
}

// clusterMutants break the promises of a cluster.
var clusterMutants = [][]mutant.Mutation{
	{{
		Name: "leads are acknowledged before a majority has them", File: "cluster/leadership.go",
		Old: "\t\tl.proposed <- p\n",
		New: "\t\tcommitqueue.NotifyCommitted(entries, b.first, b.at)\n\t\tfor i := range entries {\n\t\t\tentries[i].Waiter = nil\n\t\t}\n\t\tl.proposed <- p\n",
	}},
	{{
		Name: "the log is not fsynced before Raft deletes its entries", File: "cluster/marker.go",
		Old: "	durable, err := s.node.opt.Log.Sync()\n", New: "	durable, err := s.marker.LastEntry, error(nil)\n",
	}},
	{{
		Name: "the log is fsynced after Raft deletes its entries", File: "cluster/marker.go",
		Old: "	durable, err := s.node.opt.Log.Sync()\n", New: "	defer s.node.opt.Log.Sync()\n	durable, err := s.marker.LastEntry, error(nil)\n",
	}},
	{{
		Name: "a replicated file is not fsynced", File: "cluster/transfers.go",
		Old: "err = f.Sync()", New: "err = nil",
	}},
	{{
		Name: "the folder of a replicated file is not fsynced", File: "cluster/transfers.go",
		Old: "	return durable.SyncFolder(filepath.Dir(to))\n", New: "	return nil\n",
	}},
	{{
		Name: "the names of a Raft snapshot's files are not fsynced", File: "cluster/snapshot_store.go",
		Old: "durable.SyncFolder(s.folder)", New: "error(nil)",
	}},
	{{
		Name: "the name of the folder of Raft's snapshots is not fsynced", File: "cluster/snapshot_store.go",
		Old: "		err = durable.SyncFolder(dir) // it has", New: "		err = nil // it has",
	}},
	{
		{
			Name: "Raft's log is not fsynced", File: "cluster/node.go",
			Old: "	raftwal \"github.com/hashicorp/raft-wal\"\n",
			New: "	raftwal \"github.com/hashicorp/raft-wal\"\n	raftfs \"github.com/hashicorp/raft-wal/fs\"\n	\"github.com/hashicorp/raft-wal/segment\"\n	\"github.com/hashicorp/raft-wal/types\"\n",
		},
		{
			File: "cluster/node.go", Old: "raftwal.Open(logDir, ",
			New: "raftwal.Open(logDir, raftwal.WithSegmentFiler(segment.NewFiler(logDir, unsyncedFS{raftfs.New()})), ",
		},
		{
			File: "cluster/node.go", Old: "// Node is a member of a cluster.\n",
			New: "type unsyncedFS struct{ *raftfs.FS }\n\ntype unsyncedFile struct{ types.WritableFile }\n\nfunc (unsyncedFile) Sync() error { return nil }\n\n" +
				"func (f unsyncedFS) Create(dir, name string, size uint64) (types.WritableFile, error) {\n	file, err := f.FS.Create(dir, name, size)\n	return unsyncedFile{file}, err\n}\n\n" +
				"func (f unsyncedFS) OpenWriter(dir, name string) (types.WritableFile, error) {\n	file, err := f.FS.OpenWriter(dir, name)\n	return unsyncedFile{file}, err\n}\n\n// Node is a member of a cluster.\n",
		},
	},
}
