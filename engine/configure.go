package engine

import (
	"fmt"
	"maps"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/numbering"
	"pingpost/engine/state"
)

// CatalogUpdate is a new catalog for Configure, with initial values (such as opening balances)
// that a configuration can set only once.
type CatalogUpdate struct {
	Catalog  *market.Catalog // without numbers; the engine assigns them and keeps the catalog
	Document string          // hex SHA-256 of its canonical document, which is stored next to the log
	Overlay  string          // hex SHA-256 of the document of entries from the API, stored there too; empty: none
	By       string          // the operator; empty: the configuration file
	From     event.ConfigOrigin
	Initial  InitialValues
	Tables   map[market.ListID]*fingerprint.FingerprintTable // contents of suppression lists
	Lists    map[market.ListID]state.SuppressionListFile
}

// InitialValues are values of a configuration that Configure stores only if the state does not
// have them yet. Later changes, for example by an operator, are kept. Only a secret with
// Overwrite replaces the stored one.
type InitialValues struct {
	Credentials     []Credential
	Secrets         []InitialOutboundSecret
	Balances        []BuyerOpeningBalance
	PausedCampaigns []market.CampaignID
	PausedBuyers    []market.BuyerID
}

// InitialOutboundSecret is the first value of a secret that the exchange sends to others, such as a
// buyer's API key.
type InitialOutboundSecret struct {
	Name      string
	Encrypted []byte
	Overwrite bool // the configuration owns this secret and replaces the present value
}

// BuyerOpeningBalance is the money with which a buyer's account begins. The configuration sets it
// once; later changes are events.
type BuyerOpeningBalance struct {
	Buyer  market.BuyerID
	Amount market.Money
}

// Configure activates a configuration: it commits the changes, and then new requests use it.
// Requests in progress finish with the configuration with which they began. A configuration
// without changes commits no event, except for secrets with Overwrite. ErrConflict: a credential
// belongs to another supplier or buyer already.
//
// Configure commits the initial values before the catalog. The API's entries have their secrets
// nowhere else, so a crash between the two must not leave an entry without its secrets. The
// initial values of a new entry have no effect before its catalog is active.
func (e *Engine) Configure(update CatalogUpdate) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	for i := range update.Initial.Credentials {
		if err := e.rejectCredentialOfOtherOwner(&update.Initial.Credentials[i]); err != nil {
			return err
		}
	}
	if err := e.assignAndCommitPermanentNumbers(&update); err != nil {
		return fmt.Errorf("the configuration is not activated, because the log cannot record the permanent numbers of its new suppliers, buyers, campaigns, lists and caps: %w", err)
	}
	if err := e.commitMissingInitialValues(&update); err != nil {
		return fmt.Errorf("the configuration is not activated, because its initial values (credentials, secrets, balances, pauses, lists) cannot be stored: %w", err)
	}
	if err := e.commitCatalogIfChanged(&update); err != nil {
		return fmt.Errorf("cannot activate the configuration: %w", err)
	}
	tables := make(map[market.PermanentNumber]*fingerprint.FingerprintTable, len(update.Tables))
	for id, table := range update.Tables {
		if list := update.Catalog.Lists[id]; list != nil {
			tables[list.Ref] = table
		}
	}
	e.plan.Store(compileCatalog(update.Catalog, tables, e.limiters, e.opt.Clock.Now()))
	return nil
}

// assignAndCommitPermanentNumbers assigns permanent numbers to the names that are new in the catalog,
// and commits them. Events name suppliers, buyers and campaigns by these numbers.
func (e *Engine) assignAndCommitPermanentNumbers(update *CatalogUpdate) error {
	for _, record := range numbering.AssignConfigObjectNumbers(e.state, update.Catalog) {
		if err := e.commit(record, nil); err != nil {
			return err
		}
	}
	return nil
}

// commitCatalogIfChanged commits the catalog as a new version if its documents differ from those of the
// active version.
func (e *Engine) commitCatalogIfChanged(update *CatalogUpdate) error {
	in := e.state.CurrentConfigVersion()
	update.Catalog.Version = in.Version
	if in.Document == update.Document && in.Overlay == update.Overlay {
		return nil
	}
	update.Catalog.Version++
	return e.commit(&event.ConfigActivated{
		Version: update.Catalog.Version, Document: update.Document, Overlay: update.Overlay, By: update.By, From: update.From,
	}, nil)
}

// commitMissingInitialValues commits the initial values (credentials, secrets, balances, pauses and
// suppression lists) that the state does not have yet, and all secrets with Overwrite.
func (e *Engine) commitMissingInitialValues(update *CatalogUpdate) error {
	var records []event.Event
	now := e.opt.Clock.Now()
	s := e.state
	for i := range update.Initial.Credentials {
		if record := e.AsOperator(update.By).newCredentialAddedEvent(&update.Initial.Credentials[i]); !s.HasCredentialEverExisted(record) {
			records = append(records, record)
		}
	}
	for _, first := range update.Initial.Secrets {
		if _, ok := s.SealedSecret(first.Name); !ok || first.Overwrite {
			records = append(records, &event.SecretStoredOrDeleted{Name: first.Name, Sealed: first.Encrypted, At: now, By: update.By})
		}
	}
	for _, first := range update.Initial.Balances {
		if ref := s.RefOf(event.ObjectBuyer, string(first.Buyer)); !s.AppliedBuyerFunds(ref).Opened {
			records = append(records, &event.BuyerFundsAdjusted{Buyer: ref, Amount: first.Amount, Opening: true, At: now, By: update.By})
		}
	}
	for _, id := range update.Initial.PausedCampaigns {
		records = e.AsOperator(update.By).appendPauseUnlessEverSet(records, event.ObjectCampaign, string(id), now)
	}
	for _, id := range update.Initial.PausedBuyers {
		records = e.AsOperator(update.By).appendPauseUnlessEverSet(records, event.ObjectBuyer, string(id), now)
	}
	for id, file := range update.Lists {
		ref := s.RefOf(event.ObjectList, string(id))
		if _, ok := s.SuppressionListFile(ref); !ok {
			records = append(records, &event.SuppressionListContentLoaded{List: ref, File: file.File, Source: file.Source, Entries: file.Entries, At: now, By: update.By})
		}
	}
	for _, record := range records {
		if err := e.commit(record, nil); err != nil {
			return err
		}
	}
	return nil
}

// appendPauseUnlessEverSet appends the event that pauses a new campaign or buyer. It appends none if an
// operator has ever paused or resumed the campaign or buyer, because that decision counts.
func (e OperatorActions) appendPauseUnlessEverSet(records []event.Event, targetKind event.ConfigObjectKind, targetID string, nowNanos int64) []event.Event {
	ref := e.state.RefOf(targetKind, targetID)
	if _, wasSet := e.state.PauseStatus(targetKind, ref); wasSet {
		return records
	}
	return append(records, &event.CampaignOrBuyerPausedOrResumed{Target: targetKind, Ref: ref, Paused: true, At: nowNanos, By: e.by})
}

// SuppressionList returns the suppression list with this id from the active configuration, or
// ErrNotFound.
func (e *Engine) SuppressionList(id market.ListID) (*market.SuppressionListDefinition, error) {
	if plan := e.plan.Load(); plan != nil && plan.catalog.Lists[id] != nil {
		return plan.catalog.Lists[id], nil
	}
	return nil, fmt.Errorf("%w: no suppression list %q is configured", ErrNotFound, id)
}

// ReplaceSuppressionList replaces the contents of a suppression list; the next lead is checked
// against them. The caller has made the file with the contents durable before. ErrNotFound: the
// active configuration has no list with this id.
func (e *Engine) ReplaceSuppressionList(id market.ListID, table *fingerprint.FingerprintTable, file state.SuppressionListFile) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	list, err := e.SuppressionList(id)
	if err != nil {
		return err
	}
	now := e.opt.Clock.Now()
	err = e.commit(&event.SuppressionListContentLoaded{
		List: list.Ref, File: file.File, Source: file.Source, Entries: file.Entries, At: now, By: file.By, Uploaded: file.Uploaded,
	}, nil)
	if err != nil {
		return fmt.Errorf("cannot replace the contents of suppression list %q: %w", id, err)
	}
	in := e.plan.Load()
	tables := maps.Clone(in.tables)
	tables[list.Ref] = table
	e.plan.Store(compileCatalog(in.catalog, tables, e.limiters, now))
	return nil
}
