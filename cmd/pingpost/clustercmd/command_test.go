package clustercmd

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange"
	"pingpost/internal/must"
)

const adminPassword = "a password of an operator"

// run runs a command line against an admin address. It returns the output and the exit code.
func run(t *testing.T, admin string, args ...string) (output string, exitCode int) {
	t.Helper()
	var out strings.Builder
	var commands struct {
		Cluster Command `cmd:""`
	}
	parser := must.Value(kong.New(&commands, kong.Name("pingpost"), kong.BindTo(&out, (*io.Writer)(nil))))(t)
	parsed := must.Value(parser.Parse(append(append([]string{"cluster"}, args...), "--admin", admin, "--password", adminPassword)))(t)
	err := parsed.Run()
	var code terminal.ExitCodeError
	switch {
	case errors.As(err, &code):
		return out.String(), int(code)
	case err != nil:
		return err.Error(), 1
	}
	return out.String(), 0
}

// node is a node of an answer, as JSON.
func node(id, role string, member, reachable bool, rest string) string {
	return fmt.Sprintf(`{"id":%q,"address":"10.0.0.1:7400","role":%q,"member":%t,"reachable":%t,%s}`, id, role, member, reachable, rest)
}

const (
	restOfLeader   = `"last_contact_ms":null,"entry":18212,"lag_entries":0,"version":"1.4.0","error":null`
	restOfFollower = `"last_contact_ms":12,"entry":18210,"lag_entries":2,"version":"1.4.0","error":null`
	restOfLost     = `"last_contact_ms":61250,"entry":null,"lag_entries":null,"version":null,"error":"connection\u001b[31m refused"`
)

func status(role, leader string, nodes ...string) string {
	return `{"node":"a","role":"` + role + `","leader":` + leader + `,"term":7,"entry":18212,"nodes":[` + strings.Join(nodes, ",") + "]}\n"
}

func TestStatus(t *testing.T) {
	t.Parallel()
	leader, follower := node("a", "leader", true, true, restOfLeader), node("b", "follower", true, true, restOfFollower)
	for name, row := range map[string]struct {
		answer   string
		exitCode int
		want     []string
		without  string
	}{
		"all nodes": {status("leader", `"a"`, leader, follower), 0, []string{
			"node a (leader)  leader a  term 7  entry 18212\n",
			"node  role      address        last contact  entry  lag  version\n",
			"a     leader    10.0.0.1:7400  -             18212    0    1.4.0\n",
			"b     follower  10.0.0.1:7400  12ms          18210    2    1.4.0\n",
		}, "cannot be reached"},
		"a lost node": {status("leader", `"a"`, leader, node("c", "unknown", true, false, restOfLost)), 1, []string{
			"c     unknown  10.0.0.1:7400  1m1s              -    -        -\n",
			"Node c cannot be reached (connection\uFFFD[31m refused). Start it",
		}, "no leader"},
		"no leader":      {status("follower", "null", node("a", "follower", true, true, restOfLeader), follower), 1, []string{"a     follower", "leader -", "There is no leader"}, "cannot be reached"},
		"a failed node":  {status("failed", `"b"`, node("a", "follower", true, true, restOfLeader), follower), 1, []string{"a     failed", "Node a failed"}, "no leader"},
		"a new node":     {status("leader", `"a"`, leader, node("d", "unknown", false, true, restOfFollower)), 0, []string{"d     no member", "run pingpost cluster add d.\n"}, "cannot be reached"},
		"a single node":  {`{"node":null,"role":"single","leader":null,"term":0,"entry":7,"nodes":[]}`, 0, []string{"This exchange is a single node. Its last log entry is 7.\n"}, "no leader"},
		"a node at boot": {status("starting", "null"), 1, []string{"node a (starting)  leader -", "There is no leader"}, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, row.answer) }))
			defer server.Close()
			for _, args := range [][]string{{"status"}, nil} {
				out, code := run(t, server.URL, args...)
				if code != row.exitCode || strings.Contains(out, row.without) {
					t.Errorf("exit %d, want %d, without %q:\n%s", code, row.exitCode, row.without, out)
				}
				for _, want := range row.want {
					if !strings.Contains(out, want) {
						t.Errorf("got\n%s\nwithout %q", out, want)
					}
				}
			}
			if out, code := run(t, server.URL, "status", "--json"); out != row.answer || code != row.exitCode {
				t.Errorf("--json: exit %d, %s", code, out)
			}
		})
	}
}

// TestChanges sends each change, and prints its result or the exchange's message.
func TestChanges(t *testing.T) {
	t.Parallel()
	var requests []string
	refused, current := false, status("follower", `"b"`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests = append(requests, r.Method+" "+r.URL.EscapedPath()+" "+string(body))
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, current)
		case refused:
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error":"conflict","message":"The node is a member already."}`)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer server.Close()
	for _, row := range []struct {
		args, requests []string
		want           string
	}{
		{[]string{"add", "b"}, []string{"POST /admin/v1/cluster/nodes/b "}, "added  b\n"},
		{[]string{"add", "b/c"}, []string{"POST /admin/v1/cluster/nodes/b%2Fc "}, "added  b/c\n"},
		{[]string{"remove", "b"}, []string{"DELETE /admin/v1/cluster/nodes/b "}, "removed  b\n"},
		{[]string{"handover", "b"}, []string{`POST /admin/v1/cluster/handover {"to":"b"}`}, "leader  b\n"},
		{[]string{"handover"}, []string{"POST /admin/v1/cluster/handover {}", "GET /admin/v1/cluster "}, "leader  b\n"},
	} {
		requests = nil
		if out, code := run(t, server.URL, row.args...); code != 0 || out != row.want || !slices.Equal(requests, row.requests) {
			t.Errorf("%q: exit %d, %q, requests %q, want %q and %q", row.args, code, out, requests, row.want, row.requests)
		}
	}
	current = status("follower", "null")
	if out, code := run(t, server.URL, "handover"); code != 0 || out != "leader  not known yet; run pingpost cluster\n" {
		t.Errorf("during the election: exit %d, %q", code, out)
	}
	refused = true
	for _, args := range [][]string{{"add", "b"}, {"remove", "b"}, {"handover"}, {"handover", "b"}} {
		if out, code := run(t, server.URL, args...); code != 1 || out != "the exchange says: The node is a member already." {
			t.Errorf("%q: exit %d, %q", args, code, out)
		}
	}
}

// TestSingleNode asks a running exchange that is a single node.
func TestSingleNode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "exchange.yaml")
	must.Succeed(t, os.WriteFile(path, []byte("data_dir: data\nlisten: 127.0.0.1:0\nadmin: {listen: 127.0.0.1:0, password: \""+adminPassword+"\"}\n"), 0o600))
	x := must.Value(exchange.Start(path, exchange.Options{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() { must.Succeed(t, x.Close()) })
	admin := "http://" + x.AdminAddress()
	if out, code := run(t, admin, "status"); code != 0 || !strings.Contains(out, "single node. Its last log entry is ") || strings.Contains(out, " 0.") {
		t.Errorf("status: exit %d, %s", code, out)
	}
	for _, args := range [][]string{{"add", "b"}, {"remove", "b"}, {"handover"}} {
		if out, code := run(t, admin, args...); code != 1 || !strings.Contains(out, "This exchange is a single node. Configure cluster") {
			t.Errorf("%q: exit %d, %s", args, code, out)
		}
	}
}
