package main

import (
	"math/rand/v2"
	"testing"

	"pingpost/fuzz/witness"
)

func TestCompareRepeat(t *testing.T) {
	first := witness.Response{Status: 201, RequestID: "req_1", Body: "{}"}
	for what, test := range map[string]struct {
		again witness.Response
		same  bool
	}{
		"the same":        {witness.Response{Status: 201, RequestID: "req_1", Body: "{}", Replayed: true}, true},
		"another byte":    {witness.Response{Status: 201, RequestID: "req_1", Body: "{} "}, false},
		"another request": {witness.Response{Status: 201, RequestID: "req_2", Body: "{}"}, false},
		"another status":  {witness.Response{Status: 200, RequestID: "req_1", Body: "{}"}, false},
	} {
		var l answerLog
		l.add(&witness.Request{Key: "k"}, first)
		l.compareRepeat(l.findByRequestID("req_1"), test.again)
		if wrong := l.violationList(); (len(wrong) == 0) != test.same {
			t.Errorf("%s: %q", what, wrong)
		}
	}
	var l answerLog
	if l.pickRandom(rand.New(rand.NewPCG(1, 1))) != nil || l.findByRequestID("req_1") != nil {
		t.Error("an empty ledger knows an answer")
	}
}

// Answers after the power loss are removed. Answers before it stay, even if they were repeated
// after it.
func TestForgetAfter(t *testing.T) {
	var l answerLog
	for _, request := range []string{"before", "both", "after", "earlier life"} {
		l.add(&witness.Request{Key: request}, witness.Response{RequestID: request})
	}
	l.forgetAnswersAfter([]ack{{tick: 5, request: "before"}, {tick: 6, request: "both"}, {tick: 11, request: "both"}, {tick: 12, request: "after"}, {tick: 13}}, 10)
	for request, kept := range map[string]bool{"before": true, "both": true, "earlier life": true, "after": false} {
		if (l.findByRequestID(request) != nil) != kept {
			t.Errorf("%s: kept is %t", request, !kept)
		}
	}
	if len(l.answers) != 3 {
		t.Errorf("%d are left", len(l.answers))
	}
}

// A worker may hold or receive an answer that the power loss removes.
func TestAnswersAfterLossAreIgnored(t *testing.T) {
	var l answerLog
	parcel := &witness.Request{Key: "k"}
	l.add(parcel, witness.Response{RequestID: "picked", Body: "one"})
	picked := l.findByRequestID("picked")
	l.forgetAnswersAfter([]ack{{tick: 12, request: "picked"}, {tick: 12, request: "given"}, {tick: 13}}, 10)
	l.compareRepeat(picked, witness.Response{RequestID: "another", Body: "two"})
	l.add(parcel, witness.Response{RequestID: "given"})
	if wrong := l.violationList(); len(wrong) > 0 || len(l.answers) > 0 {
		t.Errorf("%q, and %d are kept", wrong, len(l.answers))
	}
	l.add(parcel, witness.Response{RequestID: "later"})
	if l.compareRepeat(l.findByRequestID("later"), witness.Response{RequestID: "another"}); len(l.violationList()) != 1 {
		t.Error("what was told since may differ")
	}
}
