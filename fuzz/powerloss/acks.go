package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"pingpost/fuzz/powerloss/strace"
)

// An ack is something that the exchange told somebody, and may not take back: an
// answer, a lead handed to a buyer, an event. It counts from the instant at which
// the call that sends it began.
type ack struct {
	tick     int
	request  string // X-Request-Id of an answer
	status   int
	lead     string
	buyer    string // of an answer: who has it
	host     string // of a post: whose endpoint
	event    string // type of a webhook's event
	erased   bool   // a lead's key is dropped
	revision int    // of the configuration that is in force; -1: it says none
	made     string // what an operator made: see workMark
}

// acks finds them among a life's calls.
func acks(calls []*strace.Call) (found []ack, err error) {
	for _, c := range calls {
		sent, err := sent(c)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(sent, []byte(anyMetric)) {
			continue // which no request rests on
		}
		some, err := acksIn(sent, c.Enter)
		if err != nil {
			return nil, fmt.Errorf("tick %d: %w: %.300q", c.Enter, err, sent)
		}
		found = append(found, some...)
	}
	return found, nil
}

// acksIn reads all messages of one piece.
func acksIn(sent []byte, tick int) (found []ack, err error) {
	from := bufio.NewReader(bytes.NewReader(sent))
	for {
		head, err := from.Peek(5)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		a := ack{tick: tick, revision: -1}
		var counts bool
		switch string(head) {
		case "HTTP/":
			counts, err = a.readAnswer(from)
		case "POST ":
			counts, err = a.readCall(from)
		default:
			return found, nil // what comes behind is more of an answer that counts for nothing
		}
		if err != nil {
			return nil, err
		}
		if counts {
			found = append(found, a)
		}
	}
}

// revisions finds what an apply says of the configuration before and after.
var revisions = regexp.MustCompile(revisionMark + `(\d+)\.`)

// readAnswer reads an answer; it counts where it says what became of a request.
func (a *ack) readAnswer(from *bufio.Reader) (counts bool, err error) {
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated && response.StatusCode != http.StatusUnprocessableEntity {
		return false, nil
	}
	if bytes.HasPrefix(body, []byte(`{"changes"`)) {
		for _, found := range revisions.FindAllSubmatch(body, -1) {
			number, _ := strconv.Atoi(string(found[1])) // of digits
			a.revision = max(a.revision, number)
		}
		return a.revision >= 0, err
	}
	if a.made = workIn(body); a.made != "" {
		return true, err
	}
	if a.erased = bytes.HasPrefix(body, []byte(`{"erased":1,`)); a.erased {
		return true, err
	}
	var said struct {
		Data  *saidLead `json:"data"`
		Error string    `json:"error"`
		saidLead
		Auction *string `json:"auction_id"`
	}
	if json.Unmarshal(body, &said) != nil {
		return false, err
	}
	lead := said.saidLead
	if said.Data != nil {
		lead = *said.Data
	}
	a.request, a.status, a.buyer = response.Header.Get("X-Request-Id"), response.StatusCode, lead.Buyer
	if a.lead = lead.ID; said.Error != "" && said.Error != "post_rejected" {
		return false, err
	}
	counts = said.Error != "" || a.lead != "" || said.Auction != nil || lead.Ping != "" || lead.Lead != ""
	return counts && a.request != "", err
}

// saidLead is what an answer says of a lead or a ping.
type saidLead struct {
	ID    string `json:"id"`
	Buyer string `json:"buyer_id"`
	Ping  string `json:"ping_id"`
	Lead  string `json:"lead_id"` // that was reported on; in a sale the buyer's own
}

// readCall reads what the exchange sends by itself: a post to a buyer counts, and
// an event. A ping says nothing that would have to be kept.
func (a *ack) readCall(from *bufio.Reader) (counts bool, err error) {
	request, err := http.ReadRequest(from)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return false, err
	}
	var said struct {
		Lead struct {
			UUID string `json:"lead_uuid"`
		} `json:"lead"`
		Type string `json:"type"`
		Data struct {
			Lead string `json:"lead_id"`
			ID   string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return false, err
	}
	switch request.URL.Path {
	case "/v1/post":
		a.lead, a.host = said.Lead.UUID, request.Host
	case "/hooks":
		a.lead, a.event = said.Data.Lead+said.Data.ID, said.Type
	default:
		return false, nil
	}
	if a.lead == "" {
		return false, fmt.Errorf("%s names no lead: %s", request.URL.Path, body)
	}
	return true, nil
}
