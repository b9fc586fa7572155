package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/server/admin"
)

// ChangeConfigEntry creates, replaces or removes one configuration entry at an operator's request, and
// activates the result. It returns the changes, the values that have no effect, the warnings and the
// entry's new ETag. With change.Dry it returns the same and activates no change.
func (x *Exchange) ChangeConfigEntry(change *admin.ConfigEntryChange) (*admin.ConfigEntryChangeResult, error) {
	x.configMu.Lock()
	defer x.configMu.Unlock()
	s, err := x.loadActiveConfigEntries()
	if err != nil {
		return nil, err
	}
	if err := x.checkMayChange(s, change); err != nil {
		return nil, err
	}
	revised, err := x.reviseWithEntry(s, change)
	if err != nil {
		return nil, err
	}
	changed := &admin.ConfigEntryChangeResult{}
	for _, difference := range canonical.Diff(s.canonical, revised.Canonical) {
		changed.Changes = append(changed.Changes, difference.String())
	}
	if text := revised.fromAPI.FindJSON(change.EntryRef); text != nil {
		changed.ETag = etagOf(text)
		changed.Unapplied = x.listIgnoredInitialValuesOf(revised.CompiledDocument, change.EntryRef)
	}
	for _, warning := range append(revised.Warnings, x.warningsOfRemovedAuth(revised.Document)...) {
		at, _ := change.EntryRef.PathWithin(warning.Path)
		changed.Warnings = append(changed.Warnings, strings.TrimPrefix(at+": ", ": ")+warning.Message)
	}
	if change.Dry {
		return changed, x.checkInitialFilesOfNewLists(revised.CompiledDocument)
	}
	return changed, x.activateRevisionLocked(revised)
}

// checkMayChange returns an error if the API must not change the entry: if the configuration file or
// a sent document has the entry, if the entry no longer has the ETag that the caller sent, or if an
// entry to remove does not exist.
func (x *Exchange) checkMayChange(s *activeConfigEntries, change *admin.ConfigEntryChange) error {
	current := x.findConfigEntry(s, change.EntryRef)
	switch {
	case current == nil && change.Document == nil:
		return noSuchEntryError(change.EntryRef)
	case current != nil && current.Owner == "file" && s.sent:
		return &admin.ConfigChangeRefusedError{Message: change.EntryRef.String() + " is in the document that " + sentDocumentName +
			" applied; change it there, or reload to return to the file"}
	case current != nil && current.Owner == "file":
		return &admin.ConfigChangeRefusedError{Message: change.EntryRef.String() + " is in " + s.file + ", which therefore controls it; change it there and reload"}
	case s.fromAPI.FindJSON(change.EntryRef) != nil && current == nil:
		panic("BUG: " + change.EntryRef.String() + " was created through the API and is not active")
	}
	etag := ""
	if current != nil {
		etag = current.ETag
	}
	if etag == change.IfMatch {
		return nil
	}
	conflict := &admin.ConfigChangeRefusedError{Both: true, Current: current, Sent: canonical.RedactSecretsInJSON(change.Document)}
	switch {
	case change.IfMatch == "":
		conflict.Message = change.EntryRef.String() + " exists already; read it, and change it with its etag"
	case current == nil:
		conflict.Message = change.EntryRef.String() + " was removed meanwhile; create it again with If-None-Match: *, or leave it"
	default:
		conflict.Message = change.EntryRef.String() + " was changed meanwhile; compare both versions, and send yours again with the etag of the current one"
	}
	return conflict
}

// reviseWithEntry returns a revision of the active configuration in which one entry is created,
// replaced or removed. It does not activate the revision.
func (x *Exchange) reviseWithEntry(s *activeConfigEntries, change *admin.ConfigEntryChange) (*pendingRevision, error) {
	fromAPI := s.fromAPI.WithoutEntry(change.EntryRef)
	if change.Document != nil {
		text, err := canonical.CheckSentEntryAndAddID(change.Document, change.EntryRef)
		if err != nil {
			return nil, err
		}
		fromAPI = fromAPI.WithEntry(change.EntryRef, text)
	}
	combined, err := config.Merge(x.path, s.activeConfigWithSources.base, fromAPI)
	if err != nil {
		return nil, err
	}
	combined.MarkEntryAsJustSent(change.EntryRef)
	built, err := combined.Compile(s.all.FindJSON(change.EntryRef))
	if err == nil && change.Document != nil {
		err = x.checkEntryHasItsSecrets(built, change.EntryRef)
	}
	if err != nil {
		return nil, asRemovalConflict(err, change)
	}
	merged, err := canonical.ParseEntries(built.Canonical)
	if err != nil {
		return nil, err
	}
	for _, ref := range combined.FromAPI.Refs() {
		fromAPI = fromAPI.WithEntry(ref, merged.FindJSON(ref))
	}
	built.Warnings = slices.DeleteFunc(built.Warnings, func(p syntax.Problem) bool { _, in := change.EntryRef.PathWithin(p.Path); return !in })
	return &pendingRevision{
		CompiledDocument: built, base: s.activeConfigWithSources.base, sent: s.sent, fromAPI: fromAPI, seed: s.seed.afterOwnChange(fromAPI), from: event.FromAPI, by: change.By,
	}, nil
}

// asRemovalConflict replaces the validation errors after the removal of an entry by a
// conflict. The conflict names the places that still refer to the entry. It returns other
// errors unchanged.
func asRemovalConflict(err error, change *admin.ConfigEntryChange) error {
	var problems *syntax.Problems
	if change.Document != nil || !errors.As(err, &problems) {
		return err
	}
	var places []string
	for _, problem := range (*problems)[:min(len(*problems), 10)] {
		places = append(places, problem.Path)
	}
	return &admin.ConfigChangeRefusedError{Message: change.EntryRef.String() + " is used at " + strings.Join(places, ", ") + "; remove it there first"}
}

// checkEntryHasItsSecrets returns an error for each secret that the entry needs but the exchange
// does not have. An entry may mark a secret as set instead of repeating its value.
func (x *Exchange) checkEntryHasItsSecrets(built *config.CompiledDocument, ref canonical.EntryRef) error {
	known := make(map[string]bool)
	for _, first := range built.Initial.Secrets {
		known[first.Name] = true
	}
	var problems syntax.Problems
	before := x.activeSecretsAndVariables()
	for i := range built.Unset {
		kept := &built.Unset[i]
		if _, inside := ref.PathWithin(kept.Problem.Path); inside && !x.hasStoredValueOfUnsetVariable(kept, before) {
			problems = append(problems, kept.Problem)
			known[kept.Secret] = true
		}
	}
	for _, name := range built.OutboundSecretNamesOf(ref) {
		if _, ok := x.state.SealedSecret(name); ok || known[name] {
			continue
		}
		_, _, at := splitSecretName(name)
		problems = append(problems, syntax.Problem{
			File: x.path, Path: ref.String() + at,
			Message: "is missing; give the secret, because the exchange does not have it yet",
		})
	}
	if len(problems) > 0 {
		return &problems
	}
	return nil
}

// listIgnoredInitialValuesOf returns the lines of listIgnoredInitialValues that concern the entry ref.
func (x *Exchange) listIgnoredInitialValuesOf(built *config.CompiledDocument, ref canonical.EntryRef) (lines []string) {
	document := *built
	document.Initial.Lists = nil // no entry has them, and checking them would read their files
	for _, line := range x.listIgnoredInitialValues(&document) {
		if rest, ok := strings.CutPrefix(line, entryPath(string(ref.Kind), ref.ID)); ok && (rest[0] == '.' || rest[0] == ':') {
			lines = append(lines, line)
		}
	}
	return lines
}

// configSourceName returns the name of the configuration file, or sentDocumentName if a sent document
// replaces the file. The admin API shows it as the file of the entries that the API cannot change.
func (x *Exchange) configSourceName(activeSources *activeConfigWithSources) string {
	if activeSources.sent {
		return sentDocumentName
	}
	return filepath.Base(x.path)
}

// activeConfigEntries are the configuration entries (buyers, campaigns and others) that are active
// now. base has only those that the file or a sent document controls; the API can change the others.
type activeConfigEntries struct {
	*activeConfigWithSources
	all  canonical.Entries
	base canonical.Entries
	file string // name of the file that base came from, or sentDocumentName
}

func (x *Exchange) loadActiveConfigEntries() (*activeConfigEntries, error) {
	now := x.active.Load()
	if now == nil || x.Ready() != nil {
		return nil, errNotReady
	}
	s := &activeConfigEntries{activeConfigWithSources: now, file: x.configSourceName(now)}
	var err error
	if s.all, err = canonical.ParseEntries(now.canonical); err == nil {
		s.base, err = canonical.ParseEntries(now.base)
	}
	return s, err
}

// ConfigEntries returns the active configuration entries of one kind, such as all buyers.
func (x *Exchange) ConfigEntries(kind canonical.Collection) ([]admin.ConfigEntry, error) {
	s, err := x.loadActiveConfigEntries()
	if err != nil {
		return nil, err
	}
	items := make([]admin.ConfigEntry, 0, len(s.all[kind]))
	for _, entry := range s.all[kind] {
		items = append(items, *x.findConfigEntry(s, canonical.EntryRef{Kind: kind, ID: entry.ID}))
	}
	return items, nil
}

// ConfigEntry returns the active configuration entry that ref names, or a not-found error.
func (x *Exchange) ConfigEntry(ref canonical.EntryRef) (*admin.ConfigEntry, error) {
	s, err := x.loadActiveConfigEntries()
	if err != nil {
		return nil, err
	}
	if item := x.findConfigEntry(s, ref); item != nil {
		return item, nil
	}
	return nil, noSuchEntryError(ref)
}

func noSuchEntryError(ref canonical.EntryRef) error {
	return fmt.Errorf("%w: the configuration has no %s", engine.ErrNotFound, ref)
}

// findConfigEntry returns the entry that ref names in the form of the admin API, or nil if it
// does not exist.
func (x *Exchange) findConfigEntry(s *activeConfigEntries, ref canonical.EntryRef) (entryOrNil *admin.ConfigEntry) {
	text := s.all.FindJSON(ref)
	if text == nil {
		return nil
	}
	item := &admin.ConfigEntry{ID: ref.ID, Owner: "api", ETag: etagOf(text), Document: text}
	if s.base.FindJSON(ref) != nil {
		item.Owner, item.File = "file", s.file
	}
	pausable := map[canonical.Collection]event.ConfigObjectKind{canonical.Buyers: event.ObjectBuyer, canonical.Campaigns: event.ObjectCampaign}
	if kind, ok := pausable[ref.Kind]; ok {
		paused, _ := x.state.PauseStatus(kind, x.state.RefOf(kind, ref.ID))
		item.Paused = &paused
	}
	return item
}

// etagOf returns the ETag of a configuration entry: a hash of its canonical text. Equal entries
// have equal ETags.
func etagOf(canonicalJSON json.RawMessage) string {
	sum := sha256.Sum256(canonicalJSON)
	return hex.EncodeToString(sum[:12])
}
