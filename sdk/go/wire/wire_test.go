package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pingpost/sdk/go/model"
	"pingpost/sdk/go/wire"
)

// A decoded model encodes to the same JSON, including unknown members.
func TestModelRoundTrip(t *testing.T) {
	for text, into := range map[string]any{
		`{"auction_id":"a","vertical":"v","state":"CA","tcpa_consent":false,"vehicle_count":0,"roof":{"n":[1.50,null]},"big":12345678901234567890}`:                                                                       &model.PingRequest{},
		`{"id":"l","status":"brand_new","campaign_id":"c","lead_uuid":null,"auction_id":null,"buyer_id":null,"price":null,"reason":"newer","delivery":"none","created_at":"2026-03-02T17:04:05.25Z"}`:                     &model.Lead{},
		`{"id":"l","status":"sold","campaign_id":"c","auction_id":null,"buyer_id":"b","price":{"amount":999999.999999,"currency":"USD"},"reason":null,"delivery":"none","created_at":"2026-03-02T17:04:05Z","test":true}`: &model.Lead{},
		`{"auction_id":"a","bid":null,"reject_reason":"no_bid"}`: &model.BidResponse{},
		`{"lead_id":null,"error":"not_found","message":"m"}`:     &model.StatusResult{},
	} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		written, err := json.Marshal(into)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if x, y := sorted(t, []byte(text)), sorted(t, written); x != y {
			t.Errorf("read  %s\nwrote %s", x, y)
		}
	}
}

// sorted returns JSON with sorted members and unchanged numbers.
func sorted(t *testing.T, text []byte) string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}

func TestNullableStates(t *testing.T) {
	type form struct {
		A wire.Nullable[string] `json:"a,omitzero"`
	}
	for text, want := range map[string]form{`{}`: {}, `{"a":null}`: {wire.Null[string]()}, `{"a":""}`: {wire.Value("")}, `{"a":"x"}`: {wire.Value("x")}} {
		var f form
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		got, ok := f.A.Get()
		expected, expectedOK := want.A.Get()
		if got != expected || ok != expectedOK || f.A.IsNull() != want.A.IsNull() || f.A.IsZero() != want.A.IsZero() {
			t.Errorf("%s: %q %v", text, got, ok)
		}
		if written, err := json.Marshal(f); err != nil || string(written) != text {
			t.Errorf("%s %v, want %s", written, err, text)
		}
	}
}

// Join does not overwrite a struct's own member.
func TestJoinKeepsOwnMembers(t *testing.T) {
	text, err := json.Marshal(model.PostLead{FirstName: "Ann", More: map[string]any{"first_name": "Eve", "own": "<&>"}})
	if err != nil {
		t.Fatal(err)
	}
	var back model.PostLead
	if err := json.Unmarshal(text, &back); err != nil || back.FirstName != "Ann" || back.More["own"] != "<&>" || len(back.More) != 1 {
		t.Errorf("%s: %v", text, err)
	}
}
