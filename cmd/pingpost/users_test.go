package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// runWithInput runs the program with an input that is not a terminal.
func runWithInput(t testing.TB, input string, args ...string) commandResult {
	t.Helper()
	cmd := programCommand(t, args...)
	cmd.Stdin = strings.NewReader(input)
	return runCommand(t, cmd)
}

// loginStatus logs a user in by password and returns the answer's status.
func loginStatus(t testing.TB, admin, name, password string) int {
	t.Helper()
	status, _ := request(t, http.MethodPost, admin+"/admin/v1/session", fmt.Sprintf(`{"name":%q,"password":%q}`, name, password))
	return status
}

// TestUsersCommands adds, changes, lists and removes accounts of a running exchange.
func TestUsersCommands(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	_, admin := s.addresses("production")
	users := func(input string, args ...string) string {
		t.Helper()
		r := runWithInput(t, input, append(append([]string{"users"}, args...), "--admin", admin)...)
		if r.code != 0 || r.err != "" {
			t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
		}
		return r.out
	}
	mustLogIn := func(name, password string, want int) {
		t.Helper()
		if got := loginStatus(t, admin, name, password); got != want {
			t.Errorf("%s logs in with %q: %d, want %d", name, password, got, want)
		}
	}
	if list := users(""); list != "" {
		t.Errorf("users of a new exchange: %q, want none", list)
	}
	if created := users("first-of-a-canary\r\nnot this\n", "add", "Anna", "--role", "viewer"); created != "made  anna  viewer\n" {
		t.Errorf("users add printed %q", created)
	}
	mustLogIn("anna", "first-of-a-canary", 200)
	created := users("", "add", "bob", "--role", "operator", "--generate")
	var password string
	if n, err := fmt.Sscanf(created, "made  bob  operator\npassword  %s\n", &password); n != 1 || err != nil || len(password) < 20 {
		t.Fatalf("users add --generate printed %q: %v", created, err)
	}
	mustLogIn("bob", password, 200)
	if got := users("", "role", "anna", "admin"); got != "anna  admin\n" {
		t.Errorf("got %q", got)
	}
	mustLogIn("anna", "first-of-a-canary", 200)
	if got := users("another-of-a-canary", "password", "anna"); got != "changed  anna\n" {
		t.Errorf("got %q", got)
	}
	mustLogIn("anna", "first-of-a-canary", 401)
	mustLogIn("anna", "another-of-a-canary", 200)
	changed := users("", "password", "bob", "--generate")
	newPassword, ok := strings.CutPrefix(changed, "changed  bob\npassword  ")
	if mustLogIn("bob", strings.TrimSpace(newPassword), 200); !ok || strings.TrimSpace(newPassword) == password {
		t.Errorf("users password --generate printed %q", changed)
	}
	list := users("", "list")
	if lines := strings.Split(list, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "anna  admin     made 2") || !strings.Contains(lines[1], "seen 2") {
		t.Errorf("users list printed %q", list)
	}
	if text := users("", "--json"); strings.Count(text, `"name"`) != 2 || strings.Contains(text, "argon") {
		t.Errorf("users --json printed %s", text)
	}
	if got := users("", "remove", "bob"); got != "removed  bob\n" || strings.Contains(users(""), "bob") {
		t.Errorf("got %q", got)
	}
	mustLogIn("bob", strings.TrimSpace(newPassword), 401)
	link, _, _ := strings.Cut(users("", "invite", "carl", "--role", "viewer", "--expires-in", "7d"), "\n")
	token, ok := strings.CutPrefix(link, admin+"/#/invite/")
	if !ok {
		t.Fatalf("users invite printed %q", link)
	}
	if status, body := request(t, http.MethodPost, admin+"/admin/v1/invitations/"+token+"/accept", `{"password":"carls-of-a-canary"}`); status != 201 || !strings.Contains(body, `"name":"carl"`) {
		t.Errorf("the invitation: %d %s", status, body)
	}
	mustLogIn("carl", "carls-of-a-canary", 200)
}

// TestUsersRejectsInvalidInput: an invalid input is an error and changes no account.
func TestUsersRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	_, admin := s.addresses("production")
	if r := runWithInput(t, "first-of-a-canary\n", "users", "add", "anna", "--role", "viewer", "--admin", admin); r.code != 0 {
		t.Fatal(r.err)
	}
	for name, row := range map[string]struct {
		input string
		args  []string
		want  string
	}{
		"existing user":              {"another-of-a-canary", []string{"add", "ANNA", "--role", "admin"}, `user "ANNA" exists already`},
		"no password":                {"", []string{"add", "bob", "--role", "viewer"}, "standard input has no password"},
		"empty password":             {"\r\nanother-of-a-canary", []string{"password", "anna"}, "standard input has no password"},
		"short password":             {"eleven-long", []string{"add", "bob", "--role", "viewer"}, "at least 12 characters"},
		"other encoding":             {"p\xe4sswort-of-a-canary\n", []string{"password", "anna"}, "not UTF-8"},
		"long password":              {strings.Repeat("x", 5000), []string{"password", "anna"}, "at most"},
		"invalid role":               {"", []string{"role", "anna", "king"}, "must be one of"},
		"no role":                    {"another-of-a-canary", []string{"add", "bob"}, "--role"},
		"invalid name":               {"another-of-a-canary", []string{"add", "b/b", "--role", "viewer"}, "name: expected"},
		"role of a missing user":     {"", []string{"role", "carl", "admin"}, `there is no user "carl"`},
		"password of a missing user": {"another-of-a-canary", []string{"password", "carl"}, `there is no user "carl"`},
		"removal of a missing user":  {"", []string{"remove", "carl"}, `there is no user "carl"`},
		"a wrong password":           {"another-of-a-canary", []string{"add", "bob", "--role", "viewer", "--password", "wrong"}, "rejected the password as its admin.password"},
		"password as an argument":    {"", []string{"password", "anna", "word-of-a-kanary"}, "unexpected argument"},
	} {
		r := runWithInput(t, row.input, append(append([]string{"users"}, row.args...), "--admin", admin)...)
		if r.code == 0 || !strings.Contains(r.err, row.want) || strings.Contains(r.out, "made") || strings.Contains(r.out, "changed") {
			t.Errorf("%s: exit %d, %q, %q", name, r.code, r.out, r.err)
		}
	}
	if list := mustRun(t, "users", "--admin", admin); strings.Count(list, "\n") != 1 || !strings.HasPrefix(list, "anna  viewer ") {
		t.Errorf("users list printed %q", list)
	}
	if got := loginStatus(t, admin, "anna", "first-of-a-canary"); got != 200 {
		t.Errorf("login with anna's unchanged password: %d", got)
	}
}
