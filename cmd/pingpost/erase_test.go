package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pingpost/cmd/pingpost/terminal"
)

// TestEraseCommand: the whole way, from a lead that a running exchange has to nobody
// whom it knows.
func TestEraseCommand(t *testing.T) {
	s := serve(t, "-c", configuration(t, served))
	public, admin := s.addresses("production")
	id := sendOne(t, public)
	for range 2 {
		if said := mustRun(t, "erase", id, "--admin", admin); said != "erased  1\n" {
			t.Errorf("%q", said)
		}
	}
	if told := mustRun(t, "explain", id, "--admin", admin); !strings.Contains(told, "The person was erased") {
		t.Error(told)
	}
	if said := mustRun(t, "erase", "--phone", "+1 415 555 0100", "--admin", admin); said != "erased  0\n" {
		t.Errorf("%q", said)
	}
}

// TestEraseAsks: what is sent, and how what was left is told.
func TestEraseAsks(t *testing.T) {
	var asked string
	answer := `{"erased":3,"left":0,"left_leads":[]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = r.Method + " " + r.URL.Path + " " + string(body)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	flags := adminFlags{Admin: server.URL}
	for _, row := range []struct {
		cmd  erasePersonCmd
		want string
	}{
		{erasePersonCmd{adminFlags: flags, Lead: "lead_1"}, `POST /admin/v1/erase {"email":"","lead":"lead_1","phone":""}`},
		{erasePersonCmd{adminFlags: flags, Phone: "+1 2"}, `POST /admin/v1/erase {"email":"","lead":"","phone":"+1 2"}`},
		{erasePersonCmd{adminFlags: flags, Email: "a@b.c"}, `POST /admin/v1/erase {"email":"a@b.c","lead":"","phone":""}`},
	} {
		var out bytes.Buffer
		if err := row.cmd.Run(&out); err != nil || asked != row.want || out.String() != "erased  3\n" {
			t.Errorf("%s, %v, %q", asked, err, out.String())
		}
	}
	answer = `{"erased":1,"left":5,"left_leads":[{"lead_id":"lead_2","reason":"under_way"},{"lead_id":"lead_3","reason":"unsealed"}]}`
	var out bytes.Buffer
	err := (&erasePersonCmd{adminFlags: flags, Phone: "1"}).Run(&out)
	var code terminal.ExitCode
	if !errors.As(err, &code) || code != 2 || out.String() != "erased  1\nleft    5\n  lead_2  under_way\n  lead_3  unsealed\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	answer = "<html>"
	if err := (&erasePersonCmd{adminFlags: flags, Phone: "1"}).Run(&out); err == nil {
		t.Error("an answer that is none is taken")
	}
}
