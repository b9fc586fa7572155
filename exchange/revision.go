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
)

// activeConfig is the active configuration with its sources: a document, from the file or
// from a request, and the entries that operators created through the API.
type activeConfig struct {
	canonical []byte // the whole configuration
	base      []byte // the document alone; both in canonical form
	sent      bool   // base came from a request; the next reload or start returns to the file
	made      canonical.Entries
}

// revision is a new configuration with its sources, already compiled but not yet active.
type revision struct {
	*config.Compiled                   // the whole configuration
	base             []byte            // its document alone
	sent             bool              // base came from a request
	made             canonical.Entries // entries from the API
	takenOver        []canonical.Ref   // the entries from the API that base controls
	from             event.ConfigOrigin
	by               string
}

// readDocument reads the stored configuration document with this hash. It returns an error if
// the file is missing or its contents have another hash.
func (x *Exchange) readDocument(hash string) ([]byte, error) {
	path := x.documentPath(hash)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read a stored configuration: %w; restore the file from a backup", err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("the stored configuration %q is damaged; restore the file from a backup", path)
	}
	return text, nil
}

// entriesFromAPI returns the configuration entries that operators created through the API. At a
// start, when no configuration is active yet, it reads them from their stored document.
func (x *Exchange) entriesFromAPI() (canonical.Entries, error) {
	if now := x.active.Load(); now != nil {
		return now.made, nil
	}
	hash := x.state.CurrentConfigVersion().Overlay
	if hash == "" {
		return nil, nil
	}
	text, err := x.readDocument(hash)
	if err != nil {
		return nil, err
	}
	made, err := canonical.ParseEntries(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the entries that were created through the API from %q: %w", x.documentPath(hash), err)
	}
	return made, nil
}

// reviseFromFile combines the configuration file, compiled as built, with the entries from the
// API. If both have an entry, the file's replaces the API's for good.
func (x *Exchange) reviseFromFile(built *config.Compiled) (*revision, error) {
	r, err := x.combineWithAPIEntries(built)
	if err != nil {
		return nil, err
	}
	for _, ref := range r.takenOver {
		r.made = r.made.WithoutEntry(ref)
	}
	r.from = event.FromFile
	return r, nil
}

// reviseFromRequest combines a document that an operator sent, compiled as built, with the
// entries from the API. If both have an entry, the document's applies for as long as the
// document is active.
func (x *Exchange) reviseFromRequest(built *config.Compiled, by string) (*revision, error) {
	r, err := x.combineWithAPIEntries(built)
	if err != nil {
		return nil, err
	}
	r.sent, r.from, r.by = true, event.FromDocument, by
	return r, nil
}

// combineWithAPIEntries merges a document with the entries from the API and compiles the
// result. An entry in both is the document's; the result lists it in takenOver.
func (x *Exchange) combineWithAPIEntries(built *config.Compiled) (*revision, error) {
	if err := x.checkUnsetVariables(built); err != nil {
		return nil, err
	}
	made, err := x.entriesFromAPI()
	if err != nil {
		return nil, err
	}
	r := &revision{Compiled: built, base: built.Canonical, made: made}
	combined, err := config.Merge(x.path, built.Canonical, made)
	if err != nil {
		return nil, err
	}
	if r.takenOver = combined.Overridden; len(combined.FromAPI.Refs()) == 0 {
		return r, nil
	}
	whole, err := combined.Compile(nil)
	if err != nil {
		return nil, err
	}
	whole.Settings, whole.Warnings = built.Settings, append(built.Warnings, combined.ProblemsFromAPI(whole.Warnings)...)
	whole.Initial.Credentials, whole.Initial.Secrets = built.Initial.Credentials, built.Initial.Secrets // the combined configuration has the other values
	r.Compiled = whole
	return r, nil
}

// configureAtStart activates the configuration file, with the entries from the API, at a start
// of the exchange.
func (x *Exchange) configureAtStart(built *config.Compiled) error {
	x.configMu.Lock()
	defer x.configMu.Unlock()
	revised, err := x.reviseFromFile(built)
	if err != nil {
		return err
	}
	unapplied := x.ignoredInitialValues(revised.Compiled)
	if err := x.configureLocked(revised); err != nil {
		return err
	}
	x.logUnapplied(unapplied)
	x.logEntriesTakenOver(revised)
	return nil
}

// logEntriesTakenOver warns of entries that operators created through the API and that the
// configuration file now has too. From now on only the file can change them.
func (x *Exchange) logEntriesTakenOver(r *revision) {
	for _, ref := range r.takenOver {
		x.logger.Warn("the file now controls an entry that was created through the API", "entry", ref.String(), "file", filepath.Base(x.path))
	}
}

// describeEntriesTakenOver lists the entries from the API that a sent document has too. Each
// line has the form of a configuration change, for the answer to the operator.
func (x *Exchange) describeEntriesTakenOver(r *revision) (lines []string) {
	now := x.active.Load()
	was, err := config.Merge(x.path, now.base, now.made)
	if err != nil {
		return nil
	}
	for _, ref := range r.takenOver {
		if was.FromAPI.Find(ref) != nil {
			lines = append(lines, "~ "+ref.String()+": created through the API -> owned by this document (until the next start or reload)")
		}
	}
	return lines
}

// sentDocumentName is the name that errors and entries show in place of a file name if a
// document came from a request.
const sentDocumentName = "PUT /admin/v1/config"
