package exchange

import (
	"encoding/json"
	"fmt"

	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/engine/event"
)

// seededFileEntries are the entries of the configuration file in an exchange with `provisioning: seed`.
// Such an exchange creates the file's entries once and keeps them itself. It compares later versions of
// the file with accepted.
type seededFileEntries struct {
	file     canonical.Entries // when the exchange last read the file; not stored
	accepted canonical.Entries // when the operator last made file and exchange agree, entry by entry
}

// seededFromKey is the key of seed.accepted in the stored document of the exchange's entries.
// Versions without provisioning ignore it.
const seededFromKey = "seeded_from"

// encodeStoredEntries returns the exchange's entries as one JSON document, with the seed's accepted
// entries. It returns nil if there is nothing to store.
func encodeStoredEntries(entries canonical.Entries, s *seededFileEntries) []byte {
	if s == nil {
		return entries.EncodeDocument()
	}
	document := append([]byte(`{"`+seededFromKey+`":`), s.accepted.AppendCollectionsAsJSON([]byte("{"))...)
	return append(entries.AppendCollectionsAsJSON(append(document, '}')), '}')
}

// parseAcceptedFileEntries returns the seed in the stored document of the exchange's entries, or nil if the
// exchange has not taken over the entries of its file. It encodes the accepted entries again,
// because an earlier version may have stored them without keys of today.
func parseAcceptedFileEntries(storedEntries []byte) (*seededFileEntries, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(storedEntries, &document); err != nil || document[seededFromKey] == nil {
		return nil, err
	}
	source, err := config.ParseStoredDocument(document[seededFromKey])
	if err != nil {
		return nil, err
	}
	accepted, err := canonical.ParseEntries(canonical.Encode(source.Document))
	if err != nil {
		return nil, err
	}
	return &seededFileEntries{accepted: accepted}, nil
}

// combineFileInSeedMode combines the settings of the configuration file, compiled as
// built, with the exchange's own entries. The first time, the exchange takes over the entries of
// the file, with their initial values. Later it only remembers the file's entries, to compare them.
func (x *Exchange) combineFileInSeedMode(built *config.CompiledDocument) (*pendingRevision, error) {
	entries, known, err := x.loadActiveOrStoredOwnEntries()
	if err != nil {
		return nil, err
	}
	file, err := canonical.ParseEntries(built.Canonical)
	if err != nil {
		return nil, err
	}
	if known != nil {
		return x.compileSettingsWithEntries(built, entries, newSeededFileEntries(file, known.accepted, entries), false)
	}
	if err := x.checkUnsetSecretVariables(built); err != nil {
		return nil, err
	}
	return x.compileSettingsWithEntries(built, entries.WithEntriesOf(file), &seededFileEntries{file: file, accepted: file}, true)
}

// newSeededFileEntries returns the seed after the file was read, or after a change of the exchange's
// own entries. Where both agree, the operator has accepted the file's version. Without this rule, a
// later change in the exchange alone would count as drift.
func newSeededFileEntries(file, accepted, own canonical.Entries) *seededFileEntries {
	now := &seededFileEntries{file: file, accepted: make(canonical.Entries)}
	for _, ref := range accepted.WithEntriesOf(file).Refs() {
		inFile, before := file.FindJSON(ref), accepted.FindJSON(ref)
		if len(canonical.DiffEntry(ref, inFile, own.FindJSON(ref))) == 0 {
			before = inFile
		}
		if before != nil {
			now.accepted.AppendInPlace(ref, before)
		}
	}
	return now
}

// afterOwnChange returns the seed after a change of the exchange's own entries. It is nil for
// a nil seed.
func (s *seededFileEntries) afterOwnChange(own canonical.Entries) *seededFileEntries {
	if s == nil {
		return nil
	}
	return newSeededFileEntries(s.file, s.accepted, own)
}

// reviseWithSentEntries combines a document that an operator sent, compiled as built, with the exchange's
// own entries. It creates and replaces the document's entries and removes none. The document's
// settings apply until the next start or reload. The caller holds configMu.
func (x *Exchange) reviseWithSentEntries(built *config.CompiledDocument, operator string) (*pendingRevision, error) {
	if err := x.checkUnsetSecretVariables(built); err != nil {
		return nil, err
	}
	// The operator may have changed the file before sending it. An unreadable file leaves the last one.
	if _, err := x.rereadConfigFileIfChangedLocked(); err != nil {
		return nil, err
	}
	entries, known, err := x.loadActiveOrStoredOwnEntries()
	if err != nil {
		return nil, err
	}
	sent, err := canonical.ParseEntries(built.Canonical)
	if err != nil {
		return nil, err
	}
	entries = entries.WithEntriesOf(sent)
	r, err := x.compileSettingsWithEntries(built, entries, newSeededFileEntries(known.file, known.accepted, entries), true)
	if err != nil {
		return nil, err
	}
	r.sent, r.from, r.by = true, event.FromDocument, operator
	return r, nil
}

// compileSettingsWithEntries compiles the settings of a document, compiled as built, with these
// entries. If the exchange takes over the document's entries, the document's initial values apply.
// Otherwise only the variables in addresses apply that the exchange has sealed, and that its own
// entry has in the same address: their values follow the environment.
func (x *Exchange) compileSettingsWithEntries(built *config.CompiledDocument, entries canonical.Entries, s *seededFileEntries, takesOver bool) (*pendingRevision, error) {
	settings, err := canonical.SettingsWithoutEntries(built.Canonical)
	if err != nil {
		return nil, err
	}
	combined, err := config.Merge(x.path, settings, entries)
	if err != nil {
		return nil, err
	}
	merged, err := combined.Compile(nil)
	if err != nil && !takesOver {
		remedy := "start once with provisioning: enforce"
		if x.isClustered() { // its nodes cannot enforce their files
			remedy = "change the entries in the exchange first"
		}
		return nil, fmt.Errorf("the exchange keeps its own entries, and they do not fit the settings of the file; restore the setting, or %s: %w", remedy, err)
	}
	if err != nil {
		return nil, err
	}
	if entries, err = canonical.ParseEntries(merged.Canonical); err != nil {
		return nil, err
	}
	merged.Unset = nil
	r := &pendingRevision{CompiledDocument: merged, base: settings, fromAPI: entries, seed: s, from: event.FromFile}
	if takesOver {
		merged.Initial.Credentials, merged.Initial.Secrets, merged.Warnings = built.Initial.Credentials, built.Initial.Secrets, built.Warnings
		return r, nil
	}
	r.compared = new(*merged)
	own := built.Initial.CredentialsAndSecretsOf(entries.Refs())
	r.compared.Initial.Credentials, r.compared.Initial.Secrets = own.Credentials, own.Secrets
	merged.Initial.Credentials, merged.Initial.Secrets = nil, nil // the merged document has no values of secrets
	same := config.SecretNamesOfCommonAddressVariables(built.Document, merged.Document)
	for _, initial := range built.Initial.Secrets {
		if _, isKnown := x.state.SealedSecret(initial.Name); initial.Follows && isKnown && same[initial.Name] {
			merged.Initial.Secrets = append(merged.Initial.Secrets, initial)
		}
	}
	return r, nil
}

// listIgnoredInitialValuesOfRevision is listIgnoredInitialValues for a revision of the file. If the
// exchange keeps its own entries, it compares the file's credentials and secrets of these entries,
// although none of them applies.
func (x *Exchange) listIgnoredInitialValuesOfRevision(r *pendingRevision) []string {
	if r.compared != nil {
		return x.listIgnoredInitialValues(r.compared)
	}
	return x.listIgnoredInitialValues(r.CompiledDocument)
}
