package redaction_test

import (
	"testing"

	"pingpost/engine/redaction"
)

func TestContactDataIsFound(t *testing.T) {
	var p redaction.ContactMatcher
	p.Add("first_name", []byte("Ann"))
	p.Add("last_name", []byte("de la Cruz"))
	p.Add("phone", []byte("+12125550142"))
	p.Add("email", []byte("ann.c@mail.example"))
	p.Add("utm", []byte("facebook"))
	p.Add("backup", []byte("other@mail.example"))
	p.Add("line1", []byte("7"))
	p.Add("middle_name", []byte(" Ünal "))
	for text, want := range map[string]bool{
		"":                          false,
		"Ann":                       true,
		"dear ann, no":              true,
		"planned":                   false,
		"annex":                     false,
		"ann_1":                     true,
		"mr DE LA CRUZ":             true,
		"cruz":                      false,
		"2125550142":                true,
		"(212) 555-0142":            true,
		"id 12125550142x":           true,
		"125550142":                 false,
		"lead_212555014":            false,
		"ANN.C@MAIL.EXAMPLE":        true,
		"<other@mail.example>":      true,
		"facebook":                  false,
		"7":                         false,
		"planned annex, then ann":   true,
		"score_too_low":             false,
		"ref_2a0f2838350d4c44083fd": false,
		"Ünal was here":             true,
		"ünalan":                    false,
		"ÜNAL":                      true,
	} {
		if got := p.ContactFoundIn([]byte(text)); got != want {
			t.Errorf("%q: found is %v", text, got)
		}
	}
}

// TestOverlappingWordIsFound: a whole word may begin inside an occurrence that is part of another word.
func TestOverlappingWordIsFound(t *testing.T) {
	var p redaction.ContactMatcher
	p.Add("first_name", []byte("Ann-Ann"))
	for text, want := range map[string]bool{"Joann-Ann-Ann": true, "joann-ann": false, "ann-annann-ann": false} {
		if got := p.ContactFoundIn([]byte(text)); got != want {
			t.Errorf("%q: found is %v", text, got)
		}
	}
}

// TestResetForgetsContactData reuses a matcher for several leads, without allocations.
func TestResetForgetsContactData(t *testing.T) {
	var p redaction.ContactMatcher
	text, name, number := []byte("dear ann, call 212 555 0142"), []byte("Ann"), []byte("+12125550142")
	if p.ContactFoundIn(text) {
		t.Error("an empty matcher found contact data")
	}
	match := func() {
		p.Reset()
		p.Add("first_name", name)
		p.Add("phone", number)
		if !p.ContactFoundIn(text) {
			t.Error("the lead's contact data was not found")
		}
	}
	match()
	if n := testing.AllocsPerRun(100, match); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
	p.Reset()
	if p.ContactFoundIn(text) {
		t.Error("the matcher found the contact data of the previous lead")
	}
}
