package admin

import (
	"encoding/base64"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/keys/token"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/clusterapi"
	"pingpost/server/admin/savedreports"
	"pingpost/server/metrics"
	"pingpost/server/servertest"
)

// stubOperator is a process with the parts that a test gives it. A method that no test
// needs panics.
type stubOperator struct {
	RunningExchange
	engine  *engine.Engine // nil: the exchange starts or stops
	tokens  *token.Issuer
	apply   func(document []byte, dry bool) ([]string, error)
	explain func(id string) ([]byte, error)
	erase   func(*ErasureRequest) (ErasureResult, error)
	sum     func(ledger.Party, ledger.Period) (*ledger.Statement, error)
	entries func() StatementEntryIterator
	cluster clusterapi.Controller // nil: a single node
}

func (stubOperator) Ready() error { return nil }

func (stubOperator) AcceptsRequests() error { return nil }

func (d stubOperator) EngineWhileReady() *engine.Engine { return d.engine }

func (stubOperator) StateHash() (seq, hash uint64, err error) { return 7, 8, nil }

func (stubOperator) ConfigEntry(canonical.EntryRef) (*ConfigEntry, error) {
	return nil, engine.ErrNotFound
}

func (stubOperator) ActiveConfigurationJSON() []byte { return []byte("{}") }

func (stubOperator) Seal(string, string) []byte { return nil }

func (stubOperator) Unseal(string, []byte) (string, bool) { return "", false }

func (stubOperator) RevealSecret(string) (string, bool) { return "", false }

func (d stubOperator) CredentialHasher() *token.Issuer { return d.tokens }

func (stubOperator) IsSandbox() bool { return false }

func (stubOperator) ProcessStatus() ProcessStatus { return ProcessStatus{} }

func (stubOperator) Alerts() alerts.Service { return nil }

func (stubOperator) SavedReports() savedreports.Service { return nil }

func (d stubOperator) Cluster() clusterapi.Controller {
	if d.cluster != nil {
		return d.cluster
	}
	return clusterapi.Single{LastEntry: func() uint64 { return 7 }}
}

func (stubOperator) Now() int64 { return time.Now().UnixNano() }

func (d stubOperator) ApplyConfiguration(document []byte, _ map[string]string, dry bool, _ string) (result ConfigurationChangeResult, err error) {
	result.Unapplied, result.Warnings = []string{"b: first", `"c"`}, []string{"d"}
	if d.apply != nil {
		result.Changes, err = d.apply(document, dry)
	}
	return result, err
}

func (stubOperator) ApplySuppressionUpload(*SuppressionUpload) (*SuppressionUploadResult, error) {
	return nil, engine.ErrNotFound
}

func (d stubOperator) ExplainLead(id market.LeadID) ([]byte, error) { return d.explain(id.String()) }

func (d stubOperator) ExplainAuction(id market.AuctionID) ([]byte, error) {
	return d.explain(id.String())
}

func (d stubOperator) ExplainRequest(id market.RequestID) ([]byte, error) {
	return d.explain(id.String())
}

func (d stubOperator) ExplainBySellersAuctionID(supplier, sellersID string) ([]byte, error) {
	return d.explain(supplier + " of " + sellersID)
}

func (d stubOperator) EraseContactData(who *ErasureRequest) (ErasureResult, error) {
	return d.erase(who)
}

func (d stubOperator) Statement(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
	return d.sum(party, period)
}

func (d stubOperator) Entries(*ledger.Statement) (StatementEntryIterator, error) {
	return d.entries(), nil
}

// newAdmin returns an admin server of a process, with the password servertest.Password.
func newAdmin(t *testing.T, process RunningExchange) *Admin {
	t.Helper()
	return New(process, metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) }), servertest.Password, slog.New(slog.DiscardHandler))
}

// serveAdmin serves the admin API of a process and returns its address.
func serveAdmin(t *testing.T, process RunningExchange) (address string) {
	t.Helper()
	a := newAdmin(t, process)
	return servertest.StartServer(t, a.Serve, a.Shutdown)
}

var asOperator = "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("operator:"+servertest.Password)) + "\r\n"

// The head alone decides the answer to an unauthenticated client, regardless of the
// promised length of the body. The connection closes.
func TestNoMemoryBeforePassword(t *testing.T) {
	address := serveAdmin(t, stubOperator{})
	for name, length := range map[string]string{
		"some": "Content-Length: 100000", "much": "Content-Length: 99999999999", "chunks": "Transfer-Encoding: chunked",
	} {
		start := strings.Repeat("d", 8<<10) // the HTTP library reads this much of a body on its own
		for _, path := range []string{"PUT /admin/v1/config", "POST /admin/v1/buyers/b/funds", "POST /elsewhere"} {
			k := servertest.Dial(t, address)
			status, _, body := k.Send(path + " HTTP/1.1\r\nHost: x\r\n" + length + "\r\n\r\n" + start)
			if status != 401 || !k.IsClosedOnNextRequest() {
				t.Errorf("%s, %s: %d %s", path, name, status, body)
			}
		}
	}
}

func TestAdminBodyLimits(t *testing.T) {
	var got []byte
	address := serveAdmin(t, stubOperator{engine: servertest.NewEngineFixture(t).Engine, apply: func(document []byte, _ bool) ([]string, error) {
		got = append([]byte(nil), document...)
		return []string{"~ a"}, nil
	}})
	for name, row := range map[string]struct {
		line   string
		length int
		status int
	}{
		"a document at the limit":   {"PUT /admin/v1/config", 4 << 20, 200},
		"a document over the limit": {"PUT /admin/v1/config", 4<<20 + 1, 413},
		"another body at the limit": {"POST /admin/v1/buyers/b/funds", 64 << 10, 400}, // 400: it is no JSON
		"another over the limit":    {"POST /admin/v1/buyers/b/funds", 64<<10 + 1, 413},
	} {
		t.Run(name, func(t *testing.T) {
			got = nil
			k := servertest.Dial(t, address)
			go func() {
				_, _ = io.WriteString(k, servertest.FormatRequest(row.line, servertest.BasicAuth, strings.Repeat("d", row.length)))
			}()
			if status, _, body := k.ReadAnswer(); status != row.status {
				t.Errorf("%d %s, want %d", status, body, row.status)
			}
			if row.status == 200 && len(got) != row.length {
				t.Errorf("the document arrived with %d bytes", len(got))
			}
		})
	}
	k := servertest.Dial(t, address)
	for range 2 {
		status, _, body := k.Send("PUT /admin/v1/config HTTP/1.1\r\nHost: x\r\n" + servertest.BasicAuth + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
		if status != 200 || string(got) != "abc" || body != `{"changes":["~ a"],"unapplied":["b: first","\"c\""],"warnings":["d"]}`+"\n" {
			t.Errorf("in chunks: %d %s, %q", status, body, got)
		}
	}
}

// A second document is rejected while the first one is applied.
func TestConcurrentDocumentIsRejected(t *testing.T) {
	started, finish := make(chan bool), make(chan bool)
	address := serveAdmin(t, stubOperator{engine: servertest.NewEngineFixture(t).Engine, apply: func([]byte, bool) ([]string, error) {
		started <- true
		<-finish
		return nil, nil
	}})
	first, second := servertest.Dial(t, address), servertest.Dial(t, address)
	put := servertest.FormatRequest("PUT /admin/v1/config", servertest.BasicAuth, "{}")
	must.Value(io.WriteString(first, put))(t)
	<-started
	if status, _, body := second.Send(put); status != 409 || !strings.Contains(body, `"conflict"`) {
		t.Errorf("second document: got %d %s, want 409", status, body)
	}
	finish <- true
	if status, _, body := first.ReadAnswer(); status != 200 {
		t.Errorf("first document: got %d %s, want 200", status, body)
	}
}

func TestAdminOutlivesPanic(t *testing.T) {
	address := serveAdmin(t, stubOperator{engine: servertest.NewEngineFixture(t).Engine, apply: func([]byte, bool) ([]string, error) { panic("BUG: of the test") }})
	put := servertest.FormatRequest("PUT /admin/v1/config", servertest.BasicAuth, "{}")
	for range 2 { // the panic must release the lock
		k := servertest.Dial(t, address)
		if status, _, body := k.Send(put); status != 500 || !strings.Contains(body, `"internal"`) || !k.IsClosedOnNextRequest() {
			t.Errorf("%d %s", status, body)
		}
	}
}

// Changing requests from pages of other origins are rejected, because a browser adds the
// password to them.
func TestRequestsFromOtherOriginsAreRejected(t *testing.T) {
	address := serveAdmin(t, stubOperator{engine: servertest.NewEngineFixture(t).Engine})
	for headers, foreign := range map[string]bool{
		"":                                  false,
		"Sec-Fetch-Site: same-origin\r\n":   false,
		"Sec-Fetch-Site: none\r\n":          false,
		"Sec-Fetch-Site: same-site\r\n":     true,
		"Sec-Fetch-Site: cross-site\r\n":    true,
		"Origin: http://x\r\n":              false,
		"Origin: https://X\r\n":             false,
		"Origin: http://x:9091\r\n":         true,
		"Origin: http://evil.example\r\n":   true,
		"Origin: http://evil.example/x\r\n": true,
		"Origin: null\r\n":                  true,
		"Origin: x\r\n":                     true,
		"Sec-Fetch-Site: none\r\nOrigin: http://evil.example\r\n": true,
	} {
		want := 200
		if foreign {
			want = 403
		}
		if status, _, body := servertest.Dial(t, address).Send(servertest.FormatRequest("PUT /admin/v1/config", servertest.BasicAuth+headers, "{}")); status != want {
			t.Errorf("PUT with %q: %d %s, want %d", headers, status, body, want)
		}
		if status, _, body := servertest.Dial(t, address).Send(servertest.FormatRequest("GET /admin/v1/hash", servertest.BasicAuth+headers, "")); status != 200 {
			t.Errorf("GET with %q: %d %s", headers, status, body)
		}
	}
}

// Unauthenticated requests get only the challenge, regardless of method and path. A wrong
// password closes the connection.
func TestUnauthenticatedGetsOnlyChallenge(t *testing.T) {
	address := serveAdmin(t, stubOperator{})
	k := servertest.Dial(t, address)
	for _, line := range []string{
		"OPTIONS /admin/v1/config", "OPTIONS *", "DELETE /admin/v1/config", "GET //admin/v1/hash", "GET /admin/v1/%68ash",
		"GET /x/../admin/v1/hash", "GET http://y/admin/v1/hash", "GET ftp://x/admin/v1/hash", "GET /none",
	} {
		status, header, _ := k.Send(servertest.FormatRequest(line, "", ""))
		if status != 401 || header.Get("Allow") != "" {
			t.Errorf("%s: %d, Allow %q", line, status, header.Get("Allow"))
		}
	}
	for _, line := range []string{"GET //admin/v1/hash", "GET /admin/v1/%68ash", "GET /x/../admin/v1/hash", "GET ftp://x/admin/v1/hash"} {
		if status, _, _ := k.Send(servertest.FormatRequest(line, servertest.BasicAuth, "")); status != 404 {
			t.Errorf("%s with the password: got %d, want 404", line, status)
		}
	}
	if status, header, _ := k.Send(servertest.FormatRequest("OPTIONS /admin/v1/config", servertest.BasicAuth, "")); status != 405 || header.Get("Allow") != "GET, PUT" {
		t.Errorf("OPTIONS with the password: %d, Allow %q", status, header.Get("Allow"))
	}
	if status, _, _ := k.Send(servertest.FormatRequest("GET http://x/admin/v1/hash", servertest.BasicAuth, "")); status != 200 {
		t.Errorf("absolute target: got %d, want 200", status)
	}
	if status, _, _ := k.Send(servertest.FormatRequest("GET /admin/v1/hash", "Authorization: Basic b3A6d3Jvbmc=\r\n", "")); status != 401 || !k.IsClosedOnNextRequest() {
		t.Errorf("wrong password: got %d, want 401 and a closed connection", status)
	}
	if status, _, _ := servertest.Dial(t, address).Send(servertest.FormatRequest("GET /admin/v1/hash", servertest.BasicAuth+servertest.BasicAuth, "")); status != 400 {
		t.Errorf("two passwords: got %d, want 400", status)
	}
}
