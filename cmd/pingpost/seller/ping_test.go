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

// counter is an exchange that answers each seller's request in one way and
// keeps what came.
type counter struct {
	*httptest.Server
	status int
	header http.Header
	body   string

	asked []string // path, credential, scope asked for a token, body
	keys  []string
}

func newCounter(t *testing.T, status int, body string, headers ...string) *counter {
	c := &counter{status: status, body: body, header: http.Header{"X-Request-Id": {"req_1"}}}
	for i := 0; i+1 < len(headers); i += 2 {
		c.header.Set(headers[i], headers[i+1])
	}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/oauth/token" {
		id, secret, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		if secret != "s" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"invalid_client","error_description":"no such client"}`)
			return
		}
		c.asked = append(c.asked, id+" "+string(body))
		io.WriteString(w, `{"access_token":"given","token_type":"Bearer","expires_in":60}`)
		return
	}
	c.asked = append(c.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))+" "+string(body))
	c.keys = append(c.keys, r.Header.Get("Idempotency-Key"))
	for name, values := range c.header {
		w.Header()[name] = values
	}
	w.WriteHeader(c.status)
	io.WriteString(w, c.body)
}

// commands are the seller's commands as main has them.
type commands struct {
	Ping PingCommand `cmd:""`
	Post PostCommand `cmd:""`
	Send SendCommand `cmd:""`
}

// command runs a line as main does, without the environment's credentials but for
// those that stand before the command, as NAME=VALUE.
func command(t *testing.T, line, in string) (out, told string, err error) {
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
	var output, tell strings.Builder
	if strings.HasPrefix(run.Command(), "post") {
		err = cli.Post.run(t.Context(), strings.NewReader(in), &output, &tell)
	} else {
		err = cli.Ping.run(t.Context(), strings.NewReader(in), &output, &tell)
	}
	return output.String(), tell.String(), err
}

// flat is text with its runs of spaces made one.
func flat(text string) string { return regexp.MustCompile(` +`).ReplaceAllString(text, " ") }

const (
	aBid  = `{"auction_id":"k1","bid":{"amount":9.64,"currency":"USD","bid_token":"bid_1","valid_until":"2026-03-02T13:00:04.987Z"}}`
	noBid = `{"auction_id":"k1","bid":null,"reject_reason":"caps_full","reject_detail":"All have enough."}`
)

func TestPingIsMade(t *testing.T) {
	for _, row := range []struct {
		name, line string
		asked      []string
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
			x := newCounter(t, 200, aBid)
			out, told, err := command(t, row.line+" --url "+x.URL+"/", "")
			if err != nil || out != aBid+"\n" {
				t.Errorf("%v, %s", err, out)
			}
			if want := "auction_id k1\nbid 9.64 USD\nbid_token bid_1\nopen until 2026-03-02T13:00:04.987Z\nkey k1\nrequest_id req_1\n"; flat(told) != want {
				t.Errorf("told %q, want %q", flat(told), want)
			}
			if strings.Join(x.asked, "\n") != strings.Join(row.asked, "\n") || x.keys[0] != "k1" {
				t.Errorf("asked %q under %q, want %q", x.asked, x.keys, row.asked)
			}
		})
	}
}

// TestKeysAreMade: a key where none is given, another each time, and told.
func TestKeysAreMade(t *testing.T) {
	x := newCounter(t, 200, noBid, "Idempotent-Replayed", "true")
	for range 2 {
		_, told, err := command(t, "ping --token T --url "+x.URL, "")
		if err != nil || !strings.Contains(told, "caps_full: All have enough.") || !strings.Contains(told, "repeated") {
			t.Errorf("%v, %s", err, told)
		}
		key := x.keys[len(x.keys)-1]
		if !regexp.MustCompile(`^cli_[0-9a-z]{26}$`).MatchString(key) || !strings.Contains(told, key) || !strings.Contains(x.asked[len(x.asked)-1], `{"auction_id":"`+key+`"}`) {
			t.Errorf("key %q, asked %q, told %s", key, x.asked, told)
		}
	}
	if x.keys[0] == x.keys[1] {
		t.Error("the same key twice")
	}
}

func TestAvailabilityIsAsked(t *testing.T) {
	x := newCounter(t, 200, `{"data":{"ping_id":"ping_1","campaign_id":"cmp","accepted":true,"expires_at":"2026-03-02T13:00:05.000Z",`+
		`"buyers":[{"buyer_id":"buy_a","amount":8,"currency":"USD","valid_until":"t1"},{"buyer_id":"buy_b","amount":7.5,"currency":"USD","valid_until":"t2"}]}}`)
	line := "ping --api-key K --key k1 flo_campaign_id=cmp flo_supplier_id=sup state=CA --url " + x.URL
	_, told, err := command(t, line, "")
	if want := "flo_ping_id ping_1\nflo_campaign_id cmp\nflo_buyer_id buy_a, 8.00 USD, open until t1\nflo_buyer_id buy_b, 7.50 USD, open until t2\nkey k1\nrequest_id req_1\n"; err != nil || flat(told) != want {
		t.Errorf("%v, %q", err, flat(told))
	}
	if want := `POST /api/v1/ping K {"flo_campaign_id":"cmp","flo_supplier_id":"sup","state":"CA"}`; len(x.asked) != 1 || x.asked[0] != want {
		t.Errorf("asked %q", x.asked)
	}
	x.body = `{"data":{"ping_id":"ping_1","campaign_id":"cmp","accepted":false,"expires_at":"t","buyers":[],"reason":"filtered"}}`
	if _, told, err := command(t, line, ""); err != nil || !strings.Contains(flat(told), "nobody filtered\n") {
		t.Errorf("%v, %s", err, told)
	}
}

func TestErrorsAreTold(t *testing.T) {
	x := newCounter(t, 422, `{"error":"invalid_payload","message":"It does not fit.","request_id":"req_1","field_errors":[{"field":"state","code":"missing_required","expected":"a state"}]}`)
	line := "ping --token T --key k1 --url " + x.URL
	out, told, err := command(t, line, "")
	var code terminal.ExitCode
	if want := "error 422 invalid_payload\n It does not fit.\nstate missing_required: a state\nkey k1\nrequest_id req_1\n"; flat(told) != want || out != "" || !errors.As(err, &code) || code != 1 {
		t.Errorf("%v, %q, %q", err, out, flat(told))
	}
	x.status, x.body = 504, `{"error":"buyer_timeout","message":"Later.","request_id":"req_1"}`
	x.header.Set("Retry-After", "1")
	if _, told, err := command(t, line, ""); !errors.As(err, &code) || !strings.Contains(flat(told), "again after 1 s, with --key k1\n") {
		t.Errorf("%v, %s", err, told)
	}
	x.status, x.body = 502, "<html>"
	if _, told, err := command(t, line, ""); !errors.As(err, &code) || !strings.Contains(told, "not from a pingpost exchange") {
		t.Errorf("%v, %s", err, told)
	}
	for _, body := range []string{"hello", "{}"} {
		x.status, x.body = 200, body
		if out, _, err := command(t, line, ""); err == nil || !strings.Contains(err.Error(), "not from a pingpost exchange") || out != "" {
			t.Errorf("%s: %v, %s", body, err, out)
		}
	}
	// A redirect takes no credential along.
	x.status, x.body = 307, ""
	x.header.Set("Location", x.URL+"/elsewhere")
	before := len(x.asked)
	if _, _, err := command(t, line, ""); !errors.As(err, &code) || len(x.asked) != before+1 {
		t.Errorf("%v, asked %q", err, x.asked[before:])
	}
}

func TestNothingIsSent(t *testing.T) {
	x := newCounter(t, 200, aBid)
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
	if len(x.asked) > 0 {
		t.Errorf("asked %q", x.asked)
	}
}
