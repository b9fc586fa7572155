package exchange

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
	"pingpost/engine/event"
	"pingpost/server/admin"
)

// ChangeItem creates, replaces or removes one configuration entry at an operator's request, and
// activates the result. It returns the changes, the warnings and the entry's new ETag. With
// change.Dry it only checks.
func (x *Exchange) ChangeItem(change *admin.ConfigEntryChange) (*admin.ConfigEntryChanged, error) {
	x.configMu.Lock()
	defer x.configMu.Unlock()
	s, err := x.currentEntries()
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
	changed := &admin.ConfigEntryChanged{}
	for _, difference := range canonical.Diff(s.canonical, revised.Canonical) {
		changed.Changes = append(changed.Changes, difference.String())
	}
	if text := revised.made.Find(change.Ref); text != nil {
		changed.ETag = etagOf(text)
		changed.Unapplied = x.ignoredInitialValuesOf(revised.Compiled, change.Ref)
	}
	for _, warning := range revised.Warnings {
		at, _ := change.Ref.PathWithin(warning.Path)
		changed.Warnings = append(changed.Warnings, strings.TrimPrefix(at+": ", ": ")+warning.Message)
	}
	if change.Dry {
		return changed, x.checkNewListFiles(revised.Compiled)
	}
	return changed, x.configureLocked(revised)
}

// checkMayChange returns an error if the API must not change the entry. It must not if the
// configuration file has the entry, or if the entry no longer has the ETag that the caller
// sent.
func (x *Exchange) checkMayChange(s *currentEntries, change *admin.ConfigEntryChange) error {
	current := x.findConfigEntry(s, change.Ref)
	switch {
	case current == nil && change.Document == nil:
		return noSuchEntryError(change.Ref)
	case current != nil && current.Owner == "file" && s.sent:
		return &admin.ConfigEntryConflict{Message: change.Ref.String() + " is in the document that " + sentDocumentName +
			" applied; change it there, or reload to return to the file"}
	case current != nil && current.Owner == "file":
		return &admin.ConfigEntryConflict{Message: change.Ref.String() + " is in " + s.file + ", which therefore controls it; change it there and reload"}
	case s.made.Find(change.Ref) != nil && current == nil:
		panic("BUG: " + change.Ref.String() + " was made and is not in force")
	}
	etag := ""
	if current != nil {
		etag = current.ETag
	}
	if etag == change.IfMatch {
		return nil
	}
	conflict := &admin.ConfigEntryConflict{Both: true, Current: current, Sent: canonical.RedactSecrets(change.Document)}
	switch {
	case change.IfMatch == "":
		conflict.Message = change.Ref.String() + " exists already; read it, and change it with its etag"
	case current == nil:
		conflict.Message = change.Ref.String() + " was removed meanwhile; create it again with If-None-Match: *, or leave it"
	default:
		conflict.Message = change.Ref.String() + " was changed meanwhile; compare both versions, and send yours again with the etag of the current one"
	}
	return conflict
}

// reviseWithEntry returns a revision of the active configuration in which one entry is created,
// replaced or removed. It does not activate the revision.
func (x *Exchange) reviseWithEntry(s *currentEntries, change *admin.ConfigEntryChange) (*revision, error) {
	made := s.made.WithoutEntry(change.Ref)
	if change.Document != nil {
		text, err := canonical.WithRequiredID(change.Document, change.Ref)
		if err != nil {
			return nil, err
		}
		made = made.WithEntry(change.Ref, text)
	}
	combined, err := config.Merge(x.path, s.activeConfig.base, made)
	if err != nil {
		return nil, err
	}
	combined.SetSentEntry(change.Ref)
	built, err := combined.Compile(s.all.Find(change.Ref))
	if err == nil && change.Document != nil {
		err = x.checkMissingSecrets(built, change.Ref)
	}
	if err != nil {
		return nil, asReferenceConflict(err, change)
	}
	whole, err := canonical.ParseEntries(built.Canonical)
	if err != nil {
		return nil, err
	}
	for _, ref := range combined.FromAPI.Refs() {
		made = made.WithEntry(ref, whole.Find(ref))
	}
	built.Warnings = slices.DeleteFunc(built.Warnings, func(p syntax.Problem) bool { _, in := change.Ref.PathWithin(p.Path); return !in })
	return &revision{
		Compiled: built, base: s.activeConfig.base, sent: s.sent, made: made, from: event.FromAPI, by: change.By,
	}, nil
}

// asReferenceConflict replaces the validation errors after the removal of an entry by a
// conflict. The conflict names the places that still refer to the entry. It returns other
// errors unchanged.
func asReferenceConflict(err error, change *admin.ConfigEntryChange) error {
	var problems *syntax.Problems
	if change.Document != nil || !errors.As(err, &problems) {
		return err
	}
	var places []string
	for _, problem := range (*problems)[:min(len(*problems), 10)] {
		places = append(places, problem.Path)
	}
	return &admin.ConfigEntryConflict{Message: change.Ref.String() + " is used at " + strings.Join(places, ", ") + "; remove it there first"}
}

// checkMissingSecrets returns an error for each secret that the entry needs but the exchange
// does not have. An entry may mark a secret as set instead of repeating its value.
func (x *Exchange) checkMissingSecrets(built *config.Compiled, ref canonical.Ref) error {
	known := make(map[string]bool)
	for _, first := range built.Initial.Secrets {
		known[first.Name] = true
	}
	var problems syntax.Problems
	before := x.activeSecretsAndVariables()
	for i := range built.Unset {
		kept := &built.Unset[i]
		if _, inside := ref.PathWithin(kept.Problem.Path); inside && !x.hasEarlierValue(kept, before) {
			problems = append(problems, kept.Problem)
			known[kept.Secret] = true
		}
	}
	for _, name := range built.SecretNamesOf(ref) {
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

// ignoredInitialValuesOf returns the lines of ignoredInitialValues that concern the entry ref.
func (x *Exchange) ignoredInitialValuesOf(built *config.Compiled, ref canonical.Ref) (lines []string) {
	whole := *built
	whole.Initial.Lists = nil // no entry has them, and checking them would read their files
	for _, line := range x.ignoredInitialValues(&whole) {
		if rest, ok := strings.CutPrefix(line, entryPath(string(ref.Kind), ref.ID)); ok && (rest[0] == '.' || rest[0] == ':') {
			lines = append(lines, line)
		}
	}
	return lines
}

// sourceName returns the name of the configuration file, or sentDocumentName if a sent document
// replaces the file. The admin API shows it as the owner of entries.
func (x *Exchange) sourceName(now *activeConfig) string {
	if now.sent {
		return sentDocumentName
	}
	return filepath.Base(x.path)
}
