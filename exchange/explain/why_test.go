package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// TestReasonSentencesAreUnique: each reason has its own sentence, with candidates and
// without. Another one says that the reason is unknown.
func TestReasonSentencesAreUnique(t *testing.T) {
	seen := map[string]market.UnsoldReason{}
	some := []FilterSetCandidate{{Outcome: "capped"}, {Outcome: "filtered"}, {Outcome: "capped"}}
	reason := market.ReasonNoBuyer
	for ; reason.String() != "unknown"; reason++ {
		for _, candidates := range [][]FilterSetCandidate{nil, some} {
			why := describeUnsoldReason(&Explanation{Reason: reason.String(), Candidates: candidates})
			if other, exists := seen[why]; exists && other != reason {
				t.Errorf("reasons %s and %s have the same sentence: %s", other, reason, why)
			}
			seen[why] = reason
			if !strings.Contains(why, ".") || strings.Contains(why, "does not know") || candidates != nil && !strings.HasSuffix(why, "Of 3 candidates: 2 at a cap, 1 excluded by a filter.") {
				t.Errorf("%s: %s", reason, why)
			}
		}
	}
	if len(unsoldReasons) != int(reason)-1 {
		t.Errorf("sentences for %d reasons, want %d", len(unsoldReasons), reason-1)
	}
	if why := describeUnsoldReason(&Explanation{Reason: "unknown"}); !strings.Contains(why, "does not know") {
		t.Error(why)
	}
}

// TestEachOutcomeHasPhrase: the summary of an unsold lead has no code of the API.
func TestEachOutcomeHasPhrase(t *testing.T) {
	seen := map[string]market.BuyerOutcome{}
	for outcome := range market.BuyerOutcome(market.OutcomeCount) {
		phrase := outcomePhrases[outcome]
		other, exists := seen[phrase]
		if phrase == "" || strings.Contains(phrase, "_") || exists {
			t.Errorf("%s: the phrase is %q, that of %s: %t", outcome, phrase, other, exists)
		}
		seen[phrase] = outcome
		if got := describeOutcomeCounts([]FilterSetCandidate{{Outcome: outcome.String()}}); got != "Of 1 candidate: 1 "+phrase+"." {
			t.Errorf("%s: %s", outcome, got)
		}
	}
}

// TestRedactContactDataInTexts: sellers' ids, fields of a ping and buyers' texts are replaced if
// they repeat the lead's contact data.
func TestRedactContactDataInTexts(t *testing.T) {
	contact := event.LeadPersonalData{Fields: []event.LeadField{
		{Name: "phone", Kind: market.KindString, Text: []byte("+12125550142")},
		{Name: "last_name", Kind: market.KindString, Text: []byte("Cruz")},
	}, Body: []byte("Cruz")}
	e := &Explainer{Options: Options{Contact: plaintextContact}}
	found := &logEntry{event: &event.LeadDecided{Sealed: contact.AppendEncoded(nil)}}
	write := func(person string) *Explanation {
		return &Explanation{
			LeadID: "lead_1", SellerID: "u" + person, Status: "OPEN", Buyer: "b", Price: newAmount(1, market.Currency{'U', 'S', 'D'}),
			Fields:     map[string]json.RawMessage{"note": json.RawMessage(`"call ` + person + `"`), "rooms": json.RawMessage("2")},
			Candidates: []FilterSetCandidate{{Reason: "r-" + person}},
			Posts:      []DeliveryToBuyer{{Settlements: []DeliveryStateChange{{Code: "c-" + person, BuyerLead: "b-" + person}}}},
			Auction:    &Explanation{SellerID: "a-" + person, Fields: map[string]json.RawMessage{"n": json.RawMessage(`["` + person + `"]`)}},
		}
	}
	for person, times := range map[string]int{"2125550142": 7, "-cruz-": 7, "nobody": 0} {
		doc := write(person)
		e.redactTextsWithContactData(found, doc)
		text := must.Value(doc.JSON())(t)
		if n := strings.Count(string(text), withheld); n != times || (n > 0) == strings.Contains(string(text), person) {
			t.Errorf("%s: withheld %d times, want %d: %s", person, n, times, text)
		}
	}
	doc := write("nobody")
	e.redactTextsWithContactData(&logEntry{event: &event.LeadDecided{Sealed: []byte{0xff}}}, doc)
	if doc.SellerID != erased || doc.Erased {
		t.Errorf("free text is not withheld although the contact data is unreadable: %+v", doc)
	}
	e.Contact = func(*event.LeadDecided) (event.LeadPersonalData, error) {
		return event.LeadPersonalData{}, engine.ErrErased
	}
	doc = write("nobody")
	e.redactTextsWithContactData(found, doc)
	settled := &doc.Posts[0].Settlements[0]
	for _, text := range []string{doc.SellerID, doc.Auction.SellerID, doc.Candidates[0].Reason, settled.Code, settled.BuyerLead} {
		if text != erased {
			t.Errorf("got free text %q of an erased person", text)
		}
	}
	if !doc.Erased || len(doc.Notes) != 1 {
		t.Errorf("explanation lacks a note on the erasure: %+v", doc)
	}
}

// TestExplanationJSONRoundTrip: the explanation's own JSON forms decode to the same values.
func TestExplanationJSONRoundTrip(t *testing.T) {
	doc := &Explanation{
		Received: 1_795_183_200_123_000_000, Settled: 1_795_183_200_000_000_000, Margin: &Amount{-1_500_001, "USD"}, Price: &Amount{0, "EUR"},
		Candidates: []FilterSetCandidate{{Elapsed: 12_345_000}, {Elapsed: 1_000}},
	}
	text := must.Value(doc.JSON())(t)
	for _, want := range []string{
		`"received_at":"2026-11-20T14:00:00.123Z"`, `"settled_at":"2026-11-20T14:00:00.000Z"`, `"margin":{"amount":-1.500001,"currency":"USD"}`,
		`"price":{"amount":0,"currency":"EUR"}`, `"elapsed_ms":12.345`, `"elapsed_ms":0.001`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	var read Explanation
	must.Succeed(t, json.Unmarshal(text, &read))
	if read.Received != doc.Received || *read.Margin != *doc.Margin || read.Candidates[0].Elapsed != doc.Candidates[0].Elapsed {
		t.Errorf("%+v", read)
	}
	for _, bad := range []string{`{"received_at":5}`, `{"received_at":"soon"}`, `{"margin":{"amount":"5"}}`, `{"margin":{"amount":--5}}`, `{"candidates":[{"elapsed_ms":"x"}]}`} {
		if json.Unmarshal([]byte(bad), new(Explanation)) == nil {
			t.Errorf("%s was decoded, want an error", bad)
		}
	}
}
