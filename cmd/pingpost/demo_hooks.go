package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/loadtest/refreceiver"
)

// told is what the supplier heard of its leads by webhook, and what it is still to
// hear.
type told struct {
	refreceiver.Stats
	pending, dead int
}

// receiver starts the supplier's endpoint on a free port.
func (h *household) receiver(ctx context.Context, set *demoSet) error {
	process, err := h.start("receiver", []string{"PINGPOST_WEBHOOK_SECRET=" + set.hookSecret}, "receiver", "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	const greeting = "reference receiver on "
	text, err := process.says(ctx, greeting)
	set.hooks = strings.TrimSpace(strings.TrimPrefix(text, greeting))
	return err
}

// longestTelling is longer than a first attempt takes at the worst, and its endpoint
// never fails.
const longestTelling = 30 * time.Second

// hear waits until nothing is owed any more, and asks the supplier what it heard.
func (a *account) hear(ctx context.Context, x *demoExchange) error {
	for limit := time.Now().Add(longestTelling); ; {
		var standing struct{ Pending, Dead int }
		if err := x.ask(ctx, x.private+"/admin/v1/webhooks/"+demoSupplier, &standing); err != nil {
			return err
		}
		a.told.pending, a.told.dead = standing.Pending, standing.Dead
		if standing.Pending == 0 || time.Now().After(limit) {
			return x.ask(ctx, a.set.hooks+"/stats", &a.told.Stats)
		}
		if !pauseUntil(ctx, time.Now().Add(50*time.Millisecond)) {
			return errors.New("interrupted while webhooks were owed")
		}
	}
}

// byEvent shows what was heard.
func (a *account) byEvent() string {
	t := table{indent: "  "}
	for what := market.HookPosted; int(what) < market.HookTypes; what++ {
		if n := a.told.ByType[what.String()]; n > 0 {
			t.row(what.String(), grouped(int(n)))
		}
	}
	return t.String()
}

// toldOf holds the events against the answers. A lead that was answered as accepted
// has been taken by its buyer, or not after all; while that is not known nothing is
// told. What was refused before there was a fact causes no event.
func (a *account) toldOf() []check {
	unknown := 0
	for _, n := range a.unknown {
		unknown += n
	}
	unsold := a.total.unmatched
	for reason, n := range a.deals.reasons {
		if strings.HasPrefix(reason, "post: post_rejected") {
			unsold += n
		}
	}
	h := &a.told
	posted, failed, unmatched := int(h.ByType["lead.posted"]), int(h.ByType["lead.post_failed"]), int(h.ByType["lead.unmatched"])
	return []check{
		{
			posted+failed+unknown == a.total.accepted+a.deals.sold && unmatched == unsold,
			fmt.Sprintf("the supplier heard by webhook of %s sold, %s unmatched", grouped(posted), grouped(unmatched)),
		},
		{
			h.pending == 0 && h.dead == 0 && h.BadSignatures == 0 && h.Changed == 0 && h.Invalid == 0,
			fmt.Sprintf("%s webhooks, each with its signatures in order, and none is owed", grouped(int(h.Distinct))),
		},
	}
}
