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

var errStopAtMaxBadLines = errors.New("the check of the uploaded lines stopped, because its list of invalid lines is full")

// ApplySuppressionUpload replaces or extends the entries of a suppression list at an operator's request. It
// checks all lines before it changes anything. Then it stores the entries in a new file, and
// activates the file with an event.
func (x *Exchange) ApplySuppressionUpload(upload *admin.SuppressionUpload) (*admin.SuppressionUploadResult, error) {
	e := x.EngineWhileReady()
	if e == nil {
		return nil, errNotReady
	}
	list, err := e.SuppressionList(upload.List)
	if err != nil {
		return nil, err
	}
	key := x.vault.DeriveKey("hashes")
	g := suppressionListBuilder{list: list, key: &key}
	source, skipped, err := g.addUploadedLines(upload)
	if err != nil {
		return nil, err
	}
	before, err := x.readListBeforeUpload(list, upload.Add)
	if err != nil {
		return nil, err
	}
	done := &admin.SuppressionUploadResult{Skipped: skipped}
	lines := uint64(g.n)
	table := g.buildTableAndReset(before.table)
	done.Entries = uint64(table.Len())
	done.Duplicates = lines + uint64(before.keptEntryCount()) - done.Entries
	if !x.disk.measureAndCheckRoomFor(8 * done.Entries) {
		return nil, errDiskLow
	}
	file, err := x.storeSuppressionTable(table)
	if err != nil {
		return nil, err
	}
	file.Source, file.By, file.Uploaded = source, upload.By, true
	return done, x.activateUploadedList(e, list, table, file, before)
}

// addUploadedLines collects the entries of all uploaded lines. It returns the SHA-256 of the lines and
// the number of skipped ones. It continues after an invalid line, so that the error lists up to
// maxBadLines of them.
func (g *suppressionListBuilder) addUploadedLines(upload *admin.SuppressionUpload) (linesSHA256 string, skippedLines uint64, err error) {
	var bad admin.BadLinesError
	linesSHA256, err = forEachSuppressionEntryLine(upload.Lines, func(number int, line []byte) error {
		switch err := g.addLine(line); {
		case g.n > maxUploadEntries:
			return admin.ErrUploadTooLong
		case err == nil:
			return nil
		default:
			bad = append(bad, admin.BadLine{Number: number, Why: err.Error()})
		}
		if len(bad) == maxBadLines {
			return errStopAtMaxBadLines
		}
		return nil
	}, &skippedLines)
	var long lineAtNumberTooLongError
	if errors.As(err, &long) {
		bad, err = append(bad, admin.BadLine{Number: int(long), Why: "the line is too long"}), nil
	}
	if len(bad) > 0 && (err == nil || errors.Is(err, errStopAtMaxBadLines)) {
		return "", 0, bad
	}
	return linesSHA256, skippedLines, err
}

// suppressionListBeforeUpload is the state of a suppression list at the moment when an upload was
// combined with it. A later comparison with it detects concurrent changes.
type suppressionListBeforeUpload struct {
	known bool
	file  state.SuppressionListFile
	table *fingerprint.FingerprintTable // nil if the upload replaces it
}

func (b *suppressionListBeforeUpload) keptEntryCount() int {
	if b.table == nil {
		return 0
	}
	return b.table.Len()
}

// readListBeforeUpload returns the current state of a suppression list. If extend is set, the
// upload extends the list, and the result has its entries too.
func (x *Exchange) readListBeforeUpload(list *market.SuppressionListDefinition, extend bool) (before suppressionListBeforeUpload, err error) {
	if before.file, before.known = x.state.SuppressionListFile(list.Ref); before.known && extend {
		before.table, err = x.lists.loadTableCached(x.settings.DataDir, before.file)
	}
	return before, err
}

// activateUploadedList makes an uploaded table the entries of the list. e is the engine of the upload's
// beginning: the next leader may have removed the stored file. It returns engine.ErrConflict
// if the list no longer has the state before, because another upload or a configuration change
// came first.
func (x *Exchange) activateUploadedList(e *engine.Engine, list *market.SuppressionListDefinition, table *fingerprint.FingerprintTable, file state.SuppressionListFile, before suppressionListBeforeUpload) error {
	if err := x.lockConfigIfReady(); err != nil {
		return err
	}
	defer x.configMu.Unlock()
	now, err := e.SuppressionList(list.ID)
	if err != nil {
		return err
	}
	if known, ok := x.state.SuppressionListFile(list.Ref); now.Field != list.Field || now.Hash != list.Hash || ok != before.known || known != before.file {
		return fmt.Errorf("%w: suppression list %q was changed during the upload; upload the entries again", engine.ErrConflict, list.ID)
	}
	if err := e.ReplaceSuppressionList(list.ID, table, file); err != nil {
		return err
	}
	x.lists.replaceCachedTable(before.file.File, file.File, table)
	x.logger.Info("suppression list loaded", "list", string(list.ID), "entries", file.Entries)
	return nil
}

// SuppressionLists returns all configured suppression lists for the admin API, with their
// number of entries and the source of these.
func (x *Exchange) SuppressionLists() ([]admin.SuppressionList, error) {
	s, err := x.loadActiveConfigEntries()
	if err != nil {
		return nil, err
	}
	e := x.engine.Load()
	lists := make([]admin.SuppressionList, 0, len(s.all[canonical.Lists]))
	for _, entry := range s.all[canonical.Lists] {
		list, err := e.SuppressionList(market.ListID(entry.ID))
		if err != nil {
			continue // it was removed just now
		}
		info := admin.SuppressionList{ID: entry.ID, Field: list.Field.String(), Hash: list.Hash.String(), Owner: "api"}
		if s.base.FindJSON(canonical.EntryRef{Kind: canonical.Lists, ID: entry.ID}) != nil {
			info.Owner = "file"
		}
		if file, ok := x.state.SuppressionListFile(x.state.RefOf(event.ObjectList, entry.ID)); ok {
			source := "file"
			if file.Uploaded {
				source = "upload"
			}
			info.Entries, info.Source = file.Entries, &source
			if file.At != 0 {
				at := time.Unix(0, file.At).UTC()
				info.LoadedAt = &at
			}
		}
		lists = append(lists, info)
	}
	return lists, nil
}
