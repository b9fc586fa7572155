package engine

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// resentAtOnce is how many leads' dead letters share the log's batches.
const resentAtOnce = 256

// ResendAllHooks makes all the dead letters that a supplier has now events again,
// oldest first but each lead's in the order of their causes, and says how many
// they were. After an error some of them are.
func (e Operator) ResendAllHooks(supplier market.SupplierID) (resent int, err error) {
	ref, err := e.supplierRef(supplier)
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(byLead(e.state.DeadLetters(ref, 0, math.MaxInt)), resentAtOnce) {
		n, err := e.resend(ref, some)
		if resent += n; err != nil {
			return resent, err
		}
	}
	return resent, nil
}

// byLead puts together what is of one lead, in the order of the causes; leads come
// in the order in which they are met.
func byLead(hooks []state.QueuedWebhook) (leads [][]state.QueuedWebhook) {
	place := make(map[market.LeadID]int)
	for _, h := range hooks {
		n, met := place[h.Lead]
		if !met {
			n = len(leads)
			place[h.Lead] = n
			leads = append(leads, nil)
		}
		leads[n] = append(leads[n], h)
	}
	for _, lead := range leads {
		slices.SortFunc(lead, func(a, b state.QueuedWebhook) int { return cmp.Compare(a.Cause, b.Cause) })
	}
	return leads
}

// resend lets leads share batches. A lead's own letters follow one another, each
// once the one before it is a fact: whatever is resent may be told at once, and
// nothing holds it back that is still dead.
func (e Operator) resend(supplier market.Ref, leads [][]state.QueuedWebhook) (resent int, err error) {
	e.hooks.switching.Lock()
	defer e.hooks.switching.Unlock()
	if e.state.OutboxStatus(supplier).Off {
		return 0, errHooksOff
	}
	done, failed := make([]int, len(leads)), make([]error, len(leads))
	var all sync.WaitGroup
	for i, lead := range leads {
		all.Go(func() {
			for done[i] < len(lead) && failed[i] == nil {
				if failed[i] = e.conclude(e.decreed(&lead[done[i]], event.WebhookResent), nil); failed[i] == nil {
					done[i]++
				}
			}
		})
	}
	all.Wait()
	for i, n := range done {
		resent, err = resent+n, cmp.Or(err, failed[i])
	}
	return resent, err
}
