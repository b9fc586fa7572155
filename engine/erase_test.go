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

// keySlotOf returns the lead with its encryption key slot.
func (x *testExchange) keySlotOf(lead market.LeadID) engine.LeadAndKeySlot {
	x.t.Helper()
	return engine.LeadAndKeySlot{Lead: lead, Slot: x.decisionOf(lead).Slot}
}

// decisionOf returns the lead's decision in the log.
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

// receivedPosts returns the posts so far.
func (x *testExchange) receivedPosts() []*receivedPost {
	x.buyers.mu.Lock()
	defer x.buyers.mu.Unlock()
	return append([]*receivedPost(nil), x.buyers.posts...)
}

// firstPostedLead returns the lead of the first post.
func (x *testExchange) firstPostedLead() market.LeadID {
	x.t.Helper()
	posts := x.receivedPosts()
	if len(posts) == 0 {
		x.t.Fatal("nothing was posted")
	}
	id, ok := market.ParseLeadID(posts[0].lead)
	if !ok {
		x.t.Fatalf("invalid lead id %q", posts[0].lead)
	}
	return id
}

func (x *testExchange) eraseContactData(leads ...engine.LeadAndKeySlot) (underWay int) {
	x.t.Helper()
	left := must.Value(x.engine.AsOperator("").EraseContactData(leads))(x.t)
	return len(left)
}

// The erasure is logged once. Other leads and the erased lead's sale stay.
func TestEraseContactData(t *testing.T) {
	x := newExchange(t, threeBuyers(market.Waterfall))
	one, other := must.Value(x.ingest(leadRequest(1)))(t), must.Value(x.ingest(leadRequest(2)))(t)
	if contact, err := x.engine.DecryptContact(x.decisionOf(one.Lead)); err != nil || !strings.Contains(fieldTexts(contact.Fields), "+14152000001") {
		t.Fatalf("%v, %s", err, fieldTexts(contact.Fields))
	}
	entries := x.log.len()
	for range 2 {
		expectEqual(t, x.eraseContactData(x.keySlotOf(one.Lead)), 0, "leads in delivery")
		if contact, err := x.engine.DecryptContact(x.decisionOf(one.Lead)); !errors.Is(err, engine.ErrErased) || len(contact.Fields) != 0 {
			t.Errorf("%v, %s", err, fieldTexts(contact.Fields))
		}
		expectEqual(t, x.log.len()-entries, 1, "events for one erasure")
	}
	if _, err := x.engine.DecryptContact(x.decisionOf(other.Lead)); err != nil {
		t.Error(err)
	}
	if lead := x.lead(one); lead.Price == 0 || x.leadState(one) != x.leadState(other) {
		t.Errorf("lead state %s, price %s", x.leadState(one), lead.Price)
	}
	if n := x.eraseContactData(); n != 0 || x.log.len() != entries+1 {
		t.Error("an empty request was logged")
	}
}

// If the erasure of keys fails after the event, a repeat or the next start completes it.
func TestFailedKeyErasureIsCompletedLater(t *testing.T) {
	broken := errors.New("input/output error")
	for _, again := range []string{"repeat", "next start"} {
		runWithExchange(t, again, threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
			one := x.keySlotOf(must.Value(x.ingest(leadRequest(1)))(t).Lead)
			x.sealer.SetEraseKeysError(broken)
			expectError(t, errorOf(x.engine.AsOperator("").EraseContactData([]engine.LeadAndKeySlot{one})), broken)
			if !x.state.IsEncryptionKeySlotErased(one.Slot) || x.sealer.IsKeyErased(one.Slot) {
				t.Error("the key was erased before the event, or the event is missing")
			}
			x.sealer.SetEraseKeysError(nil)
			if again == "next start" {
				x.crashAndRestart()
			} else {
				x.eraseContactData(one)
			}
			if !x.sealer.IsKeyErased(one.Slot) {
				t.Error("the key is not erased")
			}
			if got := x.ingestResult(leadRequest(2)); got == "" {
				t.Error(got)
			}
		})
	}
}

// A lead in delivery cannot be erased before its last attempt. After the erasure it can be
// confirmed or released, but not resent.
func TestEraseDuringDelivery(t *testing.T) {
	for _, word := range []event.PostSettlement{event.SettledConfirmed, event.SettledReleased} {
		runWithExchange(t, word.String(), threeBuyers(market.Waterfall).withPostEndpoints(), func(t *testing.T, x *testExchange) {
			x.buyers.replyTo = func(*receivedPost) postReply { return serverError }
			ingest := x.startIngest(leadRequest(1))
			time.Sleep(3 * time.Second)
			lead := x.firstPostedLead()
			one := x.keySlotOf(lead)
			expectEqual(t, x.eraseContactData(one), 1, "leads in delivery")
			if x.engine.WaitUntilDeliveryEnds(lead, time.Now().Add(time.Second).UnixNano()) {
				t.Error("the delivery ended before its last attempt")
			}
			ingest.wait()
			if !x.engine.WaitUntilDeliveryEnds(lead, time.Now().Add(time.Hour).UnixNano()) {
				t.Error("the delivery did not end")
			}
			if got := x.receivedPosts(); len(got) != 6 || string(got[5].body) != string(got[0].body) {
				t.Errorf("%d attempts, the last with body %s", len(got), got[len(got)-1].body)
			}
			expectEqual(t, x.eraseContactData(one), 0, "leads in delivery after the last attempt")
			for range 2 {
				if err := x.engine.AsOperator("").ResolveUnconfirmedDelivery(lead, event.SettledResent); !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "erased") {
					t.Errorf("resent after the erasure: %v", err)
				}
				x.crashAndRestart()
			}
			expectEqual(t, len(x.buyers.postAttempts()), 6, "attempts")
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(lead, word))
		})
	}
}

// A restored log can have an open delivery whose key was erased since. Then nothing is posted, and
// the delivery becomes unconfirmed.
func TestOpenDeliveryWithErasedKeyBecomesUnknown(t *testing.T) {
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
		if row, _ := x.state.LeadInMemory(lead); row.Delivery != market.DeliveryUnknown || len(x.buyers.postAttempts()) != attempts {
			t.Errorf("delivery %s after %d more attempts", row.Delivery, len(x.buyers.postAttempts())-attempts)
		}
	})
}

// The error is the same as for a full log queue. The rejected leads use no idempotency keys.
func TestIngestWithoutEncryptionKeyIsBusy(t *testing.T) {
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

// Contact data, fields that repeat it, and unknown members are encrypted, and go to the buyer.
func TestContactDataAndUnknownFieldsAreEncrypted(t *testing.T) {
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
			t.Errorf("%s: plaintext %s, encrypted %s", text, open, sealed)
		}
	}
	body := string(x.buyers.posts[0].body)
	expectEqual(t, string(contact.Body), body, "encrypted body")
	if !strings.Contains(body, `"age":41`) || !strings.Contains(body, `"nickname":"Patty"`) {
		t.Errorf("posted body %s", body)
	}
	for _, text := range []string{"state=CA", "zip=94110"} {
		if !strings.Contains(open, text) {
			t.Errorf("%s is not in the plaintext: %s", text, open)
		}
	}
	for _, entry := range x.log.durable() {
		for _, text := range secrets {
			if strings.Contains(string(entry.data), text) {
				t.Errorf("a log entry has the plaintext %q", text)
			}
		}
	}
}

// Buyers' codes and lead ids that repeat contact data are withheld, also after a restart and for
// later buyers.
func TestContactDataInBuyerAnswersIsWithheld(t *testing.T) {
	runWithExchange(t, "", threeBuyers(market.Waterfall).withPostEndpoints(), func(t *testing.T, x *testExchange) {
		var first string
		var restarted atomic.Bool
		x.buyers.replyTo = func(p *receivedPost) postReply {
			if first == "" {
				first = p.buyer
			}
			switch {
			case p.buyer == first:
				return postReply{result: market.BuyerPostResult{Verdict: market.VerdictRefused, Status: 422, Code: "seen 415-200-0001", Final: true}}
			case !restarted.Load():
				return serverError
			}
			return postReply{result: market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "p1@example.com"}, buyerHasLead: true}
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
				expectEqual(t, end.Code, redaction.Withheld, "code")
			case event.SettledDelivered:
				settled++
				expectEqual(t, end.BuyerLead, "", "the buyer's lead id")
			}
		}
		expectEqual(t, settled, 2, "settled posts")
	})
}
