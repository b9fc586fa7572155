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
	"pingpost/internal/durable"
	"pingpost/server/admin"
)

// configureLocked makes the configuration in r the active one: it stores its documents, passes
// it to the engine, and then to both servers and the buyers' client. Requests in flight finish
// under the configuration with which they began.
//
// The caller must hold configMu from the moment when it read the active configuration to build
// r.
func (x *Exchange) configureLocked(r *revision) error {
	e, built := x.engine.Load(), r.Compiled
	wanted := engine.Configuration{Catalog: built.Catalog, By: r.by, From: r.from}
	var err error
	if wanted.Document, err = x.storeDocument(built.Canonical); err != nil {
		return err
	}
	if made := r.made.EncodeDocument(); made != nil {
		if wanted.Overlay, err = x.storeDocument(made); err != nil {
			return err
		}
	}
	x.addInitialValues(&wanted, &built.Initial)
	if err := x.openOrImportLists(&wanted, built); err != nil {
		return err
	}
	if err := e.Configure(wanted); err != nil {
		return err
	}
	x.publicServer.SetCatalog(built.Catalog)
	x.buyers.SetConnLimits(built.Catalog.Buyers)
	x.publicServer.SetProxies(built.Settings.TrustedProxies)
	x.adminServer.SetProxies(built.Settings.TrustedProxies)
	x.logWarnings(built.Warnings)
	x.addWebhookGauges(built.Catalog)
	x.lists.dropUnused(wanted.Tables)
	x.active.Store(&activeConfig{canonical: built.Canonical, base: r.base, sent: r.sent, made: r.made})
	return nil
}

// storeDocument writes a configuration document to a file in the data directory's catalogs
// folder. The file is named after the document's SHA-256, which it returns. It writes nothing
// if the active configuration uses the document already.
func (x *Exchange) storeDocument(text []byte) (hash string, err error) {
	sum := sha256.Sum256(text)
	hash = hex.EncodeToString(sum[:])
	if now := x.state.CurrentConfigVersion(); now.Document == hash || now.Overlay == hash {
		return hash, nil
	}
	return hash, durable.WriteFile(x.documentPath(hash), bytes.NewReader(text))
}

func (x *Exchange) documentPath(hash string) string {
	return filepath.Join(x.settings.DataDir, "catalogs", hash+".json")
}

func (x *Exchange) addInitialValues(c *engine.Configuration, initial *config.InitialValues) {
	for i := range initial.Credentials {
		c.Initial.Credentials = append(c.Initial.Credentials, x.hashInitialCredential(&initial.Credentials[i]))
	}
	for i := range initial.Secrets {
		first := &initial.Secrets[i]
		if _, ok := x.state.SealedSecret(first.Name); !ok || first.Follows && x.differsFromSealed(first) {
			c.Initial.Secrets = append(c.Initial.Secrets, engine.InitialSecret{
				Name: first.Name, Encrypted: x.vault.SealSecret(first.Name, first.Value.Reveal()), Overwrite: first.Follows,
			})
		}
	}
	for _, first := range initial.Balances {
		c.Initial.Balances = append(c.Initial.Balances, engine.OpeningBalance{Buyer: first.Buyer, Amount: first.Money})
	}
	c.Initial.PausedCampaigns, c.Initial.PausedBuyers = initial.Paused.Campaigns, initial.Paused.Buyers
}

// hashInitialCredential returns a credential of the configuration file as the engine stores it:
// with a hash in place of the secret value, and a hint by which operators recognize it.
func (x *Exchange) hashInitialCredential(first *config.InitialCredential) engine.Credential {
	value := []byte(first.Value.Reveal())
	c := engine.Credential{
		Kind: first.Kind, Owner: first.Owner, ID: first.OwnerID, Client: first.ClientID, Scopes: first.Scopes,
		Hint: admin.KeyHint(string(value)),
	}
	switch first.Kind {
	case event.CredentialAPIKey:
		c.Hash = sha256.Sum256(value)
	case event.CredentialOAuthClient:
		c.Hash = x.tokens.HashClient([]byte(first.ClientID), value)
	case event.CredentialBearer:
		c.Hash = x.tokens.HashBearer(value)
	}
	return c
}

// openOrImportLists loads the stored entries of all configured suppression lists into c.Tables.
// A list without stored entries gets those of its initial file, which it imports. At a start it
// also removes stored files that no list uses.
func (x *Exchange) openOrImportLists(c *engine.Configuration, built *config.Compiled) error {
	dir, key := x.settings.DataDir, x.vault.DeriveKey("hashes")
	c.Tables = make(map[market.ListID]*fingerprint.FingerprintTable)
	c.Lists = make(map[market.ListID]state.SuppressionFile)
	for id := range built.Catalog.Lists {
		if known, ok := x.state.SuppressionFile(x.state.RefOf(event.ObjectList, string(id))); ok {
			table, err := x.lists.openTable(dir, known)
			if err != nil {
				return fmt.Errorf("suppression list %q: %w", id, err)
			}
			c.Tables[id] = table
		}
	}
	if !x.ready.Load() {
		if err := removeStrayListFiles(dir, x.state.SuppressionFileHashes()); err != nil {
			return fmt.Errorf("cannot remove a stray suppression file: %w", err)
		}
	}
	for _, first := range built.Initial.Lists {
		if c.Tables[first.ID] != nil {
			continue
		}
		table, file, err := importList(dir, built.Catalog.Lists[first.ID], &key, first.Path)
		if err != nil {
			return asListProblem(&first, err)
		}
		c.Tables[first.ID], c.Lists[first.ID] = table, file
		x.lists.keepTable(file.File, table)
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

// Reload reads the configuration file again, activates it, and logs the changes. It also makes
// the certificate watchers check their files. After an error the active configuration stays.
func (x *Exchange) Reload() error {
	x.certificates.recheckFilesSoon()
	built, err := loadConfiguration(x.path, x.options.Env)
	if err != nil {
		return err
	}
	x.warnRestartSettings(&built.Settings)
	x.configMu.Lock()
	defer x.configMu.Unlock()
	revised, err := x.reviseFromFile(built)
	if err != nil {
		return err
	}
	before, unapplied := x.Configuration(), x.ignoredInitialValues(revised.Compiled)
	followed := x.changedAddressVariables(&revised.Initial)
	if err := x.configureLocked(revised); err != nil {
		return err
	}
	x.logUnapplied(unapplied)
	x.logEntriesTakenOver(revised)
	for _, change := range canonical.Diff(before, revised.Canonical) {
		x.logger.Info("configuration changed", "change", change.String())
	}
	for _, change := range followed {
		x.logger.Info("configuration changed", "change", change)
	}
	return nil
}

// warnRestartSettings logs which settings of the new file differ from the running ones but take
// effect only at the next start.
func (x *Exchange) warnRestartSettings(now *config.Settings) {
	if waiting := x.settings.KeysPendingRestart(now); len(waiting) > 0 {
		x.logger.Warn("changes of these settings take effect at the next start", "settings", strings.Join(waiting, ", "))
	}
}

// Configuration returns the active configuration as canonical JSON without secrets.
func (x *Exchange) Configuration() []byte {
	if now := x.active.Load(); now != nil {
		return now.canonical
	}
	return nil
}

// Apply activates a YAML or JSON configuration document that an operator sent to the admin API.
// It returns the changes, the warnings, and the values that have no effect (see
// ignoredInitialValues). With dry set it only reports them. by names the operator.
//
// Apply does not write the configuration file: the next reload or start returns to the file.
// Entries that operators created through the API stay, unless the document has them too.
//
// variables come from the sender's environment. The exchange encrypts the values of secrets.
// The values of other variables become part of the document.
func (x *Exchange) Apply(document []byte, variables map[string]string, dry bool, by string) (changed admin.ConfigurationChanged, err error) {
	if x.Ready() != nil {
		return changed, errNotReady
	}
	x.configMu.Lock()
	defer x.configMu.Unlock()
	source, err := config.ParseSent(x.path, document, variables)
	if err != nil {
		return changed, x.asSentDocumentError(err)
	}
	built, err := source.Compile()
	if err != nil {
		return changed, x.asSentDocumentError(err)
	}
	revised, err := x.reviseFromRequest(built, by)
	if err != nil {
		return changed, x.asSentDocumentError(err)
	}
	for _, change := range canonical.Diff(x.Configuration(), revised.Canonical) {
		changed.Changes = append(changed.Changes, change.String())
	}
	changed.Changes = append(append(changed.Changes, x.changedAddressVariables(&revised.Initial)...), x.describeEntriesTakenOver(revised)...)
	changed.Unapplied = x.ignoredInitialValues(revised.Compiled)
	for _, warning := range x.asSentDocumentProblems(revised.Warnings) {
		changed.Warnings = append(changed.Warnings, warning.Error())
	}
	if dry {
		return changed, x.asSentDocumentError(x.checkNewListFiles(revised.Compiled))
	}
	x.warnRestartSettings(&built.Settings)
	if err := x.configureLocked(revised); err != nil {
		return changed, x.asSentDocumentError(err)
	}
	x.logUnapplied(changed.Unapplied)
	return changed, nil
}

var errNotReady = errors.New("the exchange is not ready")

// asSentDocumentError replaces the exchange's file name in validation errors, because the
// mistakes are in a document that an operator sent. Without this, errors would name the
// exchange's own file, to which paths in the document are relative. Line numbers already refer
// to the document.
func (x *Exchange) asSentDocumentError(err error) error {
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		return err
	}
	sent := x.asSentDocumentProblems(*problems)
	return &sent
}

func (x *Exchange) asSentDocumentProblems(problems syntax.Problems) syntax.Problems {
	sent := slices.Clone(problems)
	for i := range sent {
		if sent[i].File == x.path {
			sent[i].File = "document"
		}
	}
	return sent
}
