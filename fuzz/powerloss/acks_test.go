package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/fuzz/powerloss/strace"
)

// sentCall returns a call that writes to a socket, or to the given path.
func sentCall(path, text string) *strace.Call {
	hexed := func(text string) string {
		return strings.ReplaceAll(strings.TrimRight(fmt.Sprintf(" % x", text), " "), " ", `\x`)
	}
	return &strace.Call{Name: "write", Args: []string{"9<" + hexed(path) + ">", `"` + hexed(text) + `"`, fmt.Sprint(len(text))}, Enter: 40, Done: 41}
}

func httpMessage(first string, headers ...string) func(body string) string {
	return func(body string) string {
		head := append([]string{first, fmt.Sprintf("Content-Length: %d", len(body))}, headers...)
		return strings.Join(head, "\r\n") + "\r\n\r\n" + body
	}
}

var (
	created   = httpMessage("HTTP/1.1 201 Created", "X-Request-Id: req_1")
	fine      = httpMessage("HTTP/1.1 200 OK", "X-Request-Id: req_1")
	refused   = httpMessage("HTTP/1.1 422 Unprocessable Entity", "X-Request-Id: req_1")
	forbidden = httpMessage("HTTP/1.1 403 Forbidden", "X-Request-Id: req_1")
	post      = httpMessage("POST /v1/post HTTP/1.1", "Host: 127.0.0.1:81")
	ping      = httpMessage("POST /v1/ping HTTP/1.1", "Host: 127.0.0.1:81")
	hook      = httpMessage("POST /hooks HTTP/1.1", "Host: 127.0.0.1:82")
)

// Exactly the outputs that the exchange must honor are acks.
func TestParseAcks(t *testing.T) {
	const lead = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"rec_alpha"}}`
	answered := ack{tick: 40, request: "req_1", status: 201, lead: "lead_1", buyer: "rec_alpha", revision: -1}
	for what, test := range map[string]struct {
		sent string
		want []ack
	}{
		"a lead that is sold":  {created(lead), []ack{answered}},
		"two answers at once":  {created(lead) + created(lead), []ack{answered, answered}},
		"a lead that is not":   {created(`{"data":{"id":"lead_1","status":"UNMATCHED","buyer_id":null}}`), []ack{{tick: 40, request: "req_1", status: 201, lead: "lead_1", revision: -1}}},
		"a lead that was sold": {created(`{"auction_id":"a","lead_id":"theirs","id":"lead_1","buyer_id":"buy_fussy"}`), []ack{{tick: 40, request: "req_1", status: 201, lead: "lead_1", buyer: "buy_fussy", revision: -1}}},
		"a bid":                {fine(`{"auction_id":"a","bid":{"amount":8}}`), []ack{{tick: 40, request: "req_1", status: 200, revision: -1}}},
		"no bid":               {fine(`{"auction_id":"a","bid":null,"reject_reason":"no_bid"}`), []ack{{tick: 40, request: "req_1", status: 200, revision: -1}}},
		"who would buy":        {fine(`{"data":{"ping_id":"ping_1","buyers":[]}}`), []ack{{tick: 40, request: "req_1", status: 200, revision: -1}}},
		"a report":             {fine(`{"lead_id":"lead_1","status":"sold"}`), []ack{{tick: 40, request: "req_1", status: 200, revision: -1}}},
		"a refusal":            {refused(`{"error":"post_rejected","reason":"duplicate"}`), []ack{{tick: 40, request: "req_1", status: 422, revision: -1}}},
		"a configuration":      {fine(`{"changes":["name: cmp, revision-3. is cmp, revision-12. now"]}`), []ack{{tick: 40, revision: 12}}},
		"a post": {
			post(`{"auction_id":"x","lead":{"lead_uuid":"lead_1","first_name":"Ann"}}`),
			[]ack{{tick: 40, lead: "lead_1", postHost: "127.0.0.1:81", revision: -1}},
		},
		"an event": {
			hook(`{"id":"evt_1","type":"lead.posted","data":{"lead_id":"lead_1"}}`),
			[]ack{{tick: 40, lead: "lead_1", event: "lead.posted", revision: -1}},
		},
		"a field that is wrong":                {refused(`{"error":"invalid_payload","field_errors":[]}`), nil},
		"a configuration that changed nothing": {fine(`{"changes":[]}`), nil},
		"an answer without a request":          {httpMessage("HTTP/1.1 201 Created")(lead), nil},
		"a token":                              {fine(`{"access_token":"x"}`), nil},
		"what was refused before":              {forbidden(`{"error":"forbidden","id":"lead_1"}`), nil},
		"a ping":                               {ping(`{"auction_id":"auc_1"}`), nil},
		"metrics":                              {fine("pingpost_leads 3"), nil},
		"the rest of an answer":                {"behind it", nil},
		"nothing":                              {"", nil},
	} {
		got, err := parseAcks([]*strace.Call{sentCall("socket:[5]", test.sent)})
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, test.want)
		}
	}
}

func TestParseAcksReadsSocketsOnly(t *testing.T) {
	text := created(`{"data":{"id":"lead_1","buyer_id":"rec_alpha"}}`)
	for path, want := range map[string]int{"socket:[5]": 1, "/data/log/1": 0, "pipe:[3]": 0} {
		if got, err := parseAcks([]*strace.Call{sentCall(path, text)}); err != nil || len(got) != want {
			t.Errorf("%s: %d told, %v", path, len(got), err)
		}
	}
	sync := sentCall("socket:[5]", text)
	sync.Name = "fsync"
	if got, err := parseAcks([]*strace.Call{sync}); err != nil || len(got) != 0 {
		t.Errorf("an fsync tells %v, %v", got, err)
	}
}

// An unreadable message is an error; otherwise its ack would be missing.
func TestParseAcksRejectsUnreadable(t *testing.T) {
	whole := post(`{"lead":{"lead_uuid":"lead_1"}}`)
	for what, text := range map[string]string{
		"half a post":           whole[:len(whole)-4],
		"a post without a lead": post(`{"lead":{}}`),
		"a post of no object":   post(`lead_1`),
		"an event of nobody":    hook(`{"type":"lead.posted"}`),
		"no message":            "HTTP/ what\r\n",
	} {
		if got, err := parseAcks([]*strace.Call{sentCall("socket:[5]", text)}); err == nil {
			t.Errorf("%s was read as %+v", what, got)
		}
	}
	cut := sentCall("socket:[5]", whole)
	cut.Args[1] += "..."
	if _, err := parseAcks([]*strace.Call{cut}); err == nil {
		t.Error("what the tracer has cut off was read")
	}
}

// A torn call is no ack: its thread was killed before the record shows what it sent.
func TestParseAcksIgnoresTornCalls(t *testing.T) {
	torn := sentCall("socket:[5]", "")
	torn.Args[1], torn.Torn, torn.Done = "0xc000123", true, strace.Never
	if got, err := parseAcks([]*strace.Call{torn}); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
