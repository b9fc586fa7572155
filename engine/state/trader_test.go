package state

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// trader makes random facts as the engine would: it reserves, logs and releases,
// and settles what is open in every way there is.
type trader struct {
	*world
	draw func(n int) int
	came []market.LeadID
	slot uint64 // the last that was taken
}

func newTrader(t *rapid.T) *trader {
	return &trader{world: newWorld(), draw: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
}

func (w *trader) step() {
	switch w.draw(21) {
	case 0:
		w.at += int64(w.draw(7)) * hour
	case 1, 2, 3:
		w.settleOne()
	case 4:
		w.operate()
	case 5, 6:
		w.auction()
	case 7, 8, 9:
		w.report()
	case 10, 11, 12:
		w.tell()
	case 13:
		w.erase()
	default:
		w.lead()
	}
}

func (w *trader) lead() {
	var h RequestReservations
	fact := &event.LeadDecided{
		Lead: w.id(), Request: w.id(), Campaign: w.campaigns[w.draw(2)], Supplier: market.PermanentNumber(1 + w.draw(2)), Decided: w.at,
		Keep: w.at + int64(1+w.draw(30))*hour, Fields: []event.LeadField{{Name: "state", Kind: market.KindString, Text: []byte("CA")}},
		Sealed: []byte("sealed"), Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomeCapped, FilterSets: bitset.Set{5, 0}}},
	}
	if w.draw(2) == 0 {
		keyed := w.ClaimIdempotencyKey(&h, [16]byte{byte(w.draw(6)), 15: byte(w.draw(3))}, 1, w.at)
		if !keyed.IsUsed() && keyed.Wait == nil {
			fact.Idempotency = event.RequestIdempotencyKey{Key: h.key, Fingerprint: 1, ExpiresAt: w.at + 10*hour}
		}
	}
	if w.draw(4) == 0 {
		fact.Auction = event.LeadDecisionAuction{ID: w.id(), Bids: []event.Bid{{Buyer: 1, Outcome: market.OutcomeWon}}}
	}
	fact.Sale.Test = w.draw(8) == 0
	if w.draw(4) > 0 && w.sale(&h, fact.Campaign, &fact.Sale) {
		fact.Webhook = w.owed(market.WebhookPosted)
		if w.draw(2) == 0 {
			fact.Webhook = market.WebhookNone
			fact.Post = event.PostIntent{
				URL: "https://buyer.example/v1/post", Credential: "c", Header: "h", Scheme: "s", Timeout: 5, Repeatable: true,
				TokenURL: "https://buyer.example/oauth/token", ClientID: "i", Scope: "post", Auction: w.id(),
			}
			fact.Post.Trusted = w.draw(2) == 0
			if w.draw(2) == 0 {
				fact.Post.Dialect = market.Dialect{Method: "PUT", Answer: market.AnswerPaths{Format: market.FormatForm, ID: "id"}}
			}
		}
	} else {
		fact.Reason, fact.Webhook = market.ReasonCapsFull, w.owed(market.WebhookUnmatched)
	}
	if w.draw(4) > 0 { // else as a program wrote it that did not seal
		w.slot += uint64(1 + w.draw(2))
		fact.Slot = w.slot
	}
	w.came = append(w.came, fact.Lead)
	w.fact(fact)
	w.ReleaseAll(&h)
}

// auction holds one, most times under a name by which sales find it.
func (w *trader) auction() {
	var h RequestReservations
	fact := &event.PingAuctionCompleted{
		Auction: w.id(), Request: w.id(), Supplier: 1, Campaign: 1, Began: w.at, Deadline: w.at + 2*second,
		SellerAuction: "theirs", Keep: w.at + int64(1+w.draw(30))*hour, Bids: []event.Bid{{Buyer: 1, Outcome: market.OutcomeWon}},
	}
	if w.draw(4) > 0 {
		if found, wait := w.ClaimAuctionName(&h, w.auctionName(), w.at); !found && wait == nil {
			fact.Name = h.auction
		}
	}
	if w.draw(2) == 0 {
		keyed := w.ClaimIdempotencyKey(&h, [16]byte{byte(w.draw(6)), 15: byte(w.draw(3))}, 2, w.at)
		if !keyed.IsUsed() && keyed.Wait == nil {
			fact.Idempotency = event.RequestIdempotencyKey{Key: h.key, Fingerprint: 2, ExpiresAt: w.at + 10*hour}
		}
	}
	w.fact(fact)
	w.ReleaseAll(&h)
}

// auctionName is one of a few, so that they are met again.
func (w *trader) auctionName() [16]byte { return [16]byte{1, 15: byte(w.draw(3))} }

// owed is the hook, where the supplier wants to hear of it.
func (w *trader) owed(kind market.WebhookType) market.WebhookType {
	if w.draw(2) == 0 {
		return market.WebhookNone
	}
	return kind
}

// sale finds a buyer with room, in turns, and takes what the sale takes. A test
// lead takes nothing, but its fact may say anything.
func (w *trader) sale(h *RequestReservations, campaign market.PermanentNumber, sale *event.Sale) bool {
	if sale.Test {
		*sale = event.Sale{
			Buyer: 1, Price: dollar, Payout: dollar, Test: true, Turn: event.RotationTurn{Set: 9}, Ping: w.auctionName(),
			Charges: []event.CapCharge{{Cap: 1, Window: w.at, Amount: 1}}, Duplicates: []event.DuplicateCheckValue{{Key: market.DuplicateKey{9}, Until: w.at + day}},
		}
		return true
	}
	members := 1 + w.draw(3)
	sale.Turn = w.ReserveRotationTurn(h, campaign, uint64(members)<<1|1, []int32{3, 1, 2}[:members])
	buyer := w.buyers[sale.Turn.Member]
	price := market.Money(1+w.draw(12)) * dollar
	keys := []market.DuplicateKey{{byte(w.draw(50)), 15: byte(w.draw(2))}, {byte(w.draw(50)), 15: 2}}
	dups, _, _ := w.ClaimAllDuplicateKeys(h, keys, w.at)
	caps, _ := w.ReserveAllCaps(h, w.limits[buyer.Ref], price, nil, w.at)
	funds := Reserved
	if caps == Reserved {
		funds, _ = w.ReserveFunds(h, buyer, price)
	}
	if w.draw(4) > 0 {
		if row, found, wait := w.ClaimAuctionForSale(h, w.auctionName(), w.at); found && !row.IsSoldOrBeingPosted() && wait == nil {
			sale.Ping = row.Name
		}
	}
	if dups != Reserved || caps != Reserved || funds != Reserved {
		w.ReleaseCapsFundsAndTurn(h)
		w.ReleaseDuplicateKeyClaims(h)
		w.ReleaseAuctionClaim(h)
		*sale = event.Sale{}
		return false
	}
	sale.Buyer, sale.Price, sale.Payout, sale.Currency = buyer.Ref, price, price/2, market.Currency{'U', 'S', 'D'}
	sale.Charges = append(sale.Charges, h.CapCharges()...)
	for _, key := range keys {
		sale.Duplicates = append(sale.Duplicates, event.DuplicateCheckValue{Key: key, Until: w.at + int64(1+w.draw(20))*hour})
	}
	return true
}

// settleOne lets something become of an open post.
func (w *trader) settleOne() {
	var open []*UnfinishedPost
	w.EachUnfinishedPost(func(p *UnfinishedPost) { open = append(open, p) })
	if len(open) == 0 {
		return
	}
	post := open[0]
	for _, p := range open { // a map's order is no choice
		if string(p.Lead[:]) < string(post.Lead[:]) {
			post = p
		}
	}
	fact := &event.PostSettled{Lead: post.Lead, Attempts: post.Attempts, Status: 200, Decided: post.Decided}
	if lead, ok := w.Lead(post.Lead); ok {
		fact.Campaign, fact.Supplier = lead.Campaign, lead.Supplier
		fact.Webhook = w.owed([]market.WebhookType{market.WebhookPosted, market.WebhookUnmatched, market.WebhookPostFailed}[w.draw(3)])
	}
	fact.Sale.CopyFrom(&post.Sale)
	switch choice := w.draw(6); {
	case post.Exhausted:
		fact.Settlement = []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent}[choice/2]
	case choice == 0:
		w.fact(&event.PostAttemptFailed{Lead: post.Lead, Attempt: post.Attempts + 1, At: w.at, Status: 503})
		return
	case choice == 1:
		fact.Settlement = event.SettledUnknown
	case choice == 2 && !post.Answered:
		fact.Settlement = event.SettledPending
	case choice == 3:
		w.refuse(fact, post)
		return
	default:
		fact.Settlement = event.SettledDelivered
	}
	w.fact(fact)
}

func (w *trader) refuse(fact *event.PostSettled, post *UnfinishedPost) {
	var h RequestReservations
	fact.Settlement, fact.Reason = event.SettledRefused, market.ReasonPostRejected
	fact.Next.Test = post.Sale.Test
	if !post.Answered && w.draw(2) == 0 && w.sale(&h, fact.Campaign, &fact.Next) {
		fact.Reason = market.ReasonNone
		fact.Next.Duplicates = append(fact.Next.Duplicates, post.Sale.Duplicates...) // it is known by the same values to whoever buys it
		if w.draw(2) == 0 {
			fact.Next.Ping = post.Sale.Ping
		}
		if w.draw(2) == 0 {
			fact.Post, fact.Slot, fact.Sealed = post.Intent, post.Slot, []byte("sealed again")
		}
	}
	w.fact(fact)
	w.ReleaseAll(&h)
}

// operate is what operators and configurations do.
func (w *trader) operate() {
	switch w.draw(9) {
	case 0:
		w.fact(&event.BuyerFundsAdjusted{Buyer: market.PermanentNumber(1 + w.draw(3)), Amount: market.Money(w.draw(60)-20) * dollar, Opening: w.draw(5) == 0, At: w.at})
	case 1:
		w.fact(&event.PausedOrResumed{Target: event.ObjectBuyer, Ref: market.PermanentNumber(1 + w.draw(3)), Paused: w.draw(2) == 0, At: w.at})
	case 2:
		w.fact(&event.SuppressionListReplaced{List: 1, File: string(rune('a' + w.draw(9))), Source: "s", Entries: uint64(w.draw(9)), At: w.at, By: string(rune('a' + w.draw(3))), Uploaded: w.draw(2) == 0})
	case 3:
		w.fact(w.credential())
	case 4:
		w.fact(&event.SecretStoredOrDeleted{Name: string(rune('a' + w.draw(3))), Sealed: []byte{byte(w.draw(200))}, At: w.at})
	case 5:
		w.fact(&event.ConfigActivated{
			Version: w.CurrentConfigVersion().Version + 1, Document: string(rune('a' + w.draw(20))),
			Overlay: string(rune('a' + w.draw(3))), By: string(rune('a' + w.draw(3))), From: event.ConfigOrigin(w.draw(4)),
		})
	case 6:
		ref := market.PermanentNumber(w.CountNumberedNames(event.ObjectBuyer) + 1)
		w.fact(&event.ConfigNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: ref, ID: string(rune('a' + ref))}}})
	case 7:
		refs := w.CapRefsByKey()
		w.fact(&event.ConfigNumbersAssigned{Caps: []event.CapNumberAssignment{{
			Ref: market.PermanentNumber(len(refs) + 1), Key: market.CapKey{Scope: market.ScopePair, Campaign: 9, Buyer: market.PermanentNumber(len(refs)), Zone: "UTC"},
		}}})
	case 8:
		w.fact(w.employ())
	}
}

// report is what buyers report of some leads, and operators of returns that wait.
func (w *trader) report() {
	if len(w.came) == 0 {
		return
	}
	var h RequestReservations
	fact := &event.LeadStatusesChanged{Request: w.id(), Buyer: 1, At: w.at}
	keyed := w.ClaimIdempotencyKey(&h, [16]byte{byte(w.draw(6)), 15: byte(w.draw(3))}, 3, w.at)
	if !keyed.IsUsed() && keyed.Wait == nil {
		fact.Idempotency = event.RequestIdempotencyKey{Key: h.key, Fingerprint: 3, ExpiresAt: w.at + 10*hour}
	}
	from := w.draw(len(w.came))
	for _, id := range w.came[from:min(from+1+w.draw(3), len(w.came))] {
		fact.Changes = append(fact.Changes, w.change(id))
	}
	w.fact(fact)
	w.ReleaseAll(&h)
}

func (w *trader) change(id market.LeadID) event.LeadStatusChange {
	lead, ok := w.Lead(id)
	c := event.LeadStatusChange{
		Lead: id, From: lead.Status, To: market.StatusContacted + market.LeadStatus(w.draw(4)),
		Supplier: lead.Supplier, Reason: "said so", Occurred: w.at,
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
		if w.draw(2) == 0 {
			c.Result = event.ChangePending
			if c.WasPending {
				c.Result = event.ChangeRefused
			}
		}
		if !lead.IsTest() {
			c.Return = event.ResourcesFreedByReturn{Campaign: lead.Campaign, Month: market.StartOfUTCMonth(lead.Decided)}
		}
	}
	if c.Result == event.ChangeDone {
		c.Webhook = w.owed(c.To.WebhookType())
		if c.Return.Month != 0 {
			c.Return.Credit, c.Return.Reverse = lead.Price, lead.Payout
			c.Return.Charges = []event.CapCharge{{Cap: 1, Window: w.caps.counterOf(1).window, Amount: 1}}
		}
	}
	return c
}

// tell tries to tell a supplier of its leads, and operators have their say.
func (w *trader) tell() {
	supplier := market.PermanentNumber(1 + w.draw(2))
	fact := &event.WebhookAttempted{Supplier: supplier, At: w.at}
	dead := w.ListDeadLetters(supplier, 0, 3)
	switch choice := w.draw(10); {
	case choice == 0:
		w.fact(&event.SupplierWebhooksTurnedOnOrOff{Supplier: supplier, Off: w.draw(2) == 0, At: w.at})
		return
	case choice < 7 && len(dead) > 0: // dead letters are rare: an operator mostly acts on one at once
		fact.Lead, fact.Type = dead[0].Lead, dead[0].Type
		fact.Outcome = []event.WebhookOutcome{event.WebhookResent, event.WebhookDropped}[choice%2]
	default:
		h, ok := w.ClaimDueWebhook(supplier, w.at)
		if !ok {
			return
		}
		fact.Lead, fact.Type, fact.Attempt = h.Lead, h.Type, h.Attempts+1
		switch {
		case choice < 5:
			fact.Outcome = event.WebhookDelivered
		case choice == 5:
			fact.Outcome = event.WebhookDead
		case choice == 6:
			w.UnclaimWebhook(h)
			return
		default:
			fact.Outcome, fact.Due, fact.Status = event.WebhookFailed, w.at+int64(w.draw(3))*hour, 503
		}
	}
	w.fact(fact)
}

func (w *trader) credential() *event.CredentialAddedOrRevoked {
	fact := &event.CredentialAddedOrRevoked{
		Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 1,
		Hash: [32]byte{byte(w.draw(4))}, Hint: "pk", Revoked: w.draw(3) == 0, At: w.at,
	}
	switch w.draw(3) {
	case 1:
		fact.Credential, fact.Client, fact.Scopes = event.CredentialOAuthClient, string(rune('a'+w.draw(2))), event.ScopePing
		fact.Hash[1] = 1
	case 2:
		fact.Credential, fact.Owner, fact.Scopes = event.CredentialBearer, event.ObjectBuyer, event.TokenScopes(1+w.draw(7))
		fact.Hash[1] = 2
	}
	return fact
}

// employ makes, changes and removes operators, and their tokens.
func (w *trader) employ() event.Event {
	name := string(rune('a' + w.draw(3)))
	if w.draw(2) == 0 {
		return &event.UserAccountChanged{Name: name, Role: market.OperatorRole(1 + w.draw(3)), Password: "hash", Removed: w.draw(4) == 0, At: w.at}
	}
	return &event.APITokenAddedOrRevoked{
		User: name, Name: "n", Role: market.OperatorRole(1 + w.draw(3)), Hash: [32]byte{byte(w.draw(4))}, Hint: "ppa", Expires: w.at + int64(w.draw(2))*hour,
		Revoked: w.draw(3) == 0, At: w.at,
	}
}

// everyWay lists the kinds of changes that the model must reach.
var everyWay = []string{
	"posted", "recorded", "unmatched", "delivered", "refused", "pending", "unknown", "confirmed", "released", "resent",
	"next posted", "next recorded", "post_tried", "funds_moved", "door_set", "list_loaded", "credential_set", "secret_set", "catalog_set", "names_given",
	"auction_held", "sold at a bid", "bid given back",
	"test", "lead.posted", "lead.unmatched", "hooks_switched", "hook delivered", "hook failed", "hook dead", "hook resent", "hook dropped",
	"report done", "report none", "report waits", "report refused", "report unknown", "report settled done", "report settled refused",
}

// TestTheTraderTradesInEveryWay proves that the model reaches every kind of change. One
// rapid.Check runs 20 random models with -short, which misses rare kinds now and then, so
// the test runs more of them until each kind has occurred, 800 at most.
func TestTheTraderTradesInEveryWay(t *testing.T) {
	seen := map[string]int{}
	missing := everyWay
	for round := 0; round < 40 && len(missing) > 0; round++ {
		rapid.Check(t, func(t *rapid.T) { countWays(t, seen) })
		missing = slices.DeleteFunc(slices.Clone(missing), func(way string) bool { return seen[way] > 0 })
	}
	if len(missing) > 0 {
		t.Errorf("never %q in %v", missing, seen)
	}
}

// countWays runs one model and counts the kinds of changes in its log.
func countWays(t *rapid.T, seen map[string]int) {
	w := newTrader(t)
	for range 60 {
		w.step()
	}
	var d event.Decoder
	for _, entry := range w.log {
		e, err := d.Decode(entry.data)
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *event.LeadStatusesChanged:
			for i := range e.Changes {
				seen["report "+e.Changes[i].Result.String()]++
				if e.Changes[i].WasPending {
					seen["report settled "+e.Changes[i].Result.String()]++
				}
			}
		case *event.WebhookAttempted:
			seen["hook "+e.Outcome.String()]++
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
	if n := w.ReservationCount(); n != 0 {
		t.Fatalf("%d reservations are out, and nothing is in flight", n)
	}
}
