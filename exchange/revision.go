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

// revision is a configuration that is about to become active.
type revision struct {
	*config.Compiled                   // the whole configuration
	base             []byte            // its document alone
	sent             bool              // base came from a request
	made             canonical.Entries // entries from the API
	takenOver        []canonical.Ref   // the entries from the API that base controls
	from             event.ConfigOrigin
	by               string
}

// readDocument reads a stored configuration document.
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

// entriesFromAPI returns the entries that operators created through the API. At a start it
// reads them from their file.
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

// reviseFromFile returns a revision from the file's document and the API's entries. If
// both have an entry, the file's replaces the API's for good.
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

// reviseFromRequest returns a revision from a document in a request and the API's entries.
// If both have an entry, the document's applies as long as the document is active.
func (x *Exchange) reviseFromRequest(built *config.Compiled, by string) (*revision, error) {
	r, err := x.combineWithAPIEntries(built)
	if err != nil {
		return nil, err
	}
	r.sent, r.from, r.by = true, event.FromDocument, by
	return r, nil
}

// combineWithAPIEntries combines a document with the API's entries.
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

// configureAtStart activates the file's document at a start.
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

// logEntriesTakenOver logs the API's entries that the file controls from now on.
func (x *Exchange) logEntriesTakenOver(r *revision) {
	for _, ref := range r.takenOver {
		x.logger.Warn("the file now controls an entry that was created through the API", "entry", ref.String(), "file", filepath.Base(x.path))
	}
}

// describeEntriesTakenOver lists the API's entries that a document takes over, in the form of changes.
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

// sentDocumentName replaces a file's name for a document from a request.
const sentDocumentName = "PUT /admin/v1/config"
