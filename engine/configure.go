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

// Configuration is a new catalog, with the values that a configuration file can set only
// once.
type Configuration struct {
	Catalog  *market.Catalog // without numbers; the engine assigns them and keeps the catalog
	Document string          // hex SHA-256 of its canonical document, which is stored next to the log
	Overlay  string          // hex SHA-256 of the document of entries from the API, stored there too; empty: none
	By       string          // the operator; empty: the configuration file
	From     event.ConfigOrigin
	Initial  InitialValues
	Tables   map[market.ListID]*fingerprint.FingerprintTable // contents of suppression lists
	Lists    map[market.ListID]state.SuppressionFile
}

// InitialValues are values from the configuration for a state that does not have them yet. The
// state keeps a value that it has, except a secret with Overwrite.
type InitialValues struct {
	Credentials     []Credential
	Secrets         []InitialSecret
	Balances        []OpeningBalance
	PausedCampaigns []market.CampaignID
	PausedBuyers    []market.BuyerID
}

// InitialSecret is the first value of a secret that the exchange sends to others.
type InitialSecret struct {
	Name      string
	Encrypted []byte
	Overwrite bool // the configuration owns this secret and replaces the present value
}

// OpeningBalance is a buyer's opening balance.
type OpeningBalance struct {
	Buyer  market.BuyerID
	Amount market.Money
}

// Configure activates a configuration: it commits the changes, and then new requests use it.
// Requests in progress finish with the one they began with. An equal configuration commits
// nothing.
//
// Initial values become durable before the catalog. The secrets of an entry from the API are
// stored nowhere else, so a crash in between must not leave the entry without them. Without
// the catalog, the values have no effect.
func (e *Engine) Configure(c Configuration) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	for i := range c.Initial.Credentials {
		if err := e.checkCredentialOwner(&c.Initial.Credentials[i]); err != nil {
			return err
		}
	}
	if err := e.commitNames(&c); err != nil {
		return fmt.Errorf("cannot assign numbers to the configuration's names: %w", err)
	}
	if err := e.commitInitialValues(&c); err != nil {
		return fmt.Errorf("cannot store the configuration's initial values: %w", err)
	}
	if err := e.commitCatalog(&c); err != nil {
		return fmt.Errorf("cannot activate the configuration: %w", err)
	}
	tables := make(map[market.Ref]*fingerprint.FingerprintTable, len(c.Tables))
	for id, table := range c.Tables {
		if list := c.Catalog.Lists[id]; list != nil {
			tables[list.Ref] = table
		}
	}
	e.plan.Store(compileCatalog(c.Catalog, tables, e.limiters, e.opt.Clock.Now()))
	return nil
}

// commitNames assigns numbers to the catalog's new names.
func (e *Engine) commitNames(c *Configuration) error {
	for _, record := range numbering.Assign(e.state, c.Catalog) {
		if err := e.commit(record, nil); err != nil {
			return err
		}
	}
	return nil
}

// commitCatalog commits the catalog if it differs from the active one.
func (e *Engine) commitCatalog(c *Configuration) error {
	in := e.state.CurrentConfigVersion()
	c.Catalog.Version = in.Version
	if in.Document == c.Document && in.Overlay == c.Overlay {
		return nil
	}
	c.Catalog.Version++
	return e.commit(&event.CatalogSet{
		Version: c.Catalog.Version, Document: c.Document, Overlay: c.Overlay, By: c.By, From: c.From,
	}, nil)
}

func (e *Engine) commitInitialValues(c *Configuration) error {
	var records []event.Event
	now := e.opt.Clock.Now()
	s := e.state
	for i := range c.Initial.Credentials {
		if record := e.By(c.By).newCredentialEvent(&c.Initial.Credentials[i]); !s.HasCredentialEverExisted(record) {
			records = append(records, record)
		}
	}
	for _, first := range c.Initial.Secrets {
		if _, ok := s.SealedSecret(first.Name); !ok || first.Overwrite {
			records = append(records, &event.SecretSet{Name: first.Name, Sealed: first.Encrypted, At: now, By: c.By})
		}
	}
	for _, first := range c.Initial.Balances {
		if ref := s.RefOf(event.ObjectBuyer, string(first.Buyer)); !s.HasOpeningBalance(ref) {
			records = append(records, &event.BuyerFundsMoved{Buyer: ref, Amount: first.Amount, Opening: true, At: now, By: c.By})
		}
	}
	for _, id := range c.Initial.PausedCampaigns {
		records = e.By(c.By).appendInitialPause(records, event.ObjectCampaign, string(id), now)
	}
	for _, id := range c.Initial.PausedBuyers {
		records = e.By(c.By).appendInitialPause(records, event.ObjectBuyer, string(id), now)
	}
	for id, file := range c.Lists {
		ref := s.RefOf(event.ObjectList, string(id))
		if _, ok := s.SuppressionFile(ref); !ok {
			records = append(records, &event.SuppressionListLoaded{List: ref, File: file.File, Source: file.Source, Entries: file.Entries, At: now, By: c.By})
		}
	}
	for _, record := range records {
		if err := e.commit(record, nil); err != nil {
			return err
		}
	}
	return nil
}

// appendInitialPause appends the pause of a campaign or buyer that was never paused or
// resumed before.
func (e Operator) appendInitialPause(records []event.Event, kind event.ObjectKind, id string, now int64) []event.Event {
	ref := e.state.RefOf(kind, id)
	if _, wasSet := e.state.PauseStatus(kind, ref); wasSet {
		return records
	}
	return append(records, &event.PauseSet{Target: kind, Ref: ref, Paused: true, At: now, By: e.by})
}

// List returns a suppression list of the active configuration. ErrNotFound: no list has this
// name.
func (e *Engine) List(id market.ListID) (*market.SuppressionList, error) {
	if plan := e.plan.Load(); plan != nil && plan.catalog.Lists[id] != nil {
		return plan.catalog.Lists[id], nil
	}
	return nil, fmt.Errorf("%w: no suppression list %q is configured", ErrNotFound, id)
}

// LoadList replaces the contents of a suppression list, from the next lead on. The file with
// the contents is durable already. ErrNotFound: no list has this name.
func (e *Engine) LoadList(id market.ListID, table *fingerprint.FingerprintTable, file state.SuppressionFile) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	list, err := e.List(id)
	if err != nil {
		return err
	}
	now := e.opt.Clock.Now()
	err = e.commit(&event.SuppressionListLoaded{
		List: list.Ref, File: file.File, Source: file.Source, Entries: file.Entries, At: now, By: file.By, Uploaded: file.Uploaded,
	}, nil)
	if err != nil {
		return fmt.Errorf("cannot load suppression list %q: %w", id, err)
	}
	in := e.plan.Load()
	tables := maps.Clone(in.tables)
	tables[list.Ref] = table
	e.plan.Store(compileCatalog(in.catalog, tables, e.limiters, now))
	return nil
}
