package exchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
	"pingpost/server/admin"
)

// activateRevisionLocked makes the configuration in r the active one: it stores its documents, passes
// it to the engine, and then to both servers and the buyers' client. Requests in flight finish
// under the configuration with which they began.
//
// The caller must hold configMu from the moment when it read the active configuration to build
// r.
func (x *Exchange) activateRevisionLocked(r *pendingRevision) error {
	e, built := x.engine.Load(), r.CompiledDocument
	wanted := engine.CatalogUpdate{Catalog: built.Catalog, By: r.by, From: r.from}
	shared, err := x.sharedDocument(built.Canonical)
	if err != nil {
		return err
	}
	if wanted.Document, err = x.storeConfigDocument(shared); err != nil {
		return err
	}
	if fromAPI := encodeStoredEntries(r.fromAPI, r.seed); fromAPI != nil {
		if wanted.Overlay, err = x.storeConfigDocument(fromAPI); err != nil {
			return err
		}
	}
	x.addInitialValuesForEngine(&wanted, &built.Initial)
	if err := x.loadOrImportSuppressionLists(&wanted, built); err != nil {
		return err
	}
	if err := e.Configure(wanted); err != nil {
		return err
	}
	x.publicServer.SetCatalog(built.Catalog)
	x.buyers.SetConnLimits(built.Catalog.Buyers)
	x.setTrustedProxies(built.Settings.TrustedProxies)
	x.logWarnings(built.Warnings)
	x.addWebhookSwitchedOffGauges(built.Catalog)
	x.lists.dropTablesExcept(wanted.Tables)
	x.active.Store((&activeConfigWithSources{canonical: built.Canonical, base: r.base, sent: r.sent, fromAPI: r.fromAPI, seed: r.seed}).setLazyDrift())
	return nil
}

// storeConfigDocument writes a configuration document to a file in the data directory's catalogs
// folder. The file is named after the document's SHA-256, which it returns. It writes nothing
// if the active configuration uses the document already.
func (x *Exchange) storeConfigDocument(text []byte) (sha256Hex string, err error) {
	sum := sha256.Sum256(text)
	sha256Hex = hex.EncodeToString(sum[:])
	if now := x.state.CurrentConfigVersion(); now.Document == sha256Hex || now.Overlay == sha256Hex {
		return sha256Hex, nil
	}
	return sha256Hex, x.storeFile("catalogs/"+sha256Hex+".json", bytes.NewReader(text))
}

// sharedDocument returns the part of a configuration that is stored and compared as a version: all of it,
// and in a cluster the part that does not differ between the nodes.
func (x *Exchange) sharedDocument(canonicalJSON []byte) ([]byte, error) {
	if !x.isClustered() || canonicalJSON == nil {
		return canonicalJSON, nil
	}
	return canonical.WithoutNodeSettings(canonicalJSON)
}

func (x *Exchange) configDocumentPath(sha256Hex string) string {
	return filepath.Join(x.settings.DataDir, "catalogs", sha256Hex+".json")
}

func (x *Exchange) addInitialValuesForEngine(engineConfig *engine.CatalogUpdate, initial *config.InitialValues) {
	for i := range initial.Credentials {
		engineConfig.Initial.Credentials = append(engineConfig.Initial.Credentials, x.hashInitialCredential(&initial.Credentials[i]))
	}
	for i := range initial.Secrets {
		first := &initial.Secrets[i]
		if _, ok := x.state.SealedSecret(first.Name); !ok || first.Follows && x.differsFromStoredSecret(first) {
			engineConfig.Initial.Secrets = append(engineConfig.Initial.Secrets, engine.InitialOutboundSecret{
				Name: first.Name, Encrypted: x.vault.SealSecret(first.Name, first.Value.Reveal()), Overwrite: first.Follows,
			})
		}
	}
	for _, first := range initial.Balances {
		engineConfig.Initial.Balances = append(engineConfig.Initial.Balances, engine.BuyerOpeningBalance{Buyer: first.Buyer, Amount: first.Money})
	}
	engineConfig.Initial.PausedCampaigns, engineConfig.Initial.PausedBuyers = initial.Paused.Campaigns, initial.Paused.Buyers
}

// hashInitialCredential returns a credential of the configuration file as the engine stores it:
// with a hash in place of the secret value, and a hint by which operators recognize it.
func (x *Exchange) hashInitialCredential(initial *config.InitialCredential) engine.Credential {
	value := []byte(initial.Value.Reveal())
	c := engine.Credential{
		Kind: initial.Kind, Owner: initial.Owner, ID: initial.OwnerID, Client: initial.ClientID, Scopes: initial.Scopes,
		Hint: admin.SecretPrefixHint(string(value)),
	}
	switch initial.Kind {
	case event.CredentialAPIKey:
		c.Hash = sha256.Sum256(value)
	case event.CredentialOAuthClient:
		c.Hash = x.tokens.HashClientCredentials([]byte(initial.ClientID), value)
	case event.CredentialBearer:
		c.Hash = x.tokens.HashStaticBearerToken(value)
	}
	return c
}

// loadOrImportSuppressionLists loads the stored entries of all configured suppression lists into
// engineConfig.Tables. A list without stored entries gets those of its initial file, which it
// imports. Before the first
// configuration it also removes stored files that no list uses.
func (x *Exchange) loadOrImportSuppressionLists(engineConfig *engine.CatalogUpdate, built *config.CompiledDocument) error {
	dir, key := x.settings.DataDir, x.vault.DeriveKey("hashes")
	engineConfig.Tables = make(map[market.ListID]*fingerprint.FingerprintTable)
	engineConfig.Lists = make(map[market.ListID]state.SuppressionListFile)
	for id := range built.Catalog.Lists {
		if known, ok := x.state.SuppressionListFile(x.state.RefOf(event.ObjectList, string(id))); ok {
			table, err := x.lists.loadTableCached(dir, known)
			if err != nil {
				return fmt.Errorf("suppression list %q: %w", id, err)
			}
			engineConfig.Tables[id] = table
		}
	}
	if x.active.Load() == nil { // no event of an earlier leader can follow that refers to a stray file
		if err := removeStrayListFiles(dir, x.state.SuppressionFileHashesInUse()); err != nil {
			return fmt.Errorf("the exchange cannot start, because it cannot remove a stored suppression list file that no list uses: %w", err)
		}
	}
	for _, first := range built.Initial.Lists {
		if engineConfig.Tables[first.ID] != nil {
			continue
		}
		table, file, err := x.importSuppressionList(built.Catalog.Lists[first.ID], &key, first.Path)
		if err != nil {
			return asListProblem(&first, err)
		}
		engineConfig.Tables[first.ID], engineConfig.Lists[first.ID] = table, file
		x.lists.cacheTable(file.File, table)
	}
	return nil
}

// logWarnings logs the compiler's warnings about settings that are allowed but probably a
// mistake.
func (x *Exchange) logWarnings(warnings syntax.Problems) {
	for _, warning := range warnings {
		x.logger.Warn("the configuration has a setting that is probably a mistake", "path", warning.Path, "what", warning.Message)
	}
}

// ReloadConfiguration reads the configuration file again, activates it, and logs the changes. With
// provisioning: seed, the exchange keeps its own entries and takes only the settings from the file. It
// also makes the certificate watchers check their files. After an error the active configuration stays.
func (x *Exchange) ReloadConfiguration() error {
	x.certificates.requestFileCheck()
	built, err := loadConfiguration(x.path, x.options.Env)
	if err != nil {
		return err
	}
	x.warnOfChangesThatNeedRestart(&built.Settings)
	x.configMu.Lock()
	defer x.configMu.Unlock()
	if !x.deciding.Load() { // a follower activates the file when it becomes the leader
		if _, err := x.combineFileWithOwnEntries(built); err != nil {
			return err
		}
		x.built.Store(built)
		x.setTrustedProxies(built.Settings.TrustedProxies)
		x.logger.Info("this node is not the leader: it accepted the configuration file, and activates it when it becomes the leader; only trusted_proxies is in force", "file", x.path)
		return nil
	}
	x.comparedFile = nil
	revised, err := x.combineFileWithOwnEntries(built)
	if err != nil {
		return err
	}
	before, unapplied := x.ActiveConfigurationJSON(), x.listIgnoredInitialValuesOfRevision(revised)
	withoutAuth := x.warningsOfRemovedAuth(revised.Document)
	followed := x.listChangedEndpointVariables(&revised.Initial)
	if err := x.activateAndAuditRevisionFromFileLocked(operationReload, revised); err != nil {
		return err
	}
	x.built.Store(built)
	x.logWarnings(withoutAuth)
	x.warnOfIgnoredInitialValues(unapplied)
	x.warnOfAPIEntriesNowInFile(revised)
	x.warnOfConfigDrift()
	for _, change := range canonical.Diff(before, revised.Canonical) {
		x.logger.Info("configuration changed", "change", change.String())
	}
	for _, change := range followed {
		x.logger.Info("configuration changed", "change", change)
	}
	return nil
}

// warnOfChangesThatNeedRestart logs which settings of the new file differ from the running ones but
// take effect only at the next start.
func (x *Exchange) warnOfChangesThatNeedRestart(newSettings *config.Settings) {
	if waiting := x.settings.KeysPendingRestart(newSettings); len(waiting) > 0 {
		x.logger.Warn("changes of these settings take effect at the next start", "settings", strings.Join(waiting, ", "))
	}
}

// ActiveConfigurationJSON returns the active configuration as canonical JSON without secrets.
func (x *Exchange) ActiveConfigurationJSON() (jsonOrNil []byte) {
	if now := x.active.Load(); now != nil {
		return now.canonical
	}
	return nil
}

// ApplyConfiguration activates a YAML or JSON configuration document that an operator sent to the
// admin API. It returns the changes, the warnings, and the values that have no effect (see
// listIgnoredInitialValues). With dryRun set it only reports them. operator is the operator's name.
//
// It does not write the configuration file. With provisioning: seed, the document's entries replace the
// exchange's own for good, and its settings apply until the next reload or start. With provisioning:
// enforce, the whole document applies until then. Entries that operators created through the API stay,
// unless the document has them too.
//
// variables come from the sender's environment. The exchange encrypts the values of secrets.
// The values of other variables become part of the document.
func (x *Exchange) ApplyConfiguration(document []byte, variables map[string]string, dryRun bool, operator string) (changed admin.ConfigurationChangeResult, err error) {
	if err := x.lockConfigIfReady(); err != nil {
		return changed, err
	}
	defer x.configMu.Unlock()
	source, err := config.ParseSentDocument(x.path, document, variables)
	if err != nil {
		return changed, x.replaceOwnFileNameInError(err)
	}
	built, err := source.Compile()
	if err != nil {
		return changed, x.replaceOwnFileNameInError(err)
	}
	revised, err := x.combineSentDocumentWithOwnEntries(built, operator)
	if err != nil {
		return changed, x.replaceOwnFileNameInError(err)
	}
	for _, change := range canonical.Diff(x.ActiveConfigurationJSON(), revised.Canonical) {
		changed.Changes = append(changed.Changes, change.String())
	}
	changed.Changes = append(append(changed.Changes, x.listChangedEndpointVariables(&revised.Initial)...), x.describeAPIEntriesNowInDocument(revised)...)
	changed.Unapplied = x.listIgnoredInitialValues(revised.CompiledDocument)
	for _, warning := range x.replaceOwnFileNameInProblems(append(revised.Warnings, x.warningsOfRemovedAuth(revised.Document)...)) {
		changed.Warnings = append(changed.Warnings, warning.Error())
	}
	if dryRun {
		return changed, x.replaceOwnFileNameInError(x.checkInitialFilesOfNewLists(revised.CompiledDocument))
	}
	x.warnOfChangesThatNeedRestart(&built.Settings)
	if err := x.activateRevisionLocked(revised); err != nil {
		return changed, x.replaceOwnFileNameInError(err)
	}
	x.warnOfIgnoredInitialValues(changed.Unapplied)
	return changed, nil
}

var errNotReady = errors.New("the exchange is not ready")

// lockConfigIfReady locks configMu; the caller unlocks it. It returns errNotReady if no configuration is active. It
// tests this again with the lock, because the leadership may have ended meanwhile.
func (x *Exchange) lockConfigIfReady() error {
	if x.Ready() != nil {
		return errNotReady
	}
	x.configMu.Lock()
	if x.Ready() != nil {
		x.configMu.Unlock()
		return errNotReady
	}
	return nil
}

// replaceOwnFileNameInError replaces the exchange's file name in validation errors, because the
// mistakes are in a document that an operator sent. Without this, errors would name the
// exchange's own file, to which paths in the document are relative. Line numbers already refer
// to the document.
func (x *Exchange) replaceOwnFileNameInError(err error) error {
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		return err
	}
	sent := x.replaceOwnFileNameInProblems(*problems)
	return &sent
}

func (x *Exchange) replaceOwnFileNameInProblems(problems syntax.Problems) syntax.Problems {
	sent := slices.Clone(problems)
	for i := range sent {
		if sent[i].File == x.path {
			sent[i].File = "document"
		}
	}
	return sent
}
