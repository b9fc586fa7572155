package engine

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

// Configuration is a catalog to be put into force, with what a configuration
// file may only give the first value of.
type Configuration struct {
	Catalog  *market.Catalog // without numbers; the engine gives them and keeps it
	Document string          // hex SHA-256 of its canonical document, which is kept beside the log
	Overlay  string          // hex SHA-256 of what of it was made entry by entry, kept there too; empty: nothing was
	By       string          // the operator who wants it; empty: it comes from the file
	From     event.Origin
	Firsts   Firsts
	Tables   map[market.ListID]*fingerprint.Table // contents of suppression lists
	Lists    map[market.ListID]state.ListFile
}

// Firsts are first values of state. What has a value already keeps it.
type Firsts struct {
	Credentials []Credential
	Secrets     []FirstSecret
	Balances    []FirstBalance
	Campaigns   []market.CampaignID // to be paused at first
	Buyers      []market.BuyerID    // to be paused at first
}

// FirstSecret is the first value of a secret that the exchange presents.
type FirstSecret struct {
	Name    string
	Sealed  []byte
	Follows bool // it is the configuration's, and takes the place of the one in force
}

// FirstBalance is a buyer's opening balance.
type FirstBalance struct {
	Buyer  market.BuyerID
	Amount market.Money
}

// Configure puts a configuration into force: what is new in it is logged, then
// requests see it. Those in flight end under the one they began with. Where
// nothing changed nothing is logged.
//
// First values are durable before the configuration is: one that an operator made
// entry by entry has its secrets nowhere else, so a crash in between must not leave
// it without them. Without the configuration they do no harm.
func (e *Engine) Configure(c Configuration) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	for i := range c.Firsts.Credentials {
		if err := e.foreign(&c.Firsts.Credentials[i]); err != nil {
			return err
		}
	}
	if err := e.logNames(&c); err != nil {
		return fmt.Errorf("cannot number what the configuration names: %w", err)
	}
	if err := e.logFirsts(&c); err != nil {
		return fmt.Errorf("cannot keep the configuration's first values: %w", err)
	}
	if err := e.logCatalog(&c); err != nil {
		return fmt.Errorf("cannot put the configuration into force: %w", err)
	}
	tables := make(map[market.Ref]*fingerprint.Table, len(c.Tables))
	for id, table := range c.Tables {
		if list := c.Catalog.Lists[id]; list != nil {
			tables[list.Ref] = table
		}
	}
	e.plan.Store(newPlan(c.Catalog, tables, e.askers, e.opt.Clock.Now()))
	return nil
}

// logNames numbers what the catalog names.
func (e *Engine) logNames(c *Configuration) error {
	n := newNumbering(e.state)
	n.number(c.Catalog)
	for _, fact := range n.facts {
		if err := e.commit(fact, nil); err != nil {
			return err
		}
	}
	return nil
}

// logCatalog logs the catalog where it differs from the one in force.
func (e *Engine) logCatalog(c *Configuration) error {
	in := e.state.Catalog()
	c.Catalog.Version = in.Version
	if in.Document == c.Document && in.Overlay == c.Overlay {
		return nil
	}
	c.Catalog.Version++
	return e.commit(&event.CatalogSet{
		Version: c.Catalog.Version, Document: c.Document, Overlay: c.Overlay, By: c.By, From: c.From,
	}, nil)
}

func (e *Engine) logFirsts(c *Configuration) error {
	var facts []event.Event
	now := e.opt.Clock.Now()
	s := e.state
	for i := range c.Firsts.Credentials {
		if fact := e.By(c.By).adding(&c.Firsts.Credentials[i]); !s.HadCredential(fact) {
			facts = append(facts, fact)
		}
	}
	for _, first := range c.Firsts.Secrets {
		if _, ok := s.Secret(first.Name); !ok || first.Follows {
			facts = append(facts, &event.SecretSet{Name: first.Name, Sealed: first.Sealed, At: now, By: c.By})
		}
	}
	for _, first := range c.Firsts.Balances {
		if ref := s.RefOf(event.NameBuyer, string(first.Buyer)); !s.HasOpeningBalance(ref) {
			facts = append(facts, &event.FundsMoved{Buyer: ref, Amount: first.Amount, Opening: true, At: now, By: c.By})
		}
	}
	for _, id := range c.Firsts.Campaigns {
		facts = e.By(c.By).firstPause(facts, event.NameCampaign, string(id), now)
	}
	for _, id := range c.Firsts.Buyers {
		facts = e.By(c.By).firstPause(facts, event.NameBuyer, string(id), now)
	}
	for id, file := range c.Lists {
		ref := s.RefOf(event.NameList, string(id))
		if _, ok := s.List(ref); !ok {
			facts = append(facts, &event.ListLoaded{List: ref, File: file.File, Source: file.Source, Entries: file.Entries, At: now, By: c.By})
		}
	}
	for _, fact := range facts {
		if err := e.commit(fact, nil); err != nil {
			return err
		}
	}
	return nil
}

func (e Operator) firstPause(facts []event.Event, door event.NameKind, id string, now int64) []event.Event {
	ref := e.state.RefOf(door, id)
	if _, seen := e.state.Paused(door, ref); seen {
		return facts
	}
	return append(facts, &event.PauseSet{Target: door, Ref: ref, Paused: true, At: now, By: e.by})
}
