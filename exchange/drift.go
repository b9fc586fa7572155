package exchange

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/server/admin"
)

// ConfigDrift reads the configuration file again and returns the entries in which it differs from the
// exchange and that no operator has decided about. If the file cannot be read or has a mistake, the
// result names the reason, and the drift is that of the last good file. With provisioning: enforce it
// returns no entries.
func (x *Exchange) ConfigDrift() (*admin.ConfigDrift, error) {
	if x.Ready() != nil {
		return nil, errNotReady
	}
	drift := &admin.ConfigDrift{File: x.path, Enforced: x.settings.Enforce}
	if x.settings.Enforce {
		return drift, nil
	}
	if err := x.lockConfigIfReady(); err != nil {
		return nil, err
	}
	defer x.configMu.Unlock()
	unreadable, err := x.rereadConfigFileIfChangedLocked()
	if err != nil {
		return nil, err
	}
	if unreadable != nil {
		drift.FileError = unreadable.Error()
	}
	drift.Entries = x.activeDriftOrNil()
	return drift, nil
}

// rereadConfigFileIfChangedLocked reads the configuration file if its time or size differs from those
// at the last call, because open dashboards ask every minute, and stores its entries for the drift.
// unreadable is the reason why the file cannot be read or compiled; err is any other error. The caller
// holds configMu.
func (x *Exchange) rereadConfigFileIfChangedLocked() (unreadable, err error) {
	info, err := os.Stat(x.path)
	if err != nil {
		x.comparedFile = nil
		return err, nil
	}
	if last := x.comparedFile; last != nil && os.SameFile(last, info) && last.ModTime().Equal(info.ModTime()) && last.Size() == info.Size() {
		return nil, nil
	}
	built, err := loadConfiguration(x.path, x.options.Env)
	if err != nil {
		x.comparedFile = nil
		return err, nil
	}
	x.comparedFile = info
	return nil, x.setComparedFileEntriesLocked(built)
}

// activeDriftOrNil returns the drift of the active configuration, or nil without one.
func (x *Exchange) activeDriftOrNil() []admin.ConfigDriftEntry {
	if now := x.active.Load(); now != nil {
		return now.drift()
	}
	return nil
}

// warnOfConfigDrift logs the entries in which the configuration file differs from the exchange and that no
// operator has decided about.
func (x *Exchange) warnOfConfigDrift() {
	for _, entry := range x.activeDriftOrNil() {
		x.logger.Warn("the configuration file differs from the exchange, which keeps its own entry; take one side with pingpost config take",
			"entry", entry.Entry, "in_file", string(entry.Change), "file", x.path)
	}
}

// setComparedFileEntriesLocked makes the entries of the file, compiled as built, the ones that the exchange
// compares with its own. The caller holds configMu.
func (x *Exchange) setComparedFileEntriesLocked(built *config.CompiledDocument) error {
	file, err := canonical.ParseEntries(built.Canonical)
	if err != nil {
		return err
	}
	now := *x.active.Load()
	now.seed = newSeededFileEntries(file, now.seed.accepted, now.fromAPI)
	x.active.Store(now.setLazyDrift())
	return nil
}

// setLazyDrift returns the configuration with its drift, which is computed at its first use: scrapes of
// the metrics and open dashboards ask for it.
func (c *activeConfigWithSources) setLazyDrift() *activeConfigWithSources {
	c.drift = sync.OnceValue(func() []admin.ConfigDriftEntry { return findUnacceptedFileChanges(c) })
	return c
}

// findUnacceptedFileChanges returns the entries in which the file has changed since the operator last accepted it,
// and which the exchange does not have in the file's version. A change that operators made in the
// exchange alone is no drift.
func findUnacceptedFileChanges(now *activeConfigWithSources) (entries []admin.ConfigDriftEntry) {
	if now.seed == nil {
		return nil
	}
	for _, ref := range now.seed.accepted.WithEntriesOf(now.seed.file).Refs() {
		file, accepted, own := now.seed.file.FindJSON(ref), now.seed.accepted.FindJSON(ref), now.fromAPI.FindJSON(ref)
		changes := canonical.DiffEntry(ref, own, file)
		if len(changes) == 0 || len(canonical.DiffEntry(ref, accepted, file)) == 0 {
			continue
		}
		entry := admin.ConfigDriftEntry{Entry: ref.String(), Kind: ref.Kind, ID: ref.ID, Change: admin.DriftChanged}
		switch {
		case file == nil:
			entry.Change = admin.DriftRemoved
		case accepted == nil && own == nil:
			entry.Change = admin.DriftAdded
		}
		for _, change := range changes {
			entry.Changes = append(entry.Changes, change.String())
		}
		entries = append(entries, entry)
	}
	return entries
}

// ResolveConfigDrift ends the drift of the entries that an operator's request names, or of all entries
// if it names no entry. With the file's side, the exchange takes over the file's version of each entry;
// an entry that the file no longer has is removed. With the exchange's side, the exchange keeps its
// version, and the difference is no drift until the file changes again.
func (x *Exchange) ResolveConfigDrift(request *admin.ConfigDriftResolution) (*admin.ConfigurationChangeResult, error) {
	if err := x.lockConfigIfReady(); err != nil {
		return nil, err
	}
	defer x.configMu.Unlock()
	if x.settings.Enforce {
		return nil, &admin.ConfigChangeRefusedError{Message: "the exchange has provisioning: enforce, so the file always applies and there is no drift"}
	}
	built, err := loadConfiguration(x.path, x.options.Env)
	if err != nil {
		return nil, err
	}
	if err := x.setComparedFileEntriesLocked(built); err != nil {
		return nil, err
	}
	now := x.active.Load()
	refs, err := selectDriftingEntries(now.drift(), request.Entries)
	if err != nil {
		return nil, err
	}
	revised, err := x.reviseByDrift(built, now, refs, request)
	if err != nil {
		return nil, err
	}
	result := &admin.ConfigurationChangeResult{}
	for _, change := range canonical.Diff(now.canonical, revised.Canonical) {
		result.Changes = append(result.Changes, change.String())
	}
	for _, line := range x.listIgnoredInitialValues(revised.CompiledDocument) {
		if slices.ContainsFunc(refs, func(ref canonical.EntryRef) bool { return strings.HasPrefix(line, entryPath(string(ref.Kind), ref.ID)) }) {
			result.Unapplied = append(result.Unapplied, line)
		}
	}
	return result, x.activateRevisionLocked(revised)
}

// selectDriftingEntries returns the drifting entries that the operator names, or all if the operator
// names none. The error is engine.ErrNotFound if a named entry does not drift.
func selectDriftingEntries(drift []admin.ConfigDriftEntry, named []string) (refs []canonical.EntryRef, err error) {
	for _, name := range named {
		if !slices.ContainsFunc(drift, func(entry admin.ConfigDriftEntry) bool { return entry.Entry == name }) {
			return nil, fmt.Errorf("%w: %s has no drift", engine.ErrNotFound, name)
		}
	}
	for i := range drift {
		if len(named) == 0 || slices.Contains(named, drift[i].Entry) {
			refs = append(refs, canonical.EntryRef{Kind: drift[i].Kind, ID: drift[i].ID})
		}
	}
	return refs, nil
}

// reviseByDrift returns a revision in which the operator has accepted these entries of the file. With
// the file's side, they are also the exchange's entries, with the file's initial values.
func (x *Exchange) reviseByDrift(built *config.CompiledDocument, now *activeConfigWithSources, refs []canonical.EntryRef, request *admin.ConfigDriftResolution) (*pendingRevision, error) {
	accepted, own := now.seed.accepted, now.fromAPI
	for _, ref := range refs {
		text := now.seed.file.FindJSON(ref)
		accepted = withEntryOrWithout(accepted, ref, text)
		if request.Side == admin.DriftSideFile {
			own = withEntryOrWithout(own, ref, text)
		}
	}
	taken := *built
	taken.Initial, taken.Unset, taken.Canonical = config.InitialValues{}, nil, now.base // the settings stay
	if request.Side == admin.DriftSideFile {
		taken.Initial, taken.Unset = built.Initial.CredentialsAndSecretsOf(refs), built.UnsetVariablesOfEntries(refs)
	}
	if err := x.checkUnsetSecretVariables(&taken); err != nil {
		return nil, err
	}
	r, err := x.compileSettingsWithEntries(&taken, own, &seededFileEntries{file: now.seed.file, accepted: accepted}, true)
	if err != nil {
		return nil, err
	}
	r.from, r.by, r.sent = event.FromAPI, request.By, now.sent
	return r, nil
}

func withEntryOrWithout(entries canonical.Entries, ref canonical.EntryRef, textOrNil []byte) canonical.Entries {
	if textOrNil == nil {
		return entries.WithoutEntry(ref)
	}
	return entries.WithEntry(ref, textOrNil)
}
