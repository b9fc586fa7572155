package engine_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/redaction"
	"pingpost/internal/must"
)

// keySlotOf is a lead as its event names it.
func (x *testExchange) keySlotOf(lead market.LeadID) engine.LeadKeySlot {
	x.t.Helper()
	return engine.LeadKeySlot{Lead: lead, Slot: x.decisionOf(lead).Slot}
}

// decisionOf returns the decision that the log has of a lead.
func (x *testExchange) decisionOf(lead market.LeadID) *event.LeadDecided {
	x.t.Helper()
	for _, decided := range eventsOf[*event.LeadDecided](x) {
		if decided.Lead == lead {
			return decided
		}
	}
	x.t.Fatalf("the log has no lead %s", lead)
	return nil
}

// receivedPosts are the posts so far.
func (x *testExchange) receivedPosts() []*receivedPost {
	x.buyers.mu.Lock()
	defer x.buyers.mu.Unlock()
	return append([]*receivedPost(nil), x.buyers.posts...)
}

// firstPostedLead is the lead that was posted first.
func (x *testExchange) firstPostedLead() market.LeadID {
	x.t.Helper()
	posts := x.receivedPosts()
	if len(posts) == 0 {
		x.t.Fatal("nothing was posted")
	}
	id, ok := market.ParseLeadID(posts[0].lead)
	if !ok {
		x.t.Fatalf("%q is no lead", posts[0].lead)
	}
	return id
}

func (x *testExchange) eraseContactData(leads ...engine.LeadKeySlot) (underWay int) {
	x.t.Helper()
	left := must.Value(x.engine.AsOperator("").EraseContactData(leads))(x.t)
	return len(left)
}

// TestErase: nobody can open a lead any more, and it is an event before its key is gone;
// erased again nothing happens. Others stay, and so does what it was sold for.
func TestErase(t *testing.T) {
	x := newExchange(t, threeBuyers(market.Waterfall))
	one, other := must.Value(x.ingest(leadRequest(1)))(t), must.Value(x.ingest(leadRequest(2)))(t)
	if contact, err := x.engine.DecryptContact(x.decisionOf(one.Lead)); err != nil || !strings.Contains(fieldTexts(contact.Fields), "+14152000001") {
		t.Fatalf("%v, %s", err, fieldTexts(contact.Fields))
	}
	entries := x.log.len()
	for range 2 {
		expectEqual(t, x.eraseContactData(x.keySlotOf(one.Lead)), 0, "are under way")
		if contact, err := x.engine.DecryptContact(x.decisionOf(one.Lead)); !errors.Is(err, engine.ErrErased) || len(contact.Fields) != 0 {
			t.Errorf("%v, %s", err, fieldTexts(contact.Fields))
		}
		expectEqual(t, x.log.len()-entries, 1, "events for one erasure")
	}
	if _, err := x.engine.DecryptContact(x.decisionOf(other.Lead)); err != nil {
		t.Error(err)
	}
	if lead := x.lead(one); lead.Price == 0 || x.leadState(one) != x.leadState(other) {
		t.Errorf("it stands %s for %s", x.leadState(one), lead.Price)
	}
	if n := x.eraseContactData(); n != 0 || x.log.len() != entries+1 {
		t.Error("nobody was erased by an event")
	}
}

// TestEraseFailsBetween: what comes between the event and the keys is made good when it is
// asked for again, or by the next start.
func TestEraseFailsBetween(t *testing.T) {
	broken := errors.New("input/output error")
	for _, again := range []string{"asked for again", "the next start"} {
		runWithExchange(t, again, threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
			one := x.keySlotOf(must.Value(x.ingest(leadRequest(1)))(t).Lead)
			x.sealer.SetEraseKeysError(broken)
			expectError(t, errorOf(x.engine.AsOperator("").EraseContactData([]engine.LeadKeySlot{one})), broken)
			if !x.state.IsEncryptionKeySlotErased(one.Slot) || x.sealer.IsKeyErased(one.Slot) {
				t.Error("the key went before the event, or the event did not come")
			}
			x.sealer.SetEraseKeysError(nil)
			if again == "the next start" {
				x.crashAndRestart()
			} else {
				x.eraseContactData(one)
			}
			if !x.sealer.IsKeyErased(one.Slot) {
				t.Error("the key is there still")
			}
			if got := x.ingestResult(leadRequest(2)); got == "" {
				t.Error(got)
			}
		})
	}
}

// TestEraseWhileUnderWay: a lead that is on its way to its buyer is left, with all that
// is to be sent; once the tries are used up it can be erased, and then there is nothing
// to be sent again, but what became of it can be said.
func TestEraseWhileUnderWay(t *testing.T) {
	for _, word := range []event.PostSettlement{event.SettledConfirmed, event.SettledReleased} {
		runWithExchange(t, word.String(), threeBuyers(market.Waterfall).withPostEndpoints(), func(t *testing.T, x *testExchange) {
			x.buyers.replyTo = func(*receivedPost) postReply { return serverError }
			under := x.startIngest(leadRequest(1))
			time.Sleep(3 * time.Second)
			lead := x.firstPostedLead()
			one := x.keySlotOf(lead)
			expectEqual(t, x.eraseContactData(one), 1, "it was erased while it was being tried")
			if x.engine.WaitForDelivery(lead, time.Now().Add(time.Second).UnixNano()) {
				t.Error("nobody is at work for it")
			}
			under.wait()
			if !x.engine.WaitForDelivery(lead, time.Now().Add(time.Hour).UnixNano()) {
				t.Error("somebody is at work for it for ever")
			}
			if got := x.receivedPosts(); len(got) != 6 || string(got[5].body) != string(got[0].body) {
				t.Errorf("%d tries, the last with %s", len(got), got[len(got)-1].body)
			}
			expectEqual(t, x.eraseContactData(one), 0, "it cannot be erased")
			for range 2 {
				if err := x.engine.AsOperator("").ResolveUnconfirmedDelivery(lead, event.SettledResent); !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "erased") {
					t.Errorf("sent again: %v", err)
				}
				x.crashAndRestart()
			}
			expectEqual(t, len(x.buyers.postAttempts()), 6, "it was sent again")
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(lead, word))
		})
	}
}

// TestKeyIsGoneWhileOpen: where the log was brought back to a time at which the lead was
// still being delivered, and its key was dropped since, nothing is sent, and an operator
// has the word.
func TestKeyIsGoneWhileOpen(t *testing.T) {
	runWithExchange(t, "", threeBuyers(market.Waterfall).withPostEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.replyTo = func(*receivedPost) postReply { return serverError }
		x.startIngest(leadRequest(1))
		time.Sleep(2 * time.Second)
		lead := x.firstPostedLead()
		must.Succeed(t, x.sealer.EraseKeys([]uint64{x.decisionOf(lead).Slot}))
		x.process.kill()
		attempts := len(x.buyers.postAttempts())
		x.crashAndRestart()
		time.Sleep(time.Minute)
		if row, _ := x.state.Lead(lead); row.Delivery != market.DeliveryUnknown || len(x.buyers.postAttempts()) != attempts {
			t.Errorf("delivery %s after %d more tries", row.Delivery, len(x.buyers.postAttempts())-attempts)
		}
	})
}

// TestNoKeyIsReady: leads are refused as while the log's queue is full, and hold nothing;
// then they are taken, under keys that nobody has.
func TestNoKeyIsReady(t *testing.T) {
	x := newExchange(t, threeBuyers(market.Waterfall))
	x.sealer.MakeTakeUnusedKeyFail(true)
	entries := x.log.len()
	for i := range 3 {
		expectError(t, errorOf(x.ingest(leadRequest(i).withKey("k"))), engine.ErrBusy)
	}
	if x.log.len() != entries || x.state.ReservationCount() != 0 {
		t.Errorf("%d entries, %d reservations", x.log.len()-entries, x.state.ReservationCount())
	}
	x.sealer.MakeTakeUnusedKeyFail(false)
	expectEqual(t, x.ingestResult(leadRequest(1).withKey("k")), "blue")
}

// TestWhoIsSealed: what tells who the lead is, what repeats it under another name, and
// members that the campaign does not know are in the sealed part alone, and go to the buyer.
func TestWhoIsSealed(t *testing.T) {
	r := threeBuyers(market.Waterfall).withPostEndpoints()
	r.campaigns[0].unknown = market.UnknownKeep
	x := newExchange(t, r)
	secrets := []string{"+14152000001", "p1@example.com", "1 Main St", "203.0.113.9", "Zebulon", "cert.example/9", "I agree", "2026-01-02T03:04:05Z", "Patty", "call 415 200 0001"}
	answer, err := x.ingest(leadRequest(1, "line1", "1 Main St", "ip_address", "203.0.113.9", "city", "Zebulon",
		"consent_cert_url", "https://cert.example/9", "consent_text", "I agree", "consent_timestamp", "2026-01-02T03:04:05Z",
		"nickname", "Patty", "age", "#41", "source", "call 415 200 0001", "zip", "94110"))
	if err != nil || answer.Lead.IsZero() {
		t.Fatal(describeIngest(answer, err))
	}
	record := x.decisionOf(answer.Lead)
	contact := must.Value(x.engine.DecryptContact(record))(t)
	open, sealed := fieldTexts(record.Fields), fieldTexts(contact.Fields)
	for _, text := range secrets {
		if strings.Contains(open, text) || !strings.Contains(sealed, text) {
			t.Errorf("%s: open %s, sealed %s", text, open, sealed)
		}
	}
	body := string(x.buyers.posts[0].body)
	expectEqual(t, string(contact.Body), body, "the sealed body")
	if !strings.Contains(body, `"age":41`) || !strings.Contains(body, `"nickname":"Patty"`) {
		t.Errorf("the buyer gets %s", body)
	}
	for _, text := range []string{"state=CA", "zip=94110"} {
		if !strings.Contains(open, text) {
			t.Errorf("%s is not open: %s", text, open)
		}
	}
	for _, entry := range x.log.durable() {
		for _, text := range secrets {
			if strings.Contains(string(entry.data), text) {
				t.Errorf("an entry of the log has %q", text)
			}
		}
	}
}

// TestBuyersWordsAreHeldAgainstThePerson: what a buyer answers is logged, and told, only
// where it does not repeat who the lead is; also after a restart, when the buyer is a later
// one.
func TestBuyersWordsAreHeldAgainstThePerson(t *testing.T) {
	runWithExchange(t, "", threeBuyers(market.Waterfall).withPostEndpoints(), func(t *testing.T, x *testExchange) {
		var first string
		var restarted atomic.Bool
		x.buyers.replyTo = func(p *receivedPost) postReply {
			if first == "" {
				first = p.buyer
			}
			switch {
			case p.buyer == first:
				return postReply{result: market.PostResult{Verdict: market.VerdictRefused, Status: 422, Code: "seen 415-200-0001", Final: true}}
			case !restarted.Load():
				return serverError
			}
			return postReply{result: market.PostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "p1@example.com"}, buyerHasLead: true}
		}
		x.startIngest(leadRequest(1))
		time.Sleep(4 * time.Second)
		x.crashAndRestart()
		restarted.Store(true)
		time.Sleep(time.Minute)
		settled := 0
		for _, end := range eventsOf[*event.PostSettled](x) {
			switch end.Settlement {
			case event.SettledRefused:
				settled++
				expectEqual(t, end.Code, redaction.Withheld, "the code is")
			case event.SettledDelivered:
				settled++
				expectEqual(t, end.BuyerLead, "", "the buyer's id is")
			}
		}
		expectEqual(t, settled, 2, "of 2 posts were settled")
	})
}
