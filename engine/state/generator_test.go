package state

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// eventGenerator makes random events as the engine would: it reserves, logs and releases, and
// settles open posts in every possible way.
type eventGenerator struct {
	*testExchange
	draw     func(n int) int
	leads    []market.LeadID
	lastSlot uint64
	claims   map[market.LeadID]*RequestReservations // of the duplicate values of leads with an open post
}

func newEventGenerator(t *rapid.T) *eventGenerator {
	return &eventGenerator{testExchange: newTestExchange(), claims: make(map[market.LeadID]*RequestReservations), draw: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
}

func (x *eventGenerator) step() {
	switch x.draw(21) {
	case 0:
		x.at += int64(x.draw(7)) * hour
	case 1, 2, 3:
		x.settlePost()
	case 4:
		x.changeSettings()
	case 5, 6:
		x.completeAuction()
	case 7, 8, 9:
		x.reportStatuses()
	case 10, 11, 12:
		x.attemptWebhook()
	case 13:
		x.eraseLeads()
	default:
		x.decideLead()
	}
}

func (x *eventGenerator) decideLead() {
	var h RequestReservations
	ev := &event.LeadDecided{
		Lead: x.newID(), Request: x.newID(), Campaign: x.campaigns[x.draw(2)], Supplier: market.PermanentNumber(1 + x.draw(2)), Decided: x.at,
		Keep: x.at + int64(1+x.draw(30))*hour, Fields: []event.LeadField{{Name: "state", Kind: market.KindString, Text: []byte("CA")}},
		Sealed: []byte("sealed"), Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomeCapped, FilterSets: bitset.Set{5, 0}}},
	}
	if x.draw(2) == 0 {
		keyed := x.mustClaimIdempotencyKey(&h, [16]byte{byte(x.draw(6)), 15: byte(x.draw(3))}, 1, x.at)
		if !keyed.IsUsed() && keyed.Wait == nil {
			ev.Idempotency = event.RequestIdempotencyKey{Key: h.key, Fingerprint: 1, ExpiresAt: x.at + 10*hour}
		}
	}
	if x.draw(4) == 0 {
		ev.Auction = event.AuctionOfIngestedLead{ID: x.newID(), Bids: []event.Bid{{Buyer: 1, Outcome: market.OutcomeWon}}}
	}
	ev.Sale.Test = x.draw(8) == 0
	if x.draw(4) > 0 && x.reserveSale(&h, ev.Campaign, &ev.Sale) {
		ev.Webhook = x.maybeWebhook(market.WebhookPosted)
		if x.draw(2) == 0 {
			ev.Webhook = market.WebhookNone
			ev.Post = event.PostIntent{
				URL: "https://buyer.example/v1/post", Credential: "c", Header: "h", Scheme: "s", Timeout: 5, Repeatable: true,
				TokenURL: "https://buyer.example/oauth/token", ClientID: "i", Scope: "post", Auction: x.newID(),
			}
			ev.Post.Trusted = x.draw(2) == 0
			if x.draw(2) == 0 {
				ev.Post.AdapterProtocol = market.AdapterProtocol{Method: "PUT", Answer: market.BuyerAnswerValuePaths{Format: market.FormatForm, ID: "id"}}
			}
		}
	} else {
		ev.Reason, ev.Webhook = market.ReasonCapsFull, x.maybeWebhook(market.WebhookUnmatched)
	}
	if x.draw(4) > 0 { // else as a program wrote it that did not seal
		x.lastSlot += uint64(1 + x.draw(2))
		ev.Slot = x.lastSlot
	}
	x.leads = append(x.leads, ev.Lead)
	x.logAndApply(ev)
	x.keepOrEndClaimsOfPost(ev.Lead, &h)
	x.ReleaseAll(&h)
}

// keepOrEndClaimsOfPost keeps the claims on the duplicate values of a lead until its state has the values or its post
// has ended. reserved has the claims of the last event.
func (x *eventGenerator) keepOrEndClaimsOfPost(lead market.LeadID, reserved *RequestReservations) {
	post := x.UnfinishedPost(lead)
	if post != nil && !post.Answered {
		if old := x.claims[lead]; old != nil {
			reserved.duplicates = append(reserved.duplicates, old.duplicates...)
		}
		x.claims[lead] = new(RequestReservations)
		reserved.TransferDuplicateKeyClaims(x.claims[lead])
		return
	}
	if old := x.claims[lead]; old != nil {
		x.ReleaseAll(old)
		delete(x.claims, lead)
	}
}

// completeAuction logs an auction, most times under a name by which sales find it.
func (x *eventGenerator) completeAuction() {
	var h RequestReservations
	ev := &event.PingAuctionCompleted{
		Auction: x.newID(), Request: x.newID(), Supplier: 1, Campaign: 1, Began: x.at, Deadline: x.at + 2*second,
		SellerAuction: "theirs", Keep: x.at + int64(1+x.draw(30))*hour, Bids: []event.Bid{{Buyer: 1, Outcome: market.OutcomeWon}},
	}
	if x.draw(4) > 0 {
		if found, wait := x.ClaimNewAuctionName(&h, x.auctionName(), x.at); !found && wait == nil {
			ev.Name = h.auction
		}
	}
	if x.draw(2) == 0 {
		keyed := x.mustClaimIdempotencyKey(&h, [16]byte{byte(x.draw(6)), 15: byte(x.draw(3))}, 2, x.at)
		if !keyed.IsUsed() && keyed.Wait == nil {
			ev.Idempotency = event.RequestIdempotencyKey{Key: h.key, Fingerprint: 2, ExpiresAt: x.at + 10*hour}
		}
	}
	x.logAndApply(ev)
	x.ReleaseAll(&h)
}

// auctionName returns one of few names, so that they repeat.
func (x *eventGenerator) auctionName() [16]byte { return [16]byte{1, 15: byte(x.draw(3))} }

// maybeWebhook returns kind or, for a supplier without that webhook, WebhookNone.
func (x *eventGenerator) maybeWebhook(kind market.WebhookType) market.WebhookType {
	if x.draw(2) == 0 {
		return market.WebhookNone
	}
	return kind
}

// reserveSale chooses a buyer with capacity by rotation and reserves all that the sale needs. A
// test lead makes no reservations, but its event may have any values.
func (x *eventGenerator) reserveSale(h *RequestReservations, campaign market.PermanentNumber, reserveSale *event.Sale) bool {
	if reserveSale.Test {
		*reserveSale = event.Sale{
			Buyer: 1, Price: dollar, Payout: dollar, Test: true, Turn: event.RotationTurn{Set: 9}, Ping: x.auctionName(),
			Charges: []event.CapCharge{{Cap: 1, Window: x.at, Amount: 1}}, Duplicates: []event.DuplicateCheckValue{{Key: market.DuplicateKey{9}, Until: x.at + day}},
		}
		return true
	}
	members := 1 + x.draw(3)
	reserveSale.Turn = x.ReserveRotationTurn(h, campaign, uint64(members)<<1|1, []int32{3, 1, 2}[:members])
	buyer := x.buyers[reserveSale.Turn.Member]
	price := market.Money(1+x.draw(12)) * dollar
	keys := []market.DuplicateKey{{byte(x.draw(50)), 15: byte(x.draw(2))}, {byte(x.draw(50)), 15: 2}}
	dups, _, _ := x.mustClaimDuplicateKeys(h, keys, x.at)
	caps, _ := x.ReserveAllCaps(h, x.capsByBuyer[buyer.Ref], price, nil, x.at)
	funds := Reserved
	if caps == Reserved {
		funds, _ = x.ReserveFunds(h, buyer, price)
	}
	if x.draw(4) > 0 {
		if row, found, wait := x.ClaimAuctionForSale(h, x.auctionName(), x.at); found && !row.IsSoldOrBeingPosted() && wait == nil {
			reserveSale.Ping = row.Name
		}
	}
	if dups != Reserved || caps != Reserved || funds != Reserved {
		x.ReleaseCapsFundsAndTurn(h)
		x.ReleaseDuplicateKeyClaims(h)
		x.ReleaseAuctionClaim(h)
		*reserveSale = event.Sale{}
		return false
	}
	reserveSale.Buyer, reserveSale.Price, reserveSale.Payout, reserveSale.Currency = buyer.Ref, price, price/2, market.Currency{'U', 'S', 'D'}
	reserveSale.Charges = append(reserveSale.Charges, h.CapChargesForEvent()...)
	for _, key := range keys {
		reserveSale.Duplicates = append(reserveSale.Duplicates, event.DuplicateCheckValue{Key: key, Until: x.at + int64(1+x.draw(20))*hour})
	}
	return true
}

// settlePost settles an open post in a random way.
func (x *eventGenerator) settlePost() {
	var open []*UnfinishedPost
	x.EachUnfinishedPost(func(p *UnfinishedPost) { open = append(open, p) })
	if len(open) == 0 {
		return
	}
	post := open[0]
	for _, p := range open { // the order of a map is random
		if string(p.Lead[:]) < string(post.Lead[:]) {
			post = p
		}
	}
	ev := &event.PostSettled{Lead: post.Lead, Attempts: post.Attempts, Status: 200, Decided: post.Decided}
	if lead, ok := x.LeadInMemory(post.Lead); ok {
		ev.Campaign, ev.Supplier = lead.Campaign, lead.Supplier
		ev.Webhook = x.maybeWebhook([]market.WebhookType{market.WebhookPosted, market.WebhookUnmatched, market.WebhookPostFailed}[x.draw(3)])
	}
	ev.Sale.CopyFrom(&post.Sale)
	switch choice := x.draw(6); {
	case post.Exhausted:
		ev.Settlement = []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent}[choice/2]
	case choice == 0:
		x.logAndApply(&event.PostAttemptFailed{Lead: post.Lead, Attempt: post.Attempts + 1, At: x.at, Status: 503})
		return
	case choice == 1:
		ev.Settlement = event.SettledUnknown
	case choice == 2 && !post.Answered:
		ev.Settlement = event.SettledPending
	case choice == 3:
		x.refusePost(ev, post)
		return
	default:
		ev.Settlement = event.SettledDelivered
	}
	x.logAndApply(ev)
	x.keepOrEndClaimsOfPost(ev.Lead, new(RequestReservations))
}

func (x *eventGenerator) refusePost(ev *event.PostSettled, post *UnfinishedPost) {
	var h RequestReservations
	ev.Settlement, ev.Reason = event.SettledRefused, market.ReasonPostRejected
	ev.Next.Test = post.Sale.Test
	if !post.Answered && x.draw(2) == 0 && x.reserveSale(&h, ev.Campaign, &ev.Next) {
		ev.Reason = market.ReasonNone
		ev.Next.Duplicates = append(ev.Next.Duplicates, post.Sale.Duplicates...) // the lead has the same duplicate keys at each buyer
		if x.draw(2) == 0 {
			ev.Next.Ping = post.Sale.Ping
		}
		if x.draw(2) == 0 {
			ev.Post, ev.Slot, ev.Sealed = post.Intent, post.Slot, []byte("sealed again")
		}
	}
	x.logAndApply(ev)
	x.keepOrEndClaimsOfPost(ev.Lead, &h)
	x.ReleaseAll(&h)
}

// changeSettings logs an action of an operator or a configuration.
func (x *eventGenerator) changeSettings() {
	switch x.draw(11) {
	case 0:
		x.logAndApply(&event.BuyerFundsAdjusted{Buyer: market.PermanentNumber(1 + x.draw(3)), Amount: market.Money(x.draw(60)-20) * dollar, Opening: x.draw(5) == 0, At: x.at})
	case 1:
		x.logAndApply(&event.CampaignOrBuyerPausedOrResumed{Target: event.ObjectBuyer, Ref: market.PermanentNumber(1 + x.draw(3)), Paused: x.draw(2) == 0, At: x.at})
	case 2:
		x.logAndApply(&event.SuppressionListContentLoaded{List: 1, File: string(rune('a' + x.draw(9))), Source: "s", Entries: uint64(x.draw(9)), At: x.at, By: string(rune('a' + x.draw(3))), Uploaded: x.draw(2) == 0})
	case 3:
		x.logAndApply(x.changeCredential())
	case 4:
		x.logAndApply(&event.SecretStoredOrDeleted{Name: string(rune('a' + x.draw(3))), Sealed: []byte{byte(x.draw(200))}, At: x.at})
	case 5:
		x.logAndApply(&event.ConfigActivated{
			Version: x.CurrentConfigVersion().Version + 1, Document: string(rune('a' + x.draw(20))),
			Overlay: string(rune('a' + x.draw(3))), By: string(rune('a' + x.draw(3))), From: event.ConfigOrigin(x.draw(4)),
		})
	case 6:
		ref := market.PermanentNumber(x.CountPermanentNumbers(event.ObjectBuyer) + 1)
		x.logAndApply(&event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: ref, ID: string(rune('a' + ref))}}})
	case 7:
		refs := x.CapRefsByKey()
		x.logAndApply(&event.ConfigObjectNumbersAssigned{Caps: []event.CapNumberAssignment{{
			Ref: market.PermanentNumber(len(refs) + 1), Key: market.CapKey{Scope: market.ScopePair, Campaign: 9, Buyer: market.PermanentNumber(len(refs)), Zone: "UTC", Entry: []string{"", "social"}[len(refs)%2]},
		}}})
	case 8:
		x.logAndApply(x.changeUser())
	case 9:
		x.logAndApply(x.changeAlert())
	case 10:
		x.logAndApply(x.changeSavedReport())
	}
}

// reportStatuses logs a buyer's report on some leads, or an operator's decisions on pending
// returns.
func (x *eventGenerator) reportStatuses() {
	if len(x.leads) == 0 {
		return
	}
	var h RequestReservations
	ev := &event.LeadStatusChangesDecided{Request: x.newID(), Buyer: 1, At: x.at}
	keyed := x.mustClaimIdempotencyKey(&h, [16]byte{byte(x.draw(6)), 15: byte(x.draw(3))}, 3, x.at)
	if !keyed.IsUsed() && keyed.Wait == nil {
		ev.Idempotency = event.RequestIdempotencyKey{Key: h.key, Fingerprint: 3, ExpiresAt: x.at + 10*hour}
	}
	from := x.draw(len(x.leads))
	for _, id := range x.leads[from:min(from+1+x.draw(3), len(x.leads))] {
		ev.Changes = append(ev.Changes, x.changeStatus(id))
	}
	x.logAndApply(ev)
	x.ReleaseAll(&h)
}

func (x *eventGenerator) changeStatus(id market.LeadID) event.DecidedLeadStatusChange {
	lead, ok := x.LeadInMemory(id)
	c := event.DecidedLeadStatusChange{
		Lead: id, From: lead.Status, To: market.StatusContacted + market.LeadStatus(x.draw(4)),
		Supplier: lead.Supplier, Reason: "said so", Occurred: x.at,
	}
	c.WasPending = lead.ReturnState() == market.ReturnPending
	switch {
	case !ok:
		c.Result = event.ChangeUnknown
		return c
	case c.WasPending:
		c.To = market.StatusReturned
	case !lead.Status.CanReportChangeTo(c.To):
		c.Result = event.ChangeNone
		return c
	}
	c.Result = event.ChangeDone
	if c.To == market.StatusReturned {
		if x.draw(2) == 0 {
			c.Result = event.ChangePending
			if c.WasPending {
				c.Result = event.ChangeRefused
			}
		}
		if !lead.IsTest() {
			c.Return = event.MoneyAndCapsReversedByReturn{Campaign: lead.Campaign, Month: market.StartOfUTCMonth(lead.Decided)}
		}
	}
	if c.Result == event.ChangeDone {
		c.Webhook = x.maybeWebhook(c.To.WebhookTypeOfReport())
		if c.Return.Month != 0 {
			c.Return.Credit, c.Return.Reverse = lead.Price, lead.Payout
			c.Return.Charges = []event.CapCharge{{Cap: 1, Window: x.caps.mustFindCounter(1).window, Amount: 1}}
		}
	}
	return c
}

// attemptWebhook logs the attempt of a webhook, or an operator's action on webhooks.
func (x *eventGenerator) attemptWebhook() {
	supplier := market.PermanentNumber(1 + x.draw(2))
	ev := &event.WebhookAttemptedOrDecided{Supplier: supplier, At: x.at}
	dead := x.ListDeadLetters(supplier, 0, 3)
	switch choice := x.draw(10); {
	case choice == 0:
		x.logAndApply(&event.SupplierWebhooksTurnedOnOrOff{Supplier: supplier, Off: x.draw(2) == 0, At: x.at})
		return
	case choice < 7 && len(dead) > 0: // dead letters are rare: an operator mostly acts on one at once
		ev.Lead, ev.Type = dead[0].Lead, dead[0].Type
		ev.Outcome = []event.WebhookOutcomeOrDecision{event.WebhookResent, event.WebhookDropped}[choice%2]
	default:
		h, ok := x.ClaimDueWebhook(supplier, x.at)
		if !ok {
			return
		}
		ev.Lead, ev.Type, ev.Attempt = h.Lead, h.Type, h.Attempts+1
		switch {
		case choice < 5:
			ev.Outcome = event.WebhookDelivered
		case choice == 5:
			ev.Outcome = event.WebhookDead
		case choice == 6:
			x.UnclaimWebhook(h)
			return
		default:
			ev.Outcome, ev.Due, ev.Status = event.WebhookFailed, x.at+int64(x.draw(3))*hour, 503
		}
	}
	x.logAndApply(ev)
}

func (x *eventGenerator) changeCredential() *event.CredentialAddedOrRevoked {
	ev := &event.CredentialAddedOrRevoked{
		Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 1,
		Hash: [32]byte{byte(x.draw(4))}, Hint: "pk", Revoked: x.draw(3) == 0, At: x.at,
	}
	switch x.draw(3) {
	case 1:
		ev.Credential, ev.Client, ev.Scopes = event.CredentialOAuthClient, string(rune('a'+x.draw(2))), event.ScopePing
		ev.Hash[1] = 1
	case 2:
		ev.Credential, ev.Owner, ev.Scopes = event.CredentialBearer, event.ObjectBuyer, event.OAuthScopes(1+x.draw(7))
		ev.Hash[1] = 2
	}
	return ev
}

// changeUser returns an event that adds, changes or removes an operator or an API token.
func (x *eventGenerator) changeUser() event.Event {
	name := string(rune('a' + x.draw(3)))
	switch x.draw(4) {
	case 0:
		return &event.UserAccountChanged{Name: name, Role: market.OperatorRole(1 + x.draw(3)), Password: "hash", Removed: x.draw(4) == 0, At: x.at, Invitation: [32]byte{byte(x.draw(4))}}
	case 1:
		return &event.InvitationCreatedOrRevoked{
			Hash: [32]byte{byte(1 + x.draw(3))}, Role: market.OperatorRole(1 + x.draw(3)), Expires: x.at + int64(x.draw(2))*hour, Revoked: x.draw(3) == 0, At: x.at, By: name,
		}
	case 2:
		return &event.UserSecondFactorChangedOrUsed{
			User: name, Change: event.SecondFactorChangeOrUse(1 + x.draw(4)), Sealed: []byte{1}, Step: uint64(x.draw(9)), Recovery: []event.RecoveryCodeHash{{byte(x.draw(3))}}, At: x.at,
		}
	}
	return &event.APITokenAddedOrRevoked{
		User: name, Name: "n", Role: market.OperatorRole(1 + x.draw(3)), Hash: [32]byte{byte(x.draw(4))}, Hint: "ppa", Expires: x.at + int64(x.draw(2))*hour,
		Revoked: x.draw(3) == 0, At: x.at,
	}
}

// changeAlert returns an event that changes the alert settings, an alert or a notification.
func (x *eventGenerator) changeAlert() event.Event {
	if x.draw(4) == 0 {
		return &event.AlertSettingsChanged{Document: []byte(`{"channels": [{"id": "` + string(rune('a'+x.draw(3))) + `"}]}`), At: x.at}
	}
	return &event.AlertOrNotificationChanged{
		Transition: event.AlertOrNotificationTransition(1 + x.draw(6)), Rule: string(rune('a' + x.draw(2))), Subject: string(rune('a' + x.draw(3))),
		Value: int64(x.draw(9)) - 4, Channels: []string{"c"}[:x.draw(2)], Of: uint64(1 + x.draw(9)), At: x.at,
	}
}

// changeSavedReport returns an event that sets or removes a saved report, or that ends an e-mail of it.
func (x *eventGenerator) changeSavedReport() event.Event {
	id := string(rune('a' + x.draw(3)))
	switch x.draw(4) {
	case 0:
		return &event.SavedReportChanged{ID: id, At: x.at}
	case 1:
		document := `{"name": "` + id + `", "query": {"by": ["day"], "filters": {}}, "schedule": {"time": "0` + string(rune('1'+x.draw(3))) + `:00"}}`
		return &event.SavedReportChanged{ID: id, Document: []byte(document), At: x.at, By: "anna"}
	}
	return &event.ReportMailEnded{Report: id, Moment: x.at, Outcome: event.ReportMailOutcome(1 + x.draw(2)), Requested: x.draw(2) == 0, Error: "e", At: x.at}
}

// requiredEvents lists the kinds of changes that the generator must reach.
var requiredEvents = []string{
	"posted", "recorded", "unmatched", "delivered", "refused", "pending", "unknown", "confirmed", "released", "resent",
	"next posted", "next recorded", "post_tried", "funds_moved", "door_set", "list_loaded", "credential_set", "secret_set", "catalog_set", "names_given",
	"alert_settings_changed", "alert_changed", "saved_report_set", "report_mail_ended",
	"auction_held", "sold at a bid", "bid given back",
	"test", "lead.posted", "lead.unmatched", "hooks_switched", "webhook delivered", "webhook failed", "webhook dead", "webhook resent", "webhook dropped",
	"report done", "report none", "report waits", "report refused", "report unknown", "report settled done", "report settled refused",
}

// TestGeneratorReachesEveryEvent proves that the generator reaches every kind of change. One
// rapid.Check runs 20 random histories with -short, which misses rare kinds now and then, so the
// test runs more of them until each kind has occurred, 800 at most.
func TestGeneratorReachesEveryEvent(t *testing.T) {
	seen := map[string]int{}
	missing := requiredEvents
	for round := 0; round < 40 && len(missing) > 0; round++ {
		rapid.Check(t, func(t *rapid.T) { countEvents(t, seen) })
		missing = slices.DeleteFunc(slices.Clone(missing), func(kind string) bool { return seen[kind] > 0 })
	}
	if len(missing) > 0 {
		t.Errorf("the generator never made %q; it made %v", missing, seen)
	}
}

// countEvents runs one generator and counts the kinds of changes in its log.
func countEvents(t *rapid.T, seen map[string]int) {
	x := newEventGenerator(t)
	for range 60 {
		x.step()
	}
	var d event.Decoder
	for _, entry := range x.log {
		e, err := d.Decode(entry.data)
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *event.LeadStatusChangesDecided:
			for i := range e.Changes {
				seen["report "+e.Changes[i].Result.String()]++
				if e.Changes[i].WasPending {
					seen["report settled "+e.Changes[i].Result.String()]++
				}
			}
		case *event.WebhookAttemptedOrDecided:
			seen["webhook "+e.Outcome.String()]++
		case *event.LeadDecided:
			if e.Sale.Test {
				seen["test"]++
			}
			if e.Webhook != market.WebhookNone {
				seen[e.Webhook.String()]++
			}
			if e.Sale.Ping != [16]byte{} {
				seen["sold at a bid"]++
			}
			switch {
			case e.Post.URL != "":
				seen["posted"]++
			case e.Sale.Buyer != 0:
				seen["recorded"]++
			default:
				seen["unmatched"]++
			}
		case *event.PostSettled:
			seen[e.Settlement.String()]++
			if e.Sale.Ping != [16]byte{} && e.Settlement == event.SettledRefused {
				seen["bid given back"]++
			}
			if e.Next.Buyer != 0 && e.Post.URL != "" {
				seen["next posted"]++
			} else if e.Next.Buyer != 0 {
				seen["next recorded"]++
			}
		default:
			seen[e.Kind().String()]++
		}
	}
	for _, open := range x.claims {
		x.ReleaseAll(open)
	}
	if n := x.ReservationCount(); n != 0 {
		t.Fatalf("%d reservations are left, want 0", n)
	}
}
