package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// verify checks a request as a receiver does, with the stock library.
func verify(t *testing.T, secret string, r *dialtest.Request, change func(http.Header, []byte)) error {
	t.Helper()
	hook := must.Value(standardwebhooks.NewWebhook(secret))(t)
	header, body := r.Header.Clone(), []byte(r.Body)
	if change != nil {
		change(header, body)
	}
	return hook.Verify(body, header)
}

// The test pins the exact request. The stock verifier accepts it and rejects any change.
func TestSignedRequest(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``))
	r := newRequest("http://"+e.Address+"/hooks?supplier=acme", longTimeout)
	r.Endpoint.Credential = "acme"
	if got := newClient(t, nil).Post(r); !got.Delivered {
		t.Fatalf("%+v", got)
	}
	got := e.Requests()[0]
	for name, want := range map[string]string{
		"Webhook-Id": "evt_1", "Content-Type": "application/json", "User-Agent": "pingpost",
		"Content-Length": strconv.Itoa(len(r.Body)), "Authorization": "", "Accept-Encoding": "",
	} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	if !strings.HasPrefix(got.Raw, "POST /hooks?supplier=acme HTTP/1.1\r\n") || got.Host != e.Address || got.Body != string(r.Body) {
		t.Errorf("sent: %s", got.Raw)
	}
	for name := range secrets {
		if strings.Contains(got.Raw, name+"/") || strings.Contains(got.Raw, "whsec_") || strings.Contains(got.Raw, "present") {
			t.Errorf("a secret or its name is sent: %s", got.Raw)
		}
	}
	at, stamp := got.Header.Get("webhook-timestamp"), got.Header.Get("X-Pingpost-Signature")
	if !strings.HasPrefix(stamp, "t="+at+",v1=") || strings.Count(stamp, ",v1=") != 2 {
		t.Errorf("X-Pingpost-Signature: %s at %s", stamp, at)
	}

	const present, previous, other = "whsec_cHJlc2VudA==", "whsec_cHJldmlvdXM=", "whsec_b3RoZXI="
	for name, row := range map[string]struct {
		secret string
		change func(http.Header, []byte)
		valid  bool
	}{
		"unchanged":              {present, nil, true},
		"by the previous secret": {previous, nil, true},
		"by another secret":      {other, nil, false},
		"a changed byte":         {present, func(_ http.Header, body []byte) { body[7]++ }, false},
		"another event's id":     {present, func(h http.Header, _ []byte) { h.Set("webhook-id", "evt_2") }, false},
		"an old time":            {present, func(h http.Header, _ []byte) { h.Set("webhook-timestamp", timestampBefore(6*time.Minute)) }, false},
		"another time":           {present, func(h http.Header, _ []byte) { h.Set("webhook-timestamp", timestampBefore(time.Minute)) }, false},
	} {
		if err := verify(t, row.secret, &got, row.change); (err == nil) != row.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func timestampBefore(by time.Duration) string {
	return strconv.FormatInt(time.Now().Add(-by).Unix(), 10)
}

// A retry has the id and the bytes of the first attempt, its own time, and the secrets of
// that time. After the end of the previous secret it has one signature.
func TestEachAttemptIsSigned(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("500 Internal Server Error", ``))
	live := map[string]string{"alone": "whsec_YWxvbmU="}
	c := newClient(t, func(o *ClientOptions) {
		o.Secrets = func(name string) (string, bool) { return live[name], live[name] != "" }
	})
	steps := []struct {
		change func()
		want   []string
		count  int
	}{
		{func() {}, []string{"whsec_YWxvbmU="}, 1},
		{func() { live["alone"], live["alone/previous"] = "whsec_bmV3", live["alone"] }, []string{"whsec_bmV3", "whsec_YWxvbmU="}, 2},
		{func() { delete(live, "alone/previous") }, []string{"whsec_bmV3"}, 1},
	}
	for i, step := range steps {
		step.change()
		if got := c.Post(newRequest("http://"+e.Address+"/", longTimeout)); got.Status != 500 {
			t.Fatalf("%+v", got)
		}
		r := e.Requests()[i]
		for _, secret := range step.want {
			if err := verify(t, secret, &r, nil); err != nil {
				t.Errorf("attempt %d: %v", i, err)
			}
		}
		if n := len(strings.Fields(r.Header.Get("webhook-signature"))); n != step.count {
			t.Errorf("attempt %d: %d signatures", i, n)
		}
		if r.Header.Get("webhook-id") != "evt_1" || r.Body != e.Requests()[0].Body {
			t.Errorf("attempt %d has another id or body: %s", i, r.Raw)
		}
	}
}
