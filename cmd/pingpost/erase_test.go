package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"pingpost/cmd/pingpost/terminal"
)

// TestEraseCommand erases a lead of a running exchange.
func TestEraseCommand(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	public, admin := s.addresses("production")
	id := sellLead(t, public)
	for range 2 {
		mustPrint(t, "erased  1\n", "erase", id, "--admin", admin)
	}
	mustPrint(t, "The person was erased", "explain", id, "--admin", admin)
	mustPrint(t, "erased  0\n", "erase", "--phone", "+1 415 555 0100", "--admin", admin)
}

// TestEraseListsLeftLeads: the command lists the leads that were not erased, with the reason.
func TestEraseListsLeftLeads(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	flags, _ := stubAdmin(t, http.StatusOK, `{"erased":1,"left":5,"left_leads":[{"lead_id":"lead_2","reason":"under_way"},{"lead_id":"lead_3","reason":"unsealed"}]}`)
	err := (&eraseContactDataCmd{AdminFlags: flags, Phone: "1"}).Run(&out)
	var code terminal.ExitCodeError
	if !errors.As(err, &code) || code != 2 || out.String() != "erased  1\nleft    5\n  lead_2  under_way\n  lead_3  unsealed\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	flags, _ = stubAdmin(t, http.StatusOK, "<html>")
	if err := (&eraseContactDataCmd{AdminFlags: flags, Phone: "1"}).Run(&out); err == nil {
		t.Error("an invalid answer is accepted")
	}
}
