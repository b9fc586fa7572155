package engine

import (
	"fmt"
	"maps"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/state"
)

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
	e.plan.Store(newPlan(in.catalog, tables, e.limiters, now))
	return nil
}
