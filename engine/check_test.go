package engine_test

import (
	"errors"
	"testing"

	"pingpost/engine"
	"pingpost/engine/market"
)

func TestInvalidIngestRequests(t *testing.T) {
	tests := []struct {
		name    string
		request request
		want    string
	}{
		{"missing campaign", leadRequest(1, "flo_campaign_id", "-"), "invalid_payload flo_campaign_id:missing_required"},
		{"an empty campaign", leadRequest(1, "flo_campaign_id", ""), "invalid_payload flo_campaign_id:missing_required"},
		{"null for a campaign", leadRequest(1, "flo_campaign_id", "#null"), "invalid_payload flo_campaign_id:missing_required"},
		{"a blank campaign", leadRequest(1, "flo_campaign_id", " \u200b"), "invalid_payload flo_campaign_id:missing_required"},
		{"a blank supplier", leadRequest(1, "flo_supplier_id", " "), "invalid_payload flo_supplier_id:missing_required"},
		{"a number for a campaign", leadRequest(1, "flo_campaign_id", "#7"), "invalid_payload flo_campaign_id:wrong_type"},
		{"an unknown campaign", leadRequest(1, "flo_campaign_id", "boat"), "invalid_payload flo_campaign_id:unknown"},
		{"no supplier", leadRequest(1, "flo_supplier_id", "-"), "invalid_payload flo_supplier_id:missing_required"},
		{"a number for a supplier", leadRequest(1, "flo_supplier_id", "#7"), "invalid_payload flo_supplier_id:wrong_type"},
		{"id of another supplier", leadRequest(1, "flo_supplier_id", "other"), "forbidden"},
		{"campaign of another supplier", leadRequest(1, "flo_campaign_id", "closed"), "forbidden"},
		{"neither", request{supplier: "acme"}, "invalid_payload flo_campaign_id:missing_required flo_supplier_id:missing_required"},
		{"every field", leadRequest(1, "first_name", "-", "last_name", " ", "phone", "555", "email", "nobody", "state", "XX", "vehicles", "two"), "invalid_payload first_name:missing_required last_name:missing_required phone:invalid_format email:invalid_format state:invalid_format vehicles:wrong_type"},
		{"fields before names", leadRequest(1, "flo_supplier_id", "other", "phone", "555"), "invalid_payload phone:invalid_format"},
		{"a source without consent", leadRequest(1, "source", "Facebook "), "invalid_payload consent_cert_url:missing_required"},
		{"malformed idempotency key", func() request { r := leadRequest(1); r.badKey = true; return r }(), "invalid_payload Idempotency-Key:invalid_format"},
		{"a ping without a buyer", leadRequest(1, "flo_ping_id", "ping_x"), "invalid_payload flo_buyer_id:unknown"},
		{"a buyer without a ping", leadRequest(1, "flo_buyer_id", "blue"), "invalid_payload flo_ping_id:unknown"},
		{"an unknown ping", leadRequest(1, "flo_ping_id", "ping_x", "flo_buyer_id", "blue"), "invalid_payload flo_ping_id:unknown"},
		{"null for ping and buyer", leadRequest(1, "flo_ping_id", "#null", "flo_buyer_id", "#null"), "blue"},
		{"a blank ping and a blank buyer", leadRequest(1, "flo_ping_id", "", "flo_buyer_id", " "), "blue"},
		{"a blank ping", leadRequest(1, "flo_ping_id", " ", "flo_buyer_id", "blue"), "invalid_payload flo_ping_id:unknown"},
		{"with consent", leadRequest(1, "source", "facebook", "consent_cert_url", "https://cert.example/1"), "blue"},
	}
	runInVirtualTime(t, "all", func(t *testing.T) {
		r := threeBuyers(market.Waterfall)
		r.suppliers = []string{"other"}
		r.campaigns[0].consent = []string{"facebook"}
		r.campaigns = append(r.campaigns,
			campaign{id: "closed", method: market.Waterfall, suppliers: []string{"other"}},
			campaign{id: "auction", method: market.PingPost})
		x := newExchange(t, r)
		for _, test := range tests {
			entries := x.log.len()
			got := x.ingestResult(test.request)
			expectEqual(t, got, test.want, test.name)
			if got != "blue" && x.log.len() != entries {
				t.Errorf("%s: an invalid request was logged", test.name)
			}
		}
	})
}

func TestRequestIDs(t *testing.T) {
	runWithExchange(t, "draw", threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
		first, second := x.engine.NewRequestID(), x.engine.NewRequestID()
		if first == second || first.IsZero() || x.engine.State() != x.state {
			t.Errorf("%s, %s", first, second)
		}
	})
}

func TestIngestUnavailable(t *testing.T) {
	lead := leadRequest(1)
	runInVirtualTime(t, "without a catalog", func(t *testing.T) {
		e := engine.New(engine.Options{Clock: virtualClock{}})
		expectError(t, errorOf(e.Ingest(&engine.IngestRequest{Members: lead.members})), engine.ErrUnavailable)
		if e.ActiveCatalogOrNil() != nil {
			t.Error("ActiveCatalog is not nil before Configure")
		}
	})
	runWithExchange(t, "stopped", threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
		x.engine.Close()
		expectError(t, errorOf(x.ingest(lead)), engine.ErrUnavailable)
	})
	runInVirtualTime(t, "admission check fails", func(t *testing.T) {
		full := errors.New("the disk is nearly full")
		x := newExchange(t, threeBuyers(market.Waterfall), func(opt *engine.Options) { opt.Admit = func() error { return full } })
		expectError(t, errorOf(x.ingest(lead)), full)
	})
	runInVirtualTime(t, "too many deliveries", func(t *testing.T) {
		x := newExchange(t, threeBuyers(market.Waterfall).withPostEndpoints(), func(opt *engine.Options) { opt.MaxPosts = 2 })
		x.buyers.scriptPosts("blue", accepts.after(1e9))
		first, second := x.startIngest(leadRequest(1)), x.startIngest(leadRequest(2))
		sleepUntil(t, "2000-01-01 00:00:00.5")
		expectEqual(t, x.engine.RunningDeliveries(), 2, "deliveries")
		expectError(t, errorOf(x.ingest(leadRequest(3))), engine.ErrUnavailable)
		expectEqual(t, first.wait()+" "+second.wait()+" "+x.ingestResult(leadRequest(3)), "blue blue blue")
	})
}
