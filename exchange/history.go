package exchange

import (
	"encoding/json"
	"strings"
	"time"

	"pingpost/config/canonical"
	"pingpost/engine/state"
	"pingpost/server/admin"
)

// Limits for one answer about the history. Each version needs its document, and a document
// may have 16 MB.
const (
	maxHistoryRead    = 16 << 20 // bytes of documents
	maxHistoryValues  = 4 << 20  // bytes of values
	maxHistoryChanges = 200      // of one version
)

// History returns one page of the configuration's versions with their changes, newest first. A page
// ends at the query's limit, or early when it has read too many bytes. Page.Next then names the version
// to continue after.
func (x *Exchange) History(q admin.ConfigHistoryQuery) (*admin.ConfigHistoryPage, error) {
	if x.Ready() != nil {
		return nil, errNotReady
	}
	revisions := x.state.ConfigRevisions()
	for q.After != 0 && len(revisions) > 0 && revisions[0].Version >= q.After {
		revisions = revisions[1:]
	}
	h := configHistoryPageBuilder{exchange: x, query: q, page: new(admin.ConfigHistoryPage)}
	for i := range revisions {
		before := new(state.ConfigRevision)
		switch {
		case i+1 < len(revisions):
			before = &revisions[i+1]
		case revisions[i].Version > 1:
			return h.page, nil // the oldest version in memory serves only as the base of the next one
		}
		if i > 0 && h.isFull() {
			h.page.Next = revisions[i-1].Version
			return h.page, nil
		}
		h.addVersionIfQueried(&revisions[i], before)
	}
	return h.page, nil
}

// configHistoryPageBuilder collects one page of the configuration's history for the admin API.
type configHistoryPageBuilder struct {
	exchange   *Exchange
	query      admin.ConfigHistoryQuery
	page       *admin.ConfigHistoryPage
	readBytes  int
	valueBytes int

	// The last document that was read. It is the older document of one version, and the
	// newer document of the version before.
	hash string
	text []byte
}

func (h *configHistoryPageBuilder) isFull() bool {
	return len(h.page.Entries) >= h.query.Limit || h.readBytes >= maxHistoryRead || h.valueBytes >= maxHistoryValues
}

func (h *configHistoryPageBuilder) addVersionIfQueried(version, previousVersion *state.ConfigRevision) {
	entry := admin.ConfigHistoryVersion{Version: version.Version, By: version.By, From: version.From.String()}
	if version.At != 0 {
		at := time.Unix(0, version.At).UTC()
		entry.At = &at
	}
	after, err := h.readDocumentCached(version.Document)
	was, errBefore := h.readDocumentCached(previousVersion.Document)
	if err != nil || errBefore != nil {
		entry.Lost = true
		h.page.Entries = append(h.page.Entries, entry)
		return
	}
	for _, change := range canonical.Diff(was, after) {
		if !h.isQueriedPath(change.Path) {
			continue
		}
		if len(entry.Changes) == maxHistoryChanges {
			entry.More++
			continue
		}
		shown := admin.ConfigValueChange{Path: dottedPathFromBracketed(change.Path), Before: oldOrNewValueAsJSON(change, change.Old), After: oldOrNewValueAsJSON(change, change.New)}
		h.valueBytes += len(shown.Before) + len(shown.After)
		entry.Changes = append(entry.Changes, shown)
	}
	if len(entry.Changes) > 0 || h.query.Kind == "" {
		h.page.Entries = append(h.page.Entries, entry)
	}
}

// readDocumentCached returns the stored configuration document with this hash, or nil for an
// empty hash. It remembers the last document, because two neighbouring versions share one.
func (h *configHistoryPageBuilder) readDocumentCached(hash string) ([]byte, error) {
	if hash == "" {
		return nil, nil
	}
	if hash == h.hash {
		return h.text, nil
	}
	text, err := h.exchange.readStoredConfigDocument(hash)
	if err == nil {
		h.readBytes += len(text)
		h.hash, h.text = hash, text
	}
	return text, err
}

func (h *configHistoryPageBuilder) isQueriedPath(path string) bool {
	q := &h.query
	if q.Kind == "" {
		return true
	}
	if q.ID == "" {
		return strings.HasPrefix(path, string(q.Kind)+"[")
	}
	rest, ok := strings.CutPrefix(path, canonical.EntryRef{Kind: q.Kind, ID: q.ID}.String())
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// dottedPathFromBracketed changes a path such as buyers[acme].price to buyers.acme.price, the form in which
// the history shows it. Brackets later in the path stay.
func dottedPathFromBracketed(path string) string {
	for _, kind := range canonical.Collections {
		if rest, ok := strings.CutPrefix(path, string(kind)+"["); ok {
			if id, rest, ok := strings.Cut(rest, "]"); ok {
				return string(kind) + "." + id + rest
			}
		}
	}
	return path
}

// oldOrNewValueAsJSON returns the old or new value of a change as JSON, or nil if valueText is empty.
// For a changed order of entries, valueText is a list of names, which becomes a JSON string.
func oldOrNewValueAsJSON(change canonical.Change, valueText string) (valueOrNil json.RawMessage) {
	if valueText == "" {
		return nil
	}
	if strings.HasSuffix(change.Path, " (order)") {
		valueText = string(quoteJSON(valueText))
	}
	return json.RawMessage(valueText)
}

func quoteJSON(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("BUG: a text does not encode: " + err.Error())
	}
	return quoted
}
