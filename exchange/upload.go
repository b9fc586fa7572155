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

// Upload replaces or extends the entries of a suppression list at an operator's request. It
// checks all lines before it changes anything. Then it stores the entries in a new file, and
// activates the file with an event.
func (x *Exchange) Upload(upload *admin.Upload) (*admin.Uploaded, error) {
	e := x.Engine()
	if e == nil {
		return nil, errNotReady
	}
	list, err := e.SuppressionList(upload.List)
	if err != nil {
		return nil, err
	}
	key := x.vault.DeriveKey("hashes")
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

// addUpload collects the entries of all uploaded lines. It returns the SHA-256 of the lines and
// the number of skipped ones. It continues after an invalid line, so that the error lists up to
// maxBadLines of them.
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

// listContents is the state of a suppression list at the moment when an upload was combined
// with it. A later comparison with it detects concurrent changes.
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

// contentsBeforeUpload returns the current state of a suppression list. If add is set, the
// upload extends the list, and the result has its entries too.
func (x *Exchange) contentsBeforeUpload(list *market.SuppressionList, add bool) (b listContents, err error) {
	if b.file, b.known = x.state.SuppressionFile(list.Ref); b.known && add {
		b.table, err = x.lists.openTable(x.settings.DataDir, b.file)
	}
	return b, err
}

// activateList makes an uploaded table the entries of the list. It returns engine.ErrConflict
// if the list no longer has the state was, because another upload or a configuration change
// came first.
func (x *Exchange) activateList(list *market.SuppressionList, table *fingerprint.FingerprintTable, file state.SuppressionFile, was listContents) error {
	x.configMu.Lock()
	defer x.configMu.Unlock()
	if x.Ready() != nil {
		return errNotReady
	}
	e := x.engine.Load()
	now, err := e.SuppressionList(list.ID)
	if err != nil {
		return err
	}
	if known, ok := x.state.SuppressionFile(list.Ref); now.Field != list.Field || now.Hash != list.Hash || ok != was.known || known != was.file {
		return fmt.Errorf("%w: suppression list %q was changed during the upload; upload the entries again", engine.ErrConflict, list.ID)
	}
	if err := e.ReplaceSuppressionList(list.ID, table, file); err != nil {
		return err
	}
	x.lists.replaceTable(was.file.File, file.File, table)
	x.logger.Info("suppression list loaded", "list", string(list.ID), "entries", file.Entries)
	return nil
}

// SuppressionLists returns all configured suppression lists for the admin API, with their
// number of entries and the source of these.
func (x *Exchange) SuppressionLists() ([]admin.SuppressionList, error) {
	s, err := x.currentEntries()
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
