package event

import (
	"strings"

	"pingpost/engine/market"
)

// changes leaves the reporter's reasons out: whoever writes them may name a person.
func (d *describer) changes(e *StatusChanged) {
	d.text("request", e.Request.String())
	d.uint("buyer", uint64(e.Buyer))
	all := make([]string, 0, len(e.Changes))
	for i := range e.Changes {
		c := &e.Changes[i]
		inner := describer{}
		inner.text("lead", c.Lead.String())
		inner.text("result", c.Result.String())
		inner.text("from", c.From.String())
		inner.text("to", c.To.String())
		inner.flag("waited", c.Waited)
		inner.owes(c.Hook)
		if c.Return.Credit != 0 {
			inner.add("credit", c.Return.Credit.String())
		}
		if c.Return.Reverse != 0 {
			inner.add("reverse", c.Return.Reverse.String())
		}
		inner.uint("caps", uint64(len(c.Return.Charges)))
		all = append(all, "{"+strings.Join(inner, ",")+"}")
	}
	d.add("changes", "["+strings.Join(all, ",")+"]")
}

func (d *describer) hook(e *HookTried) {
	d.text("lead", e.Lead.String())
	d.text("type", e.Type.String())
	d.uint("supplier", uint64(e.Supplier))
	d.uint("attempt", uint64(e.Attempt))
	d.text("outcome", e.Outcome.String())
	d.uint("status", uint64(e.Status))
	if e.Fault != market.FaultNone {
		d.text("fault", e.Fault.String())
	}
}
