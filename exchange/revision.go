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

// inForce is the configuration in force, and what it was made of: a document, which
// is the file's or one that was sent, and what operators made entry by entry.
type activeConfig struct {
	canonical []byte // the whole
	base      []byte // the document alone; both canonical
	sent      bool   // it did not come from the file, which has the word again at the next reload or start
	made      canonical.Entries
}

// revision is a configuration on its way into force.
type revision struct {
	*config.Compiled                   // the whole
	base             []byte            // its document alone
	sent             bool              // which did not come from the file
	made             canonical.Entries // what is kept beside it
	takenOver        []canonical.Ref   // of that, what the document has the word on
	from             event.Origin
	by               string
}

// document reads a document that is kept beside the log.
func (x *Exchange) readDocument(hash string) ([]byte, error) {
	path := x.documentPath(hash)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read a configuration that is kept beside the log: %w; put the file back from a backup", err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("the configuration that is kept in %q is damaged; put the file back from a backup", path)
	}
	return text, nil
}

// madeSoFar is what operators have made entry by entry, from its file where this
// process has not read it yet.
func (x *Exchange) apiEntries() (canonical.Entries, error) {
	if now := x.active.Load(); now != nil {
		return now.made, nil
	}
	hash := x.state.Catalog().Overlay
	if hash == "" {
		return nil, nil
	}
	text, err := x.readDocument(hash)
	if err != nil {
		return nil, err
	}
	made, err := canonical.ParseEntries(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read what was made through the API from %q: %w", x.documentPath(hash), err)
	}
	return made, nil
}

// overFile is the file's document with what was made put over it. What both have is
// the file's from here on, for good.
func (x *Exchange) reviseFromFile(built *config.Compiled) (*revision, error) {
	r, err := x.newRevision(built)
	if err != nil {
		return nil, err
	}
	for _, ref := range r.takenOver {
		r.made = r.made.Without(ref)
	}
	r.from = event.FromFile
	return r, nil
}

// overSent is a sent document with what was made put over it. What both have is the
// document's as long as it is in force.
func (x *Exchange) reviseFromRequest(built *config.Compiled, by string) (*revision, error) {
	r, err := x.newRevision(built)
	if err != nil {
		return nil, err
	}
	r.sent, r.from, r.by = true, event.FromDocument, by
	return r, nil
}

func (x *Exchange) newRevision(built *config.Compiled) (*revision, error) {
	if err := x.checkSealed(built); err != nil {
		return nil, err
	}
	made, err := x.apiEntries()
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
	whole.Initial.Credentials, whole.Initial.Secrets = built.Initial.Credentials, built.Initial.Secrets // the others are in the whole
	r.Compiled = whole
	return r, nil
}

// configureFirst puts the file's document into force at a start.
func (x *Exchange) configureFirst(built *config.Compiled) error {
	x.configMu.Lock()
	defer x.configMu.Unlock()
	revised, err := x.reviseFromFile(built)
	if err != nil {
		return err
	}
	unapplied := x.unappliedValues(revised.Compiled)
	if err := x.configureLocked(revised); err != nil {
		return err
	}
	x.logUnapplied(unapplied)
	x.logTakenOver(revised)
	return nil
}

// warnTaken says what the file has the word on from here on.
func (x *Exchange) logTakenOver(r *revision) {
	for _, ref := range r.takenOver {
		x.logger.Warn("the file has the word on what was made through the API", "entry", ref.String(), "file", filepath.Base(x.path))
	}
}

// takes says, as lines beside a document's changes, what that document takes over.
func (x *Exchange) takenOver(r *revision) (lines []string) {
	now := x.active.Load()
	was, err := config.Merge(x.path, now.base, now.made)
	if err != nil {
		return nil
	}
	for _, ref := range r.takenOver {
		if was.FromAPI.Find(ref) != nil {
			lines = append(lines, "~ "+ref.String()+": made through the API -> owned by this document (until the next start or reload)")
		}
	}
	return lines
}

// sentDocumentName stands where a file's name would.
const sentDocumentName = "PUT /admin/v1/config"
