package event

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

const canary = "CANARY"

// addCanary puts the canary into all fields that may have personal data or secrets.
func addCanary(e Event) {
	fields := []LeadField{{Name: "first_name", Kind: market.KindString, Text: []byte(canary)}}
	contact := LeadPersonalData{Fields: fields, Body: []byte(canary)}
	switch e := e.(type) {
	case *LeadDecided:
		e.Fields, e.Sealed = fields, contact.AppendEncoded(nil)
		copy(e.Idempotency.Key[:], canary)
		e.Sale.Duplicates = append(e.Sale.Duplicates, DuplicateCheckValue{})
		copy(e.Sale.Duplicates[0].Key[:], canary)
		e.Auction = AuctionOfIngestedLead{ID: [16]byte{1}, Bids: []Bid{{Token: canary}}}
	case *PingAuctionCompleted:
		e.Fields = fields
		copy(e.Idempotency.Key[:], canary)
		copy(e.Token[:], canary)
		e.Bids = append(e.Bids, Bid{Token: canary})
	case *PostSettled:
		e.Sealed = contact.AppendEncoded(nil)
		e.Sale.Duplicates = append(e.Sale.Duplicates, DuplicateCheckValue{})
		copy(e.Sale.Duplicates[0].Key[:], canary)
	case *LeadStatusChangesDecided:
		e.Changes = append(e.Changes, DecidedLeadStatusChange{Result: ChangeDone, Reason: canary})
		copy(e.Idempotency.Key[:], canary)
	case *SecretStoredOrDeleted:
		e.Sealed = []byte(canary)
	case *CredentialAddedOrRevoked:
		copy(e.Hash[:], canary)
	case *ExchangeFounded:
		copy(e.KeyCheck[:], canary)
	}
}

func TestDescriptionIsJSONWithoutPersonalData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent().Draw(t, "event")
		addCanary(e)
		text := DescribeAsJSON(e)
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatalf("%s: %v in %s", e.Kind(), err, text)
		}
		hidden := strings.ToLower(text)
		for _, form := range []string{canary, "43414e415259", "Q0FOQVJZ"} { // plain, hex, base64
			if strings.Contains(hidden, strings.ToLower(form)) {
				t.Fatalf("the description of %s has the canary: %s", e.Kind(), text)
			}
		}
	})
}

func TestDescribeAsJSON(t *testing.T) {
	sale := Sale{
		Buyer: 3, FilterSet: 0, Price: 12_500_000, Payout: 10_000_000, Currency: market.Currency{'U', 'S', 'D'},
		Charges: []CapCharge{{Cap: 1, Amount: 1}, {Cap: 2, Amount: 1}},
	}
	trail := []FilterSetsWithOutcome{{market.OutcomeWon, bitset.Set{1}}, {market.OutcomeCapped, bitset.Set{6, 1}}}
	tests := []struct {
		e    Event
		want string
	}{
		{&LeadDecided{Campaign: 1, Supplier: 2, Catalog: 7, Trail: trail, Sale: sale, Sealed: make([]byte, 90)}, `{
			"lead":"lead_00000000000000000000000000","request":"req_00000000000000000000000000","campaign":1,"supplier":2,"catalog":7,
			"trail":{"won":[0],"capped":[1,2,64]},
			"sale":{"buyer":3,"seat":0,"price":12.5,"payout":10,"currency":"USD","caps":2},"sealed_bytes":90}`},
		{&LeadDecided{Reason: market.ReasonCapsFull}, `{
			"lead":"lead_00000000000000000000000000","request":"req_00000000000000000000000000","reason":"caps_full"}`},
		{&PostSettled{Settlement: SettledRefused, Status: 422, Attempts: 1, Code: `said "no"`, Next: sale}, `{
			"lead":"lead_00000000000000000000000000","settlement":"refused","status":422,"attempts":1,"code":"said \"no\"",
			"next":{"buyer":3,"seat":0,"price":12.5,"payout":10,"currency":"USD","caps":2}}`},
		{&PingAuctionCompleted{
			Supplier: 2, Catalog: 7, Hops: 1, Name: [16]byte{0xab, 5: 1, 6: 9}, SellerAuction: "a-1", Trail: trail, Fields: make([]LeadField, 4),
			Bids: []Bid{
				{Buyer: 3, FilterSet: 1, Outcome: market.OutcomeWon, Amount: 12_500_000, Payout: 10_000_000, Currency: market.Currency{'U', 'S', 'D'}, Elapsed: 120_000_999, Status: 200, Token: "t"},
				{Buyer: 4, Outcome: market.OutcomeNoBid, Elapsed: 5_000, Status: 200, Reason: "score"},
				{Buyer: 5, FilterSet: 2, Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout},
			},
		}, `{
			"auction":"auc_00000000000000000000000000","request":"req_00000000000000000000000000","supplier":2,"catalog":7,"hops":1,
			"name":"ab0000000001","theirs":"a-1","trail":{"won":[0],"capped":[1,2,64]},"bids":[
			{"buyer":3,"seat":1,"outcome":"won","amount":12.5,"payout":10,"currency":"USD","elapsed_us":120000,"status":200},
			{"buyer":4,"seat":0,"outcome":"no_bid","elapsed_us":5,"status":200,"reason":"score"},
			{"buyer":5,"seat":2,"outcome":"timeout","fault":"timeout"}],"fields":4}`},
		{&PingAuctionCompleted{Auction: [16]byte{15: 1}, Reason: market.ReasonNoCampaign}, `{
			"auction":"auc_00000000000000000000000001","request":"req_00000000000000000000000000","reason":"no_campaign"}`},
		{&LeadDecided{Auction: AuctionOfIngestedLead{ID: [16]byte{15: 2}, Bids: []Bid{{Buyer: 3, Outcome: market.OutcomeLost}}}, Sale: Sale{Buyer: 1, Ping: [16]byte{1}}}, `{
			"lead":"lead_00000000000000000000000000","request":"req_00000000000000000000000000",
			"sale":{"buyer":1,"seat":0,"price":0,"payout":0,"ping":"010000000000"},
			"auction":"auc_00000000000000000000000002","bids":[{"buyer":3,"seat":0,"outcome":"lost"}]}`},
		{&PingAuctionCompleted{Auction: [16]byte{15: 3}, Test: true}, `{
			"auction":"auc_00000000000000000000000003","request":"req_00000000000000000000000000","test":true}`},
		{&PostAttemptFailed{Attempt: 2}, `{"lead":"lead_00000000000000000000000000","attempt":2}`},
		{&PostAttemptFailed{Attempt: 1, Status: 200, Fault: market.FaultUnreadable}, `{"lead":"lead_00000000000000000000000000","attempt":1,"status":200,"fault":"unreadable"}`},
		{&PostSettled{Settlement: SettledPending, Fault: market.FaultConnect, Attempts: 3}, `{
			"lead":"lead_00000000000000000000000000","settlement":"pending","fault":"connect","attempts":3}`},
		{&BuyerFundsAdjusted{Buyer: 4, Amount: -1, Opening: true}, `{"buyer":4,"amount":"-0.000001","opening":true}`},
		{&CredentialAddedOrRevoked{Credential: CredentialAPIKey, Owner: ObjectSupplier, OwnerRef: 5, Hint: "pk_1", Revoked: true}, `{
			"credential":"api_key","owner_kind":1,"owner":5,"hint":"pk_1","revoked":true}`},
		{&CredentialAddedOrRevoked{Credential: CredentialOAuthClient, Owner: ObjectBuyer, OwnerRef: 6, Client: "blue", Scopes: ScopePost | ScopeWebhook, Hint: "sec"}, `{
			"credential":"oauth_client","owner_kind":2,"owner":6,"client":"blue","scopes":"post webhook","hint":"sec"}`},
		{&SecretStoredOrDeleted{Name: "buyer/b/bearer", Sealed: []byte("xyz")}, `{"name":"buyer/b/bearer","sealed_bytes":3}`},
		{&CampaignOrBuyerPausedOrResumed{Target: ObjectBuyer, Ref: 9, Paused: true}, `{"door":2,"ref":9,"paused":true}`},
		{&SuppressionListContentLoaded{List: 1, File: "ab", Entries: 10}, `{"list":1,"file":"ab","entries":10}`},
		{&ConfigActivated{Version: 2, Document: "cd"}, `{"version":2,"document":"cd"}`},
		{&LeadDecided{Sale: Sale{Test: true}, Webhook: market.WebhookUnmatched}, `{
			"lead":"lead_00000000000000000000000000","request":"req_00000000000000000000000000","test":true,"hook":"lead.unmatched"}`},
		{&PostSettled{Settlement: SettledDelivered, Sale: Sale{Buyer: 1, Test: true}, Webhook: market.WebhookPosted}, `{
			"lead":"lead_00000000000000000000000000","settlement":"delivered",
			"sale":{"buyer":1,"seat":0,"price":0,"payout":0,"test":true},"hook":"lead.posted"}`},
		{&LeadStatusChangesDecided{Buyer: 3, Changes: []DecidedLeadStatusChange{
			{Lead: [16]byte{15: 1}, Result: ChangeDone, From: market.StatusAccepted, To: market.StatusContacted, Reason: "Ann said so", Webhook: market.WebhookContacted},
			{Lead: [16]byte{15: 2}, Result: ChangeDone, From: market.StatusSold, To: market.StatusReturned, WasPending: true, Webhook: market.WebhookReturned, Return: MoneyAndCapsReversedByReturn{
				Credit: 12_500_000, Reverse: 10_000_000, Charges: make([]CapCharge, 2), Month: 1,
			}},
			{Result: ChangeUnknown, To: market.StatusSold},
		}}, `{
			"request":"req_00000000000000000000000000","buyer":3,"changes":[
			{"lead":"lead_00000000000000000000000001","result":"done","from":"ACCEPTED","to":"contacted","hook":"lead.contacted"},
			{"lead":"lead_00000000000000000000000002","result":"done","from":"sold","to":"returned","waited":true,"hook":"lead.returned","credit":12.5,"reverse":10,"caps":2},
			{"lead":"lead_00000000000000000000000000","result":"unknown","from":"OPEN","to":"sold"}]}`},
		{&WebhookAttemptedOrDecided{Type: market.WebhookPosted, Supplier: 2, Attempt: 3, Outcome: WebhookFailed, Status: 503}, `{
			"lead":"lead_00000000000000000000000000","type":"lead.posted","supplier":2,"attempt":3,"outcome":"failed","status":503}`},
		{&WebhookAttemptedOrDecided{Type: market.WebhookSold, Supplier: 2, Attempt: 6, Outcome: WebhookDead, Fault: market.FaultTimeout}, `{
			"lead":"lead_00000000000000000000000000","type":"lead.sold","supplier":2,"attempt":6,"outcome":"dead","fault":"timeout"}`},
		{&SupplierWebhooksTurnedOnOrOff{Supplier: 2, Off: true}, `{"supplier":2,"off":true}`},
		{&SupplierWebhooksTurnedOnOrOff{Supplier: 2}, `{"supplier":2}`},
		{&LeadDecided{Reason: market.ReasonNoBuyer, Sealed: make([]byte, 90), Slot: 70_000}, `{
			"lead":"lead_00000000000000000000000000","request":"req_00000000000000000000000000","reason":"no_buyer","sealed_bytes":90,"slot":70000}`},
		{&PostSettled{Settlement: SettledRefused, Sealed: make([]byte, 60), Slot: 3}, `{
			"lead":"lead_00000000000000000000000000","settlement":"refused","sealed_bytes":60,"slot":3}`},
		{&PersonalDataOfLeadsErased{Slots: []uint64{9, 70_000}, Leads: []market.LeadID{{15: 1}, {15: 2}}, At: 5}, `{
			"leads":["lead_00000000000000000000000001","lead_00000000000000000000000002"],"slots":[9,70000]}`},
		{&PersonalDataOfLeadsErased{}, `{"leads":[],"slots":[]}`},
		{&ExchangeFounded{Epoch: [16]byte{1, 255}}, `{"epoch":"01ff0000000000000000000000000000"}`},
		{&ConfigObjectNumbersAssigned{Names: []NameNumberAssignment{{ObjectBuyer, 1, "b\x01\"\xff"}}, Caps: make([]CapNumberAssignment, 3)}, `{
			"names":[{"kind":2,"ref":1,"id":"b\u0001\"` + "\uFFFD" + `"}],"caps":3}`},
	}
	unfold := strings.NewReplacer("\n", "", "\t", "")
	for _, test := range tests {
		if got, want := DescribeAsJSON(test.e), unfold.Replace(test.want); got != want {
			t.Errorf("%s\nwant %s\ngot  %s", test.e.Kind(), want, got)
		}
	}
}
