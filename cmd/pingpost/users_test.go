package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// typed is a run with an input that is no terminal.
func typed(t testing.TB, input string, args ...string) said {
	t.Helper()
	cmd := program(t, args...)
	cmd.Stdin = strings.NewReader(input)
	return finished(t, cmd)
}

// logsIn tells with what status a login by a user's password is answered.
func logsIn(t testing.TB, admin, name, password string) int {
	t.Helper()
	status, _ := request(t, http.MethodPost, admin+"/admin/v1/session", fmt.Sprintf(`{"name":%q,"password":%q}`, name, password))
	return status
}

// TestUsers: the whole life of an account, from a program that serves and commands that
// are programs of their own.
func TestUsers(t *testing.T) {
	s := serve(t, "-c", configuration(t, served))
	_, admin := s.addresses("production")
	users := func(input string, args ...string) string {
		t.Helper()
		r := typed(t, input, append(append([]string{"users"}, args...), "--admin", admin)...)
		if r.code != 0 || r.err != "" {
			t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
		}
		return r.out
	}
	logs := func(name, password string, want int) {
		t.Helper()
		if got := logsIn(t, admin, name, password); got != want {
			t.Errorf("%s logs in with %q: %d, want %d", name, password, got, want)
		}
	}
	if list := users(""); list != "" {
		t.Errorf("nobody has an account, and there is %q", list)
	}
	if made := users("first-of-a-canary\r\nnot this\n", "add", "Anna", "--role", "viewer"); made != "made  anna  viewer\n" {
		t.Errorf("%q", made)
	}
	logs("anna", "first-of-a-canary", 200)
	made := users("", "add", "bob", "--role", "operator", "--generate")
	var password string
	if n, err := fmt.Sscanf(made, "made  bob  operator\npassword  %s\n", &password); n != 1 || err != nil || len(password) < 20 {
		t.Fatalf("%q: %v", made, err)
	}
	logs("bob", password, 200)
	if said := users("", "role", "anna", "admin"); said != "anna  admin\n" {
		t.Errorf("%q", said)
	}
	logs("anna", "first-of-a-canary", 200)
	if said := users("another-of-a-canary", "password", "anna"); said != "changed  anna\n" {
		t.Errorf("%q", said)
	}
	logs("anna", "first-of-a-canary", 401)
	logs("anna", "another-of-a-canary", 200)
	changed := users("", "password", "bob", "--generate")
	again, ok := strings.CutPrefix(changed, "changed  bob\npassword  ")
	if logs("bob", strings.TrimSpace(again), 200); !ok || strings.TrimSpace(again) == password {
		t.Errorf("%q", changed)
	}
	list := users("", "list")
	if lines := strings.Split(list, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "anna  admin     made 2") || !strings.Contains(lines[1], "seen 2") {
		t.Errorf("%q", list)
	}
	if text := users("", "--json"); strings.Count(text, `"name"`) != 2 || strings.Contains(text, "argon") {
		t.Error(text)
	}
	if said := users("", "remove", "bob"); said != "removed  bob\n" || strings.Contains(users(""), "bob") {
		t.Errorf("%q", said)
	}
	logs("bob", strings.TrimSpace(again), 401)
}

// TestUsersRefused: what cannot be is said, and changes nothing.
func TestUsersRefused(t *testing.T) {
	s := serve(t, "-c", configuration(t, served))
	_, admin := s.addresses("production")
	if r := typed(t, "first-of-a-canary\n", "users", "add", "anna", "--role", "viewer", "--admin", admin); r.code != 0 {
		t.Fatal(r.err)
	}
	for name, row := range map[string]struct {
		input string
		args  []string
		want  string
	}{
		"one there is":        {"another-of-a-canary", []string{"add", "ANNA", "--role", "admin"}, `user "ANNA" exists already`},
		"no password":         {"", []string{"add", "bob", "--role", "viewer"}, "standard input has no password"},
		"an empty one":        {"\r\nanother-of-a-canary", []string{"password", "anna"}, "standard input has no password"},
		"a short one":         {"eleven-long", []string{"add", "bob", "--role", "viewer"}, "at least 12 characters"},
		"in another code":     {"p\xe4sswort-of-a-canary\n", []string{"password", "anna"}, "not UTF-8"},
		"a long one":          {strings.Repeat("x", 5000), []string{"password", "anna"}, "at most"},
		"a role that is none": {"", []string{"role", "anna", "king"}, "must be one of"},
		"no role":             {"another-of-a-canary", []string{"add", "bob"}, "--role"},
		"a name that is none": {"another-of-a-canary", []string{"add", "b/b", "--role", "viewer"}, "name: expected"},
		"nobody's role":       {"", []string{"role", "carl", "admin"}, `there is no user "carl"`},
		"nobody's password":   {"another-of-a-canary", []string{"password", "carl"}, `there is no user "carl"`},
		"nobody to remove":    {"", []string{"remove", "carl"}, `there is no user "carl"`},
		"a wrong password":    {"another-of-a-canary", []string{"add", "bob", "--role", "viewer", "--password", "wrong"}, "rejected the configured password"},
		"one as a word":       {"", []string{"password", "anna", "word-of-a-kanary"}, "unexpected argument"},
	} {
		r := typed(t, row.input, append(append([]string{"users"}, row.args...), "--admin", admin)...)
		if r.code == 0 || !strings.Contains(r.err, row.want) || strings.Contains(r.out, "made") || strings.Contains(r.out, "changed") {
			t.Errorf("%s: exit %d, %q, %q", name, r.code, r.out, r.err)
		}
	}
	if list := mustRun(t, "users", "--admin", admin); strings.Count(list, "\n") != 1 || !strings.HasPrefix(list, "anna  viewer ") {
		t.Errorf("%q", list)
	}
	if got := logsIn(t, admin, "anna", "first-of-a-canary"); got != 200 {
		t.Errorf("anna's own password: %d", got)
	}
}
