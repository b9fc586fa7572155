package seller

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/internal/must"
)

// recordingExchange gives the same answer to each seller's request and records the requests.
type recordingExchange struct {
	*httptest.Server
	status int
	header http.Header
	body   string

	requests []string // path, credential, requested token scope, body
	keys     []string
}

func newRecordingExchange(t *testing.T, status int, body string, headers ...string) *recordingExchange {
	c := &recordingExchange{status: status, body: body, header: http.Header{"X-Request-Id": {"req_1"}}}
	for i := 0; i+1 < len(headers); i += 2 {
		c.header.Set(headers[i], headers[i+1])
	}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *recordingExchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/oauth/token" {
		id, secret, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		if secret != "s" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"invalid_client","error_description":"no such client"}`)
			return
		}
		c.requests = append(c.requests, id+" "+string(body))
		io.WriteString(w, `{"access_token":"given","token_type":"Bearer","expires_in":60}`)
		return
	}
	c.requests = append(c.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))+" "+string(body))
	c.keys = append(c.keys, r.Header.Get("Idempotency-Key"))
	for name, values := range c.header {
		w.Header()[name] = values
	}
	w.WriteHeader(c.status)
	io.WriteString(w, c.body)
}

// commands are the seller's commands of main.
type commands struct {
	Ping PingCommand `cmd:""`
	Post PostCommand `cmd:""`
	Send SendCommand `cmd:""`
}

// command runs a command line as main does. The environment has only the credentials that
// precede the command as NAME=VALUE.
func command(t *testing.T, line, in string) (out, stderr string, err error) {
	t.Helper()
	for _, name := range []string{"PINGPOST_TOKEN", "PINGPOST_CLIENT_ID", "PINGPOST_CLIENT_SECRET", "PINGPOST_API_KEY"} {
		t.Setenv(name, "")
	}
	words := strings.Fields(line)
	for strings.HasPrefix(words[0], "PINGPOST_") {
		name, value, _ := strings.Cut(words[0], "=")
		t.Setenv(name, value)
		words = words[1:]
	}
	var cli commands
	parser := must.Value(kong.New(&cli, kong.Name("pingpost")))(t)
	run := must.Value(parser.Parse(words))(t)
	var output, errorOutput strings.Builder
	if strings.HasPrefix(run.Command(), "post") {
		err = cli.Post.run(t.Context(), strings.NewReader(in), &output, &errorOutput)
	} else {
		err = cli.Ping.run(t.Context(), strings.NewReader(in), &output, &errorOutput)
	}
	return output.String(), errorOutput.String(), err
}

// collapseSpaces replaces each run of spaces with one space.
func collapseSpaces(text string) string { return regexp.MustCompile(` +`).ReplaceAllString(text, " ") }

const (
	bidAnswer   = `{"auction_id":"k1","bid":{"amount":9.64,"currency":"USD","bid_token":"bid_1","valid_until":"2026-03-02T13:00:04.987Z"}}`
	noBidAnswer = `{"auction_id":"k1","bid":null,"reject_reason":"caps_full","reject_detail":"All have enough."}`
)

func TestPingRequest(t *testing.T) {
	for _, row := range []struct {
		name, line string
		requests   []string
	}{
		{
			"with a token", "ping --token T --key k1 state=CA tcpa_consent=true",
			[]string{`POST /v1/ping Bearer T {"auction_id":"k1","state":"CA","tcpa_consent":true}`},
		},
		{
			"with an auction's id", "ping --token T --key k1 auction_id=77",
			[]string{`POST /v1/ping Bearer T {"auction_id":"77"}`},
		},
		{
			"as a client", "ping --client-id acme --client-secret s --key k1 state=CA",
			[]string{"acme grant_type=client_credentials&scope=ping", `POST /v1/ping Bearer given {"auction_id":"k1","state":"CA"}`},
		},
		{
			"with flags on all sides", "ping a=1 --token=T b=2 --key k1 c=3",
			[]string{`POST /v1/ping Bearer T {"a":1,"auction_id":"k1","b":2,"c":3}`},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := newRecordingExchange(t, 200, bidAnswer)
			out, stderr, err := command(t, row.line+" --url "+x.URL+"/", "")
			if err != nil || out != bidAnswer+"\n" {
				t.Errorf("%v, %s", err, out)
			}
			if want := "auction_id k1\nbid 9.64 USD\nbid_token bid_1\nopen until 2026-03-02T13:00:04.987Z\nkey k1\nrequest_id req_1\n"; collapseSpaces(stderr) != want {
				t.Errorf("stderr %q, want %q", collapseSpaces(stderr), want)
			}
			if strings.Join(x.requests, "\n") != strings.Join(row.requests, "\n") || x.keys[0] != "k1" {
				t.Errorf("requests %q under %q, want %q", x.requests, x.keys, row.requests)
			}
		})
	}
}

// TestPingGeneratesKeys: without --key, each ping gets a new key and prints it.
func TestPingGeneratesKeys(t *testing.T) {
	x := newRecordingExchange(t, 200, noBidAnswer, "Idempotent-Replayed", "true")
	for range 2 {
		_, stderr, err := command(t, "ping --token T --url "+x.URL, "")
		if err != nil || !strings.Contains(stderr, "caps_full: All have enough.") || !strings.Contains(stderr, "repeated") {
			t.Errorf("%v, %s", err, stderr)
		}
		key := x.keys[len(x.keys)-1]
		if !regexp.MustCompile(`^cli_[0-9a-z]{26}$`).MatchString(key) || !strings.Contains(stderr, key) || !strings.Contains(x.requests[len(x.requests)-1], `{"auction_id":"`+key+`"}`) {
			t.Errorf("key %q, requests %q, stderr %s", key, x.requests, stderr)
		}
	}
	if x.keys[0] == x.keys[1] {
		t.Error("two pings have the same key")
	}
}

func TestAvailabilityPing(t *testing.T) {
	x := newRecordingExchange(t, 200, `{"data":{"ping_id":"ping_1","campaign_id":"cmp","accepted":true,"expires_at":"2026-03-02T13:00:05.000Z",`+
		`"buyers":[{"buyer_id":"buy_a","amount":8,"currency":"USD","valid_until":"t1"},{"buyer_id":"buy_b","amount":7.5,"currency":"USD","valid_until":"t2"}]}}`)
	line := "ping --api-key K --key k1 flo_campaign_id=cmp flo_supplier_id=sup state=CA --url " + x.URL
	_, stderr, err := command(t, line, "")
	if want := "flo_ping_id ping_1\nflo_campaign_id cmp\nflo_buyer_id buy_a, 8.00 USD, open until t1\nflo_buyer_id buy_b, 7.50 USD, open until t2\nkey k1\nrequest_id req_1\n"; err != nil || collapseSpaces(stderr) != want {
		t.Errorf("%v, %q", err, collapseSpaces(stderr))
	}
	if want := `POST /api/v1/ping K {"flo_campaign_id":"cmp","flo_supplier_id":"sup","state":"CA"}`; len(x.requests) != 1 || x.requests[0] != want {
		t.Errorf("requests %q", x.requests)
	}
	x.body = `{"data":{"ping_id":"ping_1","campaign_id":"cmp","accepted":false,"expires_at":"t","buyers":[],"reason":"filtered"}}`
	if _, stderr, err := command(t, line, ""); err != nil || !strings.Contains(collapseSpaces(stderr), "no buyer filtered\n") {
		t.Errorf("%v, %s", err, stderr)
	}
}

func TestPingPrintsErrors(t *testing.T) {
	x := newRecordingExchange(t, 422, `{"error":"invalid_payload","message":"It does not fit.","request_id":"req_1","field_errors":[{"field":"state","code":"missing_required","expected":"a state"}]}`)
	line := "ping --token T --key k1 --url " + x.URL
	out, stderr, err := command(t, line, "")
	var code terminal.ExitCodeError
	if want := "error 422 invalid_payload\n It does not fit.\nstate missing_required: a state\nkey k1\nrequest_id req_1\n"; collapseSpaces(stderr) != want || out != "" || !errors.As(err, &code) || code != 1 {
		t.Errorf("%v, %q, %q", err, out, collapseSpaces(stderr))
	}
	x.status, x.body = 504, `{"error":"buyer_timeout","message":"Later.","request_id":"req_1"}`
	x.header.Set("Retry-After", "1")
	if _, stderr, err := command(t, line, ""); !errors.As(err, &code) || !strings.Contains(collapseSpaces(stderr), "again after 1 s, with --key k1\n") {
		t.Errorf("%v, %s", err, stderr)
	}
	x.status, x.body = 502, "<html>"
	if _, stderr, err := command(t, line, ""); !errors.As(err, &code) || !strings.Contains(stderr, "not from a pingpost exchange") {
		t.Errorf("%v, %s", err, stderr)
	}
	for _, body := range []string{"hello", "{}"} {
		x.status, x.body = 200, body
		if out, _, err := command(t, line, ""); err == nil || !strings.Contains(err.Error(), "not from a pingpost exchange") || out != "" {
			t.Errorf("%s: %v, %s", body, err, out)
		}
	}
	// A redirect is not followed, so its target gets no credential.
	x.status, x.body = 307, ""
	x.header.Set("Location", x.URL+"/elsewhere")
	before := len(x.requests)
	if _, _, err := command(t, line, ""); !errors.As(err, &code) || len(x.requests) != before+1 {
		t.Errorf("%v, requests %q", err, x.requests[before:])
	}
}

// TestTokenRequestFollowsNoRedirect: the client secret goes only to the exchange's own address.
func TestTokenRequestFollowsNoRedirect(t *testing.T) {
	elsewhere := newRecordingExchange(t, 200, `{"access_token":"T","token_type":"Bearer"}`)
	redirecting := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/elsewhere", http.StatusTemporaryRedirect))
	t.Cleanup(redirecting.Close)
	if _, _, err := command(t, "ping --client-id acme --client-secret s --url "+redirecting.URL, ""); err == nil || !strings.Contains(err.Error(), "answered 307") || len(elsewhere.requests) > 0 {
		t.Errorf("error %v, requests to the other address %q", err, elsewhere.requests)
	}
}

func TestInvalidCommandSendsNoRequest(t *testing.T) {
	x := newRecordingExchange(t, 200, bidAnswer)
	for _, row := range []struct{ line, want string }{
		{"ping --url " + x.URL, "no credential for the ping"},
		{"ping --url ftp://x --token T", "--url"},
		{"ping --url x --token T", "--url"},
		{"ping --token T nonsense --url " + x.URL, "is not a field"},
		{"ping --client-id acme --url " + x.URL, "no seller credential"},
		{"ping --client-id acme --client-secret wrong --url " + x.URL, "issued no access token: invalid_client: no such client"},
		{"post --client-secret s --url " + x.URL, "no seller credential"},
		{"PINGPOST_API_KEY=K post --url " + x.URL, "no seller credential"},
		{"ping --token T state=CA --api-key K --url " + x.URL, "--token and --api-key are two credentials"},
		{"PINGPOST_TOKEN=T ping --client-secret s --api-key K --url " + x.URL, "--client-secret and --api-key are two credentials"},
		{"post --client-id acme --token T --url " + x.URL, "--token and --client-id are two credentials"},
		{"PINGPOST_TOKEN=T ping --client-id acme --url " + x.URL, "no seller credential"},
		{"post --token T lead=1 --url " + x.URL, "lead is given both as a value and as an object"},
		{"ping --token T --key k1 --url http://127.0.0.1:1", "with --key k1"},
	} {
		if _, _, err := command(t, row.line, ""); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.line, err, row.want)
		}
	}
	if len(x.requests) > 0 {
		t.Errorf("requests %q", x.requests)
	}
}
