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

// ack is an output of the exchange that it must honor: an answer, a post to a buyer, or a
// webhook event. It counts from the start of the call that sends it.
type ack struct {
	tick      int
	request   string // X-Request-Id header of an answer
	status    int
	lead      string
	buyer     string // buyer in an answer
	postHost  string // host of the buyer's endpoint in a post
	event     string // type of a webhook event
	isErasure bool   // the answer to an erasure
	revision  int    // active configuration revision in an answer; -1: absent
	created   string // object that an operator created: see objectPrefix
}

// parseAcks returns the acks among the calls of a lifetime.
func parseAcks(calls []*strace.Call) (found []ack, err error) {
	for _, c := range calls {
		sent, err := bytesSentToSocket(c)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(sent, []byte(metricPrefix)) || isBetweenNodes(sent) {
			continue // no request depends on them
		}
		some, err := parseMessages(sent, c.Enter)
		if err != nil {
			return nil, fmt.Errorf("tick %d: %w: %.300q", c.Enter, err, sent)
		}
		found = append(found, some...)
	}
	return found, nil
}

// isBetweenNodes reports whether a message is a request that a node of a cluster forwards to the leader, or a
// copy of its data for a new node. The leader's answers to forwarded requests count as acks.
func isBetweenNodes(sent []byte) bool {
	return bytes.Contains(sent, []byte("\r\nX-Pingpost-Forwarded-Kind: ")) || bytes.HasPrefix(sent, []byte("HTTP/")) && bytes.Contains(sent, []byte("\r\nTransfer-Encoding: chunked\r\n"))
}

// parseMessages parses all messages that one call sent.
func parseMessages(sent []byte, tick int) (found []ack, err error) {
	from := bufio.NewReader(bytes.NewReader(sent))
	for {
		head, err := from.Peek(5)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		a := ack{tick: tick, revision: -1}
		var isAck bool
		switch string(head) {
		case "HTTP/":
			isAck, err = a.parseAnswer(from)
		case "POST ":
			isAck, err = a.parseOutgoingRequest(from)
		default:
			return found, nil // the rest belongs to an answer that is no ack
		}
		if err != nil {
			return nil, err
		}
		if isAck {
			found = append(found, a)
		}
	}
}

// revisions matches the configuration revisions in the answer to an apply.
var revisions = regexp.MustCompile(revisionMark + `(\d+)\.`)

// parseAnswer parses an answer. It counts if it reports the outcome of a request.
func (a *ack) parseAnswer(from *bufio.Reader) (isAck bool, err error) {
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
			number, _ := strconv.Atoi(string(found[1])) // digits only
			a.revision = max(a.revision, number)
		}
		return a.revision >= 0, err
	}
	if a.created = createdObject(body); a.created != "" {
		return true, err
	}
	if a.isErasure = bytes.HasPrefix(body, []byte(`{"erased":1,`)); a.isErasure {
		return true, err
	}
	var said struct {
		Data  *answeredLead `json:"data"`
		Error string        `json:"error"`
		answeredLead
		Auction *string `json:"auction_id"`
	}
	if json.Unmarshal(body, &said) != nil {
		return false, err
	}
	lead := said.answeredLead
	if said.Data != nil {
		lead = *said.Data
	}
	a.request, a.status, a.buyer = response.Header.Get("X-Request-Id"), response.StatusCode, lead.Buyer
	if a.lead = lead.ID; said.Error != "" && said.Error != "post_rejected" {
		return false, err
	}
	isAck = said.Error != "" || a.lead != "" || said.Auction != nil || lead.Ping != "" || lead.Lead != ""
	return isAck && a.request != "", err
}

// answeredLead holds the members of an answer about a lead or a ping.
type answeredLead struct {
	ID    string `json:"id"`
	Buyer string `json:"buyer_id"`
	Ping  string `json:"ping_id"`
	Lead  string `json:"lead_id"` // lead of a status report; in a sale the buyer's own id
}

// parseOutgoingRequest parses a request that the exchange sends. Posts and webhook events count; pings
// do not, because they make no promise.
func (a *ack) parseOutgoingRequest(from *bufio.Reader) (isAck bool, err error) {
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
		a.lead, a.postHost = said.Lead.UUID, request.Host
	case "/hooks":
		a.lead, a.event = said.Data.Lead+said.Data.ID, said.Type
	default:
		return false, nil
	}
	if a.lead == "" {
		return false, fmt.Errorf("the request to %s contains no lead id: %s", request.URL.Path, body)
	}
	return true, nil
}
