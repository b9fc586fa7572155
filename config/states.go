package config

import "pingpost/engine/market"

// states is the set of a list, all of them where it is empty.
func (c *compiler) states(at place, codes []string) market.StateSet {
	if len(codes) == 0 {
		return market.AllStates
	}
	var set market.StateSet
	for i, code := range codes {
		state := market.StateOf([]byte(code))
		switch {
		case state == market.NoState:
			c.fail(at.at(i), "is not a state; give the two capital letters of the US postal service, such as CA")
		case set.Has(state):
			c.fail(at.at(i), "stands here twice; keep one")
		}
		set = set.With(state)
	}
	return set
}
