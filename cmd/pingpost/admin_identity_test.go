package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"

	"pingpost/cmd/pingpost/client"
	"pingpost/internal/must"
)

// adminCommands returns the commands that call the admin API, with valid arguments for
// each. TestAdminCommandListIsComplete compares them with the program's commands.
func adminCommands(t testing.TB) map[string][]string {
	t.Helper()
	file := writeConfig(t, testConfig)
	return map[string][]string{
		"diff": {file}, "apply": {file}, "export": nil, "config drift": nil, "config take": {"exchange"},
		"audit": nil, "alerts": nil, "find": nil, "dry-run": {"cmp"},
		"explain": {"lead_01kc8z3n5w9x4m7q2t6v8y0b1d"}, "statement": {"--buyer", "buy", "--from", "2026-11-01", "--to", "2026-11-02"},
		"cluster status": nil, "cluster add": {"b"}, "cluster remove": {"b"}, "cluster handover": {"b"},
		"report show": nil, "report rebuild": nil, "erase": {"--phone", "+12025550100"},
		"users list": nil, "users add": {"bob", "--role", "viewer", "--generate"}, "users role": {"bob", "admin"}, "users password": {"bob", "--generate"}, "users remove": {"bob"}, "users invite": {"--role", "viewer"},
	}
}

func TestAdminCommandListIsComplete(t *testing.T) {
	t.Parallel()
	app := must.Value(kong.New(&commands{}))(t)
	known := adminCommands(t)
	for _, leaf := range app.Model.Leaves(false) {
		takes := slices.ContainsFunc(leaf.Flags, func(flag *kong.Flag) bool { return flag.Name == "password" })
		name, _, _ := strings.Cut(strings.TrimPrefix(leaf.Path(), "pingpost "), " <")
		if _, listed := known[name]; takes != listed {
			t.Errorf("%q takes a password: %v, is listed: %v", name, takes, listed)
		}
		delete(known, name)
	}
	if len(known) > 0 {
		t.Errorf("adminCommands lists unknown commands %v", known)
	}
}

// TestAdminCommandsSendCredentials: each request of each command carries the account, the
// token or the configured password.
func TestAdminCommandsSendCredentials(t *testing.T) {
	t.Parallel()
	var (
		mu          sync.Mutex
		credentials []string
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		mu.Lock()
		defer mu.Unlock()
		credentials = append(credentials, strings.TrimSpace(name+" "+password+" "+strings.TrimPrefix(r.Header.Get("Authorization"), "Basic")))
		if r.Method == http.MethodGet && r.URL.Path == "/admin/v1/users" {
			_, _ = w.Write([]byte(`{"users":[]}`))
			return
		}
		w.WriteHeader(http.StatusConflict)
	}))
	defer server.Close()
	commands := adminCommands(t)
	for i, name := range slices.Sorted(maps.Keys(commands)) {
		args := commands[name]
		for j, row := range []struct {
			what, token, want string
			flags             []string
		}{
			{"an account", "", "anna " + adminPassword + " ", []string{"--user", "anna"}},
			{"an account beside a token", "ppa_canary", "anna " + adminPassword + " ", []string{"--user", "anna"}},
			{"a token", "ppa_canary", "Bearer ppa_canary", nil},
			{"the configured password", "", "operator " + adminPassword + " ", nil},
		} {
			if testing.Short() && (i+j)%4 != 0 {
				continue // the next commands try the other credentials
			}
			mu.Lock()
			credentials = nil
			mu.Unlock()
			cmd := programCommand(t, slices.Concat(strings.Fields(name), args, row.flags, []string{"--admin", server.URL})...)
			cmd.Env, cmd.Stdin = append(cmd.Env, client.TokenVariable+"="+row.token), strings.NewReader("+12025550100\n")
			_, _ = cmd.CombinedOutput()
			mu.Lock()
			if len(credentials) == 0 || slices.ContainsFunc(credentials, func(one string) bool { return !strings.HasPrefix(one, row.want) }) {
				t.Errorf("%s with %s sent the credentials %q", name, row.what, credentials)
			}
			mu.Unlock()
		}
	}
}

// TestCommandsUseAccountPasswordAndToken: an account's password and token have the rights
// of its role, and the log names the account.
func TestCommandsUseAccountPasswordAndToken(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, testConfig)
	s := startServe(t, "-c", file)
	_, admin := s.addresses("production")
	if r := runWithInput(t, "account-of-a-canary\n", "users", "add", "anna", "--role", "admin", "--admin", admin); r.code != 0 {
		t.Fatal(r.err)
	}
	runAs := func(password, token string, args ...string) (string, bool) {
		cmd := programCommand(t, append(args, "--admin", admin)...)
		cmd.Env = append(cmd.Env, "PINGPOST_ADMIN_PASSWORD="+password, client.TokenVariable+"="+token)
		text, err := cmd.CombinedOutput()
		return string(text), err == nil
	}
	if text, ok := runAs("account-of-a-canary", "", "users", "add", "bob", "--role", "viewer", "--generate", "--user", "anna"); !ok {
		t.Errorf("anna cannot add a user: %s", text)
	}
	for name, row := range map[string]struct{ password, token, want string }{
		"a wrong password": {"another-of-a-canary", "", "rejected the password of user anna"},
		"no password":      {"", "", "set PINGPOST_ADMIN_PASSWORD, or run the command at a terminal"},
	} {
		if text, ok := runAs(row.password, row.token, "export", "--user", "anna"); ok || !strings.Contains(text, row.want) || strings.Contains(text, "canary") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text, ok := runAs("", "ppa_wrong", "export"); ok || !strings.Contains(text, client.TokenVariable) || strings.Contains(text, "ppa_wrong") {
		t.Errorf("a wrong token: %s", text)
	}
	token := createToken(t, admin, "anna", "account-of-a-canary")
	if text, ok := runAs("", token, "users", "role", "bob", "operator"); ok || !strings.Contains(text, "An API token cannot create accounts, change roles or set passwords") {
		t.Errorf("anna's token changes a role: %s", text)
	}
	if text, ok := runAs("", token, "users", "remove", "bob"); !ok {
		t.Errorf("anna's token cannot remove a user: %s", text)
	}
	s.sendSignal(syscall.SIGTERM)
	s.waitForExit()
	dump := mustRun(t, "log", "dump", filepath.Join(filepath.Dir(file), "data"))
	if n := strings.Count(dump, "anna"); n < 4 || strings.Contains(dump, "account-of-a-canary") {
		t.Errorf("the log names anna %d times, want at least 4 and no password:\n%s", n, dump)
	}
}

// createToken creates a personal token with an account's password.
func createToken(t testing.TB, admin, name, password string) string {
	t.Helper()
	status, text := request(t, http.MethodPost, admin+"/admin/v1/api-tokens", `{"name":"cron"}`, "Authorization", basic(name, password))
	var created struct{ Token string }
	if err := json.Unmarshal([]byte(text), &created); err != nil || created.Token == "" {
		t.Fatalf("no token: %d %v", status, err)
	}
	return created.Token
}
