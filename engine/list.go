package engine

import (
	"fmt"
	"maps"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

// List is a suppression list of the configuration in force. ErrNotFound: it has none
// of this name.
func (e *Engine) List(id market.ListID) (*market.SuppressionList, error) {
	if plan := e.plan.Load(); plan != nil && plan.catalog.Lists[id] != nil {
		return plan.catalog.Lists[id], nil
	}
	return nil, fmt.Errorf("%w: no suppression list %q is configured", ErrNotFound, id)
}

// LoadList gives a suppression list new contents: the next lead is held against
// them. The file that they are in is durable already. ErrNotFound: the configuration
// has no such list.
func (e *Engine) LoadList(id market.ListID, table *fingerprint.Table, file state.ListFile) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	list, err := e.List(id)
	if err != nil {
		return err
	}
	now := e.opt.Clock.Now()
	err = e.commit(&event.ListLoaded{
		List: list.Ref, File: file.File, Source: file.Source, Entries: file.Entries, At: now, By: file.By, Uploaded: file.Uploaded,
	}, nil)
	if err != nil {
		return fmt.Errorf("cannot load suppression list %q: %w", id, err)
	}
	in := e.plan.Load()
	tables := maps.Clone(in.tables)
	tables[list.Ref] = table
	e.plan.Store(newPlan(in.catalog, tables, e.askers, now))
	return nil
}
