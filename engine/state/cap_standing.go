package state

import "pingpost/engine/market"

// CapStanding is how much of a cap is used, in the window that a decision would count
// in.
type CapStanding struct {
	Used, Held  int64 // by facts; by requests in flight
	From, Until int64 // Unix nanoseconds, the end exclusive
}

// CapStanding tells how a cap stands at now.
func (s *State) CapStanding(limit *market.Cap, now int64) (c CapStanding) {
	cell := s.caps.cell(limit.Ref)
	cell.mu.Lock()
	defer cell.mu.Unlock()
	window := max(cell.windowAt(limit, now), cell.window, cell.heldWindow)
	c.From, c.Until = limit.Period.Window(window, limit.Zone)
	if cell.window == window {
		c.Used = cell.used
	}
	if cell.heldWindow == window {
		c.Held = cell.reserved
	}
	return c
}
