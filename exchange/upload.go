package exchange

import (
	"errors"
	"fmt"
	"time"

	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
	"pingpost/server/admin"
)

const (
	maxUploadEntries = 50_000_000 // of an upload: 400 MB, and as much again while its table is built
	maxBadLines      = 20
)

var errTooManyBadLines = errors.New("too many lines are invalid")

// Upload replaces or extends the entries of a suppression list. It reads all lines before
// it changes anything. Then it writes the file, and then the event.
func (x *Exchange) Upload(upload *admin.Upload) (*admin.Uploaded, error) {
	e := x.Engine()
	if e == nil {
		return nil, errNotReady
	}
	list, err := e.List(upload.List)
	if err != nil {
		return nil, err
	}
	key := x.vault.Derive("hashes")
	g := listBuilder{list: list, key: &key}
	source, skipped, err := g.addUpload(upload)
	if err != nil {
		return nil, err
	}
	before, err := x.contentsBeforeUpload(list, upload.Add)
	if err != nil {
		return nil, err
	}
	done := &admin.Uploaded{Skipped: skipped}
	lines := uint64(g.n)
	table := g.buildTable(before.table)
	done.Entries = uint64(table.Len())
	done.Duplicates = lines + uint64(before.len()) - done.Entries
	if !x.disk.measureRoomFor(8 * done.Entries) {
		return nil, errDiskLow
	}
	file, err := storeTable(x.settings.DataDir, table)
	if err != nil {
		return nil, err
	}
	file.Source, file.By, file.Uploaded = source, upload.By, true
	return done, x.activateList(list, table, file, before)
}

// addUpload reads all lines. It continues after an invalid line, so that the error lists
// several.
func (g *listBuilder) addUpload(upload *admin.Upload) (source string, skipped uint64, err error) {
	var bad admin.BadLines
	source, err = forEachEntryLine(upload.Lines, func(number int, line []byte) error {
		switch err := g.addLine(line); {
		case g.n > maxUploadEntries:
			return admin.ErrUploadTooLong
		case err == nil:
			return nil
		default:
			bad = append(bad, admin.BadLine{Number: number, Why: err.Error()})
		}
		if len(bad) == maxBadLines {
			return errTooManyBadLines
		}
		return nil
	}, &skipped)
	var long lineTooLongError
	if errors.As(err, &long) {
		bad, err = append(bad, admin.BadLine{Number: int(long), Why: "the line is too long"}), nil
	}
	if len(bad) > 0 && (err == nil || errors.Is(err, errTooManyBadLines)) {
		return "", 0, bad
	}
	return source, skipped, err
}

// listContents is the state of a list when an upload was combined with it.
type listContents struct {
	known bool
	file  state.SuppressionFile
	table *fingerprint.FingerprintTable // nil if the upload replaces it
}

func (b *listContents) len() int {
	if b.table == nil {
		return 0
	}
	return b.table.Len()
}

// contentsBeforeUpload returns the state of a list, with its table if the upload extends it.
func (x *Exchange) contentsBeforeUpload(list *market.SuppressionList, add bool) (b listContents, err error) {
	if b.file, b.known = x.state.SuppressionFile(list.Ref); b.known && add {
		b.table, err = x.lists.openTable(x.settings.DataDir, b.file)
	}
	return b, err
}

// activateList activates new entries if the list did not change since was.
func (x *Exchange) activateList(list *market.SuppressionList, table *fingerprint.FingerprintTable, file state.SuppressionFile, was listContents) error {
	x.configMu.Lock()
	defer x.configMu.Unlock()
	if x.Ready() != nil {
		return errNotReady
	}
	e := x.engine.Load()
	now, err := e.List(list.ID)
	if err != nil {
		return err
	}
	if known, ok := x.state.SuppressionFile(list.Ref); now.Field != list.Field || now.Hash != list.Hash || ok != was.known || known != was.file {
		return fmt.Errorf("%w: suppression list %q was changed during the upload; upload the entries again", engine.ErrConflict, list.ID)
	}
	if err := e.LoadList(list.ID, table, file); err != nil {
		return err
	}
	x.lists.replaceTable(was.file.File, file.File, table)
	x.logger.Info("suppression list loaded", "list", string(list.ID), "entries", file.Entries)
	return nil
}

// SuppressionLists returns the lists of the active configuration.
func (x *Exchange) SuppressionLists() ([]admin.SuppressionList, error) {
	s, err := x.currentEntries()
	if err != nil {
		return nil, err
	}
	e := x.engine.Load()
	lists := make([]admin.SuppressionList, 0, len(s.all[canonical.Lists]))
	for _, entry := range s.all[canonical.Lists] {
		list, err := e.List(market.ListID(entry.ID))
		if err != nil {
			continue // it was removed just now
		}
		told := admin.SuppressionList{ID: entry.ID, Field: list.Field.String(), Hash: list.Hash.String(), Owner: "api"}
		if s.base.Find(canonical.Ref{Kind: canonical.Lists, ID: entry.ID}) != nil {
			told.Owner = "file"
		}
		if file, ok := x.state.SuppressionFile(x.state.RefOf(event.ObjectList, entry.ID)); ok {
			source := "file"
			if file.Uploaded {
				source = "upload"
			}
			told.Entries, told.Source = file.Entries, &source
			if file.At != 0 {
				at := time.Unix(0, file.At).UTC()
				told.LoadedAt = &at
			}
		}
		lists = append(lists, told)
	}
	return lists, nil
}
