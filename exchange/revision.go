package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/engine/event"
	"pingpost/server/admin"
)

// activeConfigWithSources is the active configuration with its sources: a document, from the file or
// from a request, and the entries that operators created through the API.
type activeConfigWithSources struct {
	canonical []byte // the whole configuration
	base      []byte // the document alone; both in canonical form
	sent      bool   // base came from a request; the next reload or start returns to the file
	fromAPI   canonical.Entries
	seed      *seededFileEntries              // nil with provisioning: enforce
	drift     func() []admin.ConfigDriftEntry // computed once: see setLazyDrift
}

// pendingRevision is a new configuration with its sources, already compiled but not yet active.
type pendingRevision struct {
	*config.CompiledDocument                          // the whole configuration
	base                     []byte                   // its document alone
	sent                     bool                     // base came from a request
	fromAPI                  canonical.Entries        // entries from the API
	seed                     *seededFileEntries       // nil with provisioning: enforce
	compared                 *config.CompiledDocument // with the file's values of secrets, to compare them; nil: the document itself
	takenOver                []canonical.EntryRef     // the entries from the API that base controls
	from                     event.ConfigOrigin
	by                       string
}

// readStoredConfigDocument reads the stored configuration document with this hash. It returns an
// error if the file is missing or its contents have another hash.
func (x *Exchange) readStoredConfigDocument(hash string) ([]byte, error) {
	path := x.configDocumentPath(hash)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read a stored configuration: %w; restore the file from a backup", err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("the stored configuration %q is damaged; restore the file from a backup", path)
	}
	return text, nil
}

// loadActiveOrStoredOwnEntries returns the configuration entries that the exchange itself
// keeps, and the seed if it has taken over the entries of its file. At a start, when no configuration
// is active yet, it reads them from their stored document.
func (x *Exchange) loadActiveOrStoredOwnEntries() (canonical.Entries, *seededFileEntries, error) {
	if now := x.active.Load(); now != nil {
		return now.fromAPI, now.seed, nil
	}
	hash := x.state.CurrentConfigVersion().Overlay
	if hash == "" {
		return nil, nil, nil
	}
	text, err := x.readStoredConfigDocument(hash)
	if err != nil {
		return nil, nil, err
	}
	fromAPI, err := canonical.ParseEntries(text)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the exchange's configuration entries from %q: %w", x.configDocumentPath(hash), err)
	}
	seed, err := parseAcceptedFileEntries(text)
	if err != nil {
		return nil, nil, fmt.Errorf("the stored configuration %q is undamaged, but does not say in a known form which entries of the configuration file the exchange took over; start the version of pingpost that wrote it: %w", x.configDocumentPath(hash), err)
	}
	return fromAPI, seed, nil
}

// combineFileWithOwnEntries combines the configuration file, compiled as built, with the entries from
// the API. With provisioning: enforce, an entry of the file replaces the API's for good. With seed, the
// exchange takes over the file's entries the first time. Later it keeps its own entries and takes only
// settings from the file.
func (x *Exchange) combineFileWithOwnEntries(built *config.CompiledDocument) (*pendingRevision, error) {
	if !x.settings.Enforce {
		return x.combineFileInSeedMode(built)
	}
	r, err := x.combineWithAPIEntries(built)
	if err != nil {
		return nil, err
	}
	for _, ref := range r.takenOver {
		r.fromAPI = r.fromAPI.WithoutEntry(ref)
	}
	r.from = event.FromFile
	return r, nil
}

// combineSentDocumentWithOwnEntries combines a document that an operator sent, compiled as built, with the
// exchange's own entries. With provisioning: enforce, the document's version of an entry applies while
// the document is active. With seed, it replaces the exchange's version for good.
func (x *Exchange) combineSentDocumentWithOwnEntries(built *config.CompiledDocument, operator string) (*pendingRevision, error) {
	if !x.settings.Enforce {
		return x.reviseWithSentEntries(built, operator)
	}
	r, err := x.combineWithAPIEntries(built)
	if err != nil {
		return nil, err
	}
	r.sent, r.from, r.by = true, event.FromDocument, operator
	return r, nil
}

// combineWithAPIEntries merges a document with the entries from the API and compiles the
// result. An entry in both is the document's; the result lists it in takenOver.
func (x *Exchange) combineWithAPIEntries(built *config.CompiledDocument) (*pendingRevision, error) {
	if err := x.checkUnsetSecretVariables(built); err != nil {
		return nil, err
	}
	fromAPI, _, err := x.loadActiveOrStoredOwnEntries()
	if err != nil {
		return nil, err
	}
	r := &pendingRevision{CompiledDocument: built, base: built.Canonical, fromAPI: fromAPI}
	combined, err := config.Merge(x.path, built.Canonical, fromAPI)
	if err != nil {
		return nil, err
	}
	if r.takenOver = combined.Overridden; len(combined.FromAPI.Refs()) == 0 {
		return r, nil
	}
	merged, err := combined.Compile(nil)
	if err != nil {
		return nil, err
	}
	merged.Settings, merged.Warnings = built.Settings, append(built.Warnings, combined.ProblemsInAPIEntries(merged.Warnings)...)
	merged.Initial.Credentials, merged.Initial.Secrets = built.Initial.Credentials, built.Initial.Secrets // the combined configuration has the other values
	r.CompiledDocument = merged
	return r, nil
}

// configureAtStart activates the configuration file, with the entries from the API, before this node begins to
// decide. It sets x.deciding under the same lock, so that ReloadConfiguration either leaves its file to this
// activation or activates the file itself.
func (x *Exchange) configureAtStart() error {
	x.configMu.Lock()
	defer x.configMu.Unlock()
	x.active.Store(nil) // the stored documents count: other nodes may have led since
	revised, err := x.combineFileWithOwnEntries(x.built.Load())
	if err != nil {
		return err
	}
	unapplied := x.listIgnoredInitialValuesOfRevision(revised)
	if err := x.activateAndAuditRevisionFromFileLocked(operationStart, revised); err != nil {
		return err
	}
	x.warnOfIgnoredInitialValues(unapplied)
	x.warnOfAPIEntriesNowInFile(revised)
	x.warnOfConfigDrift()
	x.deciding.Store(true) // from now on requests to buyers and suppliers may be sent
	return nil
}

// warnOfAPIEntriesNowInFile warns of entries that operators created through the API and that the
// configuration file now has too. From now on only the file can change them.
func (x *Exchange) warnOfAPIEntriesNowInFile(r *pendingRevision) {
	for _, ref := range r.takenOver {
		x.logger.Warn("the configuration file now controls an entry that was created through the API; change it in the file", "entry", ref.String(), "file", filepath.Base(x.path))
	}
}

// describeAPIEntriesNowInDocument lists the entries from the API that a sent document has too, and that the
// active document does not have. Each line has the form of a configuration change, for the answer
// to the operator.
func (x *Exchange) describeAPIEntriesNowInDocument(r *pendingRevision) (lines []string) {
	now := x.active.Load()
	was, err := config.Merge(x.path, now.base, now.fromAPI)
	if err != nil {
		return nil
	}
	for _, ref := range r.takenOver {
		if was.FromAPI.FindJSON(ref) != nil {
			lines = append(lines, "~ "+ref.String()+": created through the API -> owned by this document (until the next start or reload)")
		}
	}
	return lines
}

// sentDocumentName is the name that errors and entries show in place of a file name if a
// document came from a request.
const sentDocumentName = "PUT /admin/v1/config"
